"""The date of a run: when it was begun, or when what it imported had been measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bareline.store.run import Run

#: The fact of an imported platform that names where its dates are from, and its worst value.
_DATED, _FILE = "import.dated", "file"


@dataclass(frozen=True, slots=True)
class RunDate:
    """When a run was measured.

    - `text`: ISO 8601, as run directories have it.
    - `is_of_files`: a part of it is only the time of imported files, which copies lose.
    """

    text: str
    is_of_files: bool = False

    @property
    def day(self) -> str:
        """The day alone: ``2024-02-05``."""
        return self.text[:10]

    @property
    def moment(self) -> datetime:
        """The date as a moment; without a zone it counts as UTC."""
        moment = datetime.fromisoformat(self.text)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def date_of(run: Run) -> RunDate:
    """Return when a run was measured: an import's first trial, else when the run was begun.

    An import of before dates were recorded counts as undated.
    """
    if not run.header.imported:
        return RunDate(run.header.created)
    texts = [record.started for record in run.heads().values()]
    if not texts:
        return RunDate(run.header.created)
    sources = [str(facts.get(_DATED, _FILE)) for facts in run.facts().values()]
    is_of_files = any(_FILE in source.split("; ") for source in sources or [_FILE])
    return RunDate(min(texts, key=lambda text: RunDate(text).moment), is_of_files)
