"""The calls of one rank on a grid that was not profiled: partners, communicators, tags, sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from bareline.predict.scaling.concern import Key, ProfiledCall
from bareline.predict.scaling.grid import Grid, Place, place_words
from bareline.predict.scaling.laws import (
    Law,
    element_size,
    products,
    terms_at,
)
from bareline.predict.scaling.observations import Observations
from bareline.predict.scaling.pattern import (
    Pattern,
    program_of,
    share_of,
)
from bareline.predict.scaling.place_call import PlaceCall
from bareline.predict.scaling.relations import End
from bareline.predict.scaling.tags import TagLaw
from bareline.predict.scaling.unchecked import Unchecked
from bareline.predict.scaling.whole_side import WholeSideRelations
from bareline.profile.records import NOBODY, Shape
from bareline.profile.recurrence import FILES
from bareline.profile.trace import CallStream
from bareline.vocabulary.errors import AnalysisError

#: Sizes that a refusal lists.
_SHOWN = 8
_SIZE, _SENT, _RECEIVED = range(3)
_EVEN_HINT = (
    "choose a number of ranks that cuts the problem evenly, profile one that does not, or give "
    "the program's --grid"
)


@dataclass
class Maker:
    """The maker of the streams of a grid's ranks; it counts their unchecked calls and bytes."""

    pattern: Pattern
    grid: Grid
    spread: float
    bytes: int = 0
    off: float = 0.0
    even_bytes: int = 0
    padded_calls: int = 0
    _comms: dict[frozenset[int], int] = field(default_factory=dict)
    _templates: dict[Place, list[PlaceCall]] = field(default_factory=dict)
    _even: set[int] = field(default_factory=set)
    _elements: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._seen = Observations(self.pattern, self.grid, exact=self.spread == 0)
        self._whole_side = WholeSideRelations(self.pattern)
        self._times = _times(self.pattern)

    def assumed_even(self) -> tuple[int, ...]:
        """Return the sides that sizes depend on and that no profile proves to be cut evenly."""
        return tuple(sorted(self._even))

    def _sides_assumed_even(self, law: Law) -> set[int]:
        """Return the sides that a size depends on and of which no profile proves an even cut."""
        shares = products(len(self.grid.sides))
        sides: set[int] = set()
        for term in law.terms:
            if 1 <= term <= len(shares):
                sides.update(shares[term - 1])
        return {side for side in sides if not self._is_cut_shown(side, law.cut)}

    def _is_cut_shown(self, side: int, cut: int) -> bool:
        """Whether the profiles show the cells of a side, or that its new parts are equal."""
        if self._seen.cuts[cut][side] is not None:
            return True
        lengths = [grid.sides[side] for grid in self._seen.grids]
        return math.lcm(*lengths) % self.grid.sides[side] == 0

    # Streams -------------------------------------------------------------------------------------

    def stream(self, rank: int) -> CallStream:
        """Return the calls of a rank; raises AnalysisError: a call follows no law."""
        place = self.grid.place(rank)
        if place not in self._templates:
            self._templates[place] = self._made_template(place)
        rows = [terms_at(self.grid, rank, cut) for cut in self._seen.cuts]
        shapes: dict[Shape, int] = {}
        shape_numbers: dict[int, int] = {}
        numbers = []
        for call in self._templates[place]:
            if id(call) not in shape_numbers:
                shape = self._shape(rank, call, rows)
                shape_numbers[id(call)] = shapes.setdefault(shape, len(shapes))
            numbers.append(shape_numbers[id(call)])
        compute, spent = self._times[place]
        return CallStream(
            rank, tuple(shapes), np.array(numbers, np.int32), compute, spent, finished=True, lost=0
        )

    def _made_template(self, place: Place) -> list[PlaceCall]:
        template = self.pattern.templates.get(place)
        if template is None:
            raise AnalysisError(
                f"{program_of(self.pattern.period)} cannot be constructed for {self.grid}: "
                f"no profiled rank is {place_words(place)}",
                where=str(self.pattern.period.trace.path),
            )
        spent = self._times[place][1]
        calls: list[PlaceCall] = []
        alike: dict[tuple[object, ...], PlaceCall] = {}
        for number, key in enumerate(self._seen.keys[place]):
            shared = self._seen.shared[key]
            root = shared.root or template.root[number]
            comm = self._seen.narrowed(place, number, shared.comm or template.comm[number])
            call = PlaceCall(
                number, key, shared.to, shared.from_, root, comm, spent_s=float(spent[number])
            )
            if key.step.kind != "done":
                self._find_laws(call, place)
                call.why = self._whole_side.why_unchecked(place, number)
                if not template.is_checked(place):
                    call.why = f"a single rank shows the calls {place_words(place)}"
            # Calls that follow the same laws are worked out once.
            first = alike.setdefault(call.laws, call)
            if first is not call:
                first.times += 1
                first.spent_s += call.spent_s
            calls.append(first)
        return calls

    def _find_laws(self, call: PlaceCall, place: Place) -> None:
        samples = self._seen.samples[call.key]
        roles = {sample.is_root for sample in samples} if call.key.step.rooted else {False}
        sizes = {}
        for role in roles:
            of_role = [s for s in samples if not call.key.step.rooted or s.is_root == role]
            indexes = (_SIZE, _SENT, _RECEIVED)
            sizes[role] = tuple(self._size_laws(call, of_role, place, index) for index in indexes)
        call.sizes = sizes
        call.padded = self._seen.may_be_padded(samples, call.key.along, place)
        call.alone = all(sample.shape.comm_size == 1 for sample in samples)
        call.send_tag = self._tag_laws(call, samples, place, sends=True)
        call.receive_tag = self._tag_laws(call, samples, place, sends=False)

    def _size_laws(
        self, call: PlaceCall, samples: Sequence[ProfiledCall], place: Place, index: int
    ) -> list[Law]:
        """Return the laws of a size or bytes of a call, by calls of as many places as possible.

        These have the same relations; else the same step; else they are of places equal on sides.
        """
        along = call.key.along
        alike = [s for s in self._seen.alike[place, call.at] if s.is_root == samples[0].is_root]
        groups = [samples, alike, *_by_place(samples, place)]
        laws: list[Law] = []
        # The means of sizes that vary follow an exact law by chance only.
        if not (self.spread and self._are_means(call, samples, index)):
            laws = self._seen.laws_of(groups, index, along, place)
        # Sizes of reads and writes may follow no law: the nearest law is taken.
        if not laws and (self.spread or call.key.step.kind in FILES):
            laws = self._seen.close_laws(samples, index, along)
        if not laws:
            sizes = list(dict.fromkeys(sample.moved(index) for sample in samples))
            listed = ", ".join(map(str, sizes[:_SHOWN])) + ", ..." * (len(sizes) > _SHOWN)
            why = f"no law in the grid's sides gives its sizes ({listed} B){self._seen.unclear}"
            raise self.refused(call, why)
        return laws

    def _are_means(self, call: PlaceCall, samples: Sequence[ProfiledCall], index: int) -> bool:
        """Whether some of the sizes are not whole elements, as the means of several sizes are."""
        element = self._element(call)
        return any(sample.moved(index) % element for sample in samples)

    def _tag_laws(
        self, call: PlaceCall, samples: Sequence[ProfiledCall], place: Place, *, sends: bool
    ) -> tuple[TagLaw, ...]:
        if not (call.key.step.sends if sends else call.key.step.receives):
            return ()
        of_place = [sample for sample in samples if sample.place == place]
        for some in (samples, of_place):
            laws = self._seen.tag_laws_of(some, sends=sends)
            if laws:
                return laws
        tags = sorted({s.shape.send_tag if sends else s.shape.receive_tag for s in of_place})
        listed = ", ".join(map(str, tags[:_SHOWN])) + ", ..." * (len(tags) > _SHOWN)
        raise self.refused(call, f"its tags ({listed}) follow neither rank nor partner")

    # One call of one rank ------------------------------------------------------------------------

    def _shape(self, rank: int, call: PlaceCall, rows: Sequence[npt.NDArray[np.float64]]) -> Shape:
        step = call.key.step
        if step.kind == "done":
            return Shape("done", "done", False, step.ago, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        to, from_, root = (self._end(rank, call, end) for end in (call.to, call.from_, call.root))
        send_tag = self._tag(rank, to, call, call.send_tag)
        receive_tag = self._tag(rank, from_, call, call.receive_tag)
        comm, members = self._communicator(rank, call)
        is_root = step.rooted and root == rank
        if is_root not in call.sizes:
            raise self.refused(call, "no profiled rank of its place has this role for the root")
        laws = call.sizes[is_root]
        amounts = [self._amount(call, size_laws, rows) for size_laws in laws]
        self._count(rank, call, laws, amounts[_SIZE])
        return Shape(
            step.call, step.kind, step.posts, to, from_, root, send_tag, receive_tag, comm, members,
            *amounts,
        )  # fmt: skip

    def _end(self, rank: int, call: PlaceCall, end: End | None) -> int:
        if end is None:
            return NOBODY
        other = end.rank_on(self.grid, rank)
        if other is None:
            raise self.refused(call, f"{self.grid} has no such partner of rank {rank}")
        return other

    def _tag(self, rank: int, other: int, call: PlaceCall, laws: Sequence[TagLaw]) -> int:
        if not laws:
            return -1
        tags = {law.at(self.grid.ranks, rank, other) for law in laws}
        if len(tags) > 1:
            raise self.refused(call, f"its tag may be {' or '.join(map(str, sorted(tags)))}")
        return tags.pop()

    def _communicator(self, rank: int, call: PlaceCall) -> tuple[int, int]:
        """Return the number of a call's communicator and how many ranks it has."""
        if call.comm is None:
            if not call.alone:
                return 0, 0
            return self._comms.setdefault(frozenset([rank]), len(self._comms) + 1), 1
        possible = {rule.members(self.grid, rank) for rule in call.comm}
        members = possible.pop()
        if possible or members is None:
            sizes = sorted({len(ranks) for ranks in (*possible, members) if ranks is not None})
            raise self.refused(
                call,
                f"the profiles do not show whether its communicator has "
                f"{' or '.join(map(str, sizes)) or 'as many'} of {self.grid.ranks} ranks",
            )
        return self._comms.setdefault(members, len(self._comms) + 1), len(members)

    def _amount(
        self, call: PlaceCall, laws: Sequence[Law], rows: Sequence[npt.NDArray[np.float64]]
    ) -> int:
        # For files the first law is good enough: no other rank waits for as many bytes.
        if laws[0].off is not None or call.key.step.kind in FILES:
            return max(0, round(float(laws[0].at(rows[laws[0].cut]))))
        sizes = {round(float(law.at(rows[law.cut])), 3) for law in laws}
        remaining = sizes
        if len(remaining) > 1:
            # If a side was never cut otherwise: the size of a face, and one size for all ranks.
            along = call.key.along
            sides = range(len(self.grid.sides))
            others = tuple(side for side in sides if side != along)
            likely = 0 if along is None else 1 + products(len(sides)).index(others)
            faces = [law for law in laws if likely in law.terms]
            remaining = {round(float(law.at(rows[law.cut])), 3) for law in faces}
            call.likely = True
        if len(remaining) != 1:
            listed = ", ".join(f"{size:g}" for size in sorted(sizes))
            raise self.refused(
                call,
                "several scaling laws fit its sizes, but give different sizes on this "
                f"grid ({listed} B)",
            )
        value = remaining.pop()
        element = self._element(call)
        vanishes = value == 0 and laws[0].terms != (0,)
        if value < 0 or value % element or vanishes:
            parts = f"{value / element:g} elements of {element} B" if value >= 0 else f"{value:g} B"
            raise self.refused(
                call,
                f"its size on {self.grid} would be {parts}: the grid cannot be cut evenly",
                _EVEN_HINT,
            )
        return round(value)

    def _element(self, call: PlaceCall) -> int:
        if call.key not in self._elements:
            shapes = (sample.shape for sample in self._seen.samples[call.key])
            self._elements[call.key] = element_size((shape.size, shape.element) for shape in shapes)
        return self._elements[call.key]

    def _count(self, rank: int, call: PlaceCall, laws: Sequence[Sequence[Law]], size: int) -> None:
        """Add a made call's bytes to the counts, and whether a law of it is unchecked."""
        call.made += call.times
        if call.key.step.kind in FILES:
            return
        size *= call.times
        self.bytes += size
        self.padded_calls += call.times * call.padded
        self.off += size * (laws[_SIZE][0].off or 0.0)
        assumed = self._sides_assumed_even(laws[_SIZE][0])
        self._even |= assumed
        self.even_bytes += size if assumed else 0
        why = call.why or self._why_unchecked(rank, call, laws)
        if why:
            call.why = call.why or why
            call.unchecked += call.times
            call.unchecked_bytes += size

    def _why_unchecked(self, rank: int, call: PlaceCall, laws: Sequence[Sequence[Law]]) -> str:
        for end in (call.to, call.from_, call.root):
            if end is not None and not end.is_checked_on(self.grid, rank):
                return f"its partner is {end.alternatives()}"
        if call.likely:
            return "its size is taken as that of a face"
        # A law that is only near has the error of its counts as its band.
        for alternatives in laws:
            if not any(law.checked or law.off is not None for law in alternatives):
                return "no further count checks its size"
        if not all(law.checked for law in (*call.send_tag, *call.receive_tag)):
            return "no further rank checks its tag"
        return ""

    def unchecked(self) -> Unchecked:
        """Return the counts of unchecked calls in the streams made so far."""
        calls = [
            call
            for template in self._templates.values()
            for call in {id(made): made for made in template}.values()
            if call.key.step.kind != "done"
        ]
        whole_s = sum(call.spent_s * call.made / call.times for call in calls)
        loose = [call for call in calls if call.unchecked]
        first = f"{loose[0].key.step.call} ({loose[0].why})" if loose else ""
        return Unchecked(
            calls=sum(call.unchecked for call in loose),
            of_calls=sum(call.made for call in calls),
            byte_share=sum(call.unchecked_bytes for call in loose) / max(1, self.bytes),
            time_share=sum(call.spent_s * call.unchecked / call.times for call in loose)
            / (whole_s or 1.0),
            first=first,
        )

    def refused(self, call: PlaceCall, why: str, hint: str | None = None) -> AnalysisError:
        """Return the error that names a call, its share of the time, and why it is refused."""
        largest = self.pattern.period
        step = call.key.step
        share = share_of(largest, (step.kind,))
        return AnalysisError(
            f"{step.call} (such calls take {share:.0%} of a period's time) cannot be "
            "constructed for "
            f"{self.grid.ranks} ranks: {why}",
            where=str(largest.trace.path),
            hint=hint,
        )


def _by_place(samples: Sequence[ProfiledCall], place: Place) -> Iterator[list[ProfiledCall]]:
    """Yield the calls of places that are equal along one side, along two, and along all."""
    sides = range(len(place))
    for count in range(1, len(place) + 1):
        for some in combinations(sides, count):
            yield [sample for sample in samples if all(sample.place[s] == place[s] for s in some)]


def _times(pattern: Pattern) -> dict[Place, npt.NDArray[np.float64]]:
    """Return the mean times before and in each call, two rows, by place, of its largest count."""
    means: dict[Place, npt.NDArray[np.float64]] = {}
    for grid, job in pattern.counts:
        times: dict[Place, list[npt.NDArray[np.float64]]] = {}
        for stream in job.period.trace.streams:
            columns = np.stack([stream.compute_s, stream.spent_s])
            times.setdefault(grid.place(stream.rank), []).append(columns)
        means |= {place: np.mean(stacks, axis=0) for place, stacks in times.items()}
    return means
