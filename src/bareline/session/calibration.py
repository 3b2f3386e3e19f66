"""Calibrate a simulated network from a run, and hold the simulation against the same run.

The curve is the measured ping-pong between two nodes; what they carry both ways at once is that of
the bidirectional bandwidth, where the run has one. What a processor does for a message comes
from the rate of small messages: a sender that is busy with each message for t seconds sends 1/t a
second. How fast the processors compute comes from the computation of the kernels in the run: one
factor to this machine's, for all of them. Nothing else is fitted; everything else that the run
measured and that runs simulated is then simulated and compared, and the errors go with the
platform.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.analysis.records import Records, read_runs
from bareline.analysis.summary import summarize
from bareline.session.validation import Check, Simulations
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import parse_point

_PING_PONG = "mpi.pingpong"
_RATE = "mpi.multi_pair"
_BOTH_WAYS = "mpi.bibandwidth"
#: A message that is this small costs what every message costs.
_SMALL_BYTES = 64
#: A sender may be busy for this much of an empty message's time.
_MOST_OF_LATENCY = 0.9
#: What is left for the wire of it at least.
_LEAST_OF_LATENCY = 0.05
_FEWEST_SIZES = 6


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
        """Median absolute error of the probe that it is largest of.

        What the platform is made of does not count.
        """
        probes = {check.probe for check in self.checks} - {_PING_PONG, _RATE, _BOTH_WAYS}
        return max((statistics.median(self.errors_of(probe)) for probe in probes), default=None)

    def rows(self) -> list[dict[str, Any]]:
        """Give the checks as plain rows for ``--json``."""
        return [
            {
                "probe": check.probe,
                "ranks": check.ranks,
                "params": parse_point(check.where),
                "unit": check.unit,
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
    every = summarize(records).filter(pl.col("platform") == name)
    points = every.filter(pl.col("headline"))
    curve = _curve(points, name)
    sending, receiving = _overheads(points, curve[0][1])
    table: dict[str, Any] = {
        "type": "sim",
        "title": f"simulated, calibrated on {name} of {run.path.resolve().name}",
        "nodes": nodes,
        "cores": cores,
        "curve": [[size, float(f"{seconds:.6g}")] for size, seconds in curve],
        "send_overhead_s": sending,
        "receive_overhead_s": receiving,
        "eager_bytes": eager_bytes,
        "source": f"ping-pong and message rate of {name}, run {run.path.resolve().name}, "
        f"{run.header.created}",
    }
    both_ways = _both_ways(points, curve)
    if both_ways is not None:
        table["both_ways_bytes_per_s"] = both_ways
    simulations = Simulations(records, name, every, tell)
    table["compute_factor"] = float(f"{simulations.compute_factor(table):.4g}")
    checks, left_out = simulations.checks(table)
    done = Calibration(table, tuple(checks), tuple(left_out))
    if done.error is not None:
        table["error"] = float(f"{done.error:.3g}")
    table["checks"] = [
        [one.probe, one.ranks, one.where, one.unit]
        + [float(f"{value:.6g}") for value in (one.measured, one.simulated)]
        for one in checks
    ]
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


def _both_ways(points: pl.DataFrame, curve: list[tuple[int, float]]) -> float | None:
    """Give what a node carries in both directions together; None where it is twice one direction.

    A processor that moves every byte itself moves no more when they come from two sides.
    """
    rates = {
        int(str(parse_point(row["point"])["size_bytes"])): row["value"]
        for row in _between_nodes(points, _BOTH_WAYS).iter_rows(named=True)
        if row["unit"] == "B/s"
    }
    if not rates:
        return None
    (_, least), (size, most) = curve[0], curve[-1]
    one_way = size / (most - least)
    found = max(rates[max(rates)], one_way)
    return float(f"{found:.5g}") if found < 2 * one_way else None


def _overheads(points: pl.DataFrame, latency_s: float) -> tuple[float, float]:
    """Give the seconds that sender and receiver are busy with a small message.

    The rate says how long the busier of both is, which is taken to be the sender: writing to a
    socket or a queue does more of the work than finding the message there. The receiver takes as
    long where the one-way time leaves that. Without a measured rate both are 0.
    """
    rates = [
        row["value"] / size
        for row in _between_nodes(points, _RATE).iter_rows(named=True)
        if isinstance(size := parse_point(row["point"]).get("size_bytes"), int)
        and 0 < size <= _SMALL_BYTES
        and row["unit"] == "B/s"
    ]
    if not rates:
        return 0.0, 0.0
    sending = min(1 / max(rates), _MOST_OF_LATENCY * latency_s)
    receiving = min(sending, (1 - _LEAST_OF_LATENCY) * latency_s - sending)
    return float(f"{sending:.4g}"), float(f"{receiving:.4g}")
