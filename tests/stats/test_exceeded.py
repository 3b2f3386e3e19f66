"""Launches over a limit, counted: Fisher's test, with shares of boots and with stopping early."""

import numpy as np
import pytest
from scipy.stats import fisher_exact

from bareline.stats import exceedance, holm_of_testable


def side(over, tried, columns=10):
    found = np.full(columns, np.nan)
    found[:tried] = 0.0
    found[:over] = 1.0
    return found


@pytest.mark.parametrize("own", [(6, 8), (5, 6), (3, 3), (2, 2), (8, 8), (1, 8)])
@pytest.mark.parametrize("base", [(0, 8), (0, 6), (0, 10), (8, 8)])
def test_launches_are_counted_as_fisher_counts_them(own, base):
    found = exceedance([side(*own)], [side(*base)])
    table = [[own[0], own[1] - own[0]], [base[0], base[1] - base[0]]]
    if own[1] == base[1] or 0 in (own[0], base[0]):  # where both ways of "as extreme" are one
        one_sided = min(fisher_exact(table, alternative=how)[1] for how in ("less", "greater"))
        assert one_sided * (1 - 1e-9) <= found.p[0]
        assert found.p[0] <= min(1.0, 2 * one_sided) * (1 + 1e-9)
    if own[1] == base[1]:
        assert found.p[0] == pytest.approx(fisher_exact(table)[1])


def test_six_of_eight_against_none_are_certain():
    found = exceedance([side(6, 8)], [side(0, 8)])
    assert found.p[0] == pytest.approx(0.00699, abs=1e-5)
    assert holm_of_testable(found.p, found.least, 0.0125)[0] <= 0.0125


def test_three_of_three_against_none_of_six_are_certain():
    found = exceedance([side(3, 3)], [side(0, 6)])
    assert found.p[0] == pytest.approx(1 / 84)


def test_shares_of_boots_are_exchanged_whole():
    """Two boots of which every launch was lost are two, not eight launches."""
    own, base = np.zeros((1, 6)), np.zeros((1, 6))
    own[0, :2] = 1.0
    assert exceedance(own, base).p[0] > 0.4
    shares = exceedance(np.array([[0.5, 1, 1, 0.5, 1, 1]]), np.array([[0, 0, 0.5, 0, 0, 0]]))
    assert shares.p[0] < 0.01


def test_what_can_never_be_certain_costs_the_others_nothing():
    """One launch lost in each of forty cases: none of them could be certain, whatever its side."""
    rows = [side(6, 8), *[side(1, 8)] * 40]
    found = exceedance(rows, [side(0, 8)] * 41)
    assert (found.least[1:] > 0.0125).all()
    adjusted = holm_of_testable(found.p, found.least, 0.0125)
    assert adjusted[0] == found.p[0] and np.isnan(adjusted[1:]).all()


def test_nothing_lost_and_nothing_tried_are_no_tests():
    found = exceedance([side(0, 8), side(0, 0)], [side(0, 8), side(0, 8)])
    assert np.isnan(found.p).all() and np.isnan(found.least).all()
    assert exceedance(np.empty((0, 4)), np.empty((0, 4))).p.shape == (0,)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.4, 0.6, 0.8])
def test_giving_up_after_three_in_a_row_keeps_the_level(share):
    """Equal platforms, of which a case is given up when three launches in a row were lost."""
    generator = np.random.default_rng(int(100 * share))

    def series():
        lost = (generator.random(10) < share).astype(float)
        for at in range(3, 10):
            if lost[at - 3 : at].all():
                lost[at:] = np.nan
                break
        return lost

    rows = [[series(), series()] for _ in range(3000)]
    found = exceedance([row[0] for row in rows], [row[1] for row in rows])
    assert np.mean(found.p <= 0.0125) <= 0.0125
