"""What a ladder must hold for the prediction of one application, and the study that measures it."""

from __future__ import annotations

from dataclasses import dataclass

from bareline.predict.calls import POINT_TO_POINT, collective_of, curve_size
from bareline.profile.model import Profile
from bareline.vocabulary.model import Layout

#: Calls of a kind that together cannot matter need no curve: their share of the time, and what so
#: many of them would take on a slow network.
_SLOW_CALL_S = 100e-6
_LITTLE = 0.001
_SMALLEST_LARGEST = 1024
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, order=True)
class Need:
    """A curve that the application's calls are looked up on.

    Attributes
    ----------
    between
        Whether messages between nodes are meant where the platform has several.
    largest
        Largest size in bytes.
    share
        Share of the application's time in these calls.
    rate
        Calls of a rank per second of the application's time.
    """

    probe: str
    ranks: int
    between: bool
    largest: float
    share: float
    rate: float = 0.0

    def nodes_on(self, layout: Layout) -> int:
        """Give the number of nodes that such ranks lie on."""
        if not self.between or layout.nodes == 1:
            return 1
        return min(layout.nodes, self.ranks)

    def _budget_s(self) -> float:
        """Give the time for each size: at least 25 round trips of the largest at 1 Gb/s."""
        return round(min(2.0, max(0.1, 50 * self.largest / 1.25e8)), 2)

    def measure(self, nodes: int | None = None) -> str:
        """Give the ``[[measure]]`` block of a study that measures it."""
        params = f"budget_s = {self._budget_s():g}"
        if self.probe not in ("mpi.barrier", "mpi.init"):
            least = 8 if "reduce" in self.probe else 1
            most = _power_above(self.largest)
            params = f"min_bytes = {least}, max_bytes = {most}, between = true, {params}"
        if self.probe == "mpi.init":
            params = ""
        lines = ["[[measure]]", f'probe = "{self.probe}"']
        lines += [f"params = {{ {params} }}"] if params else []
        lines += [f"ranks = {self.ranks}"]
        lines += [f"nodes = {nodes}"] if nodes is not None else []
        return "\n".join([*lines, "timeout_s = 120"])


def _power_above(size: float) -> int:
    size = max(size, _SMALLEST_LARGEST)
    return min(_MOST_BYTES, 1 << (int(size) - 1).bit_length())


def needs_of(profile: Profile, *, spread: bool = True) -> list[Need]:
    """List the curves that a profile asks for, the one that carries most time first.

    Parameters
    ----------
    spread
        Whether the platform may have several nodes: messages within and between them are needed.
    """
    wall = float(profile.rank_table["wall_ns"].sum()) or 1.0
    found: dict[tuple[str, int, bool], list[float]] = {}

    def add(probe: str, ranks: int, between: bool, size: float, share: float, rate: float) -> None:
        entry = found.setdefault((probe, ranks, between), [0.0, 0.0, 0.0])
        entry[0] = max(entry[0], size)
        entry[1] += share
        entry[2] += rate

    for row in profile.calls.iter_rows(named=True):
        share = (row["time_ns"] + row["waited_ns"]) / wall
        if share < _LITTLE and row["count"] * _SLOW_CALL_S * 1e9 / wall < _LITTLE:
            continue
        collective = collective_of(row["call"])
        rate = row["count"] * 1e9 / wall
        if row["kind"] in POINT_TO_POINT and row["peer"] != "none":
            for probe in ("mpi.pingpong", "mpi.bandwidth"):
                if profile.ranks > 2 or not spread:
                    add(probe, 2, False, row["size_high"], share, rate)
                if spread:
                    add(probe, 2, True, row["size_high"], share, rate)
        elif row["kind"] == "collective" and collective is not None and row["comm_size"] > 1:
            size = curve_size(collective, row["size_high"], row["comm_size"])
            add(collective.probe, row["comm_size"], True, size, share, rate)
        elif row["kind"] == "communicator" and row["comm_size"] > 1:
            add("mpi.allreduce", row["comm_size"], True, 8, share, rate)
    needs = [Need(*key, *values) for key, values in found.items()]
    return sorted(needs, key=lambda need: (-need.share, need.probe, need.ranks))


def plan_study(profile: Profile, name: str = "ladder-mpi") -> str:
    """Write the study that measures the ladder of one application and nothing more.

    A sentinel stands beside the curves: the ping-pong of one size, whose trials tell a block that
    was disturbed.
    """
    blocks = [
        f"# {need.share:.1%} of the profiled time\n{need.measure()}"
        for need in sorted(needs_of(profile), key=lambda need: (need.probe, need.ranks))
        if need.between
    ]
    if profile.ranks > 2:
        blocks += [
            f"# within a node\n{need.measure(1)}" for need in needs_of(profile) if not need.between
        ]
    blocks.append("# start-up\n" + Need("mpi.init", profile.ranks, True, 0, 0).measure())
    sentinel = Need("mpi.sendrecv", 2, True, _SMALLEST_LARGEST, 0)
    blocks.append(f"# sentinel\n{sentinel.measure()}")
    program = profile.title
    head = f'''# What a prediction of {_plain(program)} on {profile.ranks} ranks looks up.

[study]
name = "{name}"
title = "The ladder of {_plain(program)}"
description = "Written by `bareline predict --plan`: what the application asks of MPI, no more."
launches = 8
precision = 0
'''
    return "\n\n".join([head, *dict.fromkeys(blocks)]) + "\n"


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in '"\\')[:80]
