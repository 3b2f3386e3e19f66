"""Claims about single trials of one platform: the number of trials in which something happened.

"TCP's rates vary" and "segments are sent again" are not ratios of two platforms. A publication that
lists its trials prints the share of trials in which it happened, and a run has its own share. The
two shares are compared by their exact intervals, because ten trials determine a share only roughly.
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
    """Return in how many trials the checked event happened; None without any trial."""
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
    """Judge whether an event happens as often as in the trials that a publication lists.

    A single trial shows that the event happens. If it happens in no trial, the run must have enough
    trials to exclude the printed share.
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
