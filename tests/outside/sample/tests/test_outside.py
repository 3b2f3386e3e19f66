"""The study against bareline's contract."""

from bareline.testing.studies import StudyContract


class TestOutside(StudyContract):
    name = "outside"
