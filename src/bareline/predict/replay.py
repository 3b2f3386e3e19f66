"""A replay of a trace on the curves of a platform: one rank after the other, in time.

The rank that is earliest runs its next call. Between calls it computes, for the traced time, on a
core that it may have to share; messages and collectives take what the ladder says.

- A short message is *eager*: the sender goes on after its own share of it, the message arrives
  when the link has carried it, and the receiver takes it when it comes to ask.
- A long one is a *rendezvous*: it starts when sender and receiver both stand in MPI calls (through
  shared memory, when the receiver does: it fetches the message by itself), and nothing moves while
  they compute.
- A link carries one message after the other.
- A collective ends for all when the last rank came, plus its measured time; a broadcast waits for
  its root only, and in a reduction the root alone waits.

Polls that found nothing are left out: they are waiting, and the replay waits by itself. The steps
are compiled (native/replay); all that calls cost is looked up before, so that they know no curves.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.build.native import load_library
from bareline.predict.costs import Costs
from bareline.predict.needs import IO_KINDS, curve_size
from bareline.profile.records import (
    ANYBODY,
    NOBODY,
    POINT_TO_POINT,
    Records,
    Room,
    Shape,
    TooMany,
    decode,
    make_shape,
)
from bareline.profile.trace import CallStream, Trace
from bareline.profile.trace import read_trace as read_in_python
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of
from bareline.vocabulary.errors import AnalysisError, BarelineError

#: Local bookkeeping of a call that waits for nothing.
LOCAL_S = 1e-7
_ENDS_COMMUNICATOR = ("MPI_Comm_free", "MPI_Comm_disconnect")
_RENDEZVOUS = ("MPI_Ssend", "MPI_Issend")


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay gives.

    - `time_s`: from the common beginning to the end of the last rank.
    - `compute_s`, `waited_s`: of each rank: computing, and standing in calls.
    - `taken_s`: of each rank: in all calls of each shape.
    """

    time_s: float
    compute_s: tuple[float, ...]
    waited_s: tuple[float, ...]
    taken_s: tuple[npt.NDArray[np.float64], ...] = field(default=(), compare=False)

    @classmethod
    def of(
        cls,
        ends_s: Sequence[float],
        computed_s: Sequence[float],
        taken_s: Sequence[npt.NDArray[np.float64]] = (),
    ) -> Replayed:
        """Give it from when each rank ended, how long it computed, what its calls took."""
        waited = (end - own for end, own in zip(ends_s, computed_s, strict=True))
        return cls(max(ends_s), tuple(computed_s), tuple(waited), tuple(taken_s))


def is_local(shape: Shape) -> bool:
    """Tell whether a call on a communicator is over at once."""
    return shape.comm_size <= 1 or shape.comm == 0 or shape.call in _ENDS_COMMUNICATOR


def is_rendezvous(shape: Shape) -> bool:
    """Tell whether a send waits for its receiver, however short the message is."""
    return shape.call in _RENDEZVOUS


def nodes_of_communicators(streams: Sequence[CallStream], costs: Costs) -> dict[int, int]:
    """Find on how many nodes each communicator lies, by the ranks that call over it."""
    hosts: dict[int, set[int]] = {}
    for stream in streams:
        for shape in stream.shapes:
            hosts.setdefault(shape.comm, set()).add(costs.ladder.host(stream.rank))
    return {comm: len(found) for comm, found in hosts.items()}


def collective_cost(costs: Costs, shape: Shape, nodes: int) -> tuple[float, float, str]:
    """Give a collective's time, the share of a rank that does not wait, and who waits."""
    if shape.kind == "communicator":
        each = costs.collective("mpi.allreduce", shape.comm_size, nodes, 8)
        return COMMUNICATOR_REDUCTIONS * each, 0.0, "all"
    collective = collective_of(shape.call)
    if collective is None:
        return 0.0, 0.0, "all"
    size = curve_size(collective, shape.size, shape.comm_size)
    cost = costs.collective(collective.probe, shape.comm_size, nodes, size)
    overhead = min(cost, costs.send_overhead(min(nodes, 2), size))
    return cost, overhead, collective.role


def why_not_replayable(trace: Trace) -> str:
    """Say what keeps a trace from being replayed; empty if nothing does."""
    if trace.why_partial:
        return trace.why_partial
    odd = {"one-sided", "one-sided-sync"}
    for stream in trace.streams:
        spent = np.array([shape.kind in odd for shape in stream.shapes])[stream.shape]
        total = float((stream.compute_s + stream.spent_s).sum()) or 1.0
        if float(stream.spent_s[spent].sum()) > 0.02 * total:
            return "one-sided communication is not replayed"
        if any(shape.call in ("MPI_Mrecv", "MPI_Imrecv") for shape in stream.shapes):
            return "matched probes (MPI_Mprobe) are not replayed"
    return ""


