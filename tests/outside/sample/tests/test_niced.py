"""The platform type against bareline's contract, on the real thing."""

import pytest
from bareline_outside.niced import PLATFORM

from bareline.testing.bench import open_bench
from bareline.testing.platforms import PlatformContract


class TestNiced(PlatformContract):
    @pytest.fixture(scope="class")
    def bench(self, tmp_path_factory):
        with open_bench(PLATFORM, tmp_path_factory.mktemp("niced")) as bench:
            yield bench
