"""The measured MPI curves of a platform, extended to more ranks than were measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import polars as pl

from bareline.analysis.numbers.messages import tree_steps
from bareline.analysis.numbers.records import Records
from bareline.predict.curves.compute import factor_between
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.replay.engine import is_local, nodes_of_communicators, replay
from bareline.predict.scaling.period_time import shapes_of
from bareline.predict.scaling.prediction import Target
from bareline.profile.records import POINT_TO_POINT
from bareline.profile.trace import Trace
from bareline.vocabulary.collectives import collective_of
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Layout


def scaling_target(
    records: Records,
    name: str,
    base: str | None,
    calibration: Records | None,
    per_node: int | None,
) -> Target:
    """Return the target that replays traces with the measured curves of a run's platform.

    - `base`: the platform of the profiles; if None, the processors are assumed to be the same.
    - `per_node`: the most ranks on a node. If None, it is the most that the run had, and a run on
      one node is extended on one node.

    Raises AnalysisError: the run has no such platform, or it lacks curves for the traces.
    """
    factor = _compute_factor(records, name, base, calibration)
    ladders = _Ladders(records, name, per_node)
    notes = [_factor_note(factor)]

    def run(trace: Trace) -> float:
        ladder = ladders.of(trace.ranks)
        if ladder.cores is not None:
            ranks = ladder.layout.ranks_per_node
            _note(notes, f"{ranks} ranks of a node share {ladder.cores} cores")
        _check_messages(ladder, trace)
        compute = 1.0 if factor is None else factor.value
        costs = Costs(_reaching(ladder, trace, notes), compute=compute)
        return replay(trace, costs).time_s

    return Target(name, run, simulated=False, notes=notes)


def _compute_factor(
    records: Records, name: str, base: str | None, calibration: Records | None
) -> _Factor | None:
    """Return the factor on the profiled computing time; None if it is assumed to be 1."""
    if base is None:
        return None
    a, b = (read_ladder(records, platform, Layout(1, 1)) for platform in (base, name))
    estimate = factor_between(a, b, records, calibration)
    if estimate.value is None:
        raise AnalysisError(
            f"the computing speed of {name} is known only within bounds ({estimate.source}),"
            " but a single value is needed",
            hint=(
                "measure one rank of the program on both platforms, and give this run with"
                " --calibrate RUN"
            ),
        )
    return _Factor(estimate.value, estimate.source)


@dataclass(frozen=True, slots=True)
class _Factor:
    """The factor by which computing takes longer than in the profiles."""

    value: float
    source: str


def _factor_note(factor: _Factor | None) -> str:
    if factor is None:
        return "processors are assumed to be the same as in the profiles"
    return f"computing takes {factor.value:.3g} times: {factor.source}"


class _Ladders:
    """The measured curves of a platform by number of ranks, with as many nodes as ranks need.

    - `per_node`: the most ranks on a node; if None, the most that the run had.
    """

    def __init__(self, records: Records, platform: str, per_node: int | None) -> None:
        self._records = records
        self._platform = platform
        of_platform = records.trials.filter(pl.col("platform") == platform)
        layouts = [Layout.parse(text) for text in of_platform["layout"].drop_nulls()]
        self._most = per_node or max((layout.ranks_per_node for layout in layouts), default=1)
        self._spread = bool(per_node) or any(layout.nodes > 1 for layout in layouts)
        self._ladders: dict[int, PlatformCurves] = {}

    def of(self, ranks: int) -> PlatformCurves:
        """Return the measured curves for a number of ranks."""
        if ranks not in self._ladders:
            layout = Layout.spread(ranks, self._most) if self._spread else Layout(1, ranks)
            self._ladders[ranks] = read_ladder(self._records, self._platform, layout)
        return self._ladders[ranks]


def _note(notes: list[str], note: str) -> None:
    if note not in notes:
        notes.append(note)


def _check_messages(ladder: PlatformCurves, trace: Trace) -> None:
    """Raise AnalysisError if curves for the messages of a trace are missing."""
    for nodes, size in _largest_messages(ladder, trace).items():
        why = _why_not_carried(ladder, nodes, size)
        if why:
            raise AnalysisError(
                f"the ladder of {ladder.platform} {why}",
                hint="measure mpi.pingpong and mpi.overhead there up to that size, or change "
                "--per-node",
            )


def _largest_messages(ladder: PlatformCurves, trace: Trace) -> dict[int, int]:
    """Return the largest message size of a trace within a node (1) and between nodes (2)."""
    largest = {1: 0, 2: 0}
    for stream in trace.streams:
        host = ladder.host(stream.rank)
        for shape in stream.shapes:
            if shape.kind in POINT_TO_POINT and shape.to >= 0:
                nodes = 1 if host == ladder.host(shape.to) else 2
                largest[nodes] = max(largest[nodes], shape.size)
    return largest


def _why_not_carried(ladder: PlatformCurves, nodes: int, size: int) -> str:
    """Describe why the curves have no times of messages up to a size; "" if they do."""
    where = "within a node" if nodes == 1 else "between two nodes"
    curve = ladder.message("mpi.pingpong", nodes)
    if curve is None:
        is_needed = size > 0 or ladder.layout.nodes >= nodes > 1
        return f"has no messages {where}" if is_needed else ""
    if not curve.covers(size):
        return f"ends at {curve.sizes[-1]:.0f} B {where}, but the program sends {size:.0f} B"
    faults = curve.faults(ladder.wire_bps_between(nodes))
    if faults:
        return f"is disturbed {where}: " + ", ".join(faults)
    if size and curve.contradicts:
        return f"has launches {where} that contradict each other"
    return ""


def _reaching(ladder: PlatformCurves, trace: Trace, notes: list[str]) -> PlatformCurves:
    """Return the curves with collectives for as many ranks as a trace has.

    The curve of the nearest number of ranks is scaled like a tree of messages. For collectives that
    move a block for each rank, the additional time of larger sizes grows with the number of ranks.
    """
    nodes_of = nodes_of_communicators(trace.streams, Costs(ladder))
    curves = dict(ladder.curves)
    for shape in shapes_of(trace):
        collective = collective_of(shape.call)
        if shape.kind != "collective" or collective is None or is_local(shape):
            continue
        key = CurveKey(collective.probe, shape.comm_size, nodes_of[shape.comm])
        if key in curves:
            continue
        near = _nearest(ladder, key)
        if near is None:
            _note(notes, f"{shape.call} is not on the ladder: a tree of messages replaces it")
            continue
        curves[key] = _grown(ladder.curves[near], key)
        _note(notes, f"{shape.call} of more ranks is that of {near.ranks}, grown as a tree")
    return replace(ladder, curves=curves)


def _nearest(ladder: PlatformCurves, key: CurveKey) -> CurveKey | None:
    """Return the key of the same collective on the nearest number of ranks; None if missing.

    Both keys are within a node, or both are between nodes.
    """

    def distance(candidate: CurveKey) -> tuple[float, int]:
        return abs(math.log(candidate.ranks / key.ranks)), candidate.nodes

    same_probe = [candidate for candidate in ladder.curves if candidate.probe == key.probe]
    candidates = [
        candidate
        for candidate in same_probe
        if (candidate.nodes > 1) == (key.nodes > 1) and candidate.ranks > 1
    ]
    return min(candidates, key=distance, default=None)


_BLOCKS = ("mpi.alltoall", "mpi.allgather", "mpi.gather", "mpi.scatter")


def _grown(curve: Curve, key: CurveKey) -> Curve:
    tree = tree_steps(key.ranks) / tree_steps(curve.key.ranks)
    blocks = (key.ranks - 1) / (curve.key.ranks - 1)
    bandwidth = blocks if key.probe in _BLOCKS else tree
    return replace(curve.scaled(tree, bandwidth), key=key)
