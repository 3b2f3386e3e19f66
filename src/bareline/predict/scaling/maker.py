"""The calls of a rank on a grid that was not profiled: partners, communicators, tags, sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.laws import Floats, Law, products
from bareline.predict.scaling.pattern import Pattern
from bareline.predict.scaling.place_call import PlaceCall
from bareline.predict.scaling.place_calls import PlaceCalls
from bareline.predict.scaling.relations import End
from bareline.predict.scaling.tags import TagLaw
from bareline.predict.scaling.unchecked import Unchecked
from bareline.profile.records import NOBODY, Shape
from bareline.profile.recurrence import FILES
from bareline.profile.trace import CallStream
from bareline.vocabulary.errors import AnalysisError

#: The terms' values for a rank, by each way to cut the sides.
_Rows = Sequence[Floats]
#: Decimal places of a size in bytes: the rest is rounding.
_PLACES = 3
_EVEN_HINT = (
    "choose a number of ranks that cuts the problem evenly, profile one that does not, or give "
    "the program's --grid"
)


@dataclass(frozen=True, slots=True)
class _Communicator:
    """The number that identifies a communicator, and its number of ranks; 0 without one."""

    number: int = 0
    ranks: int = 0


@dataclass
class Maker:
    """The builder of each rank's sequence of calls (its stream) on a grid, with sums over calls.

    - `bytes`: the bytes of all calls.
    - `even_bytes`: the bytes of calls whose size depends on a side that is assumed to be cut
      evenly; no profile proves it.
    - `off`: the bytes by which sizes may be wrong.
    - `padded_calls`: the number of calls whose size may be rounded up to whole blocks.
    """

    pattern: Pattern
    grid: Grid
    spread: float
    bytes: int = 0
    off: float = 0.0
    even_bytes: int = 0
    padded_calls: int = 0
    _comms: dict[frozenset[int], _Communicator] = field(default_factory=dict)
    _even: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._calls = PlaceCalls(self.pattern, self.grid, self.spread)
        self._size_laws = self._calls.size_laws

    def assumed_even(self) -> tuple[int, ...]:
        """Return the sides that affect message sizes and that are cut evenly by assumption only."""
        return tuple(sorted(self._even))

    def unchecked(self) -> Unchecked:
        """Return the counts of unchecked calls of all ranks whose calls were built."""
        return Unchecked.of(self._calls.different(), self.bytes)

    def stream(self, rank: int) -> CallStream:
        """Return the calls of a rank.

        Raises AnalysisError: a call follows no law.
        """
        place = self.grid.place(rank)
        calls = self._calls.of(place)
        rows = self._size_laws.rows_at(rank)
        made = {call: self._shape(rank, call, rows) for call in dict.fromkeys(calls)}
        shapes = tuple(dict.fromkeys(made.values()))
        number_of = {shape: number for number, shape in enumerate(shapes)}
        numbers = [number_of[made[call]] for call in calls]
        compute_s, spent_s = self._calls.times[place]
        shape = np.array(numbers, np.int32)
        return CallStream(rank, shapes, shape, compute_s, spent_s, finished=True, lost=0)

    # One call of one rank ------------------------------------------------------------------------

    def _shape(self, rank: int, call: PlaceCall, rows: _Rows) -> Shape:
        step = call.key.step
        if call.is_completion:
            return Shape("done", "done", False, step.ago, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        to, from_, root = (self._end(rank, call, end) for end in call.concern.ends)
        send_tag = self._tag(rank, to, call, call.send_tag)
        receive_tag = self._tag(rank, from_, call, call.receive_tag)
        comm = self._communicator(rank, call)
        is_root = step.rooted and root == rank
        if is_root not in call.sizes:
            role = "is the root" if is_root else "is not the root"
            why = f"no profiled rank at this place of the grid {role} of the call"
            raise self._refused(call, why)
        laws = call.sizes[is_root]
        size, sent, received = (self._amount(call, size_laws, rows) for size_laws in laws)
        self._count(rank, call, laws, size)
        return Shape(
            step.call,
            step.kind,
            step.posts,
            to,
            from_,
            root,
            send_tag,
            receive_tag,
            comm.number,
            comm.ranks,
            size,
            sent,
            received,
        )

    def _end(self, rank: int, call: PlaceCall, end: End | None) -> int:
        if end is None:
            return NOBODY
        other = end.rank_on(self.grid, rank)
        if other is None:
            raise self._refused(
                call, f"in the grid {self.grid}, rank {rank} has no partner for this call"
            )
        return other

    def _tag(self, rank: int, other: int, call: PlaceCall, laws: Sequence[TagLaw]) -> int:
        if not laws:
            return -1
        tags = {law.at(self.grid.ranks, rank, other) for law in laws}
        if len(tags) > 1:
            listed = " or ".join(map(str, sorted(tags)))
            raise self._refused(call, f"the profiles allow several tags of the call: {listed}")
        return tags.pop()

    def _communicator(self, rank: int, call: PlaceCall) -> _Communicator:
        if call.concern.comm is not None:
            return self._numbered(self._members(rank, call))
        if call.alone:
            return self._numbered(frozenset([rank]))
        return _Communicator()

    def _numbered(self, members: frozenset[int]) -> _Communicator:
        """Return the communicator of the given members, which always has the same number."""
        new = _Communicator(len(self._comms) + 1, len(members))
        return self._comms.setdefault(members, new)

    def _members(self, rank: int, call: PlaceCall) -> frozenset[int]:
        rules = call.concern.comm or ()
        possible = {rule.members(self.grid, rank) for rule in rules}
        ranks = [members for members in possible if members is not None]
        if len(possible) == 1 and ranks:
            return ranks[0]
        sizes = sorted({len(members) for members in ranks})
        listed = " or ".join(map(str, sizes)) or "as many"
        why = (
            f"the profiles do not show whether the communicator of the call has {listed} of "
            f"{self.grid.ranks} ranks"
        )
        raise self._refused(call, why)

    def _refused(self, call: PlaceCall, why: str, hint: str | None = None) -> AnalysisError:
        """Return the error for a call; parameters as for `PlaceCalls.refused`."""
        return self._calls.refused(call, why, hint)

    # Sizes ---------------------------------------------------------------------------------------

    def _amount(self, call: PlaceCall, laws: Sequence[Law], rows: _Rows) -> int:
        # For files the first law is good enough: no other rank waits for as many bytes.
        if laws[0].off is not None or call.key.step.kind in FILES:
            return max(0, round(_size(laws[0], rows)))
        sizes = _sizes(laws, rows)
        likely = sizes
        if len(sizes) > 1:
            # If laws differ, the size of a face is assumed, if it is one size.
            face = self._face_term(call.key.along)
            likely = _sizes([law for law in laws if face in law.terms], rows)
            call.likely = True
        if len(likely) != 1:
            listed = ", ".join(f"{size:g}" for size in sorted(sizes))
            why = (
                "several scaling laws fit the profiled sizes of the call, but give different"
                " sizes on this grid "
                f"({listed} B)"
            )
            raise self._refused(call, why)
        value = likely.pop()
        self._check_whole(call, value, laws[0])
        return round(value)

    def _face_term(self, along: int | None) -> int:
        """Return the index of the term for the face that a message along a side crosses.

        If the call sends no message, it is the constant term.
        """
        if along is None:
            return 0
        sides = range(len(self.grid.sides))
        across = tuple(side for side in sides if side != along)
        return 1 + products(len(sides)).index(across)

    def _check_whole(self, call: PlaceCall, value: float, law: Law) -> None:
        """Refuse a size that is negative or not a whole number of elements.

        A size of zero is also refused, unless the law is a constant.
        """
        element = self._size_laws.element(call.key)
        vanishes = value == 0 and law.terms != (0,)
        if value >= 0 and not value % element and not vanishes:
            return
        parts = f"{value:g} B"
        if value >= 0:
            parts = f"{value / element:g} elements of {element} B"
        why = (
            f"the size of the call on {self.grid} would be {parts}: the problem cannot be divided"
            " evenly"
        )
        raise self._refused(call, why, _EVEN_HINT)

    # Counts --------------------------------------------------------------------------------------

    def _count(self, rank: int, call: PlaceCall, laws: Sequence[Sequence[Law]], size: int) -> None:
        """Add the bytes of a call to the sums, and count the call if a law of it is unchecked."""
        call.made += call.times
        if call.key.step.kind in FILES:
            return
        size_law = laws[0][0]
        size *= call.times
        self.bytes += size
        self.off += size * (size_law.off or 0.0)
        if call.padded:
            self.padded_calls += call.times
        assumed = self._sides_assumed_even(size_law)
        if assumed:
            self._even |= assumed
            self.even_bytes += size
        why = call.why or self._why_unchecked(rank, call, laws)
        if why:
            call.why = why
            call.unchecked += call.times
            call.unchecked_bytes += size

    def _why_unchecked(self, rank: int, call: PlaceCall, laws: Sequence[Sequence[Law]]) -> str:
        for end in call.concern.ends:
            if end is not None and not end.is_checked_on(self.grid, rank):
                return f"its partner is {end.alternatives()}"
        return call.why_unchecked_tags_or_sizes(laws)

    def _sides_assumed_even(self, law: Law) -> set[int]:
        """Return the sides that affect a size and that are cut evenly by assumption only."""
        shares = products(len(self.grid.sides))
        sides: set[int] = set()
        for term in law.terms:
            if 1 <= term <= len(shares):
                sides.update(shares[term - 1])
        return {side for side in sides if not self._is_cut_shown(side, law.cut)}

    def _is_cut_shown(self, side: int, cut: int) -> bool:
        """Whether the profiles show the number of cells of a side, or that its parts are equal."""
        if self._size_laws.cuts.ways[cut][side] is not None:
            return True
        lengths = [grid.sides[side] for grid in self.pattern.grids]
        return math.lcm(*lengths) % self.grid.sides[side] == 0


def _size(law: Law, rows: _Rows) -> float:
    """Return the size in bytes that a law gives for a call of one rank."""
    return float(law.at(rows[law.cut]))


def _sizes(laws: Sequence[Law], rows: _Rows) -> set[float]:
    """Return the different sizes in bytes that several laws give for a call of one rank."""
    return {round(_size(law, rows), _PLACES) for law in laws}
