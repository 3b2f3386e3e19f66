"""The decision table: which rule decides a row, and how sure it is."""

import numpy as np
import pytest

from bareline.analysis.judgements.decide import RowEvidence, decide
from bareline.vocabulary.verdicts import DecisionRule, Grade, Verdict


def decision(floor=1.0, **attributes):
    """Decide one row that is 20 % slower and likely so, unless `attributes` say otherwise."""
    values = {
        "refused": False, "failed": False, "skipped": False, "left_out": False, "empty": False,
        "directed": True, "lost": 0, "lost_sure": False, "only_lost": False, "interval": 1,
        "beyond_margin": True, "equal": False, "n": 6, "ratio": 1.2, "p": 0.5, "q": 0.5,
        "q_rest": 0.04, "few_boots": False, **attributes,
    }  # fmt: skip
    row = RowEvidence(**{name: np.array([value]) for name, value in values.items()})
    result = decide(row, floor)
    return result.verdicts[0], result.grades[0], result.rules[0]


LIKELY = (Verdict.SLOWER, Grade.LIKELY, DecisionRule.DISCOVERY_RATE)
CERTAIN = (Verdict.SLOWER, Grade.CERTAIN, DecisionRule.FAMILY_TEST)
OPEN = (Verdict.INCONCLUSIVE, Grade.OPEN, DecisionRule.BOUND)


def test_an_interval_that_reaches_into_the_margin_is_not_likely():
    """Beside many certain rows, those that noise makes look different differ by little."""
    assert decision() == LIKELY
    assert decision(beyond_margin=False) == OPEN
    assert decision(beyond_margin=False, p=0.03, q=0.03) == CERTAIN


def test_many_launches_ask_for_a_smaller_rate():
    assert decision(n=7) == LIKELY
    assert decision(n=8) == OPEN
    assert decision(n=8, q_rest=0.02) == LIKELY
    # With few boots no row is certain, so that all that differ are among the likely ones.
    assert decision(n=8, few_boots=True) == LIKELY
    assert decision(n=8, few_boots=True, p=0.001, q=0.001) == LIKELY


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"refused": True}, (Verdict.NOT_COMPARABLE, Grade.NOT_COMPARABLE, DecisionRule.REFUSED)),
        ({"failed": True}, (Verdict.FAILED, Grade.FAILED, DecisionRule.FAILED)),
        ({"skipped": True}, (Verdict.SKIPPED, Grade.MISSING, DecisionRule.SKIPPED)),
        ({"left_out": True}, (Verdict.DOES_NOT_FIT, Grade.MISSING, DecisionRule.DOES_NOT_FIT)),
        ({"empty": True}, (Verdict.MISSING, Grade.MISSING, DecisionRule.MISSING)),
        ({"directed": False}, (None, None, DecisionRule.NO_DIRECTION)),
        ({"lost": -1, "p": 0.01}, (Verdict.FASTER, Grade.CERTAIN, DecisionRule.LAUNCHES_LOST)),
        ({"lost": 1}, (Verdict.SLOWER, Grade.LIKELY, DecisionRule.LAUNCHES_LOST)),
        (
            {"lost": 1, "only_lost": True, "empty": True},
            (Verdict.SLOWER, Grade.LIKELY, DecisionRule.LAUNCHES_LOST),
        ),
        ({"p": 0.01, "q": 0.01}, CERTAIN),
        ({"p": 0.01, "q": 0.01, "interval": 0}, OPEN),
        (
            {"interval": 0, "beyond_margin": False, "equal": True},
            (Verdict.EQUIVALENT, Grade.EQUAL, DecisionRule.EQUAL),
        ),
        ({"p": np.nan, "q": np.nan, "q_rest": np.nan}, OPEN),
    ],
)
def test_the_first_rule_that_holds_decides(attributes, expected):
    assert decision(**attributes) == expected


def test_what_is_no_larger_than_the_floor_of_the_control_is_open():
    within = (Verdict.INCONCLUSIVE, Grade.OPEN, DecisionRule.WITHIN_CONTROL)
    assert decision(1.3) == within
    assert decision(1.3, p=0.001, q=0.001) == within
    assert decision(1.1) == LIKELY
    assert decision(1.3, lost=1)[1] is Grade.LIKELY
