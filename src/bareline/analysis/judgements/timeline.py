"""Choose the runs of a history, find runs in it by name, and record accepted changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bareline.analysis.judgements.present import ChangePoint
from bareline.analysis.judgements.trend import Trend
from bareline.analysis.numbers.dates import date_of
from bareline.analysis.numbers.digest import read_digests
from bareline.analysis.numbers.history import RunHistory, history_from
from bareline.analysis.numbers.selection import Selection
from bareline.store.accepted import accept
from bareline.store.naming import distinct_runs, list_runs
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError, StoreError, UsageError

_NAMED = 5


def trend_of(
    paths: Sequence[Path],
    margin: float | None = None,
    asked: Selection | None = None,
    since: Path | int | None = None,
) -> Trend:
    """Return the trend of runs; by default the margin is the latest run's.

    - `since`: the run whose level is the reference: its path, or how many runs it is before the
      latest run.

    Raises AnalysisError: no run is complete, or the reference is not one of the runs.
    """
    digests = read_digests(distinct_runs(paths))
    history = history_from(*digests)
    if margin is None:
        margin = history.runs[-1].margin
    reference = None
    if since is not None:
        reference = _reference_run(history, since)
    return Trend(history, margin, asked or Selection(), reference)


def _reference_run(history: RunHistory, since: Path | int) -> int:
    if isinstance(since, int):
        later = len(history.runs) - 1 - since
        return max(later, 0)
    return find_in_history(history, since)


def find_in_history(history: RunHistory, path: Path) -> int:
    """Return the number of the run with this path or name.

    Raises AnalysisError: the history does not contain the run.
    """
    for number, run in enumerate(history.runs):
        if run.path == path or run.name == str(path):
            return number
    for incomplete in history.incomplete:
        names = (incomplete.path, Path(incomplete.path.name))
        if path in names:
            raise AnalysisError(
                f"the run is not part of the history: {incomplete.why}", where=str(path)
            )
    raise AnalysisError(
        "the path is not one of the runs of this history",
        where=str(path),
        hint=f"the latest runs are {', '.join(run.name for run in history.runs[-3:])}",
    )


def accept_changes(trend: Trend, path: Path, reason: str) -> None:
    """Record in the folder of the runs that the changes at a run were accepted.

    Raises UsageError: there is no reason, or no change at that run.
    Raises AnalysisError: the history does not contain the run.
    """
    if not reason.strip():
        raise UsageError(
            "the reason for the acceptance is empty",
            where="--reason",
            hint="write why the change is accepted",
        )
    number = find_in_history(trend.history, path)
    changes: list[ChangePoint] = []
    for series in trend.series:
        changes += series.changes
    if not any(change.first <= number <= change.last for change in changes):
        runs = sorted({change.at for change in changes})
        hint = "there is no change to accept"
        if runs:
            latest = runs[-_NAMED:]
            names = ", ".join(trend.runs[run].name for run in latest)
            hint = f"the history has changes at {names}"
        raise UsageError(
            "the history has no change at this run",
            where=f"--accept {path}",
            hint=hint,
        )
    accept(trend.runs[number].path, reason)


def latest_at(paths: Sequence[Path]) -> Run | None:
    """Return the result of `latest_of` for the runs at paths; damaged runs are left out.

    Raises StoreError: a run is damaged, and the remaining runs are not a history.
    """
    runs: list[Run] = []
    damaged: list[StoreError] = []
    for path in paths:
        try:
            runs.append(Run.open(path))
        except StoreError as error:
            damaged.append(error)
    latest = latest_of(runs)
    if latest is None and damaged:
        raise damaged[0]
    return latest


def latest_of(runs: Sequence[Run]) -> Run | None:
    """Return the latest run of a history; None if the runs are not a history.

    Runs are a history if at least two of them measured the first run's baseline. Runs of different
    platforms are compared with each other instead.
    """
    again = [run for run in runs if runs[0].header.baseline in run.header.platforms]
    if len(again) < 2:
        return None
    return max(runs, key=lambda run: (date_of(run).moment, run.path.name))


def history_of(runs: Sequence[Run]) -> list[Path]:
    """Return the paths of the runs of a history.

    For a single run, the history consists of the runs in its folder that belong to the same study
    and are not later than this run.
    """
    if len(runs) > 1:
        return [run.path for run in runs]
    latest = runs[0]
    name = latest.header.study["study"]["name"]
    until = date_of(latest).moment
    folder = latest.path.absolute().parent
    paths = []
    for run in list_runs(folder):
        study = run.header.study["study"]["name"]
        if study == name and date_of(run).moment <= until:
            paths.append(run.path)
    return paths
