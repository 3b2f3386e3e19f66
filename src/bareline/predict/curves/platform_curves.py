"""The ladder of a platform (its measured MPI curves), and whether it suffices for a prediction."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from bareline.analysis.numbers.messages import tree_steps
from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.shares import wire_bps
from bareline.predict.curves.curve import Curve, CurveKey, without_disturbed
from bareline.predict.curves.requirements import (
    ALONE,
    BETWEEN,
    FIRST_MESSAGE,
    INIT,
    RECEIVING,
    SENDING,
    CurveNeed,
    required_curves,
)
from bareline.profile.model import Profile
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Layout, Scalar

#: The metrics of each curve, by its name, which begins with its probe's: the mean over a plain
#: loop, and the median of single calls. A replay adds calls up, and only means add up.
_LATENCY = ("latency_loop_mean", "latency")
_METRICS: Mapping[str, tuple[str, str]] = {
    "mpi.pingpong": _LATENCY,
    "mpi.bandwidth": ("bandwidth_loop_mean", "bandwidth"),
    "mpi.sendrecv": _LATENCY,
    **{collective.probe: _LATENCY for collective in MEASURED},
    INIT: ("", "time"),
    FIRST_MESSAGE: ("", "time"),
    BETWEEN: ("", "between"),
    ALONE: ("", "alone"),
    SENDING: ("", "send"),
    RECEIVING: ("", "receive"),
}
#: A loop that takes longer than its single calls (their trimean) by this factor had lost its core:
#: a rank waits milliseconds for a time slice, which doubles the time of a loop of a few ms.
_LOOP_SLACK = 1.02
_EAGER_SHARED = 4096
_EAGER_NETWORK = 65536


@dataclass(frozen=True, slots=True)
class Gap:
    """A curve that a prediction lacks or cannot use, and the ``[[measure]]`` block that adds it."""

    words: str
    measure: str


class LadderGaps(AnalysisError):
    """Raised if a ladder (a platform's measured curves) lacks curves that an application needs.

    `measures` has the ``[[measure]]`` blocks to add to the ladder's study.
    """

    measures: Sequence[str] = ()


def refuse_gaps(platform: str, gaps: Sequence[Gap]) -> None:
    """Raise LadderGaps if the ladder of a platform has gaps."""
    if not gaps:
        return
    error = LadderGaps(
        f"the ladder of {platform} lacks curves that this application needs: "
        + "; ".join(gap.words for gap in gaps),
        hint="measure these curves; `bareline predict --plan PROFILE` writes the whole study",
    )
    error.measures = [gap.measure for gap in gaps]
    raise error


class Protocol(NamedTuple):
    """The largest eager message, and whether receivers fetch longer ones without the sender."""

    eager_bytes: int
    fetches: bool


class AfterCalls(NamedTuple):
    """The factor by which code is slower after messages, during its first `time_s` seconds."""

    times: float
    time_s: float


@dataclass(frozen=True)
class PlatformCurves:
    """The measured properties of a platform that a prediction uses.

    - `layout`: the layout of the application's ranks on the platform: nodes, and ranks per node.
    - `cores`: cores of a node that the ranks may use; None if each rank has a core.
    - `protocols`: the protocol of messages between two ranks on one node (1) or on two nodes (2).
      If an entry is missing, `protocol` finds it from the curves.
    """

    platform: str
    curves: Mapping[CurveKey, Curve]
    layout: Layout
    cores: int | None
    facts: Mapping[str, Scalar] = field(default_factory=dict)
    protocols: Mapping[int, Protocol] = field(default_factory=dict)

    @cached_property
    def wire_bps(self) -> float | None:
        """The shaped rate of the link between nodes, or else its nominal rate; None if unknown."""
        if self.layout.nodes < 2:
            return None
        return wire_bps(self.facts)

    def wire_bps_between(self, nodes: int) -> float | None:
        """Return the rate of the link that messages between two ranks on `nodes` nodes cross."""
        return self.wire_bps if nodes > 1 else None

    @property
    def n(self) -> int:
        """The largest number of launches that a curve has."""
        return max((curve.launches.shape[0] for curve in self.curves.values()), default=0)

    def host(self, rank: int) -> int:
        """Return the node of a rank: ranks fill one node after the other."""
        return rank // self.layout.ranks_per_node

    def curve(self, probe: str, ranks: int, nodes: int) -> Curve | None:
        """Return the curve of a probe for a number of ranks and nodes; None if it is missing."""
        return self.curves.get(CurveKey(probe, ranks, nodes))

    def message(self, probe: str, nodes: int) -> Curve | None:
        """Return the curve of two ranks on one node or on two nodes; None if it is missing."""
        return self.curve(probe, 2, nodes)

    def beside(self, ranks: int) -> AfterCalls | None:
        """Return how much messages slow down the code that follows; None if it was not measured."""
        nodes = min(self.layout.nodes, ranks)
        between = self.curve(BETWEEN, ranks, nodes)
        alone = self.curve(ALONE, ranks, nodes)
        if between is None or alone is None:
            return None
        return AfterCalls(between.latency_s / alone.latency_s, between.latency_s)

    def resampled(self, rng: np.random.Generator) -> PlatformCurves:
        """Return the curves of randomly drawn launches.

        The same launches are drawn for all curves, because the launches of all curves in one block
        (round of launches) had the same disturbances.
        """
        launches = max(1, self.n)
        return self.of_launches(rng.integers(0, launches, launches))

    def of_launches(self, chosen: npt.NDArray[np.int64]) -> PlatformCurves:
        """Return the curves of the chosen launches, some of which may be chosen several times."""
        curves = {key: curve.resampled(chosen) for key, curve in self.curves.items()}
        return replace(self, curves=curves)

    def protocol(self, nodes: int) -> Protocol:
        """Return the protocol of messages between two ranks.

        If the protocol was not measured, it is the default of Open MPI. In this case, the latency
        shows whether the ranks use shared memory or a network.
        """
        if nodes in self.protocols:
            return self.protocols[nodes]
        way = self.message("mpi.pingpong", nodes)
        # Every network takes longer than 4 us.
        is_shared = nodes == 1 and way is not None and way.latency_s < 4e-6
        limit = _EAGER_SHARED if is_shared else _EAGER_NETWORK
        sending = self.message(SENDING, nodes)
        if sending is not None and way is not None:
            # `MPI_Send` waits for a receiver that computes from some size on: in `mpi.overhead`,
            # the receiver looks for the message at least 40 us later.
            waits = sending.raw > [way.at(size) + 20e-6 for size in sending.sizes]
            if waits[-1]:
                # A single size may be disturbed, so the largest size that is sent at once counts.
                at_once = sending.sizes[~waits]
                limit = round(float(at_once.max(initial=0.0)))
        return Protocol(limit, is_shared)

    def needs(self, profile: Profile) -> list[CurveNeed]:
        """Return the curves that a profile needs, for the layout of its ranks on the platform."""
        return required_curves(profile, spread=self.layout.nodes > 1)

    def used(self, profile: Profile) -> Iterator[tuple[CurveNeed, Curve]]:
        """Yield the measured curves that an application needs, each with its need."""
        for need in self.needs(profile):
            curve = self.curve(need.probe, need.ranks, need.nodes_on(self.layout))
            if curve is not None:
                yield need, curve

    def gaps(self, needs: Sequence[CurveNeed]) -> list[Gap]:
        """Return the needed curves that are missing or unusable, each with its ``[[measure]]``."""
        gaps = (self._gap(need) for need in needs if not need.optional)
        return [gap for gap in gaps if gap is not None]

    def _gap(self, need: CurveNeed) -> Gap | None:
        nodes = need.nodes_on(self.layout)
        largest = need.largest
        key = CurveKey(need.probe, need.ranks, nodes)
        curve = self.curves.get(key)
        about = curve.at(largest) if curve else self.tree_s(need.ranks, nodes, largest)
        # A curve with a negligible share of the time on both platforms may be missing or unusable.
        if max(need.share, need.rate * about) < 0.01:
            return None
        fault = self._fault(curve, nodes, largest)
        if not fault:
            return None
        return Gap(f"{key} {fault}", "\n\n".join(need.measures(nodes)))

    def _fault(self, curve: Curve | None, nodes: int, largest: float) -> str:
        """Describe why a curve cannot be used for messages up to a size; "" if it can."""
        if curve is None:
            return "is not measured"
        if not curve.covers(largest):
            return f"ends at {curve.sizes[-1]:.0f} B, the application uses {largest:.0f} B"
        faults = curve.faults(self.wire_bps_between(nodes))
        if not faults:
            return ""
        return f"is disturbed: {', '.join(faults)}"

    def tree_s(self, ranks: int, nodes: int, size: float) -> float:
        """Return the time of a tree of messages in s, in place of a missing collective.

        The time is infinite if the curve of messages is also missing.
        """
        message = self.message("mpi.pingpong", min(nodes, 2))
        return math.inf if message is None else tree_steps(ranks) * message.at(size)


def read_ladder(records: Records, platform: str, layout: Layout) -> PlatformCurves:
    """Return the ladder (the measured curves) of a platform of a run.

    Raises AnalysisError: the run has no such platform.
    """
    if platform not in records.platforms:
        raise AnalysisError(
            f"the run has no platform '{platform}'",
            where=", ".join(str(run.path) for run in records.runs),
            hint=f"the run has {', '.join(records.platforms)}",
        )
    curves = {curve.key: curve for curve in _curves(records, platform)}
    facts = records.facts.get(platform, {})
    return PlatformCurves(platform, curves, layout, _cores(records, platform, layout), facts)


def _curves(records: Records, platform: str) -> Iterator[Curve]:
    is_used = (
        (pl.col("platform") == platform)
        & (pl.col("status") == "measured")
        & pl.col("probe").is_in(list(map(_probe_of, _METRICS)))
        & ~pl.col("profile").fill_null(False)
    )
    measured = records.trials.filter(is_used)
    joined = records.values.join(measured, on="row", how="inner", suffix="_trial")
    joined = joined.with_columns(pl.col("metric", "point").cast(pl.String))
    for name, (loop, calls) in _METRICS.items():
        of_probe = joined.filter(pl.col("probe") == _probe_of(name))
        rows = _means(of_probe, loop, calls)
        for (ranks, layout), group in rows.group_by("ranks", "layout", maintain_order=True):
            nodes = Layout.parse(str(layout)).nodes
            yield _curve(CurveKey(name, int(str(ranks)), nodes), group)


def _probe_of(curve: str) -> str:
    """Return the probe of a curve: the first word of the curve's name."""
    return curve.partition(" ")[0]


def _value_of(metric: str) -> pl.Expr:
    return pl.col("value").filter(pl.col("metric") == metric).first()


def _means(rows: pl.DataFrame, loop: str, calls: str) -> pl.DataFrame:
    """Return the time of a call for each trial and point (such as a message size).

    The time is the mean over a loop of calls. It is limited to a multiple of the trimean of single
    calls, because a disturbance of the loop would increase the mean.
    """
    lower = f"{calls}_q1"
    upper = f"{calls}_q3"
    chosen = rows.filter(pl.col("metric").is_in([loop, calls, lower, upper]))
    others = [name for name in chosen.columns if name not in ("value", "metric", "caveats")]
    middle = _value_of(calls)
    trimean = (_value_of(lower) + 2 * middle + _value_of(upper)) / 4
    grouped = chosen.group_by(others, maintain_order=True)
    means = grouped.agg(loop=_value_of(loop), calls=pl.coalesce(trimean, middle))
    if calls == "bandwidth":
        within = pl.max_horizontal("loop", pl.col("calls") / _LOOP_SLACK)
    else:
        within = pl.min_horizontal("loop", pl.col("calls") * _LOOP_SLACK)
    is_simulated = pl.col("clock") == "simulated"
    is_alone = pl.col("loop").is_null() | pl.col("calls").is_null() | is_simulated
    value = pl.when(is_alone).then(pl.coalesce("loop", "calls")).otherwise(within)
    return means.with_columns(value=value).drop("loop", "calls")


def _curve(key: CurveKey, rows: pl.DataFrame) -> Curve:
    size = pl.col("point").str.extract(r"\bsize_bytes=(\d+)").cast(pl.Float64).fill_null(0.0)
    rows = rows.with_columns(size=size)
    if key.probe == "mpi.bandwidth":
        rows = rows.with_columns(value=pl.col("size") / pl.col("value"))
    # Several measures may have the same size: each launch counts once, by the quicker, since
    # disturbances only add time.
    quickest = rows.group_by("run", "block", "size").agg(pl.col("value").min())
    table = quickest.pivot("size", index=["run", "block"], values="value").sort("run", "block")
    names = sorted((name for name in table.columns if name not in ("run", "block")), key=float)
    launches = table.select(names).to_numpy().astype(float)
    return Curve(key, np.array(list(map(float, names))), without_disturbed(launches))


def _cores(records: Records, platform: str, layout: Layout) -> int | None:
    """Return the number of cores of a node if its ranks must share them, else None."""
    spec: Mapping[str, Any] = {}
    for run in records.runs:
        spec = run.header.platforms.get(platform.partition("@")[0], spec)
    given = spec.get("cores")
    allowed = records.facts.get(platform, {}).get("cpu.allowed")
    count = len(given) if isinstance(given, list) else allowed
    if not isinstance(count, int) or count < 1:
        return None
    # Nodes on one machine share its cores.
    caveats = records.trials.filter(pl.col("platform") == platform)["caveats"]
    if caveats.list.contains("shared-host").fill_null(False).any():
        count = max(1, count // layout.nodes)
    return count if count < layout.ranks_per_node else None
