"""A replay of a trace with the curves of a platform, call by call in the order of time.

The rank with the earliest time runs its next call. Between calls a rank computes for the traced
time, on a core that it may have to share. Messages and collectives take the times of the measured
curves.

- A short message is *eager*: the sender continues after its own overhead, the message arrives after
  the transfer over the link, and the receiver gets the message at its receive or wait.
- A long message is a *rendezvous*: it starts when sender and receiver are both in MPI calls, and no
  bytes move while they compute. In shared memory only the receiver has to be in a call, because it
  fetches the message by itself.
- A link carries one message after the other. Two messages in opposite directions delay each other:
  by the time of `MPI_Sendrecv` minus the time of the ping-pong, for the share of the time in which
  they overlap.
- A collective ends on all ranks when its measured time has passed after the last rank has come. In
  a broadcast all ranks wait only for the root, and in a reduction only the root waits.

Polls without a result are left out: they are waiting time, which the replay computes itself. C code
(native/replay) runs the calls; this module gives it the costs of all calls.
"""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from bareline.build.native import load_library
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.requirements import IO_KINDS, curve_size
from bareline.profile.journal_layout import struct
from bareline.profile.records import (
    ANYBODY,
    NOBODY,
    POINT_TO_POINT,
    Shape,
)
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of
from bareline.vocabulary.errors import AnalysisError

