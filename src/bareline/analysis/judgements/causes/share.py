"""Shares: extra times divided by the baseline's time, which can be added.

This module has all arithmetic of causes. An operation takes `1` on the baseline and `1 + extra` on
the platform; `extra` is the sum of the shares of its terms and of an unexplained rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bareline.analysis.numbers.row import Estimate


@dataclass(frozen=True, slots=True)
class Share:
    """An extra time divided by the baseline's time (0.5: 50 % longer), and its bounds."""

    value: float
    lo: float
    hi: float

    @classmethod
    def of(cls, ratio: Estimate) -> Share:
        """Return a ratio of times minus 1: the extra time as a share of the baseline's time.

        A ratio without an interval is exact, for example a model's result.
        """
        if ratio.lo is None and ratio.hi is None:
            return cls.exactly(ratio.value - 1)
        if ratio.lo is None:
            lo = ratio.value
        else:
            lo = ratio.lo
        if ratio.hi is None:
            hi = float("inf")
        else:
            hi = ratio.hi
        return cls(ratio.value - 1, lo - 1, hi - 1)

    @classmethod
    def exactly(cls, value: float) -> Share:
        """Return a share without uncertainty."""
        return cls(value, value, value)

    @classmethod
    def at_most(cls, hi: float) -> Share:
        """Return a share between 0 and a bound; its value is the bound."""
        return cls(hi, 0.0, hi)

    @classmethod
    def within(cls, lo: float, value: float, hi: float) -> Share:
        """Return a share with these bounds; a value outside is moved to the nearer bound."""
        return cls(min(max(value, lo), hi), lo, hi)

    def __add__(self, other: Share) -> Share:
        return Share(self.value + other.value, self.lo + other.lo, self.hi + other.hi)

    def less(self, other: Share) -> Share:
        """Return this share minus another; the bounds are valid even if both shares are dependent.

        An infinite upper bound of `other` makes the lower bound infinite.
        """
        if other.hi == float("inf"):
            lo = -float("inf")
        else:
            lo = self.lo - other.hi
        return Share(self.value - other.value, lo, self.hi - other.lo)

    def times(self, factor: float) -> Share:
        """Return the share multiplied by a factor above 0."""
        return Share(self.value * factor, self.lo * factor, self.hi * factor)

    def negated(self) -> Share:
        """Return the share with the opposite sign: a gain becomes a loss."""
        return Share(-self.value, -self.hi, -self.lo)

    def capped(self, most: Share) -> Share:
        """Return this share limited to the size of another share."""
        room = max(0.0, most.hi)
        hi = min(self.hi, room)
        lo = min(self.lo, hi)
        usual_room = max(0.0, most.value)
        value = min(self.value, usual_room)
        return Share.within(lo, value, hi)

    def without_gain(self) -> Share:
        """Return this share with negative values replaced by 0."""
        return Share(
            value=max(0.0, self.value),
            lo=max(0.0, self.lo),
            hi=max(0.0, self.hi),
        )

    def holds(self, value: float, margin: float) -> bool:
        """Whether a value is within the bounds, or outside by no more than a margin."""
        return self.lo - margin <= value <= self.hi + margin


NOTHING = Share.exactly(0.0)


def total(shares: Iterable[Share]) -> Share:
    """Return the sum of some shares."""
    return sum(shares, NOTHING)
