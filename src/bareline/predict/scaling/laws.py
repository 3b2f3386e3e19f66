"""Laws of a call's sizes and bytes, as functions of the sides of the grid of ranks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.cells import Cut, share
from bareline.predict.scaling.grid import Grid

Floats = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
#: A number of ranks, the terms' values of one of them, and its size or bytes.
SizeSample = tuple[int, tuple[float, ...], float]
_Item = TypeVar("_Item")
#: Sizes are whole numbers: exact laws have no larger residual, as a share.
EXACT = 1e-9


# Terms --------------------------------------------------------------------------------------------


def _subsets(items: Sequence[_Item]) -> list[tuple[_Item, ...]]:
    """Return all subsets of items except the empty one, the smallest first."""
    by_size = (combinations(items, size) for size in range(1, len(items) + 1))
    return list(chain.from_iterable(by_size))


def products(sides: int) -> list[tuple[int, ...]]:
    """Return all subsets of the grid's sides; `terms_at` has their products in this order."""
    return _subsets(range(sides))


def terms_at(grid: Grid, rank: int, cut: Cut) -> Floats:
    """Return the values that the terms of a law have on a rank.

    The terms are 1, each product of the rank's shares of the problem along some sides, and each
    product of the lengths of some sides.
    """
    shares = list(map(share, cut, grid.sides, grid.at(rank)))
    of_shares = map(math.prod, _subsets(shares))
    of_sides = map(math.prod, _subsets(grid.sides))
    return np.array([1.0, *of_shares, *of_sides])


@dataclass(frozen=True, slots=True)
class LawTerms:
    """The terms on which a size may depend, by their indices in `terms_at`; term 0 is constant.

    - `sides`: the number of sides of the grid.
    - `along`: the side that a message crosses; the size does not depend on this side. None if the
      call sends no message.
    """

    sides: int
    along: int | None

    @property
    def first_growing(self) -> int:
        """The index of the first term that grows with the sides; shares have lower indices."""
        return int(2**self.sides)

    @property
    def shares(self) -> list[int]:
        """The indices of the terms that are shares of the problem."""
        numbered = enumerate(products(self.sides), start=1)
        return [term for term, sides in numbered if self.along not in sides]

    def families(self) -> Iterator[Sequence[tuple[int, ...]]]:
        """Yield lists of possible sets of terms, the list with the simplest sets first.

        Sets of one term come before sets of two terms. For each number of terms, shares of the
        problem come before terms that grow with the sides of the grid.
        """
        shares = self.shares
        growing = range(self.first_growing, 2 * self.first_growing - 1)
        yield [(0,), *((term,) for term in shares)]
        yield [(term,) for term in growing]
        yield [*((0, term) for term in shares), *combinations(shares, 2)]
        yield [(0, term) for term in growing]


# Laws ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SizeTable:
    """The sizes or bytes of a call, with an entry for each rank of each profile.

    - `counts`: the number of ranks of each entry.
    - `rows`: the values of the terms, shape (entries, terms).
    - `values`: sizes or bytes.
    """

    counts: Floats
    rows: Floats
    values: Floats

    @classmethod
    def of(cls, samples: Iterable[SizeSample]) -> SizeTable:
        """Return the table of the given samples."""
        counts, rows, values = (np.array(column, float) for column in zip(*samples, strict=True))
        return cls(counts, rows, values)

    @cached_property
    def by_count(self) -> list[Flags]:
        """The mask of the entries of each profile, the smallest number of ranks first."""
        return [self.counts == count for count in sorted(set(self.counts.tolist()))]

    @cached_property
    def largest_residual(self) -> float:
        """The largest residual with which a law counts as exact."""
        return EXACT * max(1.0, float(np.abs(self.values).max()))


@dataclass(frozen=True, slots=True)
class Law:
    """A sum of one or two terms that explains a size in every profile.

    - `checked`: whether, for some profile, the other profiles alone lead to the same law.
    - `off`: for sizes that differ between periods, the largest relative error of a profile that is
      predicted from the other profiles; None if the law is exact.
    - `cut`: index of the cut (division of the sides into parts) that gives the values of the terms.
    - `block`: the bytes of a block, to which sizes are rounded up; 0 without blocks.
    - `rows`: number of different values of the terms in the profiles.
    """

    terms: tuple[int, ...]
    factors: Floats
    checked: bool
    off: float | None = None
    cut: int = 0
    block: int = 0
    rows: int = 0

    @property
    def is_through_points(self) -> bool:
        """Whether the law has as many terms as there are values, so that it fits any sizes."""
        return 1 < len(self.terms) >= self.rows

    def is_form_shown(self, rows: Floats, first_growing: int) -> bool:
        """Whether the profiles show that sizes follow this form of law and no other form.

        Every sum of two terms fits two values, such as sides of 2 and 4, and a logarithm may fit a
        few values. For sizes that shrink like parts of the problem, two values are enough.

        - `rows`: the values of all terms.
        - `first_growing`: as in `LawTerms`.
        """
        if max(self.terms) < first_growing:
            # A share that is subtracted makes sizes grow with the sides.
            is_subtracted = (self.factors[np.array(self.terms) > 0] < 0).any()
            return not (self.is_through_points and is_subtracted)
        if self.is_through_points:
            return False
        values = rows[:, self.terms[-1]]
        growing = rows[:, first_growing:]
        return not _follow_logarithm(values, growing, also_constant=len(self.terms) > 1)

    def at(self, rows: Floats) -> Floats:
        """Return the sizes for the given values of the terms; shape (..., terms)."""
        sizes: Floats = rows[..., list(self.terms)] @ self.factors
        if not self.block:
            return sizes
        return in_blocks(sizes, self.block)


