"""The package against bareline's contracts."""

from pathlib import Path

import pytest
from bareline_outside.interpreter import PROBE
from bareline_outside.niced import PLATFORM
from bareline_outside.points import EXHIBIT
from bareline_outside.timings import IMPORTER

from bareline.testing.bench import open_bench
from bareline.testing.exhibits import ExhibitContract, planted_document  # noqa: F401 - a fixture
from bareline.testing.importers import ImporterContract
from bareline.testing.platforms import PlatformContract
from bareline.testing.probes import ProbeContract
from bareline.testing.studies import StudyContract

HERE = Path(__file__).parent


class TestInterpreter(ProbeContract):
    probe = PROBE
    captured = HERE / "interpreter.out"


class TestTimings(ImporterContract):
    importer = IMPORTER
    captured = HERE / "timings.out"


class TestPoints(ExhibitContract):
    exhibit = EXHIBIT


class TestOutside(StudyContract):
    name = "outside"


class TestNiced(PlatformContract):
    @pytest.fixture(scope="class")
    def bench(self, tmp_path_factory):
        with open_bench(PLATFORM, tmp_path_factory.mktemp("niced")) as bench:
            yield bench
