"""Claims about single trials: planted trials have the verdicts written beforehand."""

from __future__ import annotations

from decimal import Decimal

import pytest

from bareline.analysis.judgements.trial_claims import judge_proportion, proportion_of
from bareline.analysis.judgements.wording import ClaimStatus
from bareline.published.findings import ClaimCheck
from bareline.stats.proportion import Proportion
from bareline.testing.messages import raises


def check_of(metric: str, below: str | None = None) -> ClaimCheck:
    return ClaimCheck(
        kind="trials",
        probe=["net.nuttcp"],
        metric=metric,
        platform="bare-bare",
        below=None if below is None else Decimal(below),
        printed=["nuttcp-bare-bare"],
    )


def test_trials_far_below_the_median_are_counted_in_each_case() -> None:
    check = check_of("rate", "0.9")
    slow_start = [4.4, 8.0, 9.4, 9.4, 9.3]
    # A case of its own has a median of its own: nothing of it is slow.
    assert proportion_of(check, [slow_start, [1.0, 1.01, 0.95]]) == Proportion(2, 8)
    assert proportion_of(check, []) is None


def test_trials_with_a_count_are_counted() -> None:
    assert proportion_of(check_of("retransmissions"), [[0, 733, 208, 0]]) == Proportion(2, 4)


@pytest.mark.parametrize(
    ("here", "printed", "status"),
    [
        (Proportion(2, 10), Proportion(2, 10), ClaimStatus.YES),
        (Proportion(1, 10), Proportion(2, 10), ClaimStatus.YES),
        # Ten trials without any do not exclude two of ten, forty do.
        (Proportion(0, 10), Proportion(2, 10), ClaimStatus.CANNOT_TELL),
        (Proportion(0, 40), Proportion(2, 10), ClaimStatus.NO),
        (Proportion(1, 400), Proportion(4, 10), ClaimStatus.WEAKER),
        (Proportion(40, 40), Proportion(4, 10), ClaimStatus.STRONGER),
    ],
)
def test_verdicts(here: Proportion, printed: Proportion, status: ClaimStatus) -> None:
    assert judge_proportion(here, printed) is status


def test_checks_of_trials_name_no_other_platform() -> None:
    with raises(ValueError, "BL-PUBLISHED-875", "against"):
        ClaimCheck(**{**check_of("rate").model_dump(), "against": ["peak"]})
    with raises(ValueError, "BL-PUBLISHED-769"):
        ClaimCheck(**{**check_of("rate").model_dump(), "printed": []})
