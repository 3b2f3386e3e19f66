"""Calibrate a simulated network from a run, and hold the simulation against the same run.

The curve is the measured ping-pong between two nodes. What a processor does for a message comes
from the rate of small messages: a sender that is busy with each message for t seconds sends 1/t a
second. Nothing else is fitted; everything else that the run measured and that runs simulated is
then simulated and compared, and the errors go with the platform.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from bareline.analysis.records import Records, read_runs
from bareline.analysis.summary import summarize
from bareline.host.cache import cache_folder, scratch_folder
from bareline.platforms.base import Allocation, Context, Platform, PlatformSpec, load_platform_types
from bareline.platforms.config import make_spec
from bareline.probes.base import find_probe
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError, BarelineError
from bareline.vocabulary.model import Layout, format_point, parse_point

_PING_PONG = "mpi.pingpong"
_RATE = "mpi.multi_pair"
#: A message that is this small costs what every message costs.
_SMALL_BYTES = 64
#: Each overhead may take this much of an empty message's time; the wire takes the rest.
_MOST_OF_LATENCY = 0.45
_FEWEST_SIZES = 6
_TIMEOUT_S = 600.0


@dataclass(frozen=True, slots=True)
class Check:
    """A measured value beside the simulated one.

    Parameters
    ----------
    probe, ranks, params, point
        What was measured.
    measured, simulated
        Medians of the headline metric, in its unit.
    """

    probe: str
    ranks: int
    params: str
    point: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative deviation of the simulation; 0.1 is 10 % above the measured value."""
        return self.simulated / self.measured - 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """A simulated platform made from a run, and how well it agrees with that run.

    Parameters
    ----------
    table
        The platform as it stands in a platform file.
    checks
        Everything that the run measured between nodes and that runs simulated.
    left_out
        What could not be simulated, and why.
    """

    table: dict[str, Any]
    checks: tuple[Check, ...]
    left_out: tuple[str, ...]

    def errors_of(self, probe: str) -> list[float]:
        """Give the absolute errors of a probe's points."""
        return [abs(check.error) for check in self.checks if check.probe == probe]

    @property
    def error(self) -> float | None:
        """Median absolute error of all but the ping-pong, which the curve is made of."""
        errors = [abs(check.error) for check in self.checks if check.probe != _PING_PONG]
        return statistics.median(errors) if errors else None

    def rows(self) -> list[dict[str, Any]]:
        """Give the checks as plain rows for ``--json``."""
        return [
            {
                "probe": check.probe,
                "ranks": check.ranks,
                "params": parse_point(check.params) | parse_point(check.point),
                "measured": check.measured,
                "simulated": check.simulated,
                "error": check.error,
            }
            for check in self.checks
        ]


