"""Order statistics of pairwise values: expanded, searched and brute force agree."""

import itertools

import numpy as np
import pytest

from bareline.stats import pairwise
from bareline.stats.pairwise import differences, walsh_averages


def brute_walsh(row):
    present = [x for x in row if not np.isnan(x)]
    return sorted((x + y) / 2 for x, y in itertools.combinations_with_replacement(present, 2))


def brute_differences(first, second):
    return sorted(x - y for x in first for y in second if not np.isnan(x - y))


@pytest.fixture(params=["expanded", "chunked", "searched"])
def method(request, monkeypatch):
    if request.param == "chunked":
        monkeypatch.setattr(pairwise, "CHUNK_PAIRS", 100)
    if request.param == "searched":
        monkeypatch.setattr(pairwise, "EXPAND_LIMIT", 0)
    return request.param


def ragged(rng, shape):
    rows = np.round(rng.normal(0.2, 1.0, shape), 1)
    rows[rng.random(shape) < 0.2] = np.nan
    rows[0] = np.nan
    return rows


def check(found, brute, ranks):
    for case, values in enumerate(brute):
        for place, rank in enumerate(ranks[case]):
            if 1 <= rank <= len(values):
                assert found.values[case, place] == pytest.approx(values[rank - 1], abs=1e-14)
            else:
                assert np.isnan(found.values[case, place])
        assert found.not_above[case] == sum(value <= 1e-9 for value in values)
        assert found.not_below[case] == sum(value >= -1e-9 for value in values)


def test_walsh_averages(method):
    rows = ragged(np.random.default_rng(1), (20, 9))
    brute = [brute_walsh(row) for row in rows]
    ranks = np.array([[0, 1, len(b) // 2, len(b)] for b in brute])
    check(walsh_averages(rows, ranks, np.full(20, 1e-9)), brute, ranks)


def test_differences(method):
    rng = np.random.default_rng(2)
    first, second = ragged(rng, (20, 7)), ragged(rng, (20, 5))
    brute = [brute_differences(x, y) for x, y in zip(first, second, strict=True)]
    ranks = np.array([[0, 1, len(b) // 2, len(b)] for b in brute])
    check(differences(first, second, ranks, np.full(20, 1e-9)), brute, ranks)


def test_ten_thousand_launches_are_never_expanded():
    values = np.random.default_rng(3).normal(1.0, 1.0, (1, 10_000))
    middle = np.array([[10_000 * 10_001 // 4]])
    found = walsh_averages(values, middle, np.zeros(1))
    # The pseudomedian of a symmetric sample is near its mean; 50 million averages fit nowhere.
    assert found.values[0, 0] == pytest.approx(values.mean(), abs=0.02)
    assert found.not_above[0] + found.not_below[0] == 10_000 * 10_001 // 2
