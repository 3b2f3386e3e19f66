"""Runs with known true values, for tests of code that reads runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, runner
from bareline.session.variants import with_control
from bareline.store.lines import to_line
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Record, Trial


class SilentObserver:
    """An observer that prints nothing and continues after every failure."""

    def begin(self, planned: int, done: int) -> None: ...

    def note(self, platform: str, text: str) -> None: ...

    def trial(self, trial: Trial, position: int, eta_s: float | None) -> None: ...

    def repeat(self, trial: Trial, number: int, of: int) -> None: ...

    def finished(self, record: Record) -> None: ...

    def skipped(self, count: int, reason: str) -> None: ...

    def failing(self, failure: str) -> bool:
        return True


def planted_run(
    folder: Path,
    platforms: Mapping[str, Mapping[str, Any]] | None = None,
    params: Mapping[str, Any] | None = None,
    **head: Any,
) -> Run:
    """Return a new run on null platforms, whose times come from known distributions.

    - `platforms`: options of null platforms by name; by default two platforms, of which the second
      takes 1.5 times as long.
    - `params`: parameters of the null probe.
    - `head`: keys of the table ``[study]``; with ``control=True``, the first platform is measured a
      second time.
    """
    chosen = platforms or {"a": {}, "b": {"factor": 1.5}}
    tables = {name: {"type": "null", **options} for name, options in chosen.items()}
    specs = list(platforms_from_toml({"platform": tables}, where="planted").values())
    study = study_from_toml(
        {
            "study": {"name": "planted", "launches": 8, "precision": 0, **head},
            "measure": [{"probe": "null", "params": dict(params or {})}],
        },
        where="planted",
    )
    base = specs[0].name
    controlled = with_control(study, specs, base, None)
    run = begin.create_run(
        controlled.study, controlled.platforms, folder, baseline=base, control=controlled.name
    )
    runner.execute(run, SilentObserver())
    return run


def replace_records(run: Run, records: Iterable[Record]) -> None:
    """Replace all records of a run; only tests do this."""
    replace_file(run.path / "records.jsonl", "".join(map(to_line, records)), durable=False)
