"""Find facts, and versions of bareline, that changed in the same runs as a metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.digest import RunDigest
from bareline.vocabulary.model import Scalar

#: Facts that differ in every run do not explain a step.
_PASSING = ("time.", "import.dated", "host.boot", "load", "steal")
#: A fact that changes in more than this share of the runs does not explain a step either, unless it
#: changes only a few times.
_OFTEN_SHARE = 1 / 3
_SELDOM = 2

FactChange = tuple[str, str, str]
"""The name of a fact, its value before a change and its value after the change."""


def nearby_changes(
    runs: Sequence[RunDigest], platform: str, first: int, last: int
) -> tuple[FactChange, ...]:
    """Return the facts that changed in the runs from `first` to `last`.

    The new level of a metric begins in one of these runs. If a run has no value of a fact, a change
    of this fact is only known to be between the two nearest runs with a value. Facts that change
    often are left out.
    """
    nearby = []
    often = _OFTEN_SHARE * len(runs)
    most_changes = max(_SELDOM, often)
    values_of_facts = _values_of_runs(runs, platform)
    for name, values in values_of_facts.items():
        changes = list(_changes(values))
        if name.startswith(_PASSING):
            continue
        if len(changes) > most_changes:
            continue
        for before, after in changes:
            if before < last and after >= first:
                nearby.append((name, str(values[before]), str(values[after])))
    return tuple(nearby)


def _values_of_runs(runs: Sequence[RunDigest], platform: str) -> dict[str, Sequence[Scalar | None]]:
    """Return the value of each fact of a platform in each run, and of bareline's version."""
    facts = [run.facts.get(platform, {}) for run in runs]
    values: dict[str, Sequence[Scalar | None]] = {}
    names = set().union(*facts)
    for name in sorted(names):
        values[name] = [facts_of_run.get(name) for facts_of_run in facts]
    values["bareline"] = [run.version for run in runs]
    return values


def _changes(values: Sequence[Scalar | None]) -> Iterator[tuple[int, int]]:
    """Yield for each change the last run with the old value and the first with the new value."""
    latest: int | None = None
    for run, value in enumerate(values):
        if value is None:
            continue
        if latest is not None and values[latest] != value:
            yield latest, run
        latest = run
