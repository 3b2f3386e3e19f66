"""What messages, collectives, computing and starting up cost, looked up on a platform's ladder.

Or on a platform between two: some of its costs are those of A, the others those of B.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from bareline.predict.curve import Curve, CurveKey
from bareline.predict.ladder import Ladder
from bareline.predict.needs import FIRST_MESSAGE, INIT, RECEIVING, SENDING
from bareline.profile.model import Profile

_LARGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Costs:
    """Costs of a replay.

    - `compute`: how many times longer computing takes than it was traced.
    - `io`: the same for file calls.
    - `beside`: how much longer, as a share, the first `beside_s` of each stretch of computing take
      after calls than they do on the base: packets empty caches and interrupt the processor.
    """

    ladder: Ladder
    compute: float = 1.0
    io: float = 1.0
    beside: float = 0.0
    beside_s: float = 0.0
    _known: dict[tuple[object, ...], float] = field(default_factory=dict, repr=False)

    def core(self, rank: int) -> tuple[int, int] | None:
        """Give the core that a rank must share; None where each has its own."""
        if self.ladder.cores is None:
            return None
        local = rank % self.ladder.layout.ranks_per_node
        return self.ladder.host(rank), local % self.ladder.cores

    def link(self, one: int, other: int) -> tuple[int, int]:
        """Give what carries the messages of two ranks: a pair of nodes, or of ranks."""
        hosts = self.ladder.host(one), self.ladder.host(other)
        return hosts if hosts[0] != hosts[1] else (-1 - one, -1 - other)

    def eager(self, nodes: int, size: int) -> bool:
        """Whether a message is sent before it is asked for."""
        return size <= self._protocols[nodes][0]

    def fetches(self, nodes: int) -> bool:
        """Whether the receiver gets a long message without the sender's help."""
        return self._protocols[nodes][1]

    @cached_property
    def _protocols(self) -> dict[int, tuple[int, bool]]:
        return {nodes: self.ladder.protocol(nodes) for nodes in (1, 2)}

    def transfer(self, nodes: int, size: float) -> float:
        """Time from the send to the arrival."""
        key = ("transfer", nodes, size)
        if key not in self._known:
            curve = self.ladder.message("mpi.pingpong", nodes)
            self._known[key] = curve.at(size) if curve is not None else 0.0
        return self._known[key]

    def send_overhead(self, nodes: int, size: float) -> float:
        """Time that a sender itself spends on a message, at most the whole transfer.

        As measured; else that of one of many in a window, over a link of known rate without what
        the wire takes. What a processor does while the wire is busy is then lost: on a slow link
        of many small packets that is most of it.
        """
        key = ("overhead", nodes, size)
        if key not in self._known:
            whole = self.transfer(nodes, size)
            measured = self.ladder.message(SENDING, nodes)
            curve = self.ladder.message("mpi.bandwidth", nodes)
            if measured is not None:
                self._known[key] = min(whole, measured.at(max(1.0, size)))
            elif curve is None:
                self._known[key] = 0.5 * whole
            else:
                each = curve.at(max(1.0, size))
                wire = self.ladder.wire_bps if nodes > 1 else None
                on_wire = min(8 * size / wire, 0.9 * each) if wire else 0.0
                self._known[key] = min(whole, each - on_wire)
        return self._known[key]

    def receive_overhead(self, nodes: int, size: float) -> float:
        """Time that a receiver spends on a message that lies there already.

        As measured; else less than its sender's, who was through the network's layers for both:
        half of it.
        """
        measured = self.ladder.message(RECEIVING, nodes)
        if measured is None:
            return 0.5 * self.send_overhead(nodes, size)
        key = ("receive", nodes, size)
        if key not in self._known:
            whole = self.transfer(nodes, size)
            self._known[key] = min(whole, measured.at(max(1.0, size)))
        return self._known[key]

    def occupies(self, nodes: int, size: float) -> float:
        """Time that a message keeps its link from the next one."""
        return size * self._seconds_per_byte(nodes)

    def _seconds_per_byte(self, nodes: int) -> float:
        key = ("byte", nodes)
        if key not in self._known:
            times = []
            for probe in ("mpi.bandwidth", "mpi.pingpong"):
                curve = self.ladder.message(probe, nodes)
                if curve is not None:
                    size = min(_LARGE_BYTES, float(curve.sizes[-1]))
                    times.append(curve.at(size) / max(size, 1.0))
            self._known[key] = min(times, default=0.0)
        return self._known[key]

    def collective(self, probe: str, ranks: int, nodes: int, size: float) -> float:
        """Time of a collective when all come at once.

        Where the ladder has none (`Ladder.gaps` lets that pass for what carries little time), a
        tree of messages.
        """
        key = (probe, ranks, nodes, size)
        if key not in self._known:
            curve = self.ladder.curve(probe, ranks, nodes)
            taken = self.ladder.tree_s(ranks, nodes, size) if curve is None else curve.at(size)
            self._known[key] = taken if math.isfinite(taken) else 0.0
        return self._known[key]


#: What can be swapped from A to B, one after the other.
Input = Literal["compute", "latency", "bandwidth", "collectives", "cores", "io"]
INPUTS: tuple[Input, ...] = get_args(Input)
_MESSAGES = ("mpi.pingpong", "mpi.bandwidth", "mpi.sendrecv", SENDING, RECEIVING)


