"""Laws of the sizes and bytes of a call, in the sides of the grid of ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.grid import Grid

_Floats = npt.NDArray[np.floating[Any]]
#: Sizes are whole numbers: exact laws have no larger residual, as a share.
_EXACT = 1e-9

#: The cells of a part, from all cells, the number of parts and the part's number; takes arrays.
Rule = Callable[[Any, Any, Any], Any]
#: The number of cells along a side, and the rule by which its parts get them.
Cells = tuple[int, Rule]


def _first_have_more(cells: Any, side: Any, coordinate: Any) -> Any:
    return cells // side + (coordinate < cells % side)


def _rounded(cells: Any, side: Any, coordinate: Any) -> Any:
    return cells * (coordinate + 1) // side - cells * coordinate // side


def _last_have_more(cells: Any, side: Any, coordinate: Any) -> Any:
    return cells // side + (coordinate >= side - cells % side)


def _last_has_rest(cells: Any, side: Any, coordinate: Any) -> Any:
    block = -(-cells // side)
    return np.minimum(block, cells - coordinate * block)


#: Of each count, pairs of a rank and its size.
Amounts = Sequence[Sequence[tuple[int, int]]]
_WHOLE: tuple[Rule, ...] = (_rounded, _first_have_more, _last_have_more, _last_has_rest)


def _trimmed(rule: Rule) -> Rule:
    """Return a rule by which the parts at both ends have one cell fewer, their boundary."""

    def inner(cells: Any, side: Any, coordinate: Any) -> Any:
        return rule(cells, side, coordinate) - (coordinate == 0) - (coordinate == side - 1)

    return inner


#: Rules of two kinds: of all cells, and of the cells without the boundary.
RULES: tuple[tuple[Rule, ...], ...] = (_WHOLE, tuple(map(_trimmed, _WHOLE)))
_MOST_CELLS = 4096


def products(sides: int) -> list[tuple[int, ...]]:
    """Return all sets of sides, in the order of the terms that are their products."""
    return [chosen for count in range(1, sides + 1) for chosen in combinations(range(sides), count)]


def terms_at(grid: Grid, rank: int, cells: Sequence[Cells | None]) -> npt.NDArray[np.float64]:
    """Return the terms' values for a rank: 1, products of its shares along sides, and of sides."""
    local = [
        1 / side if cut is None else cut[1](cut[0], side, coordinate) / cut[0]
        for side, coordinate, cut in zip(grid.sides, grid.at(rank), cells, strict=True)
    ]
    some = products(len(local))
    shares = (math.prod(local[side] for side in chosen) for chosen in some)
    return np.array([1.0, *shares, *(math.prod(grid.sides[s] for s in chosen) for chosen in some)])


def _families(count: int, along: int | None) -> Iterator[Sequence[tuple[int, ...]]]:
    """Yield sets of terms, the simplest first: one term before two, shares before growing terms.

    - `along`: the side that a message crosses, on which its size does not depend.
    """
    some = enumerate(products(count), start=1)
    shares = [term for term, sides in some if along is None or along not in sides]
    growing = range(2**count, 2 ** (count + 1) - 1)
    yield [(0,), *((term,) for term in shares)]
    yield [(term,) for term in growing]
    yield [*((0, term) for term in shares), *combinations(shares, 2)]
    yield [(0, term) for term in growing]


