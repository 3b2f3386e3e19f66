"""A replay of a trace on the curves of a platform: one rank after the other, in time.

The rank that is earliest runs its next call. Between calls it computes, for the traced time, on a
core that it may have to share; messages and collectives take the times of the ladder.

- A short message is *eager*: the sender goes on after its own share of it, the message arrives
  when the link has carried it, and the receiver takes it when it asks for it.
- A long one is a *rendezvous*: it starts when sender and receiver are both in MPI calls (through
  shared memory, when the receiver is: it fetches the message by itself), and nothing moves while
  they compute.
- A link carries one message after the other. Two that come opposite ways delay each other by as
  much as `MPI_Sendrecv` takes longer than the ping-pong, for the share of the time they overlap.
- A collective ends for all ranks its measured time after the last rank came; a broadcast waits for
  its root only, and in a reduction the root alone waits.

Polls that found nothing are left out: they are waiting, and the replay waits by itself. The steps
are compiled (native/replay); the costs of all calls are looked up before, so they need no curves.
"""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.build.native import load_library
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.needs import IO_KINDS, curve_size
from bareline.profile.journal_layout import struct
from bareline.profile.records import (
    ANYBODY,
    LATEST_VERSION,
    NOBODY,
    POINT_TO_POINT,
    VALUES_BY_VERSION,
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


@dataclass(frozen=True, slots=True)
class Replayed:
    """The times of each rank in s from the common beginning; `taken_s`: of its calls, by shape."""

    ends_s: tuple[float, ...]
    compute_s: tuple[float, ...]
    taken_s: tuple[npt.NDArray[np.float64], ...] = field(default=(), compare=False)

    @property
    def time_s(self) -> float:
        """The end of the last rank, in s."""
        return max(self.ends_s)


def is_local(shape: Shape) -> bool:
    """Whether a call on a communicator ends at once."""
    return shape.comm_size <= 1 or shape.comm == 0 or shape.call in _ENDS_COMMUNICATOR


def is_rendezvous(shape: Shape) -> bool:
    """Whether a send waits for its receiver, however short the message is."""
    return shape.call in ("MPI_Ssend", "MPI_Issend")


def nodes_of_communicators(streams: Sequence[CallStream], costs: Costs) -> dict[int, int]:
    """Return the number of nodes of each communicator, by the ranks that call over it."""
    hosts: dict[int, set[int]] = {}
    for stream in streams:
        for shape in stream.shapes:
            hosts.setdefault(shape.comm, set()).add(costs.ladder.host(stream.rank))
    return {comm: len(found) for comm, found in hosts.items()}


def collective_cost(costs: Costs, shape: Shape, nodes: int) -> tuple[float, float, str]:
    """Return a collective's time, the time of a rank that does not wait, and which ranks wait."""
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
    """Return the reason why a trace cannot be replayed; empty where it can."""
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
_ANY_TAG = -1
_ROLES = {"all": 0, "from-root": 1, "to-root": 2}

# `struct bl_shape`, `bl_cost`, `bl_rank` and `bl_replay` of native/replay/replay.h.
_SHAPE = struct(
    """
    send_tag:i8 receive_tag:i8 ago:i8 kind:i4 posts:i4 to:i4 from:i4 root:i4 comm:i4 own_comm:i4
    comm_size:i4 rendezvous:i4 padding:i4
    """
)
_COST = struct(
    """
    transfer:(2,)f8 crossing:(2,)f8 send:(2,)f8 receive:(2,)f8 occupies:(2,)f8 collective:f8
    overhead:f8
    eager:(2,)i4 role:i4 padding:i4
    """
)
_RANK = struct(
    """
    numbers:u8 compute_s:u8 spent_s:u8 shapes:u8 costs:u8 taken_s:u8 records:i8 stride:i8
    own_comms:i8 host:i4 place:i4 core:i4 padding:i4 computed_s:f8 end_s:f8
    """
)
_REPLAY = struct(
    """
    ranks:u8 compute:f8 files:f8 beside:f8 beside_s:f8 local_s:f8 fetches:(2,)i4 count:i4 hosts:i4
    places:i4 cores:i4 any_tag:i4 anybody:i4 anything:i4 padding:i4
    """
)


def replay(trace: Trace, costs: Costs) -> Replayed:
    """Replay a trace on the curves of a platform; other threads run during the replay.

    Raises AnalysisError: the trace lacks ranks, or ranks wait for each other for ever.
    Raises ToolMissing, BuildError: the compiled steps are missing and cannot be built.
    """
    if len(trace.streams) != trace.ranks:
        raise AnalysisError(
            f"the trace has {len(trace.streams)} of {trace.ranks} ranks",
            hint="trace the program again; if it stays, use --model delta",
        )
    tables = _Tables(trace.streams, costs)
    status = load_library().bl_replay_run(ctypes.c_void_p(tables.job.ctypes.data))
    if status == _NO_MEMORY:
        raise MemoryError
    if status == _STOPPED:
        raise AnalysisError(
            "the replay of the trace comes to a stop: ranks wait for what no rank does",
            hint="trace the program again; if it stays, use --model delta",
        )
    ends, computed = (tuple(tables.ranks[name].tolist()) for name in ("end_s", "computed_s"))
    return Replayed(ends, computed, tuple(tables.taken_s))


def _numbers() -> dict[object, int]:
    """Return a dictionary that numbers keys from 0 in the order in which they are looked up."""
    return defaultdict(itertools.count().__next__)


class _Tables:
    """The tables of the compiled steps; it owns their arrays, so it must live while they run."""

    def __init__(self, streams: Sequence[CallStream], costs: Costs) -> None:
        self._costs = costs
        self._nodes = nodes_of_communicators(streams, costs)
        self._comms = _numbers()
        self._kept: list[npt.NDArray[Any]] = []
        self.taken_s: list[npt.NDArray[np.float64]] = []
        self.ranks = np.zeros(len(streams), _RANK)
        hosts, cores, places = _numbers(), _numbers(), Counter[int]()
        for rank, stream in enumerate(streams):
            core, host = costs.core(rank), hosts[costs.ladder.host(rank)]
            number = -1 if core is None else cores[core]
            self.ranks[rank] = (*self._row(stream), host, places[host], number, 0, 0.0, 0.0)
            places[host] += 1
        asked = {
            (shape.from_ == ANYBODY, shape.receive_tag == _ANY_TAG)
            for stream in streams
            for shape in stream.shapes
            if shape.kind in POINT_TO_POINT and shape.from_ != NOBODY
        }
        self.job = np.zeros(1, _REPLAY)
        for name, value in {
            "ranks": self.ranks.ctypes.data,
            "compute": costs.compute,
            "files": costs.io,
            "beside": costs.beside,
            "beside_s": costs.beside_s,
            "local_s": LOCAL_S,
            "fetches": (costs.fetches(1), costs.fetches(2)),
            "count": len(streams),
            "hosts": len(hosts),
            "places": max(places.values(), default=0),
            "cores": len(cores),
            "any_tag": (False, True) in asked,
            "anybody": (True, False) in asked,
            "anything": (True, True) in asked,
        }.items():
            self.job[name] = value

    def _row(self, stream: CallStream) -> tuple[int, ...]:
        """Return the addresses of a rank's arrays, their length and stride, and its communicators.

        The last is the number of communicators that the rank calls over.
        """
        own_comms = _numbers()
        shapes = np.array([self._shape(shape, own_comms) for shape in stream.shapes], _SHAPE)
        costs = np.array([self._cost(shape) for shape in stream.shapes], _COST)
        self.taken_s.append(np.zeros(len(stream.shapes)))
        numbers = np.ascontiguousarray(stream.shape, np.int32)
        compute, spent = stream.compute_s, stream.spent_s
        if compute.strides != spent.strides:  # one distance for both: columns of a table have it
            compute, spent = np.ascontiguousarray(compute), np.ascontiguousarray(spent)
        arrays = (numbers, compute, spent, shapes, costs, self.taken_s[-1])
        self._kept += arrays
        places = (one.ctypes.data for one in arrays)
        return *places, len(numbers), compute.strides[0], len(own_comms)

    def _shape(self, shape: Shape, own_comms: dict[object, int]) -> tuple[int, ...]:
        kind = _KINDS.get(shape.kind, _OTHER)
        if kind == _COLLECTIVE and is_local(shape):
            kind = _LOCAL
        ago, to = (shape.to, NOBODY) if kind == _DONE else (0, shape.to)
        tags, ends = (shape.send_tag, shape.receive_tag), (to, shape.from_, shape.root)
        comm = (self._comms[shape.comm], own_comms[shape.comm], shape.comm_size)
        return *tags, ago, kind, shape.posts, *ends, *comm, is_rendezvous(shape), 0

    def _cost(self, shape: Shape) -> tuple[object, ...]:
        costs, size = self._costs, shape.size
        kind = _KINDS.get(shape.kind, _OTHER)
        if kind == _MESSAGES and shape.to not in (NOBODY, ANYBODY):
            of = (costs.transfer, costs.crossing, costs.send_overhead, costs.receive_overhead)
            times = [(one(1, size), one(2, size)) for one in (*of, costs.occupies)]
            return *times, 0.0, 0.0, (costs.eager(1, size), costs.eager(2, size)), 0, 0
        whole, overhead, role = 0.0, 0.0, "all"
        if kind == _COLLECTIVE and not is_local(shape):
            whole, overhead, role = collective_cost(costs, shape, self._nodes[shape.comm])
        return *[(0.0, 0.0)] * 5, whole, overhead, (0, 0), _ROLES[role], 0


_DAMAGED, _TOO_MANY = 1, 2


class _Stream(ctypes.Structure):  # `struct bl_stream` of native/replay/replay.h
    _fields_ = (
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_int64),
        ("most_records", ctypes.c_int64),
        ("most_shapes", ctypes.c_int64),
        ("values", ctypes.c_int64),
        ("numbers", ctypes.c_void_p),
        ("codes", ctypes.c_void_p),
        ("shapes", ctypes.c_void_p),
        ("records", ctypes.c_int64),
        ("shape_count", ctypes.c_int64),
    )


