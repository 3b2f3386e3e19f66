"""Profiled calls: which of them may share laws, and the laws that they follow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.concern import Concern, Key, ProfiledCall
from bareline.predict.scaling.grid import Grid, Place
from bareline.predict.scaling.laws import (
    RULES,
    Amounts,
    Cells,
    Law,
    Rule,
    close_law,
    cuts,
    differ_along,
    element_size,
    may_be_padding,
    padded_laws,
    terms_at,
)
from bareline.predict.scaling.laws import laws_of as simplest
from bareline.predict.scaling.members import MembersRule
from bareline.predict.scaling.pattern import Pattern, Step, Template, shapes_of
from bareline.predict.scaling.tags import TagLaw, tag_laws
from bareline.profile.records import POINT_TO_POINT, Shape

#: The most ways to cut the sides that are compared: more would determine nothing.
_MOST_CUTS = 24


@dataclass
class Observations:
    """The calls of all counts, and their laws for a new grid.

    - `exact`: the sizes of a call do not differ from period to period.
    - `keys`: for each place, the keys of its calls, in order; `samples`: the calls of each key.
    - `alike`: for each call of a place, the calls of all places that are the same n-th step.
    - `shared`: for each key, the relations and rules that its calls follow in all its places.
    - `cuts`: ways to cut the sides: evenly, and by the cells of sides that are not cut evenly (all
      cells, or all but the boundary); `unclear`: why a way is missing.
    """

    pattern: Pattern
    grid: Grid
    exact: bool
    unclear: str = ""
    _laws: dict[tuple[object, ...], list[Law]] = field(default_factory=dict)
    _new_rows: dict[Place, npt.NDArray[np.float64]] = field(default_factory=dict)
    _tags: dict[tuple[object, ...], tuple[TagLaw, ...]] = field(default_factory=dict)
    _padding: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.grids = [grid for grid, _ in self.pattern.counts]
        self.keys = {
            place: list(_numbered(template)) for place, template in self.pattern.templates.items()
        }
        self.samples = self._collected()
        self.alike = self._alike_steps()
        self.cuts = self._found_cuts()
        self.shared = self._shared_by_key()
        self._rows = [
            [[terms_at(grid, rank, cut) for rank in range(grid.ranks)] for grid in self.grids]
            for cut in self.cuts
        ]
        self._by_comm = self._rules_by_communicator()

    def _collected(self) -> dict[Key, list[ProfiledCall]]:
        collected: dict[Key, list[ProfiledCall]] = {}
        for count, (grid, job) in enumerate(self.pattern.counts):
            for rank in range(grid.ranks):
                place = grid.place(rank)
                for key, shape in zip(self.keys[place], shapes_of(job, rank), strict=True):
                    collected.setdefault(key, []).append(ProfiledCall(count, rank, place, shape))
        return collected

    def _alike_steps(self) -> dict[tuple[Place, int], list[ProfiledCall]]:
        """Return, for each call of a place, the calls of all places that are the same n-th step."""
        numbered: dict[tuple[Place, int], tuple[Step, int]] = {}
        for place, keys in self.keys.items():
            seen: Counter[Step] = Counter()
            for number, key in enumerate(keys):
                numbered[place, number] = (key.step, seen[key.step])
                seen[key.step] += 1
        by_step: dict[tuple[Step, int], list[ProfiledCall]] = {}
        for count, (grid, job) in enumerate(self.pattern.counts):
            for rank in range(grid.ranks):
                place = grid.place(rank)
                for number, shape in enumerate(shapes_of(job, rank)):
                    sample = ProfiledCall(count, rank, place, shape)
                    by_step.setdefault(numbered[place, number], []).append(sample)
        return {where: by_step[step] for where, step in numbered.items()}

    # Whom calls concern --------------------------------------------------------------------------

    def _shared_by_key(self) -> dict[Key, Concern]:
        """Return, for each key, the relations and rules that its calls follow in all places."""
        shared: dict[Key, Concern] = {}
        for place, template in self.pattern.templates.items():
            for number, key in enumerate(self.keys[place]):
                concern = Concern(
                    template.to[number],
                    template.from_[number],
                    template.root[number],
                    template.comm[number],
                )
                shared[key] = shared[key].also(concern) if key in shared else concern
        return shared

    def _rules_by_communicator(self) -> dict[tuple[int, int], set[MembersRule]]:
        """Return, for each count and communicator, the rules that all calls over it follow."""
        by_comm: dict[tuple[int, int], set[MembersRule]] = {}
        for count, (grid, job) in enumerate(self.pattern.counts):
            for rank, calls in enumerate(job.ranks):
                rules = self.pattern.templates[grid.place(rank)].comm
                pairs = set(zip(calls.comm.tolist(), rules, strict=True))
                for comm, comm_rules in (
                    (comm, comm_rules) for comm, comm_rules in pairs if comm_rules is not None
                ):
                    remaining = by_comm.setdefault((count, comm), set(comm_rules))
                    remaining &= set(comm_rules)
        return by_comm

    def narrowed(
        self, place: Place, at: int, rules: tuple[MembersRule, ...] | None
    ) -> tuple[MembersRule, ...] | None:
        """Return the rules that other places' calls over the same communicators also follow."""
        if rules is None:
            return None
        for count, (grid, job) in enumerate(self.pattern.counts):
            for rank, calls in enumerate(job.ranks):
                if grid.place(rank) == place:
                    others = self._by_comm[count, int(calls.comm[at])]
                    rules = tuple(rule for rule in rules if rule in others) or rules
        return rules

    # Cuts that are not even ----------------------------------------------------------------------

    def _found_cuts(self) -> list[tuple[Cells | None, ...]]:
        """Return the ways to cut the sides: how many cells there are along each uneven side.

        Every way that gives the sizes seen is returned; the laws of all ways have to agree.
        """
        even: tuple[Cells | None, ...] = (None,) * len(self.grid.sides)
        all_ways = [even]
        uneven = self._uneven() if self.exact else []
        for rules in RULES:
            ways = [even]
            for side in range(len(even)):
                ways = [
                    (*cells[:side], side_cells, *cells[side + 1 :])
                    for cells in ways
                    for side_cells in self._cuts_of_side(side, uneven, cells, rules)
                ]
            all_ways += [cells for cells in ways if cells not in all_ways]
        if len(all_ways) > _MOST_CUTS:
            self.unclear = "; many ways to cut a side give these sizes"
            return [even]
        return all_ways

    def _cuts_of_side(
        self,
        side: int,
        uneven: Sequence[Amounts],
        cells: Sequence[Cells | None],
        rules: Sequence[Rule],
    ) -> list[Cells | None]:
        """Return the cells of a side that give the sizes seen; None where it is cut evenly."""
        for amounts in uneven:
            if differ_along(side, self.grids, amounts):
                side_cuts = self._cut(side, amounts, cells, rules)
                if side_cuts:
                    return list(side_cuts)
        return [None]

    def _uneven(self) -> list[tuple[tuple[tuple[int, int], ...], ...]]:
        """Return, for each call whose sizes differ, the ranks and sizes of each count."""
        uneven = set()
        for samples in self.samples.values():
            amounts = [
                tuple(sorted((s.rank, s.shape.size) for s in samples if s.job == count))
                for count in range(len(self.grids))
            ]
            if any(len({size for _, size in amount}) > 1 for amount in amounts):
                uneven.add(tuple(amounts))
        return sorted(uneven)

    def _cut(
        self,
        side: int,
        amounts: Amounts,
        cells: Sequence[Cells | None],
        rules: Sequence[Rule],
    ) -> list[Cells]:
        """Return the ways to cut a side that give a call's sizes, each cut of the new grid once."""
        length = self.grid.sides[side]
        fits: dict[tuple[float, ...], Cells] = {}
        for number, rule in cuts(self.grids, amounts, side, cells, rules):
            parts = [float(rule(number, length, coordinate)) for coordinate in range(length)]
            fits.setdefault(tuple(part / sum(parts) for part in parts), (number, rule))
        return list(fits.values())

    # Laws ----------------------------------------------------------------------------------------

    def laws_of(
        self, groups: Sequence[Sequence[ProfiledCall]], index: int, along: int | None, place: Place
    ) -> list[Law]:
        """Return the simplest laws that give exactly a size or bytes of the calls of a place.

        - `groups`: calls that may share a law, the most first.

        The laws of the first group are taken that another count checks and that agree on the new
        grid; else the first laws found, or none.
        """
        first: list[Law] = []
        # Laws of the most ranks come first: within one place many laws fit by chance.
        for samples in filter(None, groups):
            laws = self._laws_of_group(samples, index, along)
            element = element_size((s.moved(index), s.shape.element) for s in samples)
            checked = self._of_whole_elements([law for law in laws if law.checked], place, element)
            if checked and self._agree(checked, place):
                return checked
            first = first or checked or laws
        return first

    def _laws_of_group(
        self, samples: Sequence[ProfiledCall], index: int, along: int | None
    ) -> list[Law]:
        """Return the laws of calls by each way to cut the sides, else of whole blocks.

        Where a sum of terms would fit any sizes, the laws of whole blocks are added.
        """
        laws = [
            law
            for cut in range(len(self.cuts))
            for law in self._simplest(samples, index, along, cut)
        ]
        if not laws or any(law.is_through_points for law in laws):
            laws += self._padded(samples, index, along)
        return laws

    def _agree(self, laws: Sequence[Law], place: Place) -> bool:
        """Whether laws give the same sizes for the ranks of a place on the new grid."""
        sizes = self._sizes_there(laws, place)
        return all(np.allclose(sizes[0], other, atol=1e-3) for other in sizes[1:])

    def _of_whole_elements(self, laws: Sequence[Law], place: Place, element: int) -> list[Law]:
        """Return the laws that give whole elements on the new grid, and all laws of the even cut.

        Parts in whole cells are whole elements. The even cut may not be even there.
        """
        if len(laws) == 1:
            return list(laws)
        sizes = self._sizes_there(laws, place)
        return [
            law
            for law, values in zip(laws, sizes, strict=True)
            if law.cut == 0 or np.allclose(values / element, np.round(values / element), atol=1e-3)
        ]

    def _sizes_there(self, laws: Sequence[Law], place: Place) -> list[npt.NDArray[np.float64]]:
        """Return the sizes that laws give for the ranks of a place on the new grid."""
        if place not in self._new_rows:
            ranks = [rank for rank in range(self.grid.ranks) if self.grid.place(rank) == place]
            rows = [[terms_at(self.grid, rank, cut) for cut in self.cuts] for rank in ranks]
            self._new_rows[place] = np.unique(np.array(rows), axis=0)
        rows_there = self._new_rows[place]
        return [law.at(rows_there[:, law.cut]) for law in laws]

    def _simplest(
        self, samples: Sequence[ProfiledCall], index: int, along: int | None, cut: int
    ) -> list[Law]:
        key = (cut, along, tuple((s.job, s.rank, s.moved(index)) for s in samples))
        if key not in self._laws:
            rows = sorted(self._law_rows(samples, index, cut))
            laws = simplest(rows, len(self.grid.sides), along)
            self._laws[key] = [replace(law, cut=cut) for law in laws]
        return self._laws[key]

    def _padded(self, samples: Sequence[ProfiledCall], index: int, along: int | None) -> list[Law]:
        """Return laws of sizes in whole blocks."""
        key = ("padded", along, tuple((s.job, s.rank, s.moved(index)) for s in samples))
        if key not in self._laws:
            rows = sorted(self._law_rows(samples, index, 0))
            self._laws[key] = padded_laws(rows, len(self.grid.sides), along)
        return self._laws[key]

    def may_be_padded(
        self, samples: Sequence[ProfiledCall], along: int | None, place: Place
    ) -> bool:
        """Whether one size of messages may be that of whole blocks, fewer on the new grid."""
        if not self.exact or samples[0].shape.kind not in POINT_TO_POINT:
            return False
        size = samples[0].shape.size
        if any(sample.shape.size != size for sample in samples):
            return False
        key = ("constant", along, tuple((s.job, s.rank) for s in samples), size, place)
        if key not in self._padding:
            rank = next(rank for rank in range(self.grid.ranks) if self.grid.place(rank) == place)
            there = terms_at(self.grid, rank, self.cuts[0]).tolist()
            rows = sorted(self._law_rows(samples, 0, 0))
            self._padding[key] = may_be_padding(rows, there, len(self.grid.sides), along)
        return self._padding[key]

    def close_laws(
        self, samples: Sequence[ProfiledCall], index: int, along: int | None
    ) -> list[Law]:
        """Return the law nearest to a size or bytes of calls that differ between periods."""
        rows = sorted(self._law_rows(samples, index, 0))
        key = ("close", along, tuple(rows))
        if key not in self._laws:
            self._laws[key] = [close_law(rows, len(self.grid.sides), along)]
        return self._laws[key]

    def _law_rows(
        self, samples: Sequence[ProfiledCall], index: int, cut: int
    ) -> set[tuple[int, tuple[float, ...], int]]:
        rows = self._rows[cut]
        return {
            (sample.job, tuple(rows[sample.job][sample.rank]), sample.moved(index))
            for sample in samples
        }

    def tag_laws_of(self, samples: Sequence[ProfiledCall], *, sends: bool) -> tuple[TagLaw, ...]:
        """Return the simplest laws of the tags that calls send with, or receive with."""
        rows = tuple(
            (
                self.grids[sample.job].ranks,
                sample.rank,
                *_partner_and_tag(sample.shape, sends=sends),
            )
            for sample in samples
        )
        if rows not in self._tags:
            self._tags[rows] = tuple(tag_laws(rows))
        return self._tags[rows]


def _partner_and_tag(shape: Shape, *, sends: bool) -> tuple[int, int]:
    return (shape.to, shape.send_tag) if sends else (shape.from_, shape.receive_tag)


def _numbered(template: Template) -> Iterator[Key]:
    """Yield the keys of a place's calls; equal ones are numbered."""
    seen: Counter[tuple[object, ...]] = Counter()
    for step, to, from_ in zip(template.steps, template.to, template.from_, strict=True):
        way = to.chosen if to is not None else None
        back = from_.chosen if from_ is not None else None
        nth = seen[step, way, back]
        seen[step, way, back] += 1
        yield Key(step, way, back, nth)