@dataclass(frozen=True, slots=True)
class Law:
    """A sum of one or two terms that gives a size at every profiled count.

    - `checked`: whether, for some count, the other counts alone give the same law.
    - `off`: for sizes that differ from step to step, the largest share by which the other counts
      miss one; None where the law is exact.
    - `cut`: number of the way to cut the sides on which its terms depend.
    - `block`: the bytes of a block; sizes are rounded up to whole blocks. 0 without blocks.
    - `rows`: how many values of its terms the counts show.
    """

    terms: tuple[int, ...]
    factors: npt.NDArray[np.floating[Any]]
    checked: bool
    off: float | None = None
    cut: int = 0
    block: int = 0
    rows: int = 0

    @property
    def is_through_points(self) -> bool:
        """Whether it has as many terms as there are values, so that it fits any sizes."""
        return 1 < len(self.terms) >= self.rows

    def is_form_shown(self, rows: npt.NDArray[np.float64], sides: int) -> bool:
        """Whether the profiles show that sizes grow so, and not in another way.

        Two values, such as sides of 2 and 4, are met by every sum of two terms; few values may be
        met by a logarithm. That sizes shrink as parts of the problem do needs no third value.

        - `rows`: the values of all terms.
        """
        terms = np.array(self.terms)
        first_growing = 2**sides
        if terms.max() < first_growing:
            # A share that is subtracted makes sizes grow with the sides.
            return not (self.is_through_points and (self.factors[terms > 0] < 0).any())
        if self.is_through_points:
            return False
        return not _follow_logarithm(
            rows[:, terms[-1]], rows[:, first_growing:], also_constant=len(terms) > 1
        )

    def at(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sizes where the terms have these values; shape (..., terms)."""
        sizes: npt.NDArray[np.float64] = rows[..., list(self.terms)] @ self.factors
        if not self.block:
            return sizes
        return self.block * np.ceil(sizes / self.block - _EXACT)


def _follow_logarithm(values: _Floats, growing: _Floats, *, also_constant: bool) -> bool:
    """Whether values are a multiple of the whole logarithm, base 2, of a growing term.

    - `also_constant`: plus a constant.
    """
    for term in growing.T:
        for logarithm in (np.floor(np.log2(term)), np.ceil(np.log2(term))):
            columns = [logarithm, np.ones(len(values))] if also_constant else [logarithm]
            rows = np.column_stack(columns)
            factors = np.linalg.lstsq(rows, values, rcond=None)[0]
            if np.allclose(rows @ factors, values):
                return True
    return False


def laws_of(
    samples: Iterable[tuple[int, Iterable[float], float]], sides: int, along: int | None
) -> list[Law]:
    """Return the simplest exact laws; none where no sum of two terms is exact.

    Laws that another count checks come before simpler laws without a check. No law has a negative
    factor of a term that grows with the sides.

    - `samples`: for each rank, the number of ranks, the terms' values, and its size or bytes.
    - `along`: as for `_families`.
    """
    counts, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    limit = _EXACT * max(1.0, float(np.abs(values).max()))
    simplest: list[Law] = []
    for family in _families(sides, along):
        laws = []
        for terms in family:
            columns = rows[:, terms]
            if np.linalg.matrix_rank(columns) < len(terms):
                continue
            factors = np.linalg.lstsq(columns, values, rcond=None)[0]
            grows = all(factors[np.array(terms) >= 2**sides] >= 0)
            if grows and np.abs(columns @ factors - values).max() <= limit:
                rest = (columns[counts != count] for count in set(counts.tolist()))
                checked = any(np.linalg.matrix_rank(left) == len(terms) for left in rest)
                law = Law(terms, factors, checked, rows=len(np.unique(columns, axis=0)))
                laws.append(replace(law, checked=checked and law.is_form_shown(rows, sides)))
        if any(law.checked for law in laws):
            return laws
        simplest = simplest or laws
    return simplest


#: The sizes of blocks to which messages are padded, in bytes: from a cache line on.
_BLOCKS = [1 << power for power in range(6, 17)]


def padded_laws(
    samples: Iterable[tuple[int, Iterable[float], float]], sides: int, along: int | None
) -> list[Law]:
    """Return laws of sizes that are rounded up to whole blocks; none where no block gives them.

    Each is a share of the problem. The sizes leave a range for the whole, of which the laws with
    the least and with the most are returned: they agree where the range determines the size.
    """
    counts, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    if values.min() <= 0 or values.min() == values.max():
        return []
    shares = [term for (term,) in next(_families(sides, along)) if term != 0]
    laws = []
    for block in (block for block in _BLOCKS if not np.any(values % block)):
        for term in shares:
            whole = _range_of_whole(rows[:, term], values, block)
            if whole is None:
                continue
            checked = _is_padding_checked(rows[:, term], values, counts, block)
            laws += [
                Law((term,), np.array([end]), checked, block=block) for end in sorted(set(whole))
            ]
    return laws


def _range_of_whole(shares: _Floats, values: _Floats, block: int) -> tuple[float, float] | None:
    """Return the least and the most whole bytes of which shares are padded to these sizes."""
    least = math.floor(float(((values - block) / shares).max()) + _EXACT) + 1.0
    most = math.floor(float((values / shares).min()) + _EXACT)
    return (least, float(most)) if least <= most else None


def may_be_padding(
    samples: Iterable[tuple[int, Iterable[float], float]],
    there: Iterable[float],
    sides: int,
    along: int | None,
) -> bool:
    """Whether one size on all counts may be a share in whole blocks that has fewer on a new grid.

    - `samples`: as for `laws_of`; `there`: the terms' values on the new grid.
    """
    _, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    size = values[0]
    new = np.array(list(there))
    if not size or (values != size).any():
        return False
    shares = [term for (term,) in next(_families(sides, along)) if term != 0]
    for block in (block for block in _BLOCKS if not size % block):
        for term in shares:
            whole = _range_of_whole(rows[:, term], values, block)
            varies = np.ptp(rows[:, term]) > 0
            if varies and whole is not None and whole[0] * new[term] <= size - block:
                return True
    return False


def _is_padding_checked(shares: _Floats, values: _Floats, counts: _Floats, block: int) -> bool:
    """Whether the other counts alone give the sizes of some count."""
    for count in set(counts.tolist()):
        rest = counts != count
        left = counts == count
        whole = _range_of_whole(shares[rest], values[rest], block) if rest.any() else None
        if whole is None:
            continue
        ends = [block * np.ceil(end * shares[left] / block - _EXACT) for end in whole]
        if all((end == values[left]).all() for end in ends):
            return True
    return False


def close_law(
    samples: Iterable[tuple[int, Iterable[float], float]], sides: int, along: int | None
) -> Law:
    """Return the law nearest to sizes that vary between steps: one, and shares of the problem.

    It has all terms that the counts distinguish, and is checked where each can be left out.
    """
    counts, rows, values = (np.array(each, float) for each in zip(*samples, strict=True))
    terms: tuple[int, ...] = (0,)
    for term in (
        share_term for family in list(_families(sides, along))[:1] for (share_term,) in family[1:]
    ):
        if np.linalg.matrix_rank(rows[:, (*terms, term)]) > len(terms):
            terms = (*terms, term)
    columns = rows[:, terms]
    factors, errors = fitted(columns, values, counts)
    residual = float(np.abs(columns @ factors - values).mean() / max(float(values.mean()), 1.0))
    return Law(terms, factors, len(errors) == len(set(counts.tolist())), max([residual, *errors]))


def fitted(rows: _Floats, values: _Floats, counts: _Floats) -> tuple[_Floats, list[float]]:
    """Return the factors of least squares, and the errors of counts that the rest predicts.

    An error is a share of the count's mean; a count has one if the rest determines the factors.
    """
    errors = []
    for count in sorted(set(counts.tolist())):
        rest = counts != count
        left = counts == count
        if np.linalg.matrix_rank(rows[rest]) == rows.shape[1]:
            factors = np.linalg.lstsq(rows[rest], values[rest], rcond=None)[0]
            mean = float(values[left].mean())
            errors.append(abs(float((rows[left] @ factors).mean()) - mean) / max(mean, 1.0))
    return np.linalg.lstsq(rows, values, rcond=None)[0], errors


def cuts(
    grids: Sequence[Grid],
    amounts: Amounts,
    side: int,
    cells: Sequence[Cells | None],
    rules: Sequence[Rule],
) -> Iterator[Cells]:
    """Yield the numbers of cells along a side, with their rules, that give the sizes seen.

    - `cells`: the known cells of the other sides.
    """
    candidates = [
        (number, rule, is_share)
        for rule in rules
        for number, is_share in _alike(grids, amounts, side, rule)
    ]
    # Most sizes are shares of the cells. Without such a fit, sizes may have cells of neighbours.
    shares = [(number, rule) for number, rule, is_share in candidates if is_share]
    for number, rule in shares or [(number, rule) for number, rule, _ in candidates]:
        tried = list(cells)
        tried[side] = (number, rule)
        samples = {
            (grid.ranks, tuple(terms_at(grid, rank, tried)), size)
            for grid, sizes in zip(grids, amounts, strict=True)
            for rank, size in sizes
        }
        if laws_of(sorted(samples), len(tried), None):
            yield number, rule


def _alike(
    grids: Sequence[Grid], amounts: Amounts, side: int, rule: Rule
) -> Iterator[tuple[int, bool]]:
    """Yield the numbers of cells whose parts differ where sizes do, and only there.

    With each number: whether the sizes of each count are in the proportion of its parts.
    """
    numbers = np.arange(2, _MOST_CELLS)
    fits = np.ones(len(numbers), bool)
    shares = np.ones(len(numbers), bool)
    for grid, sizes in zip(grids, amounts, strict=True):
        length = grid.sides[side]
        of_part = sorted({(size, grid.at(rank)[side]) for rank, size in sizes})
        if not of_part:
            continue
        parts = rule(
            numbers[:, None], length, np.array([coordinate for _, coordinate in of_part])[None, :]
        )
        fits &= parts.min(axis=1) >= 1
        for (size, _), (next_size, _), first, second in zip(
            of_part, of_part[1:], parts.T, parts.T[1:], strict=False
        ):
            fits &= (first == second) if size == next_size else (first < second)
            shares &= first * next_size == second * size
    return zip(numbers[fits].tolist(), shares[fits].tolist(), strict=True)


def differ_along(side: int, grids: Sequence[Grid], amounts: Amounts) -> bool:
    """Whether sizes differ along one side alone."""
    differ = False
    for grid, sizes in zip(grids, amounts, strict=True):
        seen = {(grid.at(rank)[side], size) for rank, size in sizes}
        if len(seen) > len({coordinate for coordinate, _ in seen}):
            return False
        differ = differ or len({size for _, size in seen}) > 1
    return differ


#: The most bytes of an element of a message.
_LARGEST_ELEMENT = 8


def element_size(samples: Iterable[tuple[int, int]]) -> int:
    """Return the bytes of an element of a call, from its sizes and its datatypes' elements.

    - `samples`: a size and the bytes of an element of its datatype.

    A datatype that describes a whole message, or bytes, does not show the element: then the result
    is the largest power of two, up to 8, that divides all sizes.
    """
    pairs = set(samples)
    sizes = [size for size, _ in pairs]
    declared = {element for _, element in pairs}
    if len(declared) == 1 and 1 < max(declared) < max(sizes):
        return max(declared)
    common = math.gcd(*sizes)
    element = _LARGEST_ELEMENT
    while common % element:
        element //= 2
    return element