def in_blocks(sizes: Floats, block: int) -> Floats:
    """Return the sizes in bytes, rounded up to whole blocks."""
    return block * np.ceil(sizes / block - EXACT)


def _least_squares(columns: Floats, values: Floats) -> Floats:
    return np.linalg.lstsq(columns, values, rcond=None)[0]


def _follow_logarithm(values: Floats, growing: Floats, *, also_constant: bool) -> bool:
    """Whether values are a multiple of a growing term's logarithm, base 2, rounded down or up.

    - `also_constant`: whether a constant may be added.
    """
    for term in growing.T:
        exact = np.log2(term)
        for logarithm in (np.floor(exact), np.ceil(exact)):
            columns = [logarithm]
            if also_constant:
                columns.append(np.ones(len(values)))
            rows = np.column_stack(columns)
            if np.allclose(rows @ _least_squares(rows, values), values):
                return True
    return False


def laws_of(table: SizeTable, terms: LawTerms) -> list[Law]:
    """Return the simplest exact laws; empty if no sum of two terms is exact.

    A law that another profile checks comes before a simpler law without a check. A term that grows
    with the sides never has a negative factor.
    """
    simplest: list[Law] = []
    for family in terms.families():
        fits = (_exact_law(table, chosen, terms.first_growing) for chosen in family)
        laws = [law for law in fits if law is not None]
        if any(law.checked for law in laws):
            return laws
        simplest = simplest or laws
    return simplest


def _exact_law(table: SizeTable, chosen: tuple[int, ...], first_growing: int) -> Law | None:
    """Return the law of the chosen terms; None if it does not explain all sizes."""
    columns = table.rows[:, chosen]
    if not _is_determined(columns):
        return None
    factors = _least_squares(columns, table.values)
    growing = np.array(chosen) >= first_growing
    residual = np.abs(columns @ factors - table.values).max()
    if residual > table.largest_residual or (factors[growing] < 0).any():
        return None
    law = Law(chosen, factors, checked=False, rows=len(np.unique(columns, axis=0)))
    is_repeated = any(_is_determined(columns[~of_count]) for of_count in table.by_count)
    if is_repeated and law.is_form_shown(table.rows, first_growing):
        return replace(law, checked=True)
    return law


def _is_determined(columns: Floats) -> bool:
    """Whether the rows determine the factor of each column."""
    return bool(np.linalg.matrix_rank(columns) == columns.shape[1])


# Laws of sizes that vary --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fit:
    """A fit by least squares: the factors, and an error for each profile.

    The error of a profile is the error of its prediction from the other profiles, as a share of the
    profile's mean. A profile has an error only if the other profiles determine the factors.
    """

    factors: Floats
    errors: list[float]


def close_law(table: SizeTable, terms: LawTerms) -> Law:
    """Return the law nearest to sizes that vary between periods.

    Its terms are the constant 1 and shares of the problem. A share is left out if its values in the
    profiles are a linear combination of the terms before it. The law counts as checked if each
    profile can be predicted from the other profiles.
    """
    chosen: tuple[int, ...] = (0,)
    for term in terms.shares:
        wider = (*chosen, term)
        if np.linalg.matrix_rank(table.rows[:, wider]) > len(chosen):
            chosen = wider
    columns = table.rows[:, chosen]
    fit = fitted(columns, table)
    residuals = np.abs(columns @ fit.factors - table.values)
    residual = float(residuals.mean() / max(float(table.values.mean()), 1.0))
    checked = len(fit.errors) == len(table.by_count)
    return Law(chosen, fit.factors, checked, off=max([residual, *fit.errors]))


def fitted(columns: Floats, table: SizeTable) -> Fit:
    """Return the fit of the columns to the values of a table."""
    errors = []
    for left in table.by_count:
        rest = ~left
        if _is_determined(columns[rest]):
            factors = _least_squares(columns[rest], table.values[rest])
            predicted = float((columns[left] @ factors).mean())
            mean = float(table.values[left].mean())
            errors.append(abs(predicted - mean) / max(mean, 1.0))
    return Fit(_least_squares(columns, table.values), errors)


# Elements -----------------------------------------------------------------------------------------

#: The most bytes of an element of a message.
_LARGEST_ELEMENT = 8


def element_size(samples: Iterable[tuple[int, int]]) -> int:
    """Return the bytes of an element of a call, from its sizes and the elements of its datatypes.

    - `samples`: pairs of a size and the bytes of an element of its datatype.

    A datatype that describes a whole message, or bytes, does not show the element. Then the result
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
