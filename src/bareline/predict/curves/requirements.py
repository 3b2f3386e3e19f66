"""The curves that give the times of a program's calls, and that a study must measure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import Collective, collective_of
from bareline.vocabulary.model import Layout

#: The probes of start-up: once, and once for each rank that a rank talks to.
INIT = "mpi.init"
FIRST_MESSAGE = "mpi.first_message"
START_UP = (INIT, FIRST_MESSAGE)
#: The time that a message costs its ends themselves: two curves of one probe.
OVERHEAD = "mpi.overhead"
SENDING = f"{OVERHEAD} send"
RECEIVING = f"{OVERHEAD} receive"
#: The time of a message while another message goes in the opposite direction.
CROSSING = "mpi.sendrecv"
#: The cost of the network for the processor: a loop between messages, and the same loop alone.
BESIDE = "mpi.beside_compute"
BETWEEN = f"{BESIDE} between"
ALONE = f"{BESIDE} alone"
IO_KINDS = ("mpi-io", "posix-io")
#: The probes whose curves contain the times of point-to-point calls.
_MESSAGES = ("mpi.pingpong", "mpi.bandwidth", OVERHEAD, CROSSING)


def curve_size(collective: Collective, size: float, comm_size: int) -> float:
    """Return the size on the curve of a collective at which the time of a call is read."""
    if not collective.smallest_bytes:
        return 0.0
    if collective.per_peer:
        return size / max(1, comm_size)
    return max(size, collective.smallest_bytes) if collective.reduces else size


#: Calls of a kind need no curve where together they take less than `_LITTLE` of the time, both as
#: profiled and as estimated from their number and size on a slow network.
_SLOW_CALL_S = 100e-6
_LITTLE = 0.001
_SMALLEST_LARGEST = 1024
_MOST_BYTES = 1 << 30
#: Sizes up to this one are measured many times within their budget. Larger sizes are measured a few
#: times, for which a link of 1 Gb/s has time; with three iterations, times differed by half.
_SMALL_BYTES = 32 << 10
#: A slow link needs time for a window of 64 messages, and six windows must fit.
_SMALL_BUDGET_S = 0.05
_WINDOW_BUDGET_S = 0.2
_LARGE_ITERATIONS = 24
_FEWEST_ITERATIONS = 6
_MEDIUM_BYTES = 4 << 20
_SLOW_LINK_BPS = 1e9
#: Large messages in flight at once: few, as in applications and for a slow link.
_LARGE_WINDOW = 4
#: No library sends larger messages before the receiver looks, so they have no such overhead.
_EAGER_BYTES = 64 << 10
_OVERHEAD_BUDGET_S = 0.1


@dataclass(frozen=True, slots=True, order=True)
class CurveNeed:
    """A curve from which the times of some of the application's calls are taken.

    - `between`: whether the messages are between nodes, if the platform has several nodes.
    - `largest`: largest size in bytes.
    - `share`: share of the application's time in these calls.
    - `rate`: calls of a rank per second of the application's time.
    """

    probe: str
    ranks: int
    between: bool
    largest: float
    share: float
    rate: float = 0.0

    @property
    def optional(self) -> bool:
        """Whether a prediction is possible without the curve."""
        return self.probe in (OVERHEAD, BESIDE, CROSSING)

    def nodes_on(self, layout: Layout) -> int:
        """Return the number of nodes that the ranks of the curve use in a layout."""
        if not self.between or layout.nodes == 1:
            return 1
        return min(layout.nodes, self.ranks)

    def measures(self, nodes: int | None = None) -> list[str]:
        """Return the ``[[measure]]`` blocks of the curve; long messages are measured less often."""
        if self.probe in ("mpi.barrier", BESIDE, *START_UP):  # without a message size
            params = "" if self.probe in START_UP else f"budget_s = {_SMALL_BUDGET_S:g}"
            return [self._block(params, nodes)]
        largest = int(max(self.largest, _SMALLEST_LARGEST))
        most = min(_MOST_BYTES, 1 << (largest - 1).bit_length())
        if self.probe == OVERHEAD:
            sizes = f"min_bytes = 1, max_bytes = {min(most, _EAGER_BYTES)}, between = true"
            return [self._block(f"{sizes}, budget_s = {_OVERHEAD_BUDGET_S:g}", nodes)]
        least = 8 if "reduce" in self.probe else 1
        windowed = self.probe == "mpi.bandwidth"
        budget_s = _WINDOW_BUDGET_S if windowed else _SMALL_BUDGET_S
        sizes = f"min_bytes = {least}, max_bytes = {min(most, _SMALL_BYTES)}, between = true"
        blocks = [self._block(f"{sizes}, budget_s = {budget_s:g}", nodes)]
        if most > _SMALL_BYTES:
            blocks.append(self._block_of_large(most, nodes, windowed=windowed))
        return blocks

    def _block_of_large(self, most: int, nodes: int | None, *, windowed: bool) -> str:
        """Return the ``[[measure]]`` block of long messages, each of which is sent a few times."""
        # Fewer iterations if a message takes seconds on a slow link.
        fitting = _LARGE_ITERATIONS * _MEDIUM_BYTES // most
        iterations = max(_FEWEST_ITERATIONS, min(_LARGE_ITERATIONS, fitting))
        # The time on a slow link, with warm-up and loop; a faster link ends sooner.
        messages = _LARGE_WINDOW if windowed else 2
        each_s = 8 * most / _SLOW_LINK_BPS * messages
        budget_s = max(0.2, round(2.5 * iterations * each_s, 1))
        params = [
            f"min_bytes = {_SMALL_BYTES + 1}",
            f"max_bytes = {most}",
            "between = true",
            f"iterations = {iterations}",
            "warmup = 2",
            f"budget_s = {budget_s:g}",
        ]
        if windowed:
            params.append(f"window = {_LARGE_WINDOW}")
        return self._block(", ".join(params), nodes, 4 * budget_s)

    def _block(self, params: str, nodes: int | None, takes_s: float = 0.0) -> str:
        lines = ["[[measure]]", f'probe = "{self.probe}"']
        if params:
            lines.append(f"params = {{ {params} }}")
        lines.append(f"ranks = {self.ranks}")
        if nodes is not None:
            lines.append(f"nodes = {nodes}")
        timeout_s = max(120, math.ceil(takes_s))
        lines.append(f"timeout_s = {timeout_s}")
        return "\n".join(lines)


def required_curves(profile: Profile, *, spread: bool = True) -> list[CurveNeed]:
    """Return the curves that a profile needs, the curve with the largest time first.

    - `spread`: whether the platform may have several nodes, so that curves within a node and
      between nodes are needed.
    """
    wall_ns = float(profile.rank_table["wall_ns"].sum()) or 1.0
    sums: dict[tuple[str, int, bool], _CallSum] = {}
    for row in profile.calls.iter_rows(named=True):
        calls = _CallSum.of(row, wall_ns)
        if _is_negligible(row, calls.share, wall_ns):
            continue
        for key, size in _keys_of(row, profile.ranks, spread=spread):
            sums.setdefault(key, _CallSum()).add(size, calls)
    if sums:
        sums.setdefault((BESIDE, profile.ranks, True), _CallSum())
    needs = [
        CurveNeed(probe, ranks, between, calls.largest, calls.share, calls.rate)
        for (probe, ranks, between), calls in sums.items()
    ]
    return sorted(needs, key=lambda need: (-need.share, need.probe, need.ranks))


@dataclass(slots=True)
class _CallSum:
    """The calls of a curve: their largest size, their share of the time, and their rate."""

    largest: float = 0.0
    share: float = 0.0
    rate: float = 0.0

    @classmethod
    def of(cls, row: Mapping[str, Any], wall_ns: float) -> _CallSum:
        """Return the size, share and rate of a row of a profile's calls."""
        share = (row["time_ns"] + row["waited_ns"]) / wall_ns
        return cls(share=share, rate=row["count"] * 1e9 / wall_ns)

    def add(self, size: float, calls: _CallSum) -> None:
        """Add calls of a given size."""
        self.largest = max(self.largest, size)
        self.share += calls.share
        self.rate += calls.rate


