"""Judge whether one measured ratio agrees with the words of a claim: its direction and its amount.

Ratios in this module are inverted where necessary, so that a ratio above 1 agrees with the claim.
Amounts are compared on a log scale, on which 4 times is half of 16 times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from bareline.analysis.numbers.row import Estimate

#: On a log scale, a ratio that agrees with a printed effect is at least this share of the effect,
#: and at most the effect divided by this share. Printed effects are rounded, read off plots, and
#: measured on different hardware. False: the effect was printed for different or unknown ranks or
#: nodes.
_SHARE = {True: 0.8, False: 2 / 3}
#: A ratio that is certainly below this share of the effect (on a log scale) contradicts it.
_CONTRADICTED = 0.5


class PrintedFor(StrEnum):
    """Whether the ranks and nodes of a printed effect are measured, not measured or not printed."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    NOT_TOLD = "not told"


class ClaimStatus(StrEnum):
    """Whether a run agrees with a claim of a publication.

    - `WEAKER`: the direction is the same, but the amount is smaller than printed.
    - `STRONGER`: the direction is the same, but the amount is larger than printed.
    - `PARTLY`: the programs disagree; the row shows how many programs vote yes.
    - `GIVEN`: the claimed effect is a parameter of the simulation.
    """

    YES = "yes"
    WEAKER = "weaker"
    STRONGER = "stronger"
    PARTLY = "partly"
    NO = "no"
    CANNOT_TELL = "cannot tell"
    GIVEN = "given"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True, slots=True)
class Effect:
    """The amount of the effect that a claim states.

    - `low`, `high`: the range of the effect as factors; None for an end that the document does not
      print.
    """

    low: float | None
    high: float | None
    at: PrintedFor = PrintedFor.NOT_TOLD

    @property
    def same(self) -> bool:
        """Whether the effect is printed for the ranks and nodes that were measured."""
        return self.at is PrintedFor.HERE

    def over(self, first: Effect) -> Effect:
        """Return the factor by which this effect is larger than the effect `first`."""
        low = None
        if self.low and first.high:
            low = self.low / first.high
        high = None
        if self.high and first.low:
            high = self.high / first.low
        place = self.at
        if self.same:
            place = first.at
        return Effect(low, high, place)


def accepted(effect: Effect) -> tuple[float | None, float | None]:
    """Return the lowest and the highest ratio that agree with an effect; None for an open bound."""
    share = _SHARE[effect.same]
    low = None
    if effect.low and effect.low > 1:
        low = effect.low**share
    high = None
    if effect.high and effect.high > 1:
        high = effect.high ** (1 / share)
    return low, high


def judge(
    toward: Estimate, effect: Effect | None, *, margin: float, ties: bool = False
) -> ClaimStatus:
    """Judge a claim that requires a ratio above 1.

    - `effect`: the amount that the document states; None if it states only a direction.
    - `margin`: a ratio up to 1 + margin counts as equal to 1.
    - `ties`: a ratio equal to 1 also satisfies the claim: the "fastest" platform may be as fast as
      another.
    """
    lo, hi = _ends_of(toward)
    equal = 1 + margin
    if ties:
        return _judge_tie(lo, hi, 1 / equal)
    if effect is not None and effect.low is None and effect.high is not None:
        return _judge_limit(lo, hi, effect.high * equal)
    if effect is not None and effect.at is PrintedFor.ELSEWHERE and lo <= 1 <= hi * equal:
        # Being equal here does not contradict a loss on more nodes.
        return ClaimStatus.CANNOT_TELL
    if hi <= equal:
        # A ratio that is certainly at most equal within the margin contradicts the claim.
        return ClaimStatus.NO
    if effect is None:
        if lo > 1:
            return ClaimStatus.YES
        return ClaimStatus.CANNOT_TELL
    contradicted = effect.low is not None and hi * equal < effect.low**_CONTRADICTED
    if lo <= 1 or (contradicted and effect.at is not PrintedFor.ELSEWHERE):
        if contradicted:
            return ClaimStatus.NO
        return ClaimStatus.CANNOT_TELL
    return _judge_amount(lo, hi, effect, equal)


def judge_equality(toward: Estimate, within: float) -> ClaimStatus:
    """Judge a claim that requires a ratio from 1 / `within` to `within`, i.e. about 1."""
    lo, hi = _ends_of(toward)
    if 1 / within <= lo and hi <= within:
        return ClaimStatus.YES
    apart = lo > within or hi < 1 / within
    if apart:
        return ClaimStatus.NO
    return ClaimStatus.CANNOT_TELL


def _ends_of(toward: Estimate) -> tuple[float, float]:
    """Return the ends of an interval: 0 and infinity for open ends."""
    lo = 0.0
    if toward.lo is not None:
        lo = toward.lo
    if toward.hi is None:
        hi = math.inf
    else:
        hi = toward.hi
    return lo, hi


def _judge_tie(lo: float, hi: float, least: float) -> ClaimStatus:
    """Judge a claim that requires a ratio of at least `least`."""
    if hi < least:
        return ClaimStatus.NO
    if lo >= least:
        return ClaimStatus.YES
    return ClaimStatus.CANNOT_TELL


def _judge_amount(lo: float, hi: float, effect: Effect, equal: float) -> ClaimStatus:
    """Judge the amount of a ratio that is certainly in the direction of an effect."""
    least, most = accepted(effect)
    if least is not None and hi * equal < least:
        return ClaimStatus.WEAKER
    if most is not None and lo > equal * most:
        return ClaimStatus.STRONGER
    return ClaimStatus.YES


def _judge_limit(lo: float, hi: float, limit: float) -> ClaimStatus:
    """Judge a ratio for which the document prints only an upper bound ("at most 10 % less")."""
    if hi <= limit:
        return ClaimStatus.YES
    if lo > limit:
        return ClaimStatus.STRONGER
    return ClaimStatus.CANNOT_TELL
