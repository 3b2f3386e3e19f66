"""The computing time of a rank in a period, as a function of the number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bareline.predict.scaling.laws import SizeTable, fitted
from bareline.profile.period import ProgramPeriod

#: The least time of computing, by which errors are divided.
_LEAST_S = 1e-12


@dataclass(frozen=True, slots=True)
class Computing:
    """The computing time of a rank in a period, by the number of ranks p: a/p, or a + b/p.

    - `error`: the largest relative error at a profiled number of ranks that is predicted from the
      other profiles; None if there are too few profiles to leave one out.
    """

    fixed_s: float
    shared_s: float
    source: str
    error: float | None

    def at(self, ranks: int) -> float:
        """Return the computing time of a rank if there are `ranks` ranks, in s."""
        return max(0.0, self.fixed_s + self.shared_s / ranks)


def computing(periods: Sequence[ProgramPeriod]) -> Computing:
    """Return the law of computing time, fitted to the profiles whose ranks had a core each.

    If the ranks of every profile shared cores, the law is fitted to all profiles.
    """
    chosen = [period for period in periods if not period.shared] or list(periods)
    names = ", ".join(str(period.ranks) for period in chosen)
    source = f"computing as profiled on {names} ranks, a core each"
    if chosen[0].shared:
        source = f"computing as profiled on {names} ranks that shared cores, which it is not to be"
    ranks = np.array([period.ranks for period in chosen], float)
    times_s = np.maximum([period.compute_s for period in chosen], _LEAST_S)
    ones = np.ones(len(chosen))
    # Weighted by the times, so that errors are shares.
    columns = np.stack([1 / ranks, ones], axis=1) / times_s[:, None]
    table = SizeTable(ranks, columns, ones)
    terms = 2 if len(chosen) > 2 else 1
    fit = fitted(columns[:, :terms], table)
    if fit.factors.min() < 0:  # a part of a time cannot be negative
        fit = fitted(columns[:, :1], table)
    shared_s = float(fit.factors[0])
    fixed_s = float(fit.factors[1]) if len(fit.factors) > 1 else 0.0
    return Computing(fixed_s, shared_s, source, max(fit.errors, default=None))