#: Local bookkeeping of a call that waits for nothing.
LOCAL_S = 1e-7
_ENDS_COMMUNICATOR = ("MPI_Comm_free", "MPI_Comm_disconnect")


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay: the end of each rank in s, after a common start.

    `taken_s` is the time of each rank's calls, by shape (the function, size and partner of calls).
    """

    ends_s: tuple[float, ...]
    compute_s: tuple[float, ...]
    taken_s: tuple[npt.NDArray[np.float64], ...] = field(default=(), compare=False)

    @property
    def time_s(self) -> float:
        """The time at which the last rank ends, in s."""
        return max(self.ends_s)


def is_local(shape: Shape) -> bool:
    """Whether a call over a communicator ends at once, without other ranks."""
    return shape.comm_size <= 1 or shape.comm == 0 or shape.call in _ENDS_COMMUNICATOR


def is_rendezvous(shape: Shape) -> bool:
    """Whether a send waits for its receiver even if the message is short."""
    return shape.call in ("MPI_Ssend", "MPI_Issend")


def nodes_of_communicators(streams: Sequence[CallStream], costs: Costs) -> dict[int, int]:
    """Return the number of nodes of each communicator, from the ranks that make calls over it."""
    hosts: dict[int, set[int]] = {}
    for stream in streams:
        for shape in stream.shapes:
            hosts.setdefault(shape.comm, set()).add(costs.ladder.host(stream.rank))
    return {comm: len(names) for comm, names in hosts.items()}


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
    """Return the reason why a trace cannot be replayed; "" if it can."""
    if trace.why_partial:
        return trace.why_partial
    one_sided_kinds = {"one-sided", "one-sided-sync"}
    for stream in trace.streams:
        is_one_sided_shape = np.array([shape.kind in one_sided_kinds for shape in stream.shapes])
        is_one_sided = is_one_sided_shape[stream.shape]
        total_s = float((stream.compute_s + stream.spent_s).sum()) or 1.0
        if float(stream.spent_s[is_one_sided].sum()) > 0.02 * total_s:
            return "one-sided communication is not replayed"
        if any(shape.call in ("MPI_Mrecv", "MPI_Imrecv") for shape in stream.shapes):
            return "matched probes (MPI_Mprobe) are not replayed"
    return ""


#: Results of the compiled steps.
_STOPPED = 1
_NO_MEMORY = 2


class _Kind(IntEnum):
    """The kinds of calls in a replay; the C code (native/replay/replay.h) has the same numbers."""

    MESSAGES = 0
    WAIT = 1
    COLLECTIVE = 2
    LOCAL = 3
    FILES = 4
    COMPUTE = 5
    OTHER = 6
    DONE = 7


_KINDS = {
    **dict.fromkeys(POINT_TO_POINT, _Kind.MESSAGES),
    **dict.fromkeys(("collective", "communicator"), _Kind.COLLECTIVE),
    **dict.fromkeys(IO_KINDS, _Kind.FILES),
    "wait": _Kind.WAIT,
    "compute": _Kind.COMPUTE,
    "done": _Kind.DONE,
}
_ANY_TAG = -1
#: The field of a job for receives from any rank, with any tag.
_WILDCARDS = {(True, True): "anything", (True, False): "anybody", (False, True): "any_tag"}
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
    """Return the times of a replay of a trace. Other Python threads can run during the replay.

    Raises AnalysisError: the trace lacks ranks, or ranks wait for each other forever.
    Raises ToolMissing, BuildError: the C code of the replay is not built and cannot be built.
    """
    if len(trace.streams) != trace.ranks:
        raise AnalysisError(
            f"the trace contains only {len(trace.streams)} of the program's {trace.ranks} ranks",
            hint="trace the program again; if this error remains, use --model delta",
        )
    tables = _Tables(trace.streams, costs)
    status = load_library().bl_replay_run(ctypes.c_void_p(tables.job.ctypes.data))
    if status == _NO_MEMORY:
        raise MemoryError
    if status == _STOPPED:
        raise AnalysisError(
            "the replay of the trace stops because ranks wait for a message or call that "
            "no rank makes",
            hint="trace the program again; if this error remains, use --model delta",
        )
    ends_s = tuple(tables.ranks["end_s"].tolist())
    computed_s = tuple(tables.ranks["computed_s"].tolist())
    return Replayed(ends_s, computed_s, tables.taken_s)


def _numbers() -> dict[object, int]:
    """Return a dictionary that numbers its keys from 0 in the order of their first use."""
    return defaultdict(itertools.count().__next__)


@dataclass(frozen=True, slots=True)
class _StreamArrays:
    """The arrays of a rank for the C code of the replay, which only writes `taken_s`.

    - `numbers`: the number of the shape of each call.
    - `compute_s`, `spent_s`: the times before and in each call; both have the same stride.
    - `shapes`, `costs`, `taken_s`: one entry per shape.
    - `comms`: the number of communicators that the rank uses.
    """

    numbers: npt.NDArray[np.int32]
    compute_s: npt.NDArray[np.float64]
    spent_s: npt.NDArray[np.float64]
    shapes: npt.NDArray[Any]
    costs: npt.NDArray[Any]
    taken_s: npt.NDArray[np.float64]
    comms: int

    def fill(self, row: Any) -> None:
        """Write the addresses, the length and the stride of the arrays into a `struct bl_rank`."""
        row["numbers"] = self.numbers.ctypes.data
        row["compute_s"] = self.compute_s.ctypes.data
        row["spent_s"] = self.spent_s.ctypes.data
        row["shapes"] = self.shapes.ctypes.data
        row["costs"] = self.costs.ctypes.data
        row["taken_s"] = self.taken_s.ctypes.data
        row["records"] = len(self.numbers)
        row["stride"] = self.compute_s.strides[0]
        row["own_comms"] = self.comms


class _Tables:
    """The tables that the C code of the replay reads and writes.

    The object owns the arrays, so it must exist until the C code has ended.
    """

    def __init__(self, streams: Sequence[CallStream], costs: Costs) -> None:
        self._costs = costs
        self._nodes = nodes_of_communicators(streams, costs)
        self._comms = _numbers()
        self._arrays = [self._arrays_of(stream) for stream in streams]
        self.ranks = np.zeros(len(streams), _RANK)
        hosts = _numbers()
        cores = _numbers()
        places: Counter[int] = Counter()
        for rank, arrays in enumerate(self._arrays):
            row = self.ranks[rank]
            arrays.fill(row)
            host = hosts[costs.ladder.host(rank)]
            core = costs.core(rank)
            row["host"] = host
            row["place"] = places[host]
            row["core"] = -1 if core is None else cores[core]
            places[host] += 1
        self.job = np.zeros(1, _REPLAY)
        job = self.job[0]
        job["ranks"] = self.ranks.ctypes.data
        job["count"] = len(streams)
        job["hosts"] = len(hosts)
        job["places"] = max(places.values(), default=0)
        job["cores"] = len(cores)
        self._fill_costs(job)
        _fill_wildcards(job, streams)

    @property
    def taken_s(self) -> tuple[npt.NDArray[np.float64], ...]:
        """The time that each rank took for the calls of each of its shapes, in s."""
        return tuple(arrays.taken_s for arrays in self._arrays)

    def _fill_costs(self, job: Any) -> None:
        """Write the costs that all ranks share into a `struct bl_replay`."""
        costs = self._costs
        job["compute"] = costs.compute
        job["files"] = costs.io
        job["beside"] = costs.beside
        job["beside_s"] = costs.beside_s
        job["local_s"] = LOCAL_S
        job["fetches"] = (costs.fetches(1), costs.fetches(2))

    def _arrays_of(self, stream: CallStream) -> _StreamArrays:
        compute_s = stream.compute_s
        spent_s = stream.spent_s
        if compute_s.strides != spent_s.strides:
            # The compiled steps read both arrays with one stride.
            compute_s = np.ascontiguousarray(compute_s)
            spent_s = np.ascontiguousarray(spent_s)
        comms = _numbers()
        shapes = np.zeros(len(stream.shapes), _SHAPE)
        costs = np.zeros(len(stream.shapes), _COST)
        for place, shape in enumerate(stream.shapes):
            self._fill_shape(shapes[place], shape, comms)
            self._fill_cost(costs[place], shape)
        return _StreamArrays(
            numbers=np.ascontiguousarray(stream.shape, np.int32),
            compute_s=compute_s,
            spent_s=spent_s,
            shapes=shapes,
            costs=costs,
            taken_s=np.zeros(len(stream.shapes)),
            comms=len(comms),
        )

    def _fill_shape(self, row: Any, shape: Shape, comms: dict[object, int]) -> None:
        """Write a call into a `struct bl_shape`; `comms` numbers the communicators of its rank."""
        kind = _kind_of(shape)
        row["kind"] = kind
        if kind is _Kind.DONE:
            row["ago"] = shape.to
            row["to"] = NOBODY
        else:
            row["to"] = shape.to
        row["from"] = shape.from_
        row["root"] = shape.root
        row["send_tag"] = shape.send_tag
        row["receive_tag"] = shape.receive_tag
        row["posts"] = shape.posts
        row["comm"] = self._comms[shape.comm]
        row["own_comm"] = comms[shape.comm]
        row["comm_size"] = shape.comm_size
        row["rendezvous"] = is_rendezvous(shape)

    def _fill_cost(self, row: Any, shape: Shape) -> None:
        """Write the costs of a call into a `struct bl_cost`; costs of other kinds stay 0."""
        kind = _kind_of(shape)
        if kind is _Kind.MESSAGES and shape.to not in (NOBODY, ANYBODY):
            self._fill_message_cost(row, shape.size)
        elif kind is _Kind.COLLECTIVE:
            nodes = self._nodes[shape.comm]
            whole_s, overhead_s, role = collective_cost(self._costs, shape, nodes)
            row["collective"] = whole_s
            row["overhead"] = overhead_s
            row["role"] = _ROLES[role]

    def _fill_message_cost(self, row: Any, size: int) -> None:
        """Write the costs of a message within a node, and of a message between two nodes."""
        costs = self._costs
        row["transfer"] = (costs.transfer(1, size), costs.transfer(2, size))
        row["crossing"] = (costs.crossing(1, size), costs.crossing(2, size))
        row["send"] = (costs.send_overhead(1, size), costs.send_overhead(2, size))
        row["receive"] = (costs.receive_overhead(1, size), costs.receive_overhead(2, size))
        row["occupies"] = (costs.occupies(1, size), costs.occupies(2, size))
        row["eager"] = (costs.eager(1, size), costs.eager(2, size))


def _kind_of(shape: Shape) -> _Kind:
    kind = _KINDS.get(shape.kind, _Kind.OTHER)
    if kind is _Kind.COLLECTIVE and is_local(shape):
        return _Kind.LOCAL
    return kind


def _fill_wildcards(job: Any, streams: Sequence[CallStream]) -> None:
    """Write whether some rank receives from any rank, with any tag, or both."""
    for stream in streams:
        for shape in stream.shapes:
            wildcard = _WILDCARDS.get((shape.from_ == ANYBODY, shape.receive_tag == _ANY_TAG))
            if wildcard and shape.kind in POINT_TO_POINT and shape.from_ != NOBODY:
                job[wildcard] = True
