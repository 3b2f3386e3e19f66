"""Amounts in words."""

import pytest

from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.amounts import ratio_words


@pytest.mark.parametrize(
    ("ratio", "rate", "words"),
    [
        (Estimate(1.0), True, "no difference"),  # not "0 % higher", of what a model gives exactly
        (Estimate(1.0), False, "no difference"),
        (Estimate(1.13), False, "13 % slower, without an interval"),
        (Estimate(1.0, 0.98, 1.02), False, "0 % faster [-2.0, 2.0]"),
        (None, True, "no ratio"),
    ],
)
def test_a_ratio_with_its_interval(ratio, rate, words):
    assert ratio_words(ratio, rate) == words
