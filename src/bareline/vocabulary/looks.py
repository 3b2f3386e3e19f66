"""Planned looks (interim analyses): when a run may claim differences, and the error of each look.

A run that is tested after every block, and stopped at the first clear difference, is wrong far more
often than promised. A study therefore plans its looks before it measures, and divides the error of
5 % among them: 2, 1.5 and 1.5 % for three looks. A row is certain if it is certain at any planned
look; blocks after the last look make nothing certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from typing_extensions import TypedDict

from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import MIN_LAUNCHES

DEFAULT_LOOKS = (8, 10, 12)
"""The numbers of blocks after which a study looks by default."""

SPENT = 0.05
"""The error of all looks of a run together, if there are several."""
SPENT_AT_ONCE = 0.04
"""The error of a single look, 1 % below the promised 5 %.

The reserve of 1 % is for platforms that share a skewed baseline, for which exchanging names is not
exact. Several looks at growing data already have such a reserve.
"""
_FIRST_SHARE = 0.4
_MINUTE_S = 60.0


class PlannedLook(TypedDict):
    """A planned look (interim analysis) at a run.

    - `blocks`: the number of blocks before the look.
    - `alpha`: the significance level of the look, a part of the whole error of 5 %.
    - `trials`: the number of planned trials before the look.
    - `expected_s`: the time that these trials take; null if nothing is known about it.
    - `reached`: whether the run has reached the look.
    """

    blocks: int
    alpha: float
    trials: int
    expected_s: float | None
    reached: bool


def spending(looks: int) -> tuple[float, ...]:
    """Return the significance level of each look (interim analysis).

    Of the whole error of 5 %, the first look gets 2 %, and all later looks get equal parts of the
    remaining 3 %. A single look gets 4 %.
    """
    if looks <= 1:
        return (SPENT_AT_ONCE,) * looks
    later = SPENT * (1 - _FIRST_SHARE) / (looks - 1)
    return (SPENT * _FIRST_SHARE, *[later] * (looks - 1))


def fewest_blocks(alpha: float) -> int:
    """Return the smallest number of blocks with which a p-value can be at most `alpha`."""
    blocks = MIN_LAUNCHES
    while 2.0 / 2.0**blocks > alpha:
        blocks += 1
    return blocks


def checked_looks(looks: Sequence[int]) -> tuple[int, ...]:
    """Check planned looks (interim analyses), and return them.

    Raises ValueError: the looks are not ascending numbers of blocks, or a look is too early to make
        a difference certain.
    """
    if not isinstance(looks, list | tuple) or not looks:
        raise ValueError("looks must be a list of numbers of blocks, such as [8, 10, 12]")
    whole = all(isinstance(look, int) and not isinstance(look, bool) for look in looks)
    if not whole or any(late <= early for early, late in pairwise(looks)):
        raise ValueError(
            "the numbers of blocks in looks must be whole and ascending, such as [8, 10, 12]"
        )
    for look, alpha in zip(looks, spending(len(looks)), strict=True):
        least = fewest_blocks(alpha)
        if look < least:
            raise ValueError(
                f"looks: the interim analysis after {look} blocks has a significance level of"
                f" {100 * alpha:.2g} %, "
                "at which so few blocks cannot make a difference certain; plan it after"
                f" {least} or more blocks"
            )
    return tuple(looks)


def look_words(look: PlannedLook) -> str:
    """Format a planned look: ``look after 8 blocks (96 trials, about 3 min): 2 % ...``."""
    time_s = look["expected_s"]
    about = "" if time_s is None else f", about {max(1, round(time_s / _MINUTE_S))} min"
    reached = ", reached" if look["reached"] else ""
    trials = count(look["trials"], "trial")
    return (
        f"look after {look['blocks']} blocks ({trials}{about}): "
        f"{100 * look['alpha']:.2g} % of error{reached}"
    )
