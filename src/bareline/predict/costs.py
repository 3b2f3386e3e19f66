"""What messages, collectives and computing cost on a platform, looked up on its ladder."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from bareline.predict.calls import RECEIVING, SENDING
from bareline.predict.ladder import Ladder

_LARGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Costs:
    """Costs of a replay.

    Attributes
    ----------
    compute
        How many times longer computing takes than it was traced.
    io
        The same for file calls.
    """

    ladder: Ladder
    compute: float = 1.0
    io: float = 1.0
    _known: dict[tuple[object, ...], float] = field(default_factory=dict, repr=False)

    def nodes_between(self, one: int, other: int) -> int:
        """Give 1 for two ranks of a node, 2 for two of different ones."""
        return 1 if self.ladder.host(one) == self.ladder.host(other) else 2

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
