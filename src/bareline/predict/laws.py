"""Laws of what a call moves, in the sides of the grid on which the ranks lie."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.predict.grid import Grid

_Floats = npt.NDArray[np.floating[Any]]
#: Sizes are whole numbers: laws that hold have no larger residual, in shares.
_EXACT = 1e-9
#: How many cells the problem has along a side, and who has one more where they do not divide.
Cells = tuple[int, Callable[[int, int, int], int]]


def _first_have_more(cells: int, side: int, at: int) -> int:
    return cells // side + (at < cells % side)


def _rounded(cells: int, side: int, at: int) -> int:
    return cells * (at + 1) // side - cells * at // side


#: Of each count, what ranks move.
Amounts = Sequence[Sequence[tuple[int, int]]]
RULES = (_rounded, _first_have_more)
MOST_CELLS = 4096


def products(sides: int) -> list[tuple[int, ...]]:
    """Give all sets of sides, in the order of the terms that are their products."""
    return [one for count in range(1, sides + 1) for one in combinations(range(sides), count)]


def terms_at(grid: Grid, rank: int, cells: Sequence[Cells | None]) -> npt.NDArray[np.float64]:
    """Give the terms' values for a rank: 1, its share of the problem along sides, sides."""
    local = [
        1 / side if cut is None else cut[1](cut[0], side, at) / cut[0]
        for side, at, cut in zip(grid.sides, grid.at(rank), cells, strict=True)
    ]
    some = products(len(local))
    shares = (math.prod(local[side] for side in chosen) for chosen in some)
    return np.array([1.0, *shares, *(math.prod(grid.sides[s] for s in chosen) for chosen in some)])


def _families(count: int, along: int | None) -> Iterator[Sequence[tuple[int, ...]]]:
    """Give sets of terms, the simplest first: shares of the problem before what grows.

    - `along`: the side that a message crosses, along which its size does not depend.
    """
    some = enumerate(products(count), start=1)
    shares = [term for term, sides in some if along is None or along not in sides]
    growing = range(2**count, 2 ** (count + 1) - 1)
    yield [(0,), *((one,) for one in shares)]
    yield [*((0, one) for one in shares), *combinations(shares, 2)]
    yield [(one,) for one in growing]
    yield [(0, one) for one in growing]


@dataclass(frozen=True, slots=True)
class Law:
    """A sum of one or two terms that gives a size at every profiled count.

    - `checked`: whether the other counts alone give the same for some count.
    - `off`: of sizes that differ from step to step, by which share the other counts miss one at
      most; None: it holds exactly.
    """

    terms: tuple[int, ...]
    factors: npt.NDArray[np.floating[Any]]
    checked: bool
    off: float | None = None

    def at(self, row: npt.NDArray[np.float64]) -> float:
        """Give the size where the terms have these values."""
        return float(row[list(self.terms)] @ self.factors)


def laws_of(
    samples: Iterable[tuple[int, Iterable[float], float]], sides: int, along: int | None
) -> list[Law]:
    """Give the simplest laws that hold exactly; none where no sum of two terms does.

    - `samples`: of ranks, how many there are, the terms' values, and what one moves.
    - `along`: as for `_families`.
    """
    counts, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    limit = _EXACT * max(1.0, float(np.abs(values).max()))
    for family in _families(sides, along):
        found = []
        for terms in family:
            own = rows[:, terms]
            if np.linalg.matrix_rank(own) < len(terms):
                continue
            factors = np.linalg.lstsq(own, values, rcond=None)[0]
            if np.abs(own @ factors - values).max() <= limit:
                rest = (own[counts != one] for one in set(counts.tolist()))
                checked = any(np.linalg.matrix_rank(left) == len(terms) for left in rest)
                found.append(Law(terms, factors, checked))
        if found:
            return found
    return []


def close_law(
    samples: Iterable[tuple[int, Iterable[float], float]], sides: int, along: int | None
) -> Law:
    """Give the law nearest to sizes that differ from step to step: one, and shares of the problem.

    It has all terms that the counts distinguish, and is checked where each can be left out.
    """
    counts, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    terms: tuple[int, ...] = (0,)
    for term in (one for family in list(_families(sides, along))[:1] for (one,) in family[1:]):
        if np.linalg.matrix_rank(rows[:, (*terms, term)]) > len(terms):
            terms = (*terms, term)
    own = rows[:, terms]
    factors, errors = fitted(own, values, counts)
    residual = float(np.abs(own @ factors - values).mean() / max(float(values.mean()), 1.0))
    return Law(terms, factors, len(errors) == len(set(counts.tolist())), max([residual, *errors]))


def fitted(rows: _Floats, values: _Floats, counts: _Floats) -> tuple[_Floats, list[float]]:
    """Give the factors of least squares, and what each count is off by that the others predict.

    In shares of its mean; of those counts alone without which the others still tell the factors.
    """
    errors = []
    for one in sorted(set(counts.tolist())):
        rest, left = counts != one, counts == one
        if np.linalg.matrix_rank(rows[rest]) == rows.shape[1]:
            factors = np.linalg.lstsq(rows[rest], values[rest], rcond=None)[0]
            mean = float(values[left].mean())
            errors.append(abs(float((rows[left] @ factors).mean()) - mean) / max(mean, 1.0))
    return np.linalg.lstsq(rows, values, rcond=None)[0], errors


def cut_tells(
    grids: Sequence[Grid], amounts: Amounts, side: int, cells: Sequence[Cells | None]
) -> bool:
    """Tell whether so many cells along a side give the sizes that ranks were seen to move."""
    if not differ_along(side, grids, amounts, cells[side]):
        return False
    samples = [
        (grid.ranks, terms_at(grid, rank, cells), size)
        for grid, one in zip(grids, amounts, strict=True)
        for rank, size in one
    ]
    return bool(laws_of(samples, len(cells), None))


def differ_along(
    side: int, grids: Sequence[Grid], amounts: Amounts, cut: Cells | None = None
) -> bool:
    """Tell whether sizes differ along one side alone; and as a cut of so many cells differs."""
    differ = False
    for grid, sizes in zip(grids, amounts, strict=True):
        length = grid.sides[side]
        seen = {(grid.at(rank)[side], size) for rank, size in sizes}
        if len(seen) > length:
            return False
        if cut is not None:
            local = {at: cut[1](cut[0], length, at) for at, _ in seen}
            if min(local.values()) < 1 or not (
                len({(local[at], size) for at, size in seen})
                == len(set(local.values()))
                == len({size for _, size in seen})
            ):
                return False
        differ = differ or len({size for _, size in seen}) > 1
    return differ or cut is not None
