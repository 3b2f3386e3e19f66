"""Two separate runs: launches are paired by their order, whatever the spreads of the runs are."""

import numpy as np
import pytest

from bareline.stats import family_wise_p, partnered, within_noise
from bareline.testing.messages import raises
from bareline.vocabulary.looks import fewest_blocks

MARGIN = np.log1p(0.02)


def apart(first, second):
    """Put two runs beside each other: no block has both."""
    rows = first.shape[0]
    values = np.concatenate([first, np.full((rows, second.shape[1]), np.nan)], axis=1)
    baseline = np.concatenate([np.full((rows, first.shape[1]), np.nan), second], axis=1)
    return values, baseline, np.arange(values.shape[1])


def test_launches_are_paired_by_their_order():
    found = partnered(*apart(np.array([[3.0, 5.0]]), np.array([[1.0, 2.0]])))
    np.testing.assert_array_equal(found, [[np.nan, np.nan, 2.0, 3.0]])


def test_of_the_longer_run_launches_that_follow_each_other_are_averaged():
    few, many = np.array([[10.0, 20.0]]), np.array([[1.0, 3.0, 5.0, 7.0]])
    np.testing.assert_array_equal(
        partnered(*apart(few, many)), [[np.nan, np.nan, 8.0, np.nan, 14.0, np.nan]]
    )
    np.testing.assert_array_equal(partnered(*apart(many, few)), [[np.nan] * 4 + [-8.0, -14.0]])


def test_a_boot_is_one_launch():
    values, baseline, _ = apart(np.array([[4.0, 6.0, 8.0]]), np.array([[1.0, 2.0, 4.0]]))
    found = partnered(values, baseline, np.array([0, 0, 1, 2, 3, 3]))
    np.testing.assert_array_equal(found, [[np.nan, np.nan, np.nan, 4.0, 5.0, np.nan]])


def test_a_row_that_lacks_a_launch_lacks_its_pair():
    first = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    found = partnered(*apart(first, np.zeros((2, 3))))[:, 3:]
    np.testing.assert_array_equal(found, [[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])


def test_runs_without_launches_have_no_pairs():
    values, baseline, groups = apart(np.full((2, 3), np.nan), np.zeros((2, 3)))
    assert np.isnan(partnered(values, baseline, groups)).all()
    with raises(ValueError, "BL-STATS-850"):
        partnered(np.zeros((1, 3)), np.zeros((1, 4)), np.arange(3))


def test_twenty_rows_ten_times_slower_are_certain_from_six_launches():
    """Holm's correction of rank tests could decide nothing from 19 rows on."""
    generator = np.random.default_rng(7)
    first, second = 0.05 * generator.standard_normal((2, 60, 6))
    first[:20] += np.log(10)
    p = family_wise_p(partnered(*apart(first, second)), MARGIN)
    assert (p[:20] <= 0.04).all()
    assert (p[20:] > 0.04).all()


@pytest.mark.parametrize("launches", [(6, 6), (6, 12), (12, 6)])
def test_a_run_four_times_as_noisy_claims_nothing(launches):
    """Dealing launches out anew to the runs makes a false claim on one such page in five."""
    generator = np.random.default_rng(launches)
    false = 0
    for _ in range(400):
        first = 0.08 * generator.standard_normal((60, launches[0]))
        second = 0.02 * generator.standard_normal((60, launches[1]))
        p = family_wise_p(partnered(*apart(first, second)), MARGIN)
        false += bool((p <= 0.04).any())
    assert false / 400 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)


def false_share(launches, rows=60, pages=200):
    """Return the share of pages without a difference that pairs, and pairs beyond noise, call one.

    Rare delays (exponential) are four times as wide in one of the two runs, in turn.
    """
    generator = np.random.default_rng([launches, rows])
    kind = np.zeros(rows, dtype=np.int64)
    width = np.where(np.arange(rows) % 2, 0.02, 0.08)[:, None]
    pairs, beyond = 0, 0
    for _ in range(pages):
        first = width * (generator.exponential(1.0, (rows, launches)) - 1)
        second = (0.1 - width) * (generator.exponential(1.0, (rows, launches)) - 1)
        sides = apart(first, second)
        certain = family_wise_p(partnered(*sides), MARGIN) <= 0.04
        pairs += bool(certain.any())
        beyond += bool((certain & ~within_noise(*sides, kind)).any())
    return pairs / pages, beyond / pages


def test_delays_of_unequal_width_make_nothing_certain():
    pairs, beyond = false_share(10)
    assert pairs > 0.2
    assert beyond <= 0.05


def test_a_loss_that_pairs_find_lies_beyond_the_noise():
    generator = np.random.default_rng(3)
    first, second = 0.05 * generator.standard_normal((2, 60, 8))
    first[0] += np.log(1.4)
    within = within_noise(*apart(first, second), np.zeros(60, dtype=np.int64))
    assert not within[0]
    assert within[1:].mean() > 0.9


def test_a_row_that_happens_to_spread_little_has_the_noise_of_its_kind():
    calm = np.array([[0.10, 0.10, 0.10, 0.10]])
    noisy = np.tile([0.0, 0.1, 0.2, 0.3], (4, 1))
    sides = apart(np.concatenate([calm, noisy]), np.zeros((5, 4)))
    assert within_noise(*sides, np.zeros(5, dtype=np.int64))[0]
    assert not within_noise(*sides, np.array([-1, 0, 0, 0, 0]))[0]  # like no other row
    # A kind of one row says nothing of its noise: that of all rows counts.
    assert within_noise(*sides, np.array([1, 0, 0, 0, 0]))[0]


def test_a_row_that_was_not_launched_lies_nowhere():
    sides = apart(np.full((2, 3), np.nan), np.zeros((2, 3)))
    assert not within_noise(*sides, np.zeros(2, dtype=np.int64)).any()


def test_the_fewest_blocks_are_those_whose_exchanges_can_be_rare_enough():
    assert fewest_blocks(0.04) == 6
    assert fewest_blocks(0.04 / 2) == 7
    assert fewest_blocks(0.04 / 8) == 9
