"""Sources of the date of an imported result."""

from __future__ import annotations

from enum import StrEnum

#: The fact of a platform with the sources of the dates of its trials.
DATED_FACT = "import.dated"


class DateSource(StrEnum):
    """The source of an imported trial's date; the most certain source comes first."""

    OUTPUT = "output"
    GIVEN = "--date"
    COMMIT = "commit"
    FILE = "file"
