"""The cost of messages, which explanations and predictions read off in one place."""

import numpy as np
import pytest

from bareline.analysis.numbers.messages import beyond_start, start_of, time_at, tree_steps

SIZES = [8, 1024, 4096]
TIMES = [1e-6, 2e-6, 5e-6]


@pytest.mark.parametrize(
    ("size", "time_s"),
    [(0, 1e-6), (8, 1e-6), (516, 1.5e-6), (1024, 2e-6), (2560, 3.5e-6), (4096, 5e-6)],
)
def test_a_time_lies_on_the_line_between_two_measured_sizes(size, time_s):
    assert time_at(SIZES, TIMES, size) == pytest.approx(time_s)
    assert time_at(np.array(SIZES, float), np.array(TIMES), size) == pytest.approx(time_s)
    assert beyond_start(SIZES, TIMES, size) == pytest.approx(time_s - 1e-6)


def test_beyond_the_largest_size_the_last_line_goes_on_and_never_falls():
    assert time_at(SIZES, TIMES, 7168) == pytest.approx(8e-6)
    assert time_at(SIZES, [3e-6, 2e-6, 1e-6], 1 << 20) == pytest.approx(1e-6)
    assert time_at([64], [3e-6], 1 << 20) == start_of([3e-6]) == 3e-6


@pytest.mark.parametrize(("ranks", "steps"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6)])
def test_a_tree_has_the_steps_of_its_depth(ranks, steps):
    assert tree_steps(ranks) == steps
