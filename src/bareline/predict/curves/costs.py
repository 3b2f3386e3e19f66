"""The costs of messages, collectives, computing and start-up, from one or two platforms."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Concatenate, Literal, ParamSpec, get_args

import numpy as np
import polars as pl

from bareline.analysis.numbers.messages import tree_steps
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import PlatformCurves, Protocol
from bareline.predict.curves.requirements import CROSSING, FIRST_MESSAGE, INIT, RECEIVING, SENDING
from bareline.profile.model import Profile

_Given = ParamSpec("_Given")
_Look = Callable[Concatenate["Costs", _Given], float]


def _memo(method: _Look[_Given]) -> _Look[_Given]:
    """Return the method, changed so that each `Costs` object keeps the results of its calls."""

    @wraps(method)
    def remembered(costs: Costs, /, *args: _Given.args, **named: _Given.kwargs) -> float:
        key = (method.__name__, *args, *named.items())
        if key not in costs._results:
            costs._results[key] = method(costs, *args, **named)
        return costs._results[key]

    return remembered


@dataclass(frozen=True)
class Costs:
    """The costs that a replay uses.

    - `compute`, `io`: factors on the traced times of computing and of file calls.
    - `beside`: the additional time of computing after a call, compared with the base, because
      packets empty caches and interrupt the processor. It is a share of the time in the first
      `beside_s` seconds after the call.
    """

    ladder: PlatformCurves
    compute: float = 1.0
    io: float = 1.0
    beside: float = 0.0
    beside_s: float = 0.0
    _results: dict[tuple[object, ...], float] = field(default_factory=dict, init=False, repr=False)

    def core(self, rank: int) -> tuple[int, int] | None:
        """Return the node and the core that a rank must share; None if each rank has a core."""
        if self.ladder.cores is None:
            return None
        local = rank % self.ladder.layout.ranks_per_node
        return self.ladder.host(rank), local % self.ladder.cores

    def eager(self, nodes: int, size: int) -> bool:
        """Whether a message is sent before the receiver asks for it."""
        return size <= self._protocols[nodes].eager_bytes

    def fetches(self, nodes: int) -> bool:
        """Whether the receiver fetches a long message without the sender's help."""
        return self._protocols[nodes].fetches

    @cached_property
    def _protocols(self) -> dict[int, Protocol]:
        return {nodes: self.ladder.protocol(nodes) for nodes in (1, 2)}

    @_memo
    def transfer(self, nodes: int, size: float) -> float:
        """Return the time from the send of a message to its arrival, in s."""
        curve = self.ladder.message("mpi.pingpong", nodes)
        return curve.at(size) if curve is not None else 0.0

    @_memo
    def crossing(self, nodes: int, size: float) -> float:
        """Return the time from send to arrival, in s, while another message goes the opposite way.

        The time of the smallest message is that of the ping-pong. The additional time of the bytes
        is that of `MPI_Sendrecv` of two ranks, if it was measured: the link, its queue and the
        processors then serve two messages. On a shaped link of 1 Gb/s the bytes take 15 to 35 %
        longer than in the ping-pong.
        """
        alone = self.transfer(nodes, size)
        crossing = self.ladder.message(CROSSING, nodes)
        if crossing is None or not crossing.covers(size):
            return alone
        bytes_alone = alone - self.transfer(nodes, float(crossing.sizes[0]))
        return alone + max(0.0, crossing.beyond_start(size) - bytes_alone)

    @_memo
    def send_overhead(self, nodes: int, size: float) -> float:
        """Return the time that the sender itself needs for a message, in s.

        It is never larger than the time of the transfer.

        The result is the measured overhead. If it was not measured, the result is the time per
        message of `mpi.bandwidth` (many messages in a window), minus the time on the wire if the
        wire's rate is known. This difference omits the processor's work while the wire is busy,
        which is most of the work on a slow link with many small packets.
        """
        whole_s = self.transfer(nodes, size)
        measured = self.ladder.message(SENDING, nodes)
        if measured is not None:
            return min(whole_s, measured.at(max(1.0, size)))
        window = self.ladder.message("mpi.bandwidth", nodes)
        if window is None:
            return 0.5 * whole_s
        each_s = window.at(max(1.0, size))
        rate_bps = self.ladder.wire_bps_between(nodes)
        if rate_bps is None:
            return min(whole_s, each_s)
        wire_s = min(8 * size / rate_bps, 0.9 * each_s)
        return min(whole_s, each_s - wire_s)

    @_memo
    def receive_overhead(self, nodes: int, size: float) -> float:
        """Return the time that a receiver needs for a message that has already arrived, in s.

        The result is the measured overhead. If it was not measured, the result is half of the
        sender's overhead, because that overhead contains the work of the network layers on both
        sides.
        """
        measured = self.ladder.message(RECEIVING, nodes)
        if measured is None:
            return 0.5 * self.send_overhead(nodes, size)
        return min(self.transfer(nodes, size), measured.at(max(1.0, size)))

    def occupies(self, nodes: int, size: float) -> float:
        """Return the time, in s, for which a message occupies its link."""
        return size * self._seconds_per_byte(nodes)

    @_memo
    def _seconds_per_byte(self, nodes: int) -> float:
        seconds = []
        for probe in ("mpi.bandwidth", "mpi.pingpong"):
            curve = self.ladder.message(probe, nodes)
            if curve is not None:
                size = min(_LONG_BYTES, float(curve.sizes[-1]))
                seconds.append(curve.at(size) / max(size, 1.0))
        return min(seconds, default=0.0)

    @_memo
    def collective(self, probe: str, ranks: int, nodes: int, size: float) -> float:
        """Return the time of a collective if all ranks begin at the same time, in s.

        If the platform has no curve of the collective, the time is that of a tree of messages.
        `PlatformCurves.gaps` reports a missing curve only if its calls take at least 1 % of the
        time.
        """
        curve = self.ladder.curve(probe, ranks, nodes)
        if curve is not None:
            taken_s = curve.at(size)
        else:
            taken_s = self.ladder.tree_s(ranks, nodes, size)
        return taken_s if math.isfinite(taken_s) else 0.0


