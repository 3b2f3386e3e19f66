"""The platform type against bareline's contract, on the real thing."""

import os

import pytest
from bareline_outside.niced import PLATFORM

from bareline.testing.bench import open_bench
from bareline.testing.platforms import PlatformContract


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """Bring the platform up once for all tests."""
    with open_bench(PLATFORM, tmp_path_factory.mktemp("niced")) as bench:
        yield bench


class TestNiced(PlatformContract):
    """The contract, and the test of an option."""

    def test_programs_are_nice(self, bench):
        lowest = 19
        expected = min(os.nice(0) + 5, lowest)
        assert int(bench.run("nice").stdout) == expected
