"""What messages, collectives, computing and starting up cost on a ladder, or on one between two."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Concatenate, Literal, ParamSpec, get_args

import numpy as np

from bareline.predict.curve import Curve, CurveKey
from bareline.predict.ladder import Ladder
from bareline.predict.needs import CROSSING, FIRST_MESSAGE, INIT, RECEIVING, SENDING
from bareline.profile.model import Profile

_Given = ParamSpec("_Given")
_Look = Callable[Concatenate["Costs", _Given], float]


def _memo(method: _Look[_Given]) -> _Look[_Given]:
    @wraps(method)
    def known(costs: Costs, /, *args: _Given.args, **named: _Given.kwargs) -> float:
        key = (method.__name__, *args, *named.items())
        if key not in costs._known:
            costs._known[key] = method(costs, *args, **named)
        return costs._known[key]

    return known


@dataclass(frozen=True)
class Costs:
    """Costs of a replay.

    - `compute`, `io`: how many times longer computing and file calls take than they were traced.
    - `beside`: how much longer, as a share, the first `beside_s` of each stretch of computing take
      after calls than they do on the base: packets empty caches and interrupt the processor.
    """

    ladder: Ladder
    compute: float = 1.0
    io: float = 1.0
    beside: float = 0.0
    beside_s: float = 0.0
    _known: dict[tuple[object, ...], float] = field(default_factory=dict, init=False, repr=False)

    def core(self, rank: int) -> tuple[int, int] | None:
        """Return the core that a rank must share; None where each has its own."""
        if self.ladder.cores is None:
            return None
        local = rank % self.ladder.layout.ranks_per_node
        return self.ladder.host(rank), local % self.ladder.cores

    def eager(self, nodes: int, size: int) -> bool:
        """Whether a message is sent before it is asked for."""
        return size <= self._protocols[nodes][0]

    def fetches(self, nodes: int) -> bool:
        """Whether the receiver gets a long message without the sender's help."""
        return self._protocols[nodes][1]

    @cached_property
    def _protocols(self) -> dict[int, tuple[int, bool]]:
        return {nodes: self.ladder.protocol(nodes) for nodes in (1, 2)}

    @_memo
    def transfer(self, nodes: int, size: float) -> float:
        """Time from the send to the arrival."""
        curve = self.ladder.message("mpi.pingpong", nodes)
        return curve.at(size) if curve is not None else 0.0

    @_memo
    def crossing(self, nodes: int, size: float) -> float:
        """Time from the send to the arrival while another message comes the other way.

        What `MPI_Sendrecv` of two ranks adds for its bytes, where that was measured: the link, its
        queue and the processors then serve both, and on a shaped link of 1 Gb/s it takes 15 to 35 %
        longer than the ping-pong. What it adds for its shortest message is its own bookkeeping.
        """
        alone = self.transfer(nodes, size)
        both = self.ladder.message(CROSSING, nodes)
        if both is None or not both.covers(size):
            return alone
        shortest = float(both.sizes[0])
        more = both.at(size) - both.at(shortest) - (alone - self.transfer(nodes, shortest))
        return alone + max(0.0, more)

    @_memo
    def send_overhead(self, nodes: int, size: float) -> float:
        """Time that a sender itself spends on a message, at most the whole transfer.

        As measured; else that of one of many in a window, over a link of known rate without what
        the wire takes. What a processor does while the wire is busy is then lost: on a slow link
        of many small packets that is most of it.
        """
        whole = self.transfer(nodes, size)
        measured = self.ladder.message(SENDING, nodes)
        window = self.ladder.message("mpi.bandwidth", nodes)
        if measured is not None:
            return min(whole, measured.at(max(1.0, size)))
        if window is None:
            return 0.5 * whole
        each = window.at(max(1.0, size))
        wire = self.ladder.wire_bps if nodes > 1 else None
        on_wire = min(8 * size / wire, 0.9 * each) if wire else 0.0
        return min(whole, each - on_wire)

    @_memo
    def receive_overhead(self, nodes: int, size: float) -> float:
        """Time that a receiver spends on a message that lies there already.

        As measured; else half of its sender's, who was through the network's layers for both.
        """
        measured = self.ladder.message(RECEIVING, nodes)
        if measured is None:
            return 0.5 * self.send_overhead(nodes, size)
        return min(self.transfer(nodes, size), measured.at(max(1.0, size)))

    def occupies(self, nodes: int, size: float) -> float:
        """Time that a message keeps its link from the next one."""
        return size * self._seconds_per_byte(nodes)

    @_memo
    def _seconds_per_byte(self, nodes: int) -> float:
        curves = (self.ladder.message(name, nodes) for name in ("mpi.bandwidth", "mpi.pingpong"))
        sized = [(one, min(1 << 20, float(one.sizes[-1]))) for one in curves if one is not None]
        return min((curve.at(size) / max(size, 1.0) for curve, size in sized), default=0.0)

    @_memo
    def collective(self, probe: str, ranks: int, nodes: int, size: float) -> float:
        """Time of a collective when all come at once.

        A tree of messages where the ladder has none and `Ladder.gaps` lets that pass.
        """
        curve = self.ladder.curve(probe, ranks, nodes)
        taken = self.ladder.tree_s(ranks, nodes, size) if curve is None else curve.at(size)
        return taken if math.isfinite(taken) else 0.0


