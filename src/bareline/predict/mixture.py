"""A platform between two: some of its costs are those of A, the others those of B."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from bareline.predict.calls import RECEIVING, SENDING
from bareline.predict.costs import Costs
from bareline.predict.curve import Curve, CurveKey
from bareline.predict.ladder import Ladder

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
    return Costs(
        ladder,
        compute=b.compute if "compute" in swapped else a.compute,
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
