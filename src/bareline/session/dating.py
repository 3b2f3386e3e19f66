"""When an imported launch was made: by its output, by the user, or by the time of its file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bareline.vocabulary.dates import DateSource
from bareline.vocabulary.errors import UsageError


@dataclass(frozen=True, slots=True)
class LaunchDate:
    """When a launch began, and where that is from."""

    began: datetime
    source: DateSource

    @property
    def text(self) -> str:
        """The date as records have it (ISO 8601, UTC)."""
        return self.began.astimezone(UTC).isoformat(timespec="milliseconds")


def launch_date(
    printed: datetime | None,
    given: datetime | None,
    file: Path,
    committed: datetime | None = None,
) -> LaunchDate:
    """Return when a launch began.

    - `committed`: when the commit that it measured was made, in a history of commits, which may be
      measured in any order.
    - `printed`: printed in its output, which is nearest to the truth.
    - `given`: given by the user for outputs without a date.
    - `file`: dated when it was last written, or copied.
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
    """Return the moment that ``2024-02-05`` or ``2024-02-05T10:30`` names, in UTC without a zone.

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
