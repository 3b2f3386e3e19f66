"""A measured ladder for more ranks than it was measured with."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl

from bareline.analysis.numbers.messages import tree_steps
from bareline.analysis.numbers.records import Records
from bareline.predict.curves.compute import factor_between
from bareline.predict.curves.costs import Costs
from bareline.predict.curves.curve import Curve, CurveKey
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.replay.engine import is_local, nodes_of_communicators, replay
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
    """Return the target that replays traces on the measured ladder of a run's platform.

    - `base`: where the profiles were made; None: processors are taken to be the same.
    - `per_node`: the most ranks of a node; None: as many as the run had (on its one node).
    Raises AnalysisError: the run has no such platform, or its ladder lacks curves for the traces.
    """
    layouts = [
        Layout.parse(text)
        for text in records.trials.filter(pl.col("platform") == name)["layout"].drop_nulls()
    ]
    several = any(layout.nodes > 1 for layout in layouts)
    most = per_node or max((layout.ranks_per_node for layout in layouts), default=1)
    ladders: dict[int, PlatformCurves] = {}
    factor = 1.0
    notes = ["processors are assumed to be the same as in the profiles"]
    if base is not None:
        a, b = (read_ladder(records, platform, Layout(1, 1)) for platform in (base, name))
        estimate = factor_between(a, b, records, calibration)
        if estimate.value is None:
            raise AnalysisError(
                f"for {name} only bounds of the computing speed are known: {estimate.source}",
                hint="measure one rank of the program on both platforms: --calibrate RUN",
            )
        factor = estimate.value
        notes = [f"computing takes {estimate.value:.3g} times: {estimate.source}"]

    def run(trace: Trace) -> float:
        if trace.ranks not in ladders:
            spread = several or per_node
            layout = Layout.spread(trace.ranks, most) if spread else Layout(1, trace.ranks)
            made = ladders[trace.ranks] = read_ladder(records, name, layout)
            if made.cores is not None:
                _note(notes, f"{layout.ranks_per_node} ranks of a node share {made.cores} cores")
        ladder = ladders[trace.ranks]
        _check_messages(ladder, trace)
        return replay(trace, Costs(_reaching(ladder, trace, notes), compute=factor)).time_s

    return Target(name, run, simulated=False, notes=notes)


def _note(notes: list[str], note: str) -> None:
    if note not in notes:
        notes.append(note)


def _check_messages(ladder: PlatformCurves, trace: Trace) -> None:
    layout = ladder.layout
    largest = {1: 0, 2: 0}
    for stream in trace.streams:
        for shape in stream.shapes:
            if shape.kind in POINT_TO_POINT and shape.to >= 0:
                nodes = 1 if ladder.host(stream.rank) == ladder.host(shape.to) else 2
                largest[nodes] = max(largest[nodes], shape.size)
    for nodes, size in largest.items():
        where = "within a node" if nodes == 1 else "between two nodes"
        curve = ladder.message("mpi.pingpong", nodes)
        why = ""
        if curve is None:
            why = f"has no messages {where}" if size or layout.nodes >= nodes > 1 else ""
        elif not curve.covers(size):
            why = f"ends at {curve.sizes[-1]:.0f} B {where}, the program sends {size:.0f} B"
        elif faults := curve.faults(ladder.wire_bps if nodes > 1 else None):
            why = f"is disturbed {where}: " + ", ".join(faults)
        elif size and curve.contradicts:
            why = f"has launches {where} that contradict each other"
        if why:
            raise AnalysisError(
                f"the ladder of {ladder.platform} {why}",
                hint="measure mpi.pingpong and mpi.overhead there up to that size, or change "
                "--per-node",
            )


def _reaching(ladder: PlatformCurves, trace: Trace, notes: list[str]) -> PlatformCurves:
    """Return a ladder with the collectives of as many ranks as a trace has.

    The curve of the nearest number of ranks grows as a tree of messages does; in collectives that
    move a block for each rank, the additions of sizes grow by the number of other ranks.
    """
    nodes_of = nodes_of_communicators(trace.streams, Costs(ladder))
    curves = dict(ladder.curves)
    for shape in {shape for stream in trace.streams for shape in stream.shapes}:
        collective = collective_of(shape.call)
        if shape.kind != "collective" or collective is None or is_local(shape):
            continue
        key = CurveKey(collective.probe, shape.comm_size, nodes_of[shape.comm])
        if key in curves:
            continue
        alike = (key.probe, key.nodes > 1)
        candidates = [
            curve_key
            for curve_key in ladder.curves
            if (curve_key.probe, curve_key.nodes > 1) == alike and curve_key.ranks > 1
        ]
        if not candidates:
            _note(notes, f"{shape.call} is not on the ladder: a tree of messages replaces it")
            continue
        near = min(
            candidates,
            key=lambda curve_key: (abs(math.log(curve_key.ranks / key.ranks)), curve_key.nodes),
        )
        curves[key] = _grown(ladder.curves[near], key)
        _note(notes, f"{shape.call} of more ranks is that of {near.ranks}, grown as a tree")
    return replace(ladder, curves=curves)


_BLOCKS = ("mpi.alltoall", "mpi.allgather", "mpi.gather", "mpi.scatter")


def _grown(curve: Curve, key: CurveKey) -> Curve:
    tree = tree_steps(key.ranks) / tree_steps(curve.key.ranks)
    blocks = (key.ranks - 1) / (curve.key.ranks - 1)
    return replace(curve.scaled(tree, blocks if key.probe in _BLOCKS else tree), key=key)
