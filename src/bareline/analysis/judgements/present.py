"""The present level of a series compared with a reference level, for conditions on a history.

By default the reference is the level directly before the latest change that was not accepted. If
the user names a run, the reference is the level of that run. If a change after that run was
accepted, the reference is the level after the accepted change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bareline import stats
from bareline.analysis.numbers.row import Estimate, finite
from bareline.store.accepted import Acceptance
from bareline.vocabulary.verdicts import Grade, Verdict


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """A change of the level of a series.

    - `at`: the number of the first run of the new level.
    - `first`, `last`: the 95 % interval of `at`.
    - `ratio`: the level directly after the change divided by the level directly before it, with a
      95 % interval over runs; above 1 is worse.
    - `p`: the probability that one analysis of all series finds a change as large as this although
      nothing changed.
    - `changed`: facts of the platform that changed near run `at`: name, value before, value after.
    """

    at: int
    first: int
    last: int
    ratio: Estimate
    verdict: Verdict
    grade: Grade
    p: float
    changed: tuple[tuple[str, str, str], ...] = ()
    accepted: Acceptance | None = None

    @property
    def is_open(self) -> bool:
        """Whether the change is certain and was not accepted."""
        return self.grade is Grade.CERTAIN and self.accepted is None


@dataclass(frozen=True, slots=True)
class Present:
    """The level of the latest runs compared with the level of the run number `reference`.

    - `verdict`: None if the levels are not known to differ.
    - `ratio`: the present level divided by the reference level; above 1 is worse.
    - `change`: the last change between the two levels.
    """

    verdict: Verdict | None
    ratio: Estimate
    reference: int
    change: ChangePoint


def present_state(
    values: Sequence[float | None],
    changes: Sequence[ChangePoint],
    *,
    better: str,
    margin: float,
    since: int | None = None,
    drifts: bool = False,
) -> Present | None:
    """Return the present level and its reference; None if there is no change between them.

    - `values`: one value per run.
    - `changes`: the changes that count, in the order of the runs.
    - `since`: the number of the run whose level is the reference; None for the default.
    - `drifts`: whether the level also moves between changes; the ratio of two neighbouring levels
      is then the ratio directly at the change between them.
    """
    reference = _reference(changes, since)
    if reference is None:
        return None
    cuts = [0, *(change.at for change in changes), len(values)]
    level = max(number for number, cut in enumerate(cuts[:-1]) if cut <= reference)
    if level == len(changes):
        return None
    values_of_level = values[cuts[level] : cuts[level + 1]]
    old = _logs(values_of_level)
    latest_values = values[cuts[-2] :]
    new = _logs(latest_values)
    if not old.size or not new.size:
        return None
    if better == "lower":
        change_of_level = stats.level_ratio(old, new)
    else:
        change_of_level = stats.level_ratio(new, old)
    lo = finite(change_of_level.lo)
    hi = finite(change_of_level.hi)
    ratio = Estimate(change_of_level.value, lo, hi)
    adjacent = level == len(changes) - 1
    if adjacent and drifts:
        ratio = changes[-1].ratio
    verdict = changes[-1].verdict if adjacent else _verdict(ratio, margin)
    return Present(verdict, ratio, reference, changes[-1])


def _reference(changes: Sequence[ChangePoint], since: int | None) -> int | None:
    """Return the number of a run with the reference level; None if all changes are accepted."""
    accepted = []
    for change in changes:
        if change.accepted is not None:
            accepted.append(change.at)
    if since is not None:
        return max([since, *accepted])
    unaccepted = [change for change in changes if change.accepted is None]
    if not unaccepted:
        return None
    return max(unaccepted[-1].at - 1, 0)


def _logs(values: Sequence[float | None]) -> np.ndarray:
    positive = [value for value in values if value is not None and value > 0]
    return np.log(positive)


def _verdict(ratio: Estimate, margin: float) -> Verdict | None:
    """Return how the present level differs from a reference level that is several changes older.

    The result is None if unsure.
    """
    if ratio.lo is None:
        lo = ratio.value
    else:
        lo = ratio.lo
    if ratio.hi is None:
        hi = ratio.value
    else:
        hi = ratio.hi
    if lo > 1 and ratio.value > 1 + margin:
        return Verdict.SLOWER
    if hi < 1 and ratio.value < 1 / (1 + margin):
        return Verdict.FASTER
    return None
