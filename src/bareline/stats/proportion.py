"""The share of trials in which an event occurred, with its exact interval.

References
----------
C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of
the binomial, Biometrika 26 (1934) 404-413, doi:10.1093/biomet/26.4.404.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, fsum

#: Halvings of an interval from 0 to 1 until its ends are the same number.
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Proportion:
    """The number of trials in which an event occurred, out of `n` trials; `n` is at least 1."""

    hits: int
    n: int

    @property
    def share(self) -> float:
        """The share of the trials in which the event occurred."""
        return self.hits / self.n

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of the share, which is exact for every `n`."""
        tail = (1.0 - confidence) / 2.0
        low = 0.0
        if self.hits > 0:
            low = _crossing(lambda p: _at_least(self.hits, self.n, p) >= tail)
        high = 1.0
        if self.hits < self.n:
            high = _crossing(lambda p: 1.0 - _at_least(self.hits + 1, self.n, p) <= tail)
        return low, high


def _at_least(k: int, n: int, p: float) -> float:
    """Return P(K >= k) of Binomial(n, p)."""
    return fsum(comb(n, i) * p**i * (1.0 - p) ** (n - i) for i in range(k, n + 1))


def _crossing(is_above: Callable[[float], bool]) -> float:
    """Return the least probability for which `is_above` is true; below it, `is_above` is false."""
    low = 0.0
    high = 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if is_above(middle):
            high = middle
        else:
            low = middle
    return high