def _is_negligible(row: Mapping[str, Any], share: float, wall_ns: float) -> bool:
    """Whether calls take little time, both as profiled and as estimated for a slow network."""
    slow_s = _SLOW_CALL_S + 8 * row["size_high"] / _SLOW_LINK_BPS
    slow_share: float = row["count"] * slow_s * 1e9 / wall_ns
    return share < _LITTLE and slow_share < _LITTLE


def _keys_of(
    row: Mapping[str, Any], ranks: int, *, spread: bool
) -> Iterator[tuple[tuple[str, int, bool], float]]:
    """Yield each curve that contains the time of a row's calls, and the size on that curve."""
    kind = row["kind"]
    comm_size = row["comm_size"]
    if kind in POINT_TO_POINT and row["peer"] != "none":
        for probe, between in product(_MESSAGES, _places(ranks, spread=spread)):
            yield (probe, 2, between), row["size_high"]
    elif kind == "collective" and comm_size > 1:
        collective = collective_of(row["call"])
        if collective is not None:
            size = curve_size(collective, row["size_high"], comm_size)
            yield (collective.probe, comm_size, True), size
    elif kind == "communicator" and comm_size > 1:
        yield ("mpi.allreduce", comm_size, True), 8


def _places(ranks: int, *, spread: bool) -> list[bool]:
    """Return the possible places of two ranks: on one node (False), on two nodes (True)."""
    if not spread:
        return [False]
    return [False, True] if ranks > 2 else [True]