def calibrate(
    run: Run,
    *,
    platform: str | None = None,
    eager_bytes: int = 65_536,
    nodes: int = 16,
    cores: int = 8,
    tell: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Make a simulated platform from what a run measured on one of its platforms.

    Parameters
    ----------
    platform
        Which one; needed when the run has several.
    eager_bytes
        Message size from which the MPI library lets sender and receiver meet first.
    nodes, cores
        Size of the simulated cluster.
    tell
        Called with what is simulated now.

    Raises
    ------
    AnalysisError
        The run does not hold what a calibration needs; the hint is the measure to add.
    """
    records = read_runs([run])
    name = _choose(records, platform)
    points = summarize(records).filter((pl.col("platform") == name) & pl.col("headline"))
    curve = _curve(points, name)
    overhead = _overhead(points, curve[0][1])
    table: dict[str, Any] = {
        "type": "sim",
        "title": f"simulated, calibrated on {name} of {run.path.resolve().name}",
        "nodes": nodes,
        "cores": cores,
        "curve": [[size, float(f"{seconds:.6g}")] for size, seconds in curve],
        "send_overhead_s": overhead,
        "receive_overhead_s": overhead,
        "eager_bytes": eager_bytes,
        "source": f"ping-pong and message rate of {name}, run {run.path.resolve().name}, "
        f"{run.header.created}",
    }
    checks, left_out = _validate(table, points, records, name, tell)
    done = Calibration(table, tuple(checks), tuple(left_out))
    if done.error is not None:
        table["error"] = float(f"{done.error:.3g}")
    return done


def _choose(records: Records, given: str | None) -> str:
    names = records.platforms
    if given is None and len(names) == 1:
        return names[0]
    if given not in names:
        said = "several platforms are in the run" if given is None else f"no platform '{given}'"
        raise AnalysisError(said, hint=f"name one with --platform: {', '.join(names)}")
    return given


def _between_nodes(points: pl.DataFrame, probe: str) -> pl.DataFrame:
    """Give the points of a probe with two ranks."""
    return points.filter((pl.col("probe") == probe) & (pl.col("ranks") == 2))


def _curve(points: pl.DataFrame, platform: str) -> list[tuple[int, float]]:
    found: dict[int, float] = {}
    for row in _between_nodes(points, _PING_PONG).iter_rows(named=True):
        size = parse_point(row["point"]).get("size_bytes")
        if isinstance(size, int):
            found[size] = row["value"]
    if 0 not in found or len(found) < _FEWEST_SIZES:
        raise AnalysisError(
            f"{platform} has no ping-pong curve of at least {_FEWEST_SIZES} sizes from 0 bytes on",
            hint=f'measure it: [[measure]] probe = "{_PING_PONG}", ranks = 2',
        )
    return sorted(found.items())


def _overhead(points: pl.DataFrame, latency_s: float) -> float:
    """Give the seconds that a sender is busy with a small message; 0 where none was measured."""
    rates = [
        row["value"] / size
        for row in _between_nodes(points, _RATE).iter_rows(named=True)
        if isinstance(size := parse_point(row["point"]).get("size_bytes"), int)
        and 0 < size <= _SMALL_BYTES
        and row["unit"] == "B/s"
    ]
    if not rates:
        return 0.0
    return float(f"{min(1 / max(rates), _MOST_OF_LATENCY * latency_s):.4g}")


def _validate(
    table: dict[str, Any],
    points: pl.DataFrame,
    records: Records,
    name: str,
    tell: Callable[[str], None],
) -> tuple[list[Check], list[str]]:
    spec = make_spec("calibration", table, where="the calibrated platform")
    cases = records.trials.filter(
        (pl.col("platform") == name) & (pl.col("status") == "measured")
    ).unique(["probe", "params", "ranks", "threads", "layout"], maintain_order=True)
    checks: list[Check] = []
    left_out: list[str] = []
    with scratch_folder("calibration") as scratch, _acquire(spec, scratch) as cluster:
        for case in cases.iter_rows(named=True):
            reason = _unfit(case, spec)
            if reason:
                left_out.append(f"{case['probe']}, {case['ranks']} ranks: {reason}")
                continue
            tell(f"{case['probe']}, {case['ranks']} ranks, {case['params']}")
            try:
                checks += _simulate(cluster, case, points)
            except BarelineError as error:
                left_out.append(f"{case['probe']}, {case['ranks']} ranks: {error}")
    return checks, left_out


def _acquire(spec: PlatformSpec[Any], scratch: Path) -> Any:
    platform: Platform[Any] = load_platform_types()[spec.type](
        spec, Context(scratch=scratch, cache=cache_folder())
    )
    return platform.acquire(Layout(spec.options.node_count))


def _unfit(case: dict[str, Any], spec: PlatformSpec[Any]) -> str:
    probe = find_probe(case["probe"])
    layout = Layout.parse(case["layout"])
    command = probe.command(probe.make_params(_own_params(case)), layout)
    if case["profile"]:
        return "was profiled"
    if layout.nodes > spec.options.node_count:
        return f"needs {layout.nodes} nodes"
    if layout.ranks_per_node > 1:
        return "has ranks that share a node: the curve between nodes says nothing of them"
    return str(spec.options.refuses(command))


def _own_params(case: dict[str, Any]) -> dict[str, Any]:
    params = parse_point(case["params"])
    params.pop("profile", None)
    return params


def _simulate(cluster: Allocation, case: dict[str, Any], points: pl.DataFrame) -> Iterable[Check]:
    probe = find_probe(case["probe"])
    params = probe.make_params(_own_params(case))
    layout = Layout.parse(case["layout"])
    output = cluster.run(probe.command(params, layout), layout, timeout_s=_TIMEOUT_S)
    if output.exit_code != 0:
        raise AnalysisError(f"the simulation ended with code {output.exit_code}")
    simulated = {
        format_point(sample.point): sample.value
        for sample in probe.read(params, output)
        if sample.metric == probe.headline
    }
    same: Sequence[str] = ("probe", "params", "ranks", "threads")
    measured = points.filter(
        *(pl.col(key) == case[key] for key in same), pl.col("metric") == probe.headline
    )
    for row in measured.iter_rows(named=True):
        if row["point"] in simulated and row["value"] > 0:
            yield Check(
                probe=case["probe"],
                ranks=case["ranks"],
                params=case["params"],
                point=row["point"],
                measured=row["value"],
                simulated=simulated[row["point"]],
            )
