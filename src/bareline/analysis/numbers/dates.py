"""The date of a run: when it was begun, or when the outputs that it imported were measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bareline.store.header import is_date
from bareline.store.run import Run
from bareline.vocabulary.dates import DATED_FACT, DateSource


@dataclass(frozen=True, slots=True)
class RunDate:
    """When a run was measured.

    - `text`: ISO 8601, as run directories have it.
    - `source`: the least certain of the sources of its outputs' dates, or "run" for a measured run.
    """

    text: str
    source: str = "run"

    @property
    def is_of_files(self) -> bool:
        """Whether a part of it is only the time of imported files, which copies lose."""
        return self.source == DateSource.FILE

    @property
    def day(self) -> str:
        """The day alone: ``2024-02-05``."""
        return self.text[:10]

    @property
    def moment(self) -> datetime:
        """The date as a moment; without a zone it counts as UTC."""
        moment = datetime.fromisoformat(self.text)
        if moment.tzinfo:
            return moment
        return moment.replace(tzinfo=UTC)


def date_of(run: Run) -> RunDate:
    """Return when a run was measured: an import's first trial, else when the run was begun.

    An import of before dates were recorded counts as undated.
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
    """Return the least certain source that any platform names for its dates."""
    named: set[str] = set()
    for facts in run.facts().values():
        sources = str(facts.get(DATED_FACT, DateSource.FILE))
        named.update(sources.split("; "))
    for source in reversed(DateSource):
        if source in named:
            return source
    return DateSource.FILE
