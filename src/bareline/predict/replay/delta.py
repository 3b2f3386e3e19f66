"""The difference model: the time on A plus the difference of its calls between A and B.

It needs no trace. The waiting in a call in addition to its transfer stays the same, and a wait for
several messages is charged one latency. Where latencies overlap or ranks pass work on in a
pipeline, which only a trace shows, it can be off by half.
"""

from __future__ import annotations

from typing import Any

from bareline.predict.curves.costs import Costs
from bareline.predict.curves.needs import IO_KINDS, curve_size
from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of


def delta(profile: Profile, a: Costs, b: Costs) -> float:
    """Return the change of the run time from A to B, in s, as a mean over the ranks.

    - `a`, `b`: costs on A and B; the factors `compute` and `io` from A to B are read from `b`.
    """
    change = io = 0.0
    messages = [0.0, 0.0, 0.0]  # as profiled, and by the ladders of A and B
    for row in profile.calls.iter_rows(named=True):
        if not row["count"] or row["call"].startswith("MPI_Init"):
            continue
        spent = (row["time_ns"] + row["waited_ns"]) * 1e-9
        size = row["bytes"] / row["count"]
        kind = row["kind"]
        if kind in IO_KINDS:
            io += spent
        elif kind in (*POINT_TO_POINT, "wait"):
            taken = (spent, *(_messages(row, size, costs) for costs in (a, b)))
            messages = [sum(pair) for pair in zip(messages, taken, strict=True)]
        elif kind in ("collective", "communicator") and row["comm_size"] > 1:
            on_a, on_b = (_collective(row, size, costs) for costs in (a, b))
            change += _transferred(spent, on_a, on_b) if on_a > 0 else 0.0
    change += _transferred(*messages)
    return (change + io * (b.io - 1)) / profile.ranks + profile.computing_s * (
        b.compute * _turns(b) / _turns(a) - 1
    )


def message_share(profile: Profile) -> float:
    """Return the share of the time in messages and in waits for them."""
    wall = float(profile.rank_table["wall_ns"].sum()) or 1.0
    kinds = (*POINT_TO_POINT, "wait")
    own = profile.calls.filter(profile.calls["kind"].is_in(kinds))
    return float((own["time_ns"] + own["waited_ns"]).sum()) / wall


def _transferred(spent: float, on_a: float, on_b: float) -> float:
    """Return the change of a time that has transfer, and perhaps waiting, or hides some of it."""
    if on_a <= 0:
        return on_b
    return min(spent, on_a) * (on_b / on_a - 1)


def _turns(costs: Costs) -> float:
    cores = costs.ladder.cores
    return costs.ladder.layout.ranks_per_node / cores if cores else 1.0


def _messages(row: dict[str, Any], size: float, costs: Costs) -> float:
    """Return the time of a row's messages in s: a receive takes its transfer, a wait a latency."""
    nodes = min(costs.ladder.layout.nodes, 2)
    latency = costs.transfer(nodes, 0)
    if row["kind"] == "wait":
        return float(min(row["count"], max(0, row["receives"]))) * latency
    if row["kind"] == "send" or row["peer"] == "none":
        return 0.0
    if row["call"] in ("MPI_Irecv", "MPI_Start", "MPI_Startall"):
        known = row["received_bytes"] / row["count"]
        return float(row["count"]) * (costs.transfer(nodes, known) - latency)
    return float(row["count"]) * costs.transfer(nodes, size)


def _collective(row: dict[str, Any], size: float, costs: Costs) -> float:
    ranks = row["comm_size"]
    nodes = min(costs.ladder.layout.nodes, ranks)
    if row["kind"] == "communicator":
        each = costs.collective("mpi.allreduce", ranks, nodes, 8)
        return float(row["count"]) * COMMUNICATOR_REDUCTIONS * each
    collective = collective_of(row["call"])
    if collective is None:
        return 0.0
    at = curve_size(collective, size, ranks)
    return float(row["count"]) * costs.collective(collective.probe, ranks, nodes, at)
