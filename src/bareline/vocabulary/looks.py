"""Planned looks: the blocks after which a run may claim differences, and the error of each look.

To look at a run after every block and stop at the first clear difference is wrong far more
often than promised. A study therefore plans its looks before it measures, and the 5 % of the error
are divided among them: 2, 1.5 and 1.5 % for three. A row is certain if it is so at any planned
look; blocks beyond the last look make nothing certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from typing_extensions import TypedDict

from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import MIN_LAUNCHES

DEFAULT_LOOKS = (8, 10, 12)
"""Blocks after which a study looks by default."""

SPENT = 0.05
"""Error of all looks of a run together, if there are several."""
SPENT_AT_ONCE = 0.04
"""Error of a single look: platforms that share a skewed baseline, where exchanging names is not
exact, still keep 5 %. Several looks at data that grow have this reserve by themselves."""
_FIRST_SHARE = 0.4
_MINUTE_S = 60.0


class PlannedLook(TypedDict):
    """A planned look at a run.

    - `blocks`: how many there are before it.
    - `alpha`: the share of the error that it spends.
    - `trials`: how many are planned before it.
    - `expected_s`: time that these take; null where nothing is known of it.
    - `reached`: whether the run has come so far.
    """

    blocks: int
    alpha: float
    trials: int
    expected_s: float | None
    reached: bool


def spending(looks: int) -> tuple[float, ...]:
    """Return the error of each of so many looks: 2 of the 5 % at the first, equal parts later."""
    if looks <= 1:
        return (SPENT_AT_ONCE,) * looks
    later = SPENT * (1 - _FIRST_SHARE) / (looks - 1)
    return (SPENT * _FIRST_SHARE, *[later] * (looks - 1))


def fewest_blocks(alpha: float) -> int:
    """Return the number of blocks from which on exchanges of names can have p at most `alpha`."""
    blocks = MIN_LAUNCHES
    while 2.0 / 2.0**blocks > alpha:
        blocks += 1
    return blocks


def checked_looks(looks: Sequence[int]) -> tuple[int, ...]:
    """Return looks as they were planned.

    Raises ValueError: they are not growing numbers of blocks, or one comes too early to make
    anything certain.
    """
    if not isinstance(looks, list | tuple) or not looks:
        raise ValueError("looks: expected numbers of blocks, such as [8, 10, 12]")
    whole = all(isinstance(look, int) and not isinstance(look, bool) for look in looks)
    if not whole or any(late <= early for early, late in pairwise(looks)):
        raise ValueError("looks: expected growing numbers of blocks, such as [8, 10, 12]")
    for look, alpha in zip(looks, spending(len(looks)), strict=True):
        least = fewest_blocks(alpha)
        if look < least:
            raise ValueError(
                f"looks: nothing can be certain after {look} blocks at the {100 * alpha:.2g} % of "
                f"that look; plan it after {least} or more"
            )
    return tuple(looks)


def look_words(look: PlannedLook) -> str:
    """Return a planned look in words: ``look after 8 blocks (96 trials, about 3 min): 2 % ...``."""
    time_s = look["expected_s"]
    about = "" if time_s is None else f", about {max(1, round(time_s / _MINUTE_S))} min"
    reached = ", reached" if look["reached"] else ""
    trials = count(look["trials"], "trial")
    return (
        f"look after {look['blocks']} blocks ({trials}{about}): "
        f"{100 * look['alpha']:.2g} % of error{reached}"
    )
