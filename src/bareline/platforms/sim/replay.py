"""A trace in SimGrid's format for a replay: a list of actions for each rank.

Computation takes the traced processor time; messages and collective functions are simulated with
the cluster's costs and algorithms. A receive from any source, or with any tag, gets the same
message as in the traced run. A trace with collectives on a subset of the ranks is refused, because
SimGrid's actions only use the communicator of all ranks. For functions with a count for each
partner, such as MPI_Alltoallv, a trace only contains the sum of the counts. The sum is divided
equally among the partners. A nonblocking collective is executed completely when it is started.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bareline.profile.records import ANYBODY, NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file, replacing

#: SimGrid's numbers of the types of elements.
_DOUBLE = 0
_BYTE = 6
_DOUBLE_BYTES = 8
#: A shorter stretch of computation passes with the next one: each costs the simulator.
_SHORTEST_S = 1e-6
_UNKNOWN = (
    "the trace does not say whose message it got; trace the program again with this bareline, and "
    "complete such receives by MPI_Wait or MPI_Test before they are freed"
)


def _function_of(call: str) -> str:
    collective = collective_of(call)
    return collective.simulated if collective else ""


def why_not(trace: Trace) -> str:
    """Return the reason why the simulator cannot replay a trace; "" if a replay is possible."""
    if trace.why_partial:
        return trace.why_partial
    for stream in trace.streams:
        for shape in stream.shapes:
            if reason := _why_not(shape, trace.ranks):
                return f"{shape.call}: {reason}"
        if reason := _unknown_sender(stream):
            return reason
    return ""


def _unknown_sender(stream: CallStream) -> str:
    """Return the reason against a replay if a receive has an unknown sender, or ""."""
    if not any(map(_asks, stream.shapes)):
        return ""
    arrivals = _arrivals(stream)
    for posts, shape in _calls(stream):
        if _asks(shape) and not (shape.posts and posts in arrivals):
            return f"{shape.call}: {_UNKNOWN}"
    return ""


def _calls(stream: CallStream) -> Iterator[tuple[int, Shape]]:
    """Yield each call with the number of requests that were posted before it."""
    posts = 0
    for number in stream.shape.tolist():
        shape: Shape = stream.shapes[number]
        yield posts, shape
        posts += shape.posts


def _arrivals(stream: CallStream) -> dict[int, Shape]:
    """Return the calls that show the sender of an earlier nonblocking receive.

    The key is the number of the receive among all posted requests.
    """
    if not any(map(_tells, stream.shapes)):
        return {}
    return {posts - 1 - shape.to: shape for posts, shape in _calls(stream) if _tells(shape)}


def _tells(shape: Shape) -> bool:
    return shape.kind == "done" and shape.root == 1 and shape.from_ != ANYBODY


def _asks(shape: Shape) -> bool:
    receives = shape.kind in POINT_TO_POINT and shape.from_ != NOBODY
    return receives and (shape.from_ == ANYBODY or shape.receive_tag == -1)


def _why_not(shape: Shape, ranks: int) -> str:
    if shape.kind in POINT_TO_POINT and shape.to == ANYBODY:
        return "it sends to a process that is not one of the traced ranks"
    if shape.kind in ("one-sided", "one-sided-sync"):
        return "one-sided communication is not replayed"
    if shape.kind == "collective" and shape.comm_size > 1:
        if shape.comm_size != ranks:
            return f"it is of {shape.comm_size} of {ranks} ranks; only all together are replayed"
        if not _function_of(shape.call):
            return "the simulator has no such action"
    return ""


@dataclass(slots=True)
class _Rank:
    """The actions of one rank, to which its calls are added one after the other."""

    rank: int
    tags: dict[tuple[int, int], int]
    arrivals: dict[int, Shape]
    lines: list[str] = field(default_factory=list)
    posted: list[tuple[int, int, int] | None] = field(default_factory=list)
    waiting: list[tuple[int, int, int] | None] = field(default_factory=list)
    computed_s: float = 0.0

    def act(self, *words: object) -> None:
        if self.computed_s >= _SHORTEST_S:
            self.lines.append(f"{self.rank} compute {self.computed_s * 1e9:.0f}")
            self.computed_s = 0.0
        self.lines.append(" ".join(map(str, (self.rank, *words))))

    def wait_for_done(self) -> None:
        for request in self.waiting:
            if request is not None:
                self.act("wait", *request)
        self.waiting.clear()

    def message(self, shape: Shape) -> None:
        if shape.posts and len(self.posted) in self.arrivals:
            arrived = self.arrivals[len(self.posted)]
            shape = replace(shape, from_=arrived.from_, receive_tag=arrived.receive_tag)
        receives = shape.from_ != NOBODY
        sends = shape.to != NOBODY
        prefix = "i" if shape.posts or (receives and sends) else ""
        requests: list[tuple[int, int, int]] = []
        if receives:
            tag = self._tag(shape.comm, shape.receive_tag)
            self.act(f"{prefix}recv", shape.from_, tag, shape.received or shape.size, _BYTE)
            requests.append((shape.from_, self.rank, tag))
        if sends:
            tag = self._tag(shape.comm, shape.send_tag)
            self.act(f"{prefix}send", shape.to, tag, shape.size, _BYTE)
            requests.append((self.rank, shape.to, tag))
        if shape.posts:
            self.posted.append(requests[-1] if requests else None)
        elif receives and sends:
            for request in requests:
                self.act("wait", *request)

    def _tag(self, comm: int, tag: int) -> int:
        """Return the simulator's tag for a pair of communicator and tag."""
        return self.tags.setdefault((comm, tag), len(self.tags))

    def run(self, stream: CallStream, factor: float, sizes: list[int], ranks: int) -> None:
        """Add the lines of all calls of the rank."""
        collectives = iter(sizes)
        for number, seconds, spent_s in zip(
            stream.shape.tolist(), stream.compute_s.tolist(), stream.spent_s.tolist(), strict=True
        ):
            shape = stream.shapes[number]
            if shape.kind == "done":
                request = self.posted[len(self.posted) - 1 - shape.to]
                self.waiting.append(request)
                continue
            self.computed_s += seconds * factor
            self.wait_for_done()
            _act(self, shape, spent_s, collectives, ranks)
        self.wait_for_done()