def merged(needs: Iterable[CurveNeed]) -> list[CurveNeed]:
    """Return the needs of several applications: one per curve, with the largest values."""
    joined: dict[tuple[str, int, bool], CurveNeed] = {}
    for need in needs:
        key = (need.probe, need.ranks, need.between)
        other = joined.get(key, need)
        joined[key] = replace(
            need,
            largest=max(need.largest, other.largest),
            share=max(need.share, other.share),
            rate=max(need.rate, other.rate),
        )
    return sorted(joined.values(), key=lambda need: (need.probe, need.ranks))


def ladder_measures(profiles: Sequence[Profile]) -> Iterator[str]:
    """Yield the ``[[measure]]`` blocks that some applications need, each with a comment."""
    needs = merged(chain.from_iterable(map(required_curves, profiles)))
    several = any(profile.ranks > 2 for profile in profiles)
    for need in needs:
        # Two ranks on two nodes exchange no messages within a node.
        if not need.between and not several:
            continue
        where = ""
        nodes = None
        if not need.between:
            where = ", within a node"
            nodes = 1
        for block in need.measures(nodes):
            yield f"# {need.share:.1%} of the profiled time{where}\n{block}"


def plan_study(profile: Profile, name: str = "ladder-mpi") -> str:
    """Return the text of a study that measures only the curves that one application needs.

    The study also measures start-up and `MPI_Sendrecv`. If the application does not need the curve
    of `MPI_Sendrecv`, only short messages are measured, because their times show whether launches
    were disturbed.
    """
    blocks = list(ladder_measures([profile]))
    for probe in START_UP:
        blocks.append("# start-up\n" + CurveNeed(probe, profile.ranks, True, 0, 0).measures()[0])
    if not any(f'probe = "{CROSSING}"' in block for block in blocks):
        sentinel = CurveNeed(CROSSING, 2, True, _SMALLEST_LARGEST, 0)
        blocks.append(f"# sentinel\n{sentinel.measures()[0]}")
    program = profile.title
    head = f'''# Measurements for a prediction of {_plain(program)} on {profile.ranks} ranks.

[study]
name = "{name}"
title = "The ladder of {_plain(program)}"
description = "Written by `bareline predict --plan`: only the calls that the application uses."
launches = 8
precision = 0
'''
    return "\n\n".join([head, *dict.fromkeys(blocks)]) + "\n"


def _plain(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and c not in '"\\')[:80]