#: The inputs of a replay, which can be swapped from A to B one after the other.
Input = Literal["compute", "latency", "bandwidth", "collectives", "cores", "io"]
INPUTS: tuple[Input, ...] = get_args(Input)
#: Messages of this size show the rate of a link.
_LONG_BYTES = 1 << 20
_MESSAGES = ("mpi.pingpong", "mpi.bandwidth", CROSSING, SENDING, RECEIVING)


def mixed(a: Costs, b: Costs, swapped: Collection[Input]) -> Costs:
    """Return the costs of A with some inputs replaced by B's, for ranks laid out as on B.

    The curve of a message has two parts: the time of the smallest message (latency) and the time of
    the bytes beyond it (bandwidth). The curve of a collective is the time of a tree of messages,
    multiplied by a factor of the algorithm. Replacing "latency" or "bandwidth" changes the time of
    the tree, and replacing "collectives" changes the factor.
    """

    def source(name: Input) -> Costs:
        return b if name in swapped else a

    messages: dict[CurveKey, Curve] = {}
    for key, curve in b.ladder.curves.items():
        if key.probe in _MESSAGES:
            messages[key] = _message(curve, a, source("latency"), source("bandwidth"))
    latency = source("latency").ladder
    ladder = replace(
        b.ladder,
        curves=messages,
        cores=_cores(source("cores").ladder, b.ladder),
        # A platform with one node has a protocol for messages within a node only.
        protocols={n: latency.protocol(min(n, latency.layout.nodes)) for n in (1, 2)},
    )
    trees = Costs(ladder)
    curves = dict(messages)
    for key, curve in b.ladder.curves.items():
        if key.probe not in _MESSAGES:
            curves[key] = _collective(curve, source("collectives"), trees)
    ladder = replace(ladder, curves=curves)
    return replace(source("compute"), ladder=ladder, io=source("io").io)


def _on(costs: Costs, key: CurveKey) -> Curve | None:
    """Return the curve of a key; None if it is missing.

    If the platform has fewer nodes than the key, the curve on these fewer nodes is returned.
    """
    nodes = min(key.nodes, costs.ladder.layout.nodes, key.ranks)
    return costs.ladder.curve(key.probe, key.ranks, nodes)


