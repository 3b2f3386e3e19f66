"""The laws of the sizes and bytes of profiled calls, for a grid that was not profiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bareline.predict.scaling.concern import Key, ProfiledCall
from bareline.predict.scaling.cuts import SideCuts
from bareline.predict.scaling.grid import Grid, Place
from bareline.predict.scaling.laws import (
    Floats,
    Law,
    LawTerms,
    SizeSample,
    SizeTable,
    close_law,
    element_size,
    laws_of,
    terms_at,
)
from bareline.predict.scaling.observations import Observations
from bareline.predict.scaling.padding import may_be_padding, padded_laws
from bareline.profile.records import POINT_TO_POINT

#: Sizes that differ by less are equal, in bytes or in elements.
_CLOSE = 1e-3


@dataclass(frozen=True, slots=True)
class CallAmount:
    """An amount of a call: its size, the bytes sent, or the bytes received.

    - `index`: 0 for the size, 1 for the bytes sent, 2 for the bytes received.
    - `along`: the side of the grid that the message crosses, as in `Key.along`.
    """

    index: int
    along: int | None


@dataclass
class SizeLaws:
    """The laws of message sizes, for each possible way to cut the problem along the grid's sides.

    - `exact`: whether the sizes of a call are equal in all periods.
    """

    observations: Observations
    grid: Grid
    exact: bool
    _laws: dict[tuple[object, ...], list[Law]] = field(default_factory=dict)
    _new_rows: dict[Place, Floats] = field(default_factory=dict)
    _padding: dict[tuple[object, ...], bool] = field(default_factory=dict)
    _elements: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        uneven = self.observations.uneven() if self.exact else []
        self.cuts = SideCuts.of(self.grid, uneven)
        self._rows: dict[tuple[int, int], list[Floats]] = {}
        for number, cut in enumerate(self.cuts.ways):
            for job, grid in enumerate(self.observations.grids):
                rows = [terms_at(grid, rank, cut) for rank in range(grid.ranks)]
                self._rows[number, job] = rows

    def rows_at(self, rank: int) -> list[Floats]:
        """Return the values of the laws' terms for a rank of the new grid, for each of `cuts`."""
        return [terms_at(self.grid, rank, cut) for cut in self.cuts.ways]

    def laws_of(
        self, groups: Sequence[Sequence[ProfiledCall]], amount: CallAmount, place: Place
    ) -> list[Law]:
        """Return the simplest laws that exactly explain an amount of calls at a place on the grid.

        - `groups`: groups of calls that may share a law, the largest group first.

        The result contains the checked laws of the first group whose checked laws agree on the new
        grid. If there is no such group, it contains laws of the first group that has any (the
        checked laws if there are some), and is empty if no group has laws.
        """
        first: list[Law] = []
        # Laws of the most ranks come first: within one place many laws fit by chance.
        for samples in filter(None, groups):
            laws = self._laws_of_group(samples, amount)
            checked = [law for law in laws if law.checked]
            elements = ((sample.moved(amount.index), sample.shape.element) for sample in samples)
            checked = self._of_whole_elements(checked, place, element_size(elements))
            if checked and self._agree(checked, place):
                return checked
            first = first or checked or laws
        return first

    def _laws_of_group(self, samples: Sequence[ProfiledCall], amount: CallAmount) -> list[Law]:
        """Return the laws of calls for each possible cut of the sides.

        Laws of sizes that are padded to whole blocks are added if there are no other laws, or if
        one of the other laws would fit any sizes.
        """
        laws: list[Law] = []
        for cut in range(len(self.cuts.ways)):
            laws += self._simplest(samples, amount, cut)
        if not laws or any(law.is_through_points for law in laws):
            laws += self._padded(samples, amount)
        return laws

    def _agree(self, laws: Sequence[Law], place: Place) -> bool:
        """Whether laws lead to the same sizes for the ranks of a place on the new grid."""
        sizes = self._sizes_there(laws, place)
        return all(np.allclose(sizes[0], other, atol=_CLOSE) for other in sizes[1:])

    def _of_whole_elements(self, laws: Sequence[Law], place: Place, element: int) -> list[Law]:
        """Return the laws that give whole elements on the new grid, and all laws of the even cut.

        A law is wrong if it leads to a fraction of an element. Laws of the even cut are kept,
        because the number of cells may not be divisible by the new number of parts.
        """
        if len(laws) == 1:
            return list(laws)
        whole = []
        for law, sizes in zip(laws, self._sizes_there(laws, place), strict=True):
            elements = sizes / element
            if law.cut == 0 or np.allclose(elements, np.round(elements), atol=_CLOSE):
                whole.append(law)
        return whole

    def _sizes_there(self, laws: Sequence[Law], place: Place) -> list[Floats]:
        """Return the sizes that each law gives for the ranks at a place on the new grid."""
        if place not in self._new_rows:
            rows = [self.rows_at(rank) for rank in self._ranks_at(place)]
            self._new_rows[place] = np.unique(np.array(rows), axis=0)
        rows_there = self._new_rows[place]
        return [law.at(rows_there[:, law.cut]) for law in laws]

    def _ranks_at(self, place: Place) -> Iterator[int]:
        """Yield the ranks of a place on the new grid."""
        for rank in range(self.grid.ranks):
            if self.grid.place(rank) == place:
                yield rank

    def _simplest(self, samples: Sequence[ProfiledCall], amount: CallAmount, cut: int) -> list[Law]:
        key = (cut, amount.along, _amounts(samples, amount))
        if key not in self._laws:
            laws = laws_of(self._table(samples, amount, cut), self._terms(amount.along))
            self._laws[key] = [replace(law, cut=cut) for law in laws]
        return self._laws[key]

    def _padded(self, samples: Sequence[ProfiledCall], amount: CallAmount) -> list[Law]:
        """Return laws of sizes that are padded to whole blocks."""
        key = ("padded", amount.along, _amounts(samples, amount))
        if key not in self._laws:
            table = self._table(samples, amount)
            self._laws[key] = padded_laws(table, self._terms(amount.along))
        return self._laws[key]

    def may_be_padded(
        self, samples: Sequence[ProfiledCall], along: int | None, place: Place
    ) -> bool:
        """Whether a constant message size may be padded, and have fewer blocks on the new grid."""
        if not self.exact or samples[0].shape.kind not in POINT_TO_POINT:
            return False
        amount = CallAmount(0, along)
        amounts = _amounts(samples, amount)
        if len({size for _, _, size in amounts}) > 1:
            return False
        key = (along, amounts, place)
        if key not in self._padding:
            there = terms_at(self.grid, next(self._ranks_at(place)), self.cuts.ways[0])
            table = self._table(samples, amount)
            self._padding[key] = may_be_padding(table, there, self._terms(along))
        return self._padding[key]

    def close_laws(self, samples: Sequence[ProfiledCall], amount: CallAmount) -> list[Law]:
        """Return the law nearest to an amount of calls that differs between periods."""
        key = ("close", amount.along, tuple(self._law_rows(samples, amount)))
        if key not in self._laws:
            table = self._table(samples, amount)
            self._laws[key] = [close_law(table, self._terms(amount.along))]
        return self._laws[key]

    def _terms(self, along: int | None) -> LawTerms:
        return LawTerms(len(self.grid.sides), along)

    def _table(
        self, samples: Sequence[ProfiledCall], amount: CallAmount, cut: int = 0
    ) -> SizeTable:
        return SizeTable.of(self._law_rows(samples, amount, cut))

    def _law_rows(
        self, samples: Sequence[ProfiledCall], amount: CallAmount, cut: int = 0
    ) -> list[SizeSample]:
        """Return the terms' values and the amounts of calls, sorted and without duplicates."""
        rows: set[SizeSample] = set()
        for sample in samples:
            terms = self._rows[cut, sample.job][sample.rank]
            rows.add((sample.job, tuple(terms.tolist()), sample.moved(amount.index)))
        return sorted(rows)

    def element(self, key: Key) -> int:
        """Return the bytes of an element in the calls of one key."""
        if key not in self._elements:
            shapes = (sample.shape for sample in self.observations.samples[key])
            self._elements[key] = element_size((shape.size, shape.element) for shape in shapes)
        return self._elements[key]


def _amounts(
    samples: Sequence[ProfiledCall], amount: CallAmount
) -> tuple[tuple[int, int, int], ...]:
    """Return the profile's index, the rank and the amount of each call."""
    return tuple((sample.job, sample.rank, sample.moved(amount.index)) for sample in samples)
