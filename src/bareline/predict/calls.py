"""What the compiled replay and the one in Python agree on: calls, what they cost, what is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bareline.predict.costs import Costs
from bareline.predict.needs import curve_size
from bareline.profile.records import Shape
from bareline.profile.trace import Stream
from bareline.vocabulary.collectives import COMMUNICATOR_REDUCTIONS, collective_of

#: Local bookkeeping of a call that waits for nothing.
LOCAL_S = 1e-7
_ENDS_COMMUNICATOR = ("MPI_Comm_free", "MPI_Comm_disconnect")
_RENDEZVOUS = ("MPI_Ssend", "MPI_Issend")


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay gives.

    - `time_s`: from the common beginning to the end of the last rank.
    - `compute_s`, `waited_s`: of each rank: computing, and standing in calls.
    """

    time_s: float
    compute_s: tuple[float, ...]
    waited_s: tuple[float, ...]

    @classmethod
    def of(cls, ends_s: Sequence[float], computed_s: Sequence[float]) -> Replayed:
        """Give it from when each rank ended, and how long it computed."""
        waited = (end - own for end, own in zip(ends_s, computed_s, strict=True))
        return cls(max(ends_s), tuple(computed_s), tuple(waited))


def is_local(shape: Shape) -> bool:
    """Tell whether a call on a communicator is over at once."""
    return shape.comm_size <= 1 or shape.comm == 0 or shape.call in _ENDS_COMMUNICATOR


def is_rendezvous(shape: Shape) -> bool:
    """Tell whether a send waits for its receiver, however short the message is."""
    return shape.call in _RENDEZVOUS


def nodes_of_communicators(streams: Sequence[Stream], costs: Costs) -> dict[int, int]:
    """Find on how many nodes each communicator lies, by the ranks that call over it."""
    hosts: dict[int, set[int]] = {}
    for stream in streams:
        for shape in stream.shapes:
            hosts.setdefault(shape.comm, set()).add(costs.ladder.host(stream.rank))
    return {comm: len(found) for comm, found in hosts.items()}


def collective_cost(costs: Costs, shape: Shape, nodes: int) -> tuple[float, float, str]:
    """Give a collective's time, the share of a rank that does not wait, and who waits."""
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
