"""Claims about the single trials of one platform: how many of them something happened in.

"TCP's rates vary" and "segments are sent again" are no ratios of two platforms. A publication that
lists its trials prints their share, and a run has one of its own; both are compared with their
exact intervals, since ten trials say little about a share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from bareline.analysis.judgements.wording import ClaimStatus
from bareline.published.findings import ClaimCheck
from bareline.stats.proportion import Proportion

#: The values of the trials of a platform for a check, a sequence for each case and point.
TrialValues = Callable[[str, ClaimCheck], Sequence[Sequence[float]]]


def proportion_of(check: ClaimCheck, groups: Iterable[Sequence[float]]) -> Proportion | None:
    """Count the trials that a check is about; None without any trial."""
    hits = 0
    n = 0
    for values in groups:
        hits += _hits(check, values)
        n += len(values)
    if n:
        return Proportion(hits, n)
    return None


def _hits(check: ClaimCheck, values: Sequence[float]) -> int:
    if check.below is None:
        return sum(value > 0 for value in values)
    middle = median(values)
    limit = float(check.below) * middle
    return sum(value < limit for value in values)


def judge_proportion(here: Proportion, printed: Proportion) -> ClaimStatus:
    """Judge whether something happens in as many trials as a publication lists.

    A single trial shows that it happens; without any, the run must have enough trials to exclude
    the printed share.
    """
    low, high = here.interval()
    printed_low, printed_high = printed.interval()
    if here.hits == 0:
        if high < printed.share:
            return ClaimStatus.NO
        return ClaimStatus.CANNOT_TELL
    if high < printed_low:
        return ClaimStatus.WEAKER
    if low > printed_high:
        return ClaimStatus.STRONGER
    return ClaimStatus.YES
