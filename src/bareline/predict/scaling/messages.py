"""The calls of a predicted period by function, which a user can inspect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from bareline.predict.scaling.pattern import program_of
from bareline.predict.scaling.ranks import Grown, Scaled
from bareline.profile.period import calls_of
from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import Trace

#: Beyond this multiple of the ranks of the largest profile, a prediction carries a caution.
FAR = 4
_SHOWN_KINDS = (*POINT_TO_POINT, "collective", "communicator", "mpi-io", "posix-io")


@dataclass(frozen=True, slots=True)
class MessageRow:
    """``predict --ranks N --messages``: the calls of all ranks to one function in a period.

    - `calls`, `sent_bytes`: the sums over all ranks.
    - `calls_of_rank`: the calls of the rank with fewest and of the rank with most calls.
    - `calls_profiled`: the calls of the rank with most calls, for each profiled number of ranks.
    - `sizes`: the smallest and the largest size of a call.
    - `partners`: the least and the greatest number of ranks with which a rank exchanges messages.
    - `communicators`: the sizes of the communicators over which the function is called.
    - `times_largest`: the number of ranks divided by the number of ranks of the largest profile.
    - `unchecked_share`, `unchecked_byte_share`: the shares of all calls and of their bytes that
      depend on unchecked laws.
    - `assumed_even`: the sides that are assumed to be cut into equal parts; no profile proves it.
    - `assumed_even_share`: the share of the bytes that depends on a side in `assumed_even`.
    - `assumptions`: the assumptions of the whole period, a sentence each.
    """

    program: str
    ranks: int
    grid: str
    call: str
    calls: int
    sent_bytes: int
    sizes: tuple[int, int]
    calls_of_rank: tuple[int, int]
    calls_profiled: dict[str, int]
    partners: tuple[int, int]
    communicators: tuple[int, ...]
    times_largest: float
    unchecked_share: float
    unchecked_byte_share: float
    assumed_even: tuple[int, ...]
    assumed_even_share: float
    assumptions: tuple[str, ...]


@dataclass(slots=True)
class _Function:
    """The calls, partners and sizes of one function."""

    calls: dict[int, int] = field(default_factory=dict)
    partners: dict[int, set[int]] = field(default_factory=dict)
    sent: int = 0
    sizes: set[int] = field(default_factory=set)
    communicators: set[int] = field(default_factory=set)

    def add(self, rank: int, shape: Shape) -> None:
        self.calls[rank] = self.calls.get(rank, 0) + 1
        partners = self.partners.setdefault(rank, set())
        partners |= {end for end in (shape.to, shape.from_) if end != NOBODY}
        self.sent += shape.sent
        self.sizes.add(shape.size)
        if shape.comm_size:
            self.communicators.add(shape.comm_size)


def _functions(trace: Trace) -> dict[str, _Function]:
    functions: dict[str, _Function] = {}
    for stream in trace.streams:
        for shape in calls_of(stream):
            if shape.kind in _SHOWN_KINDS:
                functions.setdefault(shape.call, _Function()).add(stream.rank, shape)
    return functions


def message_rows(program: Scaled, grown: Grown) -> Iterator[MessageRow]:
    """Yield a row for each function of a predicted period, the most bytes first."""
    profiled = {period.ranks: _functions(period.trace) for _, period in program.counts}
    ranks = grown.grid.ranks
    assumptions = tuple(basis(program, grown))
    made = _functions(grown.trace)
    for call in sorted(made, key=lambda call: (-made[call].sent, call)):
        function = made[call]
        calls = [function.calls.get(rank, 0) for rank in range(ranks)]
        partners = [len(function.partners.get(rank, ())) for rank in range(ranks)]
        yield MessageRow(
            program=program_of(program.largest),
            ranks=ranks,
            grid=str(grown.grid),
            call=call,
            calls=sum(calls),
            sent_bytes=function.sent,
            sizes=_least_and_most(function.sizes),
            calls_of_rank=_least_and_most(calls),
            calls_profiled=_most_calls(profiled, call),
            partners=_least_and_most(partners),
            communicators=tuple(sorted(function.communicators)),
            times_largest=ranks / program.largest.ranks,
            unchecked_share=grown.unchecked.call_share,
            unchecked_byte_share=grown.unchecked.byte_share,
            assumed_even=tuple(side + 1 for side in grown.assumed_even),
            assumed_even_share=grown.even_share,
            assumptions=assumptions,
        )


def _least_and_most(numbers: Collection[int]) -> tuple[int, int]:
    return min(numbers), max(numbers)


def _most_calls(profiled: Mapping[int, Mapping[str, _Function]], call: str) -> dict[str, int]:
    """Return the largest number of calls of a rank to a function, for each profile."""
    most: dict[str, int] = {}
    for ranks, functions in profiled.items():
        function = functions.get(call, _Function())
        most[str(ranks)] = max(function.calls.values(), default=0)
    return most


def basis(program: Scaled, grown: Grown) -> Iterator[str]:
    """Yield the assumptions of a predicted period, a sentence for each."""
    ranks = grown.grid.ranks
    profiled = ", ".join(str(grid.ranks) for grid in program.known)
    grids = ", ".join(map(str, program.known))
    yield (
        f"Iterations are taken as constant: a rank calls on {ranks} ranks as often as "
        f"a rank of its place on {profiled} ({grids}), and sizes that are the same there stay so"
    )
    largest = program.largest.ranks
    times = ranks / largest
    if times > FAR:
        yield (
            f"{ranks} ranks are {times:g} times the {largest} of the largest "
            f"profile: an effect that starts beyond {largest} ranks is not seen"
        )
    for side in grown.assumed_even:
        lengths = sorted({grid.sides[side] for grid in program.known})
        listed = ", ".join(map(str, lengths))
        yield (
            f"Side {side + 1} is taken as cut evenly into {grown.grid.sides[side]}; the profiles "
            f"show {listed} parts, so that a cut that is padded or not even "
            f"there has other sizes ({grown.even_share:.0%} of the bytes depend on it)"
        )
    for caution in grown.cautions:
        yield caution.text
    unchecked = grown.unchecked
    if unchecked.calls:
        advice = program.recommended(ranks)
        yield (
            f"{unchecked.calls:,} of {unchecked.of_calls:,} calls, waits included "
            f"({unchecked.byte_share:.0%} of the bytes, {unchecked.time_share:.0%} of the time of "
            f"calls) rest on laws that no profile checks, {unchecked.first} first; "
            f"{advice}"
        )
