"""Numbers that JSON has no form for."""

import json
import math

from bareline.vocabulary.finite import with_nulls


def test_numbers_that_are_not_finite_are_none_and_named():
    rows = [{"value": 1.5, "params": {"x": math.inf}}, {"value": math.nan, "lo": (-math.inf, 2)}]
    nulls = []
    assert with_nulls(rows, nulls) == [
        {"value": 1.5, "params": {"x": None}},
        {"value": None, "lo": [None, 2]},
    ]
    assert nulls == ["[0].params.x = inf", "[1].value = nan", "[1].lo[0] = -inf"]


def test_what_is_finite_stays():
    rows = [{"a": 1, "b": True, "c": None, "d": "nan", "e": 1e308}]
    nulls = []
    assert json.dumps(with_nulls(rows, nulls)) == json.dumps(rows)
    assert nulls == []
