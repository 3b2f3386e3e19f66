"""The network work of an operation: the number of sequential messages and of bytes on a link.

The longest chain of messages is counted: simultaneous traffic on several links counts once. MPI
libraries choose among algorithms, so the numbers for collectives have bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.numbers.messages import tree_steps
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.place import Place

STREAMS = ("net.nuttcp", "net.iperf3", "net.ib_write_bw")
LATENCIES = ("net.sockperf", "net.ib_write_lat")
PINGPONG = "mpi.pingpong"
OVERHEAD = "mpi.overhead"
#: MPI probes in which a message crosses the link once, in one direction, without other traffic.
ONE_WAY = (PINGPONG, "mpi.bandwidth")
#: Of a window of messages only the answer at its end waits for the link's latency.
_WINDOWED = ("mpi.bandwidth", "mpi.bibandwidth", "mpi.multi_pair")
_SIZELESS = ("mpi.barrier", "mpi.first_message")
#: Messages that cross each other take up to twice as long as a single message.
_CROSSING = 2.0


@dataclass(frozen=True, slots=True)
class Count:
    """A number of messages or bytes, with its bounds."""

    usual: float
    least: float
    most: float

    @classmethod
    def exactly(cls, number: float) -> Count:
        """Return a number whose bounds are equal to it."""
        return cls(number, number, number)

    def of(self, each: Share) -> Share:
        """Return the extra time of all messages or bytes, from the extra time of a single one."""
        ends = [self.least * each.lo, self.least * each.hi]
        ends += [self.most * each.lo, self.most * each.hi]
        usual = self.usual * each.value
        return Share.within(min(ends), usual, max(ends))


NONE = Count.exactly(0)
_ONE = Count.exactly(1)


@dataclass(frozen=True, slots=True)
class Work:
    """The messages of an operation that follow one another, and its bytes that cross one link.

    - `direct`: socket latency and TCP throughput measure the operation's parts; if false, MPI's
      messages do.
    """

    starts: Count
    size_bytes: Count
    direct: bool = False


def work_of(place: Place) -> Work | None:
    """Return the messages and bytes of a call; None if unknown.

    A stream counts as one byte and no message, a latency as one message and no bytes.
    """
    if place.probe in STREAMS:
        return Work(NONE, _ONE, direct=True)
    if place.probe in LATENCIES:
        return Work(_ONE, NONE, direct=True)
    size = place.size_bytes
    if place.probe in _SIZELESS:
        size = 0
    if size is None or not place.probe.startswith("mpi."):
        return None
    if place.probe in ONE_WAY:
        starts = _ONE
        if place.probe in _WINDOWED:
            starts = Count(0, 0, 1)
        return Work(starts, Count.exactly(size), direct=True)
    crossing = Count(size, size, _CROSSING * size)
    match place.probe.partition(".")[2]:
        case "bibandwidth" | "multi_pair":
            return Work(Count(0, 0, 1), crossing)
        case "sendrecv":
            return Work(_ONE, crossing)
        case "overhead":  # of its ends: on a full link they wait for all of it
            return Work(Count(0, 0, 1), Count(size, 0, size), direct=True)
        case "exchange" | "ring":  # with both neighbours
            sized = Count(size, size, 2 * _CROSSING * size)
            return Work(Count(1, 1, 2), sized)
        case "first_message":  # sockets are connected, and both ends agree
            return Work(Count(2, 1, 8), NONE)
    if place.probe in _COLLECTIVES:
        return _of_collective(place, size)
    return None


def _of_collective(place: Place, size: int) -> Work:
    ranks = max(2, place.ranks)
    nodes = min(ranks, max(2, place.ran_on))
    each = math.ceil(ranks / nodes)
    steps = tree_steps(ranks)
    between = tree_steps(nodes)
    least = steps
    if each > 1:
        least = between
    # The longest chain contains all ranks; the usual worst case is a tree, there and back.
    most_starts = max(2 * steps, ranks - 1)
    starts = Count(steps, least, most_starts)
    blocks = _BLOCKS.get(place.probe)
    if blocks is not None:
        crossing = blocks(ranks, each) * size
        most_crossing = _CROSSING * each * crossing
        return Work(starts, Count(crossing, crossing, most_crossing))
    vector = float(size)
    if place.probe == "mpi.reduce_scatter":
        vector = size / 2
    most = _CROSSING * each * steps * size
    return Work(starts, Count(size * between, vector, most))


def _from_others(ranks: int, each: int) -> int:
    """Return the number of blocks that a node receives from all ranks on other nodes."""
    return ranks - each


def _all_pairs(ranks: int, each: int) -> int:
    return each * (ranks - each)


#: For each collective that sends blocks, the number of blocks that must cross a node's link, as a
#: function of all ranks and of the ranks on the node.
_BLOCKS = {
    "mpi.alltoall": _all_pairs,
    "mpi.allgather": _from_others,
    "mpi.gather": _from_others,
    "mpi.scatter": _from_others,
}
_COLLECTIVES: Mapping[str, object] = {collective.probe: collective for collective in MEASURED}
