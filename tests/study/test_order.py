"""The order inside a block: complete, balanced, pairs beside each other."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bareline.study.order import order_block

GRID = [(platform, case) for case in range(5) for platform in range(3)]


def blocks(cells=GRID, count=12, **more):
    return [order_block(cells, seed=7, block=b, **{"kind": "pairs", **more}) for b in range(count)]


@given(
    st.sets(st.tuples(st.integers(0, 4), st.integers(0, 9)), min_size=1),
    st.integers(0, 9),
    st.integers(0, 50),
    st.sampled_from(["pairs", "shuffled"]),
    st.integers(1, 4),
)
def test_every_cell_stands_once(cells, seed, block, kind, turn):
    order = order_block(sorted(cells), seed=seed, block=block, kind=kind, cases_per_turn=turn)
    assert sorted(order) == sorted(cells)
    again = order_block(sorted(cells), seed=seed, block=block, kind=kind, cases_per_turn=turn)
    assert order == again


def test_the_platforms_of_a_case_follow_each_other():
    for order in blocks():
        cases = [case for _, case in order]
        assert [cases[at] for at in range(0, 15, 3)] == [cases[at + 2] for at in range(0, 15, 3)]


def test_every_platform_takes_each_place_equally_often():
    places = Counter()
    for order in blocks():
        for at, (platform, case) in enumerate(order):
            places[platform, case, at % 3] += 1
    assert set(places.values()) == {4}
    assert len(places) == 45


def test_cases_and_turns_differ_between_blocks():
    orders = blocks()
    assert len({tuple(case for _, case in order) for order in orders}) > 8
    first = {tuple(p for p, case in order if case == 0) for order in orders}
    assert len(first) > 2


def test_a_dear_platform_takes_several_cases_at_a_turn():
    cells = [(platform, case) for case in range(6) for platform in range(2)]
    for order in blocks(cells, cases_per_turn=3):
        turns = [platform for platform, _ in order]
        assert sum(a != b for a, b in pairwise(turns)) <= 3
        for start in (0, 6):
            group = order[start : start + 6]
            assert [case for _, case in group[:3]] == [case for _, case in group[3:]]


def test_the_order_of_before_is_kept_for_runs_of_before():
    """As `random.Random("7:0").shuffle` gives it; runs in tests/data were written with it."""
    assert blocks(kind="shuffled")[0] != GRID
    assert sorted(blocks(kind="shuffled")[0]) == sorted(GRID)
