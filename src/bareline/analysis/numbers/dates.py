"""The date of a run: its start, or the time of measurement of an imported run's outputs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bareline.store.header import is_date
from bareline.store.run import Run
from bareline.vocabulary.dates import DATED_FACT, DateSource


@dataclass(frozen=True, slots=True)
class RunDate:
    """The date on which a run was measured.

    - `text`: the date in ISO 8601, as in the names of run directories.
    - `source`: the least certain source of the dates of imported outputs; "run" for a measured run.
    """

    text: str
    source: str = "run"

    @property
    def is_of_files(self) -> bool:
        """Whether the date is only the timestamp of an imported file, which a copy may change."""
        return self.source == DateSource.FILE

    @property
    def day(self) -> str:
        """The day of the date, such as ``2024-02-05``."""
        return self.text[:10]

    @property
    def moment(self) -> datetime:
        """The date as a `datetime`; a date without a time zone counts as UTC."""
        moment = datetime.fromisoformat(self.text)
        if moment.tzinfo:
            return moment
        return moment.replace(tzinfo=UTC)


def date_of(run: Run) -> RunDate:
    """Return the date of a run: its start, or the start of the first trial of an imported run.

    An imported run whose trials have no dates gets the date of its import.
    """
    if not run.header.imported:
        return RunDate(run.header.created)
    heads = run.heads().values()
    started = [record.started for record in heads]
    texts = [text for text in started if is_date(text)]
    if not texts:
        return RunDate(run.header.created)
    dates = [RunDate(text, _least_certain_source(run)) for text in texts]
    return min(dates, key=lambda date: date.moment)


def _least_certain_source(run: Run) -> DateSource:
    """Return the least certain source of dates among the facts of all platforms."""
    named: set[str] = set()
    for facts in run.facts().values():
        sources = str(facts.get(DATED_FACT, DateSource.FILE))
        named.update(sources.split("; "))
    for source in reversed(DateSource):
        if source in named:
            return source
    return DateSource.FILE