_STOPPED, _NO_MEMORY = 1, 2
_MESSAGES, _WAIT, _COLLECTIVE, _LOCAL, _FILES, _COMPUTE, _OTHER, _DONE = range(8)
_KINDS = {
    **dict.fromkeys(POINT_TO_POINT, _MESSAGES),
    **dict.fromkeys(("collective", "communicator"), _COLLECTIVE),
    **dict.fromkeys(IO_KINDS, _FILES),
    "wait": _WAIT,
    "compute": _COMPUTE,
    "done": _DONE,
}
_ROLES = {"all": 0, "from-root": 1, "to-root": 2}
_ANY_TAG = -1

# `struct bl_shape`, `bl_cost`, `bl_rank` and `bl_replay` of native/replay/replay.h.
_SHAPE = np.dtype(
    [
        *((name, "i8") for name in ("send_tag", "receive_tag", "ago")),
        *((name, "i4") for name in ("kind", "posts", "to", "from", "root", "comm", "own_comm")),
        *((name, "i4") for name in ("comm_size", "rendezvous", "padding")),
    ]
)
_COST = np.dtype(
    [
        *((name, "f8", 2) for name in ("transfer", "send", "receive", "occupies")),
        ("collective", "f8"),
        ("overhead", "f8"),
        ("eager", "i4", 2),
        ("role", "i4"),
        ("padding", "i4"),
    ]
)


class _Rank(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("numbers", "compute_s", "spent_s", "shapes")),
        *((name, ctypes.c_void_p) for name in ("costs", "taken_s")),
        *((name, ctypes.c_int64) for name in ("records", "stride", "own_comms")),
        *((name, ctypes.c_int32) for name in ("host", "place", "core", "padding")),
        ("computed_s", ctypes.c_double),
        ("end_s", ctypes.c_double),
    )


class _Replay(ctypes.Structure):
    _fields_ = (
        ("ranks", ctypes.c_void_p),
        *(
            (name, ctypes.c_double)
            for name in ("compute", "files", "beside", "beside_s", "local_s")
        ),
        ("fetches", ctypes.c_int32 * 2),
        *((name, ctypes.c_int32) for name in ("count", "hosts", "places", "cores")),
        *((name, ctypes.c_int32) for name in ("any_tag", "anybody", "anything")),
    )


def replay(trace: Trace, costs: Costs) -> Replayed:
    """Run a trace on the curves of a platform; other threads go on meanwhile.

    Raises AnalysisError: the trace lacks ranks, or ranks come to wait for each other for ever.
    Raises ToolMissing, BuildError: the compiled steps are not there and cannot be built.
    """
    if len(trace.streams) != trace.ranks:
        raise AnalysisError(
            f"the trace has {len(trace.streams)} of {trace.ranks} ranks",
            hint="trace the program again; if it stays, use --model delta",
        )
    tables = _Tables(trace.streams, costs)
    status = load_library().bl_replay_run(ctypes.byref(tables.job))
    if status == _NO_MEMORY:
        raise MemoryError
    if status == _STOPPED:
        raise AnalysisError(
            "the replay of the trace comes to a stop: ranks wait for what no rank does",
            hint="trace the program again; if it stays, use --model delta",
        )
    ranks = tables.ranks
    ends, computed = ([getattr(rank, name) for rank in ranks] for name in ("end_s", "computed_s"))
    return Replayed.of(ends, computed, tables.taken_s)


@dataclass(slots=True)
class _Numbers:
    """Numbers from 0 for things in the order in which they come."""

    known: dict[object, int] = field(default_factory=dict)

    def of(self, thing: object) -> int:
        return self.known.setdefault(thing, len(self.known))