#: What can be swapped from A to B, one after the other.
Input = Literal["compute", "latency", "bandwidth", "collectives", "cores", "io"]
INPUTS: tuple[Input, ...] = get_args(Input)
_MESSAGES = ("mpi.pingpong", "mpi.bandwidth", CROSSING, SENDING, RECEIVING)


def mixed(a: Costs, b: Costs, swapped: Collection[Input]) -> Costs:
    """Return the costs of A with some inputs swapped for those of B, ranks laid out as on B.

    A curve of messages is its smallest message's time (latency) and what sizes add (bandwidth).
    A collective is a tree of messages times what its algorithm is better or worse than that:
    the tree moves with latency and bandwidth, the rest with "collectives".
    """
    of = {name: b if name in swapped else a for name in INPUTS}
    curves = {
        key: _message(own, a, of["latency"], of["bandwidth"])
        for key, own in b.ladder.curves.items()
        if key.probe in _MESSAGES
    }
    latency = of["latency"].ladder
    ladder = replace(
        b.ladder,
        curves=curves,
        cores=_cores(of["cores"].ladder, b.ladder),
        # Ranks of one node and of several are the same where a platform has one node only.
        protocols={n: latency.protocol(min(n, latency.layout.nodes)) for n in (1, 2)},
    )
    trees = Costs(ladder)
    for key, own in b.ladder.curves.items():
        if key.probe not in _MESSAGES:
            curves[key] = _collective(own, of["collectives"], trees)
    return replace(of["compute"], ladder=ladder, io=of["io"].io)


def _on(costs: Costs, key: CurveKey) -> Curve | None:
    """Return a curve of another platform, which may have fewer nodes."""
    nodes = min(key.nodes, costs.ladder.layout.nodes, key.ranks)
    return costs.ladder.curve(key.probe, key.ranks, nodes)


def _message(own: Curve, a: Costs, latency_of: Costs, byte_of: Costs) -> Curve:
    if _on(a, own.key) is None:
        return own
    short, long = (
        np.array([(_on(costs, own.key) or own).at(size) for size in own.sizes])
        for costs in (latency_of, byte_of)
    )
    return Curve(own.key, own.sizes, (short[0] + (long - long[0]))[None, :])


def _collective(own: Curve, source: Costs, trees: Costs) -> Curve:
    curve = _on(source, own.key)
    if curve is None:
        return own

    def tree(costs: Costs, size: float) -> float:
        nodes = min(own.key.nodes, costs.ladder.layout.nodes, own.key.ranks, 2)
        return math.ceil(math.log2(max(2, own.key.ranks))) * costs.transfer(nodes, size)

    times = [curve.at(n) * tree(trees, n) / max(tree(source, n), 1e-12) for n in own.sizes]
    return Curve(own.key, own.sizes, np.array(times)[None, :])


def _cores(ladder: Ladder, like: Ladder) -> int | None:
    """Return the cores of a node of `like` that ranks share as they do on `ladder`."""
    if ladder.cores is None:
        return None
    share = ladder.layout.ranks_per_node / ladder.cores
    cores = max(1, round(like.layout.ranks_per_node / share))
    return cores if cores < like.layout.ranks_per_node else None


def start_up(
    profile: Profile, a: Ladder, b: Ladder
) -> tuple[float | None, int | None, float | None]:
    """Return what starting up takes longer on B than on A; it is no part of the predicted time.

    In s, with the ranks that a rank is connected to by its first message to each, and what of it
    connecting takes: None where a ladder does not tell.
    """
    init_s = _longer(INIT, profile.ranks, a, b)
    if init_s is None:
        return None, None, None
    count, each_s = connections(profile), _longer(FIRST_MESSAGE, profile.ranks, a, b)
    connecting_s = None if each_s is None else count * each_s
    return init_s + (connecting_s or 0.0), count, connecting_s


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
    """Count the ranks that a rank talks to, the most of any; in a collective over n log2(n)."""
    sends = profile.send_table.filter(profile.send_table["from"] != profile.send_table["to"])
    peers = int(sends.group_by("from").len()["len"].to_numpy().max()) if sends.height else 0
    sizes = profile.calls.filter(profile.calls["kind"] == "collective")["comm_size"]
    largest = int(sizes.to_numpy().max()) if len(sizes) else 1
    return min(profile.ranks - 1, max(peers, math.ceil(math.log2(max(1, largest)))))