def actions(trace: Trace, factor: float) -> Iterator[tuple[int, list[str]]]:
    """Yield each rank with its lines of actions.

    - `factor`: factor for the traced computing times.
    """
    reason = why_not(trace)
    if reason:
        raise PlatformError(f"the trace cannot be replayed: {reason}", where=str(trace.path))
    sizes = _collective_sizes(trace)
    tags: dict[tuple[int, int], int] = {}
    for stream in trace.streams:
        rank = _Rank(stream.rank, tags, _arrivals(stream))
        rank.act("init")
        rank.run(stream, factor, sizes, trace.ranks)
        rank.act("finalize")
        yield rank.rank, rank.lines


def _act(rank: _Rank, shape: Shape, spent_s: float, collectives: Iterator[int], ranks: int) -> None:
    if shape.kind in POINT_TO_POINT:
        rank.message(shape)
    elif shape.kind == "collective" and shape.comm_size > 1:
        function = _function_of(shape.call)
        rank.act(*_collective(function, shape, next(collectives), ranks))
        if shape.posts:
            rank.posted.append(None)
    elif shape.kind == "communicator" and shape.comm_size == ranks > 1:
        for _ in range(COMMUNICATOR_REDUCTIONS):
            rank.act("allreduce", 1, 0, _DOUBLE)
    elif shape.kind in ("mpi-io", "posix-io"):
        rank.act("sleep", f"{spent_s:.9g}")
    elif shape.posts:
        rank.posted.append(None)


def _collective(name: str, shape: Shape, size: int, ranks: int) -> tuple[object, ...]:
    """Return the words of a collective's line: the function, counts, root and types."""
    count = size
    kind = _BYTE
    if size % _DOUBLE_BYTES == 0:
        count = size // _DOUBLE_BYTES
        kind = _DOUBLE
    root = max(shape.root, 0)
    if name == "barrier":
        return (name,)
    if name == "bcast":
        return (name, size, root, _BYTE)
    if name == "reduce":
        return (name, count, 0, root, kind)
    if name == "allreduce":
        return (name, count, 0, kind)
    if name == "reducescatter":
        parts = (count // ranks + (rank < count % ranks) for rank in range(ranks))
        return (name, *parts, 0, kind)
    each = size // ranks if name == "alltoall" else size
    rooted = (root,) if name in ("gather", "scatter") else ()
    return (name, each, each, *rooted, _BYTE, _BYTE)


def _collective_sizes(trace: Trace) -> list[int]:
    """Return the mean size, over the ranks, of each collective that all ranks execute."""
    sums: dict[int, int] = defaultdict(int)
    for stream in trace.streams:
        place = 0
        for number in stream.shape.tolist():
            shape = stream.shapes[number]
            if shape.kind == "collective" and shape.comm_size > 1:
                sums[place] += shape.size
                place += 1
    return [-(-total // trace.ranks) for _, total in sorted(sums.items())]


def write(trace: Trace, factor: float, folder: Path) -> Path:
    """Write the actions of all ranks; return the file that lists the ranks' files."""
    folder.mkdir(exist_ok=True)
    listed = folder / "ranks.txt"
    with replacing(listed, durable=False) as ranks:
        for rank, lines in actions(trace, factor):
            path = folder / f"rank-{rank}.txt"
            replace_file(path, "\n".join(lines) + "\n", durable=False)
            ranks.write(os.fsencode(path) + b"\n")
    return listed


def seconds_of(stderr: str) -> float:
    """Return the simulated time of the replayed program, in s."""
    match = re.search(r"Simulation time ([\d.]+)", stderr)
    if match is None or "Deadlock" in stderr:
        complaint = stderr.strip()[-300:] or "it printed no error"
        raise PlatformError(
            f"the replay did not finish: {complaint}", hint="trace the program again"
        )
    return float(match[1])
