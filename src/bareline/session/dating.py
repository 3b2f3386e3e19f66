"""The date of an imported launch: from its output, from the user, or the timestamp of its file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bareline.vocabulary.dates import DateSource
from bareline.vocabulary.errors import UsageError


@dataclass(frozen=True, slots=True)
class LaunchDate:
    """The time when a launch began, with the source of this date."""

    began: datetime
    source: DateSource

    @property
    def text(self) -> str:
        """The date in the form of records (ISO 8601, UTC)."""
        return self.began.astimezone(UTC).isoformat(timespec="milliseconds")


def launch_date(
    printed: datetime | None,
    given: datetime | None,
    file: Path,
    committed: datetime | None = None,
) -> LaunchDate:
    """Return when a launch began, from the best of several dates.

    - `printed`: the date in the output of the launch, which is the most accurate one.
    - `given`: the date that the user gives for outputs without a date.
    - `file`: the file, whose timestamp is the time when it was last written or copied.
    - `committed`: the date of the measured commit, in a history of commits, which may be measured
      in any order.
    """
    if committed is not None:
        return LaunchDate(committed, DateSource.COMMIT)
    if printed is not None:
        return LaunchDate(printed, DateSource.OUTPUT)
    if given is not None:
        return LaunchDate(given, DateSource.GIVEN)
    try:
        began = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        began = datetime.now(UTC)
    return LaunchDate(began, DateSource.FILE)


def parse_date(text: str) -> datetime:
    """Return the time in a text such as ``2024-02-05T10:30``; in UTC if it has no time zone.

    Raises UsageError: the text is not a date.
    """
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"'{text[:40]}' is not a date",
            where="--date",
            hint="write 2024-02-05, or 2024-02-05T10:30, in UTC",
        ) from error
