"""The importer against bareline's contract."""

from pathlib import Path

from bareline_outside.timings import IMPORTER

from bareline.testing.importers import ImporterContract


class TestTimings(ImporterContract):
    importer = IMPORTER
    captured = Path(__file__).with_name("timings.out")