def mixed(a: Costs, b: Costs, swapped: Collection[Input]) -> Costs:
    """Give the costs of A with some inputs swapped for those of B, ranks laid out as on B.

    A curve of messages is its smallest message's time (latency) and what sizes add (bandwidth).
    A collective is a tree of messages times what its algorithm is better or worse than that:
    the tree moves with latency and bandwidth, the rest with "collectives".
    """
    latency_of = b if "latency" in swapped else a
    byte_of = b if "bandwidth" in swapped else a
    curves: dict[CurveKey, Curve] = {}
    for key, own in b.ladder.curves.items():
        if key.probe in _MESSAGES:
            curves[key] = _message(key, own, a, latency_of, byte_of)
    cores_of = b if "cores" in swapped else a
    ladder = replace(
        b.ladder,
        curves=curves,
        cores=_cores(cores_of.ladder, b.ladder),
        protocols={
            nodes: latency_of.ladder.protocol(_nodes_as_on(latency_of.ladder, nodes))
            for nodes in (1, 2)
        },
    )
    trees = Costs(ladder)
    for key, own in b.ladder.curves.items():
        if key.probe not in _MESSAGES:
            source = b if "collectives" in swapped else a
            curves[key] = _collective(key, own, source, trees)
    computing = b if "compute" in swapped else a
    return Costs(
        ladder,
        compute=computing.compute,
        beside=computing.beside,
        beside_s=computing.beside_s,
        io=b.io if "io" in swapped else a.io,
    )


def _nodes_as_on(ladder: Ladder, nodes: int) -> int:
    """Ranks of one node and of several are the same where a platform has one node only."""
    return min(nodes, ladder.layout.nodes)


def _key_on(ladder: Ladder, key: CurveKey) -> CurveKey:
    nodes = min(key.nodes, ladder.layout.nodes, key.ranks)
    return CurveKey(key.probe, key.ranks, nodes)


def _times(costs: Costs, key: CurveKey, own: Curve) -> tuple[float, np.ndarray]:
    """Give the smallest message's time and what the sizes of `own` add, on a platform."""
    curve = costs.ladder.curves.get(_key_on(costs.ladder, key), own)
    times = np.array([curve.at(size) for size in own.sizes])
    return float(times[0]), times - times[0]


def _message(key: CurveKey, own: Curve, a: Costs, latency_of: Costs, byte_of: Costs) -> Curve:
    if _key_on(a.ladder, key) not in a.ladder.curves:
        return own
    base, _ = _times(latency_of, key, own)
    _, added = _times(byte_of, key, own)
    return Curve(key, own.sizes, (base + added)[None, :])


def _tree(costs: Costs, key: CurveKey, size: float) -> float:
    nodes = min(_key_on(costs.ladder, key).nodes, 2)
    return math.ceil(math.log2(max(2, key.ranks))) * costs.transfer(nodes, size)


def _collective(key: CurveKey, own: Curve, source: Costs, trees: Costs) -> Curve:
    curve = source.ladder.curves.get(_key_on(source.ladder, key))
    if curve is None:
        return own
    times = [
        curve.at(size) * _tree(trees, key, size) / max(_tree(source, key, size), 1e-12)
        for size in own.sizes
    ]
    return Curve(key, own.sizes, np.array(times)[None, :])


def _cores(ladder: Ladder, like: Ladder) -> int | None:
    """Give the cores of a node of `like` that ranks share as they do on `ladder`."""
    if ladder.cores is None:
        return None
    share = ladder.layout.ranks_per_node / ladder.cores
    cores = max(1, round(like.layout.ranks_per_node / share))
    return cores if cores < like.layout.ranks_per_node else None


@dataclass(frozen=True, slots=True)
class StartUp:
    """What starting up takes longer; not part of the predicted time.

    - `init_s`: ``MPI_Init``.
    - `connections`: ranks that a rank talks to: each is connected by the first message.
    - `connecting_s`: what connecting to all of them takes; None where a ladder does not tell.
    """

    init_s: float
    connections: int
    connecting_s: float | None

    @property
    def time_s(self) -> float:
        """All of it."""
        return self.init_s + (self.connecting_s or 0.0)


def start_up(profile: Profile, a: Ladder, b: Ladder) -> StartUp | None:
    """Give what starting up takes longer on B than on A: MPI_Init, and making connections."""
    init_s = _longer(INIT, profile.ranks, a, b)
    if init_s is None:
        return None
    count = connections(profile)
    each_s = _longer(FIRST_MESSAGE, profile.ranks, a, b)
    return StartUp(init_s, count, None if each_s is None else count * each_s)


def _longer(probe: str, ranks: int, *ladders: Ladder) -> float | None:
    times = []
    for ladder in ladders:
        own = [curve for key, curve in ladder.curves.items() if key.probe == probe]
        # Of as many ranks as the application has, before others.
        own.sort(key=lambda curve: abs(curve.key.ranks - ranks))
        times.append(float(own[0].raw[0]) if own else None)
    a, b = times
    return None if a is None or b is None else b - a


def connections(profile: Profile) -> int:
    """Count the ranks that a rank talks to: the most of any, as far as the profile tells.

    Messages tell it; a collective over n ranks is taken to talk to log2(n).
    """
    sends = profile.send_table.filter(profile.send_table["from"] != profile.send_table["to"])
    peers = int(sends.group_by("from").len()["len"].to_numpy().max()) if sends.height else 0
    sizes = profile.calls.filter(profile.calls["kind"] == "collective")["comm_size"]
    largest = int(sizes.to_numpy().max()) if len(sizes) else 1
    return min(profile.ranks - 1, max(peers, math.ceil(math.log2(max(1, largest)))))
