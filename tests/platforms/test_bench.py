"""Platforms that tests keep open: one that does not open takes no other along."""

from __future__ import annotations

import pytest

from bareline.testing.bench import keeping
from bareline.vocabulary.errors import PlatformError


def test_a_platform_that_does_not_open_leaves_the_others_usable(tmp_path):
    with keeping(tmp_path) as benches:
        for _ in range(2):
            with pytest.raises(PlatformError):
                benches.bench("local", container={"runtime": "bwrap", "image": "/nowhere"})
        assert benches.bench("local").shell("echo here").stdout == "here\n"
