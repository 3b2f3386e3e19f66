import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.report.figures.scales import (
    count_ticks,
    dodge,
    log_ticks,
    ratio_ticks,
    size_ticks,
    unit_scale,
    zero_ticks,
)
from bareline.vocabulary.units import plain, whole


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.345, "12.3"),
        (0.012345, "0.0123"),
        (9996.0, "10\u202f000"),
        (12345.0, "12\u202f300"),
        (1234567.0, "1\u202f230\u202f000"),
        (1.0, "1.00"),
        (0, "0"),
        (float("nan"), "–"),
    ],
)
def test_numbers_have_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert plain(value) == text


def test_counts_are_exact() -> None:
    assert whole(2) == "2"
    assert whole(1_000_000) == "1\u202f000\u202f000"
    assert whole(2.5) == "2.5"


def test_message_sizes_have_the_usual_ticks() -> None:
    ticks = size_ticks([1, 8, 4 << 20, 32 << 20])
    assert ticks.labels == ("1\u00a0B", "64\u00a0B", "4\u00a0KiB", "256\u00a0KiB", "16\u00a0MiB")


def test_few_message_sizes_still_have_ticks() -> None:
    ticks = size_ticks([8, 16, 32, 512])
    assert len(ticks.values) >= 3
    assert all(8 <= value <= 512 for value in ticks.values)


def test_one_unit_for_a_span_of_decades() -> None:
    assert unit_scale([1e-6, 12e-3], "s").unit == "µs"
    assert unit_scale([1e6, 1e10], "B/s").unit == "MB/s"
    assert unit_scale([None, 0.0], "1").unit == ""


def test_ticks_that_read_alike_are_never_drawn() -> None:
    for low, high in ((1.0, 1.3), (9.5, 10.5), (0.012, 0.013), (1, 5000), (3, 8)):
        ticks = log_ticks([low, high])
        assert len(set(ticks.labels)) == len(ticks.labels) >= 2
        assert all(ticks.domain[0] <= value <= ticks.domain[1] for value in ticks.values)


@settings(deadline=None)
@given(st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=8))
def test_log_axes_hold_their_values(values: list[float]) -> None:
    ticks = log_ticks(values)
    assert ticks.domain[0] < min(values) and max(values) < ticks.domain[1]
    for value, label in zip(ticks.values, ticks.labels, strict=True):
        shown = float(label.replace("\u202f", ""))
        assert math.isclose(shown, value, rel_tol=1e-6)


@settings(deadline=None)
@given(st.lists(st.floats(1e-3, 1e4), max_size=6))
def test_ratio_axes_hold_one(values: list[float]) -> None:
    ticks = ratio_ticks(values)
    assert ticks.domain[0] < 1 < ticks.domain[1]
    assert 1.0 in ticks.values
    assert all(ticks.domain[0] <= value <= ticks.domain[1] for value in values)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1e12), max_size=6))
def test_bars_start_at_zero(values: list[float]) -> None:
    ticks = zero_ticks(values)
    assert ticks.domain[0] == 0
    assert max(values, default=0) <= ticks.domain[1]


def test_ranks_are_the_ticks() -> None:
    assert count_ticks([2, 4, 8]).labels == ("2", "4", "8")


@settings(deadline=None)
@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.floats(0, 180), max_size=8),
    st.floats(8, 16),
)
def test_labels_are_moved_apart_and_keep_their_order(wanted: dict[str, float], gap: float) -> None:
    placed = dodge(wanted, gap, 0, 180)
    assert set(placed) == set(wanted)
    ordered = sorted(wanted, key=lambda name: wanted[name])
    heights = [placed[name] for name in ordered]
    assert all(b - a >= gap - 1e-6 for a, b in pairwise(heights))
    assert all(-1e-6 <= height <= 180 + 1e-6 for height in heights)


def test_labels_far_apart_stay_where_they_are() -> None:
    assert dodge({"a": 20, "b": 90}, 13, 0, 180) == {"a": 20, "b": 90}