def read_trace(path: Path) -> Trace:
    """Read a trace with compiled decoding; raises the errors of `profile.trace.read_trace`."""
    return read_in_python(path, read_records)


def read_records(
    stream: bytes, names: list[list[str]], ranks: int, room: Room, version: int = LATEST_VERSION
) -> Records:
    """Decode records like `profile.records.decode`, in compiled code where it can be built."""
    try:
        library = load_library()
    except BarelineError:
        return decode(stream, names, ranks, room, version)
    values_of_shape = VALUES_BY_VERSION[version]
    found = _Stream(stream, len(stream), room.calls, room.shapes, values_of_shape)

    def decoded() -> None:
        status = library.bl_replay_decode(ctypes.byref(found))
        if status:
            raise {_TOO_MANY: TooMany, _DAMAGED: ValueError}[status]

    decoded()  # how many there are
    numbers = np.empty(found.records, np.int32)
    codes = np.empty(2 * found.records, np.uint16)
    shapes = np.empty((found.shape_count, values_of_shape), np.uint64)
    found.numbers, found.codes, found.shapes = (one.ctypes.data for one in (numbers, codes, shapes))
    decoded()
    room.calls -= len(numbers)
    room.shapes -= len(shapes)
    # Five values of a shape may be below zero.
    signed = shapes[:, 2:7].view(np.int64).tolist()
    values = ([*v[:2], *some, *v[7:]] for v, some in zip(shapes.tolist(), signed, strict=True))
    return [make_shape(each, names, ranks) for each in values], numbers, codes
