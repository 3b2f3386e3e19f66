"""Planned looks: what each spends, and which plans are possible."""

import pytest

from bareline.testing.messages import raises
from bareline.vocabulary.looks import DEFAULT_LOOKS, checked_looks, fewest_blocks, spending


def test_three_looks_spend_two_and_twice_one_and_a_half_percent():
    assert spending(3) == pytest.approx((0.02, 0.015, 0.015))
    assert spending(1) == (0.04,)
    assert spending(0) == ()


def test_at_each_default_look_something_can_be_certain():
    for look, alpha in zip(DEFAULT_LOOKS, spending(3), strict=True):
        assert look >= fewest_blocks(alpha)


@pytest.mark.parametrize(
    ("looks", "code"),
    [
        *((looks, "BL-VOCABULARY-340") for looks in ([], "8", 8, None)),
        *((looks, "BL-VOCABULARY-612") for looks in ([8, 8], [10, 8], [8.5], [True, 9], [8, "10"])),
        *((looks, "BL-VOCABULARY-528") for looks in ([-1, 8], [6, 10], [6, 8, 10])),
    ],
)
def test_impossible_looks_are_refused(looks, code):
    with raises(ValueError, code):
        checked_looks(looks)


def test_one_look_may_come_after_six_blocks():
    assert checked_looks([6]) == (6,)
