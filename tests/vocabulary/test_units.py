"""Numbers for people."""

import math

import pytest

from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.units import (
    BASE_UNITS,
    conversion,
    format_duration,
    format_value,
    listing,
    parse_size,
    significant,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.23456e-6, "s", "1.23 µs"),
        (0.09996, "s", "100 ms"),
        (61.0, "s", "61.0 s"),
        (3e-12, "s", "0.00300 ns"),
        (1.19e9, "B/s", "1.19 GB/s"),
        (9.41e9, "bit/s", "9.41 Gb/s"),
        (65536, "B", "64 KiB"),
        (1500, "B", "1.46 KiB"),
        (0, "B", "0 B"),
        (2.5e9, "flop/s", "2.50 Gflop/s"),
        (0, "1", "0"),
        (12.0, "%", "12.0 %"),
        (None, "s", "-"),
        (math.nan, "s", "-"),
    ],
)
def test_values_are_scaled_for_people(value, unit, text):
    assert format_value(value, unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9.996, "10.0"),
        (0.0123456, "0.0123"),
        (123456, "123456"),
        (1.5e9, "1.50e+09"),
        (-2, "-2.00"),
    ],
)
def test_three_significant_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("text", "size"), [("4096", 4096), ("64KiB", 65536), ("64K", 65536), ("1.5M", 1572864), (7, 7)]
)
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "12 parsecs", "-1", "1e3"])
def test_what_is_no_size_is_refused(text):
    with raises(UsageError, "BL-VOCABULARY-762"):
        parse_size(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0 s"), (59.4, "59 s"), (200, "3 min 20 s"), (3725, "1 h 02 min")],
)
def test_durations(seconds, text):
    assert format_duration(seconds) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_names_are_listed_as_a_sentence_does(names, text):
    assert listing(names) == text


@pytest.mark.parametrize(
    ("unit", "into", "factor"),
    [
        ("us", "s", 1e-6),
        ("s", "ms", 1e3),
        ("µs", "ns", 1e3),
        ("bit/s", "B/s", 0.125),
        ("MB/s", "bit/s", 8e6),
        ("Gb/s", "B/s", 1.25e8),
        ("KiB", "B", 1024),
        ("Gflop/s", "flop/s", 1e9),
        ("Mop/s", "op/s", 1e6),
        ("MHz", "Hz", 1e6),
        ("%", "1", 0.01),
        ("parsec", "parsec", 1.0),
        ("s", "B/s", None),
        ("flop/s", "op/s", None),
        ("parsec", "s", None),
        ("s", "parsec", None),
        ("m%", "%", None),
    ],
)
def test_units_convert_within_their_dimension(unit, into, factor):
    assert conversion(unit, into) == (None if factor is None else pytest.approx(factor))


def test_each_stored_unit_is_known():
    assert all(conversion(f"k{unit}", unit) == 1e3 for unit in BASE_UNITS - {"1", "%"})
