"""Where the date of an imported result is from."""

from __future__ import annotations

from enum import StrEnum

#: The fact of a platform that names where the dates of its trials are from.
DATED_FACT = "import.dated"


class DateSource(StrEnum):
    """Where the date of an imported trial is from, the most certain first."""

    OUTPUT = "output"
    GIVEN = "--date"
    COMMIT = "commit"
    FILE = "file"
