"""Boots: what is shared inside one is averaged, and whole boots are what is exchanged."""

import numpy as np
import pytest

from bareline.stats import collapsed, family_wise_p, grouped, paired_ratio

NONE = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def groups(blocks, *members):
    """Group blocks by (block, boot) pairs of several platforms."""
    at, label, offset = [], [], 0
    for platform in members:
        at += [block for block, _ in platform]
        label += [boot + offset for _, boot in platform]
        offset += 100
    return grouped(blocks, np.array(at, dtype=np.int64), np.array(label, dtype=np.int64)).tolist()


def test_what_boots_nowhere_stands_alone():
    assert grouped(4, *NONE).tolist() == [0, 1, 2, 3]


def test_blocks_of_one_boot_belong_together():
    assert groups(6, [(block, block // 2) for block in range(6)]) == [0, 0, 1, 1, 2, 2]


def test_boots_that_do_not_lie_alike_are_joined():
    """A repair in the middle of an epoch divides nothing; overlapping boots join what they meet."""
    every_two = [(block, block // 2) for block in range(6)]
    repaired = [(0, 1), (1, 2), (2, 3), (3, 3), (4, 4), (5, 4)]
    assert groups(6, every_two, repaired) == [0, 0, 1, 1, 2, 2]
    shifted = [(block, (block + 1) // 2) for block in range(6)]
    assert groups(6, every_two, shifted) == [0] * 6


def test_a_block_in_which_a_platform_came_up_again_joins_both_boots():
    assert groups(4, [(0, 1), (1, 1), (1, 2), (2, 2), (3, 3)]) == [0, 0, 0, 1]


def test_the_mean_of_a_boot_is_of_what_there_is():
    values = np.array([[1.0, 3.0, np.nan, 4.0, np.nan, np.nan]])
    found = collapsed(values, np.array([0, 0, 1, 1, 2, 2]))
    assert found[0, :2].tolist() == [2.0, 4.0] and np.isnan(found[0, 2])
    assert collapsed(values, np.arange(6)) is values


def test_the_order_of_the_groups_is_that_of_their_first_blocks():
    found = collapsed(np.array([5.0, 1.0, 7.0]), grouped(3, np.array([0, 2]), np.array([9, 9])))
    assert found.tolist() == [6.0, 1.0]


def boots_of(every, launches):
    return np.arange(launches) // every


def planted(generator, points, launches, every, *, boot=0.02, noise=0.01):
    groups = boots_of(every, launches)
    shared = boot * generator.standard_normal((points, groups[-1] + 1))[:, groups]
    return shared + noise * generator.standard_normal((points, launches))


@pytest.mark.parametrize("every", [2, 3])
def test_a_ratio_s_interval_holds_the_truth_over_boots(every):
    generator = np.random.default_rng(21)
    launches = 8 * every
    guest = np.exp(planted(generator, 4000, launches, every))
    bare = np.exp(0.01 * generator.standard_normal((4000, launches)))
    by_launch = paired_ratio(guest, bare)
    by_boot = paired_ratio(guest, bare, groups=boots_of(every, launches))
    assert (by_boot.n == 8).all()
    covered = [np.mean((r.lo <= 1) & (r.hi >= 1)) for r in (by_launch, by_boot)]
    assert covered[0] < 0.92
    assert 0.94 < covered[1] < 0.975


def test_names_exchanged_boot_by_boot_keep_the_promise_and_find_a_lone_loss():
    """Twenty cases, two blocks a boot: by launches a third to a half of the pages are false."""
    generator = np.random.default_rng(22)
    groups = boots_of(2, 14)
    false, found, by_launch = 0, 0, 0
    for _ in range(100):
        rows = planted(generator, 20, 14, 2) - 0.01 * generator.standard_normal((20, 14))
        by_launch += bool((family_wise_p(rows, 0.02) <= 0.05).any())
        false += bool((family_wise_p(collapsed(rows, groups), 0.02) <= 0.05).any())
        rows[7] += np.log(1.2)
        found += bool(family_wise_p(collapsed(rows, groups), 0.02)[7] <= 0.05)
    assert by_launch > 10  # what the test is about
    assert false <= 11
    assert found == 100


def test_launches_lost_inside_a_boot_bound_its_mean():
    """A boot with one launch of two lost is at least as slow as its own slowest one says."""
    groups = np.repeat(np.arange(6), 2)
    base = np.ones((1, 12))
    values = np.full((1, 12), 2.0)
    values[0, 1] = np.nan
    beyond = np.zeros((1, 12), dtype=np.int64)
    beyond[0, 1] = 1
    found = paired_ratio(values, base, beyond=beyond, groups=groups)
    assert found.n[0] == 6
    assert found.lo[0] == pytest.approx(2.0)
    assert np.isinf(found.hi[0])
