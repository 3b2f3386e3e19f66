"""Claims about single trials of one platform: the share of trials in which an event happened.

"TCP's rates vary" and "segments are sent again" are not ratios of two platforms. The share of
trials with this event is computed for a publication that lists its trials, and for a run. The two
shares are compared by their exact intervals, because ten trials determine a share only roughly.
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
    """Return the share of trials in which the claimed event happened; None without trials."""
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

    A single trial shows that the event happens. If the event happens in no trial, the answer is
    "no" only if the run has enough trials to exclude the printed share.
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
