"""The kind of exhibit against bareline's contract."""

from bareline_outside.tally import EXHIBIT

from bareline.testing.exhibits import ExhibitContract, planted_document  # noqa: F401 - a fixture


class TestTally(ExhibitContract):
    exhibit = EXHIBIT