class _Tables:
    """What the compiled steps read; its arrays live as long as they run."""

    def __init__(self, streams: Sequence[CallStream], costs: Costs) -> None:
        self._costs = costs
        self._nodes = nodes_of_communicators(streams, costs)
        self._comms = _Numbers()
        self._kept: list[npt.NDArray[Any]] = []
        self.taken_s: list[npt.NDArray[np.float64]] = []
        self.ranks = (_Rank * len(streams))()
        hosts, cores, places = _Numbers(), _Numbers(), dict[int, int]()
        for rank, (own, stream) in enumerate(zip(self.ranks, streams, strict=True)):
            self._describe(own, stream)
            own.host = hosts.of(costs.ladder.host(rank))
            own.place = places.get(own.host, 0)
            places[own.host] = own.place + 1
            core = costs.core(rank)
            own.core = -1 if core is None else cores.of(core)
        asked = _wildcards(shape for stream in streams for shape in stream.shapes)
        self.job = _Replay(
            ranks=ctypes.addressof(self.ranks),
            compute=costs.compute,
            files=costs.io,
            beside=costs.beside,
            beside_s=costs.beside_s,
            local_s=LOCAL_S,
            fetches=(costs.fetches(1), costs.fetches(2)),
            count=len(streams),
            hosts=len(hosts.known),
            places=max(places.values(), default=0),
            cores=len(cores.known),
            **asked,
        )

    def _describe(self, own: _Rank, stream: CallStream) -> None:
        """Fill in a rank's stream, its shapes and what they cost."""
        shapes = np.zeros(len(stream.shapes), _SHAPE)
        costs = np.zeros(len(stream.shapes), _COST)
        own_comms = _Numbers()
        for number, shape in enumerate(stream.shapes):
            shapes[number] = self._shape(shape, own_comms)
            costs[number] = self._cost(shape)
        taken = np.zeros(len(stream.shapes))
        self.taken_s.append(taken)
        own.taken_s = taken.ctypes.data
        numbers = np.ascontiguousarray(stream.shape, np.int32)
        compute, spent = _alike(stream.compute_s, stream.spent_s)
        self._kept += [shapes, costs, numbers, compute, spent]
        own.numbers, own.shapes, own.costs = (one.ctypes.data for one in (numbers, shapes, costs))
        own.compute_s, own.spent_s = compute.ctypes.data, spent.ctypes.data
        own.records, own.stride = len(numbers), compute.strides[0]
        own.own_comms = len(own_comms.known)

    def _shape(self, shape: Shape, own_comms: _Numbers) -> tuple[int, ...]:
        kind = _KINDS.get(shape.kind, _OTHER)
        if kind == _COLLECTIVE and is_local(shape):
            kind = _LOCAL
        return (
            shape.send_tag,
            shape.receive_tag,
            shape.to if kind == _DONE else 0,
            kind,
            shape.posts,
            NOBODY if kind == _DONE else shape.to,
            shape.from_,
            shape.root,
            self._comms.of(shape.comm),
            own_comms.of(shape.comm),
            shape.comm_size,
            is_rendezvous(shape),
            0,
        )

    def _cost(self, shape: Shape) -> tuple[object, ...]:
        costs, size = self._costs, shape.size
        kind = _KINDS.get(shape.kind, _OTHER)
        if kind == _MESSAGES and shape.to not in (NOBODY, ANYBODY):
            looked_up = (
                costs.transfer,
                costs.send_overhead,
                costs.receive_overhead,
                costs.occupies,
            )
            times = [tuple(one(nodes, size) for nodes in (1, 2)) for one in looked_up]
            return *times, 0.0, 0.0, (costs.eager(1, size), costs.eager(2, size)), 0, 0
        whole, overhead, role = 0.0, 0.0, "all"
        if kind == _COLLECTIVE and not is_local(shape):
            whole, overhead, role = collective_cost(costs, shape, self._nodes[shape.comm])
        return *[(0.0, 0.0)] * 4, whole, overhead, (0, 0), _ROLES[role], 0


def _alike(
    compute: npt.NDArray[np.float64], spent: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Give both with one distance between their values: as two columns of a table have it."""
    if compute.strides == spent.strides:
        return compute, spent
    return np.ascontiguousarray(compute), np.ascontiguousarray(spent)


def _wildcards(shapes: Iterable[Shape]) -> dict[str, bool]:
    """Say in which ways receives ask for what they do not name."""
    asked = {
        (shape.from_ == ANYBODY, shape.receive_tag == _ANY_TAG)
        for shape in shapes
        if shape.kind in POINT_TO_POINT and shape.from_ != NOBODY
    }
    return {
        "any_tag": (False, True) in asked,
        "anybody": (True, False) in asked,
        "anything": (True, True) in asked,
    }


_DAMAGED, _TOO_MANY = 1, 2
#: Values of a shape in a stream.
_RAW_VALUES = 12


class _Stream(ctypes.Structure):
    """`struct bl_stream` of native/replay/replay.h."""

    _fields_ = (
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_int64),
        ("most_records", ctypes.c_int64),
        ("most_shapes", ctypes.c_int64),
        ("numbers", ctypes.c_void_p),
        ("codes", ctypes.c_void_p),
        ("shapes", ctypes.c_void_p),
        ("records", ctypes.c_int64),
        ("shape_count", ctypes.c_int64),
    )


def read_trace(path: Path) -> Trace:
    """Read a trace as `profile.trace.read_trace` does, which says what it raises."""
    return read_in_python(path, read_records)


def read_records(stream: bytes, names: list[list[str]], ranks: int, room: Room) -> Records:
    """Do what `profile.records.decode` does, compiled where that can be built."""
    try:
        library = load_library()
    except BarelineError:
        return decode(stream, names, ranks, room)
    found = _Stream(stream, len(stream), room.calls, room.shapes)
    _check(library.bl_replay_decode(ctypes.byref(found)))
    numbers = np.empty(found.records, np.int32)
    codes = np.empty(2 * found.records, np.uint16)
    shapes = np.empty((found.shape_count, _RAW_VALUES), np.uint64)
    found.numbers, found.codes, found.shapes = (one.ctypes.data for one in (numbers, codes, shapes))
    _check(library.bl_replay_decode(ctypes.byref(found)))
    room.calls -= len(numbers)
    room.shapes -= len(shapes)
    made = [make_shape(_signed(values), names, ranks) for values in shapes.tolist()]
    return made, numbers, codes


def _signed(values: list[int]) -> list[int]:
    """Give a shape's values, of which five may be below zero."""
    ends = (value - (1 << 64) * (value >> 63) for value in values[2:7])
    return [*values[:2], *ends, *values[7:]]


def _check(status: int) -> None:
    if status == _TOO_MANY:
        raise TooMany
    if status == _DAMAGED:
        raise ValueError