def _message(curve: Curve, a: Costs, latency: Costs, bandwidth: Costs) -> Curve:
    """Return `curve` with the latency from `latency` and the time of bytes from `bandwidth`."""
    if _on(a, curve.key) is None:
        return curve
    start_from = _on(latency, curve.key) or curve
    bytes_from = _on(bandwidth, curve.key) or curve
    smallest = float(curve.sizes[0])
    start_s = start_from.at(smallest)
    times_s = np.array([bytes_from.at(size) for size in curve.sizes])
    bytes_s = times_s - bytes_from.at(smallest)
    return Curve(curve.key, curve.sizes, (start_s + bytes_s)[None, :])


def _collective(curve: Curve, source: Costs, trees: Costs) -> Curve:
    """Return the curve of a collective on B.

    Its times are those of a tree of messages with the costs `trees`, multiplied by the factor of
    the algorithm on `source`.
    """
    measured = _on(source, curve.key)
    if measured is None:
        return curve

    key = curve.key

    def tree_s(costs: Costs, size: float) -> float:
        nodes = min(key.nodes, costs.ladder.layout.nodes, key.ranks, 2)
        return tree_steps(key.ranks) * costs.transfer(nodes, size)

    times_s = []
    for size in curve.sizes:
        source_tree_s = max(tree_s(source, size), 1e-12)
        times_s.append(measured.at(size) * tree_s(trees, size) / source_tree_s)
    return Curve(key, curve.sizes, np.array(times_s)[None, :])


def _cores(ladder: PlatformCurves, like: PlatformCurves) -> int | None:
    """Return a number of cores per node for the layout of `like`.

    With this number, as many ranks share a core as on `ladder`. None if each rank has a core.
    """
    if ladder.cores is None:
        return None
    ranks_of_core = ladder.layout.ranks_per_node / ladder.cores
    ranks = like.layout.ranks_per_node
    cores = max(1, round(ranks / ranks_of_core))
    return cores if cores < ranks else None


@dataclass(frozen=True, slots=True)
class StartUp:
    """The additional time of start-up on B, which a predicted time does not contain.

    - `longer_s`: additional time of MPI_Init and of connecting; None if it was not measured on both
      platforms.
    - `connections`: number of ranks to which a rank connects with its first message.
    - `connecting_s`: the part of `longer_s` for connecting; None if it was not measured on both
      platforms.
    """

    longer_s: float | None = None
    connections: int | None = None
    connecting_s: float | None = None


def start_up(profile: Profile, a: PlatformCurves, b: PlatformCurves) -> StartUp:
    """Return the additional time of start-up on B."""
    init_s = _longer(INIT, profile.ranks, a, b)
    if init_s is None:
        return StartUp()
    count = connections(profile)
    each_s = _longer(FIRST_MESSAGE, profile.ranks, a, b)
    connecting_s = None if each_s is None else count * each_s
    return StartUp(init_s + (connecting_s or 0.0), count, connecting_s)


def _longer(probe: str, ranks: int, a: PlatformCurves, b: PlatformCurves) -> float | None:
    """Return the additional time of a probe on B, in s; None if a platform did not measure it."""
    on_a = _taken(probe, ranks, a)
    on_b = _taken(probe, ranks, b)
    if on_a is None or on_b is None:
        return None
    return on_b - on_a


def _taken(probe: str, ranks: int, ladder: PlatformCurves) -> float | None:
    """Return the time of a probe, in s, on the measured number of ranks nearest to `ranks`."""
    curves = [curve for key, curve in ladder.curves.items() if key.probe == probe]
    if not curves:
        return None
    nearest = min(curves, key=lambda curve: abs(curve.key.ranks - ranks))
    return float(nearest.raw[0])


def connections(profile: Profile) -> int:
    """Return the largest number of ranks to which a rank connects.

    A collective over n ranks counts as log2(n) connections.
    """
    is_to_another = pl.col("from") != pl.col("to")
    sends = profile.send_table.filter(is_to_another)
    peers = _largest(sends.group_by("from").len()["len"], 0)
    collectives = profile.calls.filter(pl.col("kind") == "collective")
    largest = _largest(collectives["comm_size"], 1)
    in_collectives = tree_steps(largest) if largest > 1 else 0
    return min(profile.ranks - 1, max(peers, in_collectives))


def _largest(column: pl.Series, least: int) -> int:
    """Return the largest value of a column, or `least` if the column is empty."""
    return max(column.to_list(), default=least)
