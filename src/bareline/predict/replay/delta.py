"""The difference model: the time on A plus the difference of its calls between A and B.

The model needs no trace. It assumes that the waiting time in a call stays the same and only the
transfer changes. A wait for several messages costs one latency. The model may be wrong by half if
latencies overlap, or if ranks pass work on in a pipeline. Only a trace shows such a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bareline.predict.curves.costs import Costs
from bareline.predict.curves.requirements import IO_KINDS, curve_size
from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of


def delta(profile: Profile, a: Costs, b: Costs) -> float:
    """Return the change of the run time from A to B, in s, as a mean over the ranks.

    - `a`, `b`: costs on A and B; the factors `compute` and `io` from A to B are read from `b`.
    """
    collectives_s = 0.0
    io_s = 0.0
    messages = _Times()
    for row in profile.calls.iter_rows(named=True):
        if not row["count"] or row["call"].startswith("MPI_Init"):
            continue
        spent_s = (row["time_ns"] + row["waited_ns"]) * 1e-9
        size = row["bytes"] / row["count"]
        kind = row["kind"]
        if kind in IO_KINDS:
            io_s += spent_s
        elif kind in (*POINT_TO_POINT, "wait"):
            messages.spent_s += spent_s
            messages.on_a_s += _messages(row, size, a)
            messages.on_b_s += _messages(row, size, b)
        elif kind in ("collective", "communicator") and row["comm_size"] > 1:
            on_a_s = _collective(row, size, a)
            if on_a_s > 0:
                times = _Times(spent_s, on_a_s, _collective(row, size, b))
                collectives_s += times.transferred_s
    change_s = collectives_s + messages.transferred_s + io_s * (b.io - 1)
    computing = b.compute * _turns(b) / _turns(a) - 1
    return change_s / profile.ranks + profile.computing_s * computing


@dataclass(slots=True)
class _Times:
    """The profiled time in calls, and the transfer times of these calls on A and on B."""

    spent_s: float = 0.0
    on_a_s: float = 0.0
    on_b_s: float = 0.0

    @property
    def transferred_s(self) -> float:
        """The change of the transfer time from A to B, in s.

        The profiled time may also contain waiting, or may hide some of the transfer.
        """
        if self.on_a_s <= 0:
            return self.on_b_s
        return min(self.spent_s, self.on_a_s) * (self.on_b_s / self.on_a_s - 1)


def message_share(profile: Profile) -> float:
    """Return the share of the profiled time that ranks spend in messages and in waits for them."""
    wall_ns = float(profile.rank_table["wall_ns"].sum()) or 1.0
    kinds = (*POINT_TO_POINT, "wait")
    messages = profile.calls.filter(profile.calls["kind"].is_in(kinds))
    spent_ns = float((messages["time_ns"] + messages["waited_ns"]).sum())
    return spent_ns / wall_ns


def _turns(costs: Costs) -> float:
    cores = costs.ladder.cores
    return costs.ladder.layout.ranks_per_node / cores if cores else 1.0


def _messages(row: dict[str, Any], size: float, costs: Costs) -> float:
    """Return the time of a row's messages in s.

    A receive costs a transfer, and a wait costs a latency.
    """
    nodes = min(costs.ladder.layout.nodes, 2)
    latency = costs.transfer(nodes, 0)
    if row["kind"] == "wait":
        return float(min(row["count"], max(0, row["receives"]))) * latency
    if row["kind"] == "send" or row["peer"] == "none":
        return 0.0
    if row["call"] in ("MPI_Irecv", "MPI_Start", "MPI_Startall"):
        received = row["received_bytes"] / row["count"]
        return float(row["count"]) * (costs.transfer(nodes, received) - latency)
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
    size_on_curve = curve_size(collective, size, ranks)
    each = costs.collective(collective.probe, ranks, nodes, size_on_curve)
    return float(row["count"]) * each
