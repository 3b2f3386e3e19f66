"""Order statistics of pairwise values: Walsh averages of one sample, differences of two.

The number of pairwise values is quadratic in the number of launches. Usual cases (tens of launches)
are expanded and sorted, in chunks that bound memory; a case with thousands of launches is never
expanded: its order statistics are found by bisection on counts, which takes O(n log n) time and
O(n) memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bareline.stats.launch_array import FloatArray, IntArray, pick

CHUNK_PAIRS = 1 << 19
"""Number of pairwise values in memory at once: 4 MiB, so that the values stay in the cache."""

EXPAND_LIMIT = 1 << 21
"""Largest number of pairwise values of a case that are sorted; a larger case uses bisection."""


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Order statistics and sign counts of the pairwise values of each case.

    - `values`: shape (cases, k); the values at the requested ranks.
    - `not_above`, `not_below`: shape (cases,); the numbers of values that are at most 0, and at
      least 0.
    """

    values: FloatArray
    not_above: IntArray
    not_below: IntArray


def walsh_averages(rows: FloatArray, ranks: IntArray, tie: FloatArray) -> Pairwise:
    """Return order statistics of the averages ``(x_i + x_j) / 2``, i <= j, of each row.

    - `rows`: shape (cases, n); values; NaN marks an absent launch.
    - `ranks`: shape (cases, k); 1-based ranks among the n (n + 1) / 2 averages; rank 0 gives NaN.
    - `tie`: shape (cases,); averages up to this distance from 0 count as 0, because they differ
      only by rounding.
    """
    n = rows.shape[-1]

    def expand(cases: slice) -> FloatArray:
        first, second = _triangle(n)
        return (rows[cases, first] + rows[cases, second]) / 2.0

    def search(case: int) -> _Search:
        return _walsh_search(_present(rows[case]))

    return _order_statistics(n * (n + 1) // 2, expand, search, ranks, tie)


def differences(
    first: FloatArray, second: FloatArray, ranks: IntArray, tie: FloatArray
) -> Pairwise:
    """Return order statistics of the n m differences ``x_i - y_j`` of each case.

    - `first`, `second`: shapes (cases, n) and (cases, m); values; NaN marks an absent launch.
    - `ranks`, `tie`: as in `walsh_averages`.
    """

    def expand(cases: slice) -> FloatArray:
        grid = first[cases, :, None] - second[cases, None, :]
        return grid.reshape(grid.shape[0], first.shape[-1] * second.shape[-1])

    def search(case: int) -> _Search:
        return _difference_search(_present(first[case]), _present(second[case]))

    return _order_statistics(first.shape[-1] * second.shape[-1], expand, search, ranks, tie)


@dataclass(frozen=True, slots=True)
class _Search:
    """The pairwise values of one case: least and greatest, and a function that counts values.

    The function returns the number of values that are at most a threshold.
    """

    lowest: float
    highest: float
    count: Callable[[float], int]

    def at(self, rank: int) -> float:
        """Return the value at `rank`, with an error of 2^-60 of the range."""
        if rank < 1:
            return math.nan
        below = self.lowest
        above = self.highest
        if self.count(below) >= rank:
            return below
        for _ in range(60):
            middle = below + (above - below) / 2.0
            if self.count(middle) >= rank:
                above = middle
            else:
                below = middle
        return above


def _order_statistics(
    pairs: int,
    expand: Callable[[slice], FloatArray],
    search: Callable[[int], _Search],
    ranks: IntArray,
    tie: FloatArray,
) -> Pairwise:
    cases = ranks.shape[0]
    statistics = Pairwise(
        values=np.full(ranks.shape, np.nan),
        not_above=np.zeros(cases, dtype=np.int64),
        not_below=np.zeros(cases, dtype=np.int64),
    )
    if pairs > EXPAND_LIMIT:
        for case in range(cases):
            _by_search(search(case), case, ranks, tie, statistics)
    elif pairs:
        step = max(1, CHUNK_PAIRS // pairs)
        for start in range(0, cases, step):
            chunk = slice(start, start + step)
            _by_sorting(expand(chunk), chunk, ranks, tie, statistics)
    return statistics


def _by_search(
    search: _Search, case: int, ranks: IntArray, tie: FloatArray, statistics: Pairwise
) -> None:
    """Write the statistics of one case that has too many pairwise values to be sorted."""
    statistics.values[case] = list(map(search.at, ranks[case].tolist()))
    statistics.not_above[case] = search.count(tie[case])
    below = search.count(math.nextafter(-tie[case], -math.inf))
    statistics.not_below[case] = search.count(math.inf) - below


def _by_sorting(
    expanded: FloatArray, chunk: slice, ranks: IntArray, tie: FloatArray, statistics: Pairwise
) -> None:
    """Write the statistics of some cases; `expanded` is sorted in place."""
    expanded.sort(axis=-1)
    bound = tie[chunk, None]
    statistics.values[chunk] = pick(expanded, ranks[chunk])
    statistics.not_above[chunk] = (expanded <= bound).sum(axis=-1)
    statistics.not_below[chunk] = (expanded >= -bound).sum(axis=-1)


@lru_cache(maxsize=8)
def _triangle(n: int) -> tuple[IntArray, IntArray]:
    """Return the index pairs i <= j < n."""
    first, second = np.triu_indices(n)
    return first.astype(np.int64), second.astype(np.int64)


def _present(row: FloatArray) -> FloatArray:
    return np.sort(row[~np.isnan(row)])


def _walsh_search(ordered: FloatArray) -> _Search:
    def count(threshold: float) -> int:
        doubled = 2.0 * threshold
        both = int(np.searchsorted(ordered, doubled - ordered, side="right").sum())
        same = int(np.searchsorted(2.0 * ordered, doubled, side="right"))
        return (both + same) // 2

    if not ordered.size:
        return _Search(math.nan, math.nan, count)
    return _Search(float(ordered[0]), float(ordered[-1]), count)


def _difference_search(first: FloatArray, second: FloatArray) -> _Search:
    def count(threshold: float) -> int:
        smaller = int(np.searchsorted(second, first - threshold, side="left").sum())
        return first.size * second.size - smaller

    if not first.size * second.size:
        return _Search(math.nan, math.nan, count)
    return _Search(float(first[0] - second[-1]), float(first[-1] - second[0]), count)
