"""Calibrate a simulated network from a run, and compare the simulation with the same run.

- The time of a message by size is the measured ping-pong time between two nodes.
- The capacity of a node in both directions together is the rate of the largest messages that two
  nodes send to each other at once, if the run measured it.
- The processor's work for sending a message comes from the rate of messages by size: a sender that
  is busy for t seconds per message sends 1/t messages a second. The work for receiving a message
  was measured separately.
- The speed of the processors is one factor, relative to this machine's speed, for all kernels. It
  comes from the computing times of the kernels in the run.

Nothing else is fitted. All other measurements of the run that can be simulated are simulated and
compared, and the platform stores the errors.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from bareline.analysis.numbers.disturbance import without_disturbed_trials
from bareline.analysis.numbers.records import Records, read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.disturbance import exclusion_words
from bareline.platforms.sim.network import seconds_at
from bareline.session.simulation import Agreement, Simulations
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import parse_point

_PING_PONG = "mpi.pingpong"
_RATE = "mpi.multi_pair"
_OVERHEAD = "mpi.overhead"
#: Probes that send in both directions at once: one message at a time, and windows of many messages.
#: Windows reached only about half of the nodes' rate (docs/method/simulation.md).
_BOTH_WAYS = ("mpi.sendrecv", "mpi.bibandwidth")
_Curve = list[tuple[int, float]]

#: The time of a message of at most this size does not depend on its size.
_SMALL_BYTES = 64
#: Largest share of the one-way time in which a sender is busy.
_MOST_OF_LATENCY = 0.9
#: Smallest share of the one-way time that the message spends on the network.
_LEAST_OF_LATENCY = 0.05
_FEWEST_SIZES = 6
#: The link limits the rate of messages that take at most this number times the link's time.
_LINK_BOUND = 1.1


@dataclass(frozen=True, slots=True)
class Calibration:
    """A simulated platform made from a run, with its deviations from this run."""

    table: dict[str, Any]
    checks: tuple[Agreement, ...]
    left_out: tuple[str, ...]

    @property
    def error(self) -> float | None:
        """The largest median absolute error of a probe that was not used to make the platform."""
        errors: dict[str, list[float]] = defaultdict(list)
        for check in self.checks:
            if check.probe not in (_PING_PONG, _RATE, _OVERHEAD, *_BOTH_WAYS):
                errors[check.probe].append(abs(check.error))
        return max(map(statistics.median, errors.values()), default=None)

    def rows(self) -> list[dict[str, Any]]:
        """Return the checks as plain rows for ``--json``."""
        return list(map(asdict, self.checks))


def calibrate(
    runs: Sequence[Run],
    *,
    platform: str | None = None,
    eager_bytes: int = 65_536,
    nodes: int = 16,
    cores: int = 8,
    tell: Callable[[str], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Make a simulated platform from the measurements of a run on one of its platforms.

    - `runs`: the run, and further runs of the same platform. The values of a probe come from the
      first run that measured it. Only the first run is compared with the simulation.
    - `platform`: the name of the platform; necessary if the run has several.
    - `eager_bytes`: message size from which the MPI library synchronizes sender and receiver first.
    - `note`: called with a line about the disturbed trials of a run, which are left out.

    Raises AnalysisError: the run lacks a necessary measurement, which the hint names.
    """
    all_records = [_undisturbed(run, note) for run in runs]
    records = all_records[0]
    name = _choose(records, platform)
    tables = [summarize(measured).filter(pl.col("platform") == name) for measured in all_records]
    curve = _curve(tables, name)
    named = ", ".join(run.path.resolve().name for run in runs)
    table: dict[str, Any] = {
        "type": "sim",
        "title": f"simulated, calibrated on {name} of {named}",
        "nodes": nodes,
        "cores": cores,
        "curve": [[size, _rounded(seconds, 6)] for size, seconds in curve],
        **_overheads(tables, curve, eager_bytes),
        "eager_bytes": eager_bytes,
        "source": f"ping-pong, message rate and overhead of {name}, run {named}, "
        f"{runs[0].header.created}",
    }
    both_ways = _both_ways(tables, curve)
    if both_ways is not None:
        table["both_ways_bytes_per_s"] = both_ways
    simulations = Simulations(records, name, tables[0], tell)
    table["compute_factor"] = _rounded(simulations.compute_factor(table), 4)
    checks, left_out = simulations.checks(table)
    calibration = Calibration(table, tuple(checks), tuple(left_out))
    if calibration.error is not None:
        table["error"] = _rounded(calibration.error, 3)
    table["checks"] = [_check_row(check) for check in checks]
    return calibration


def _check_row(check: Agreement) -> list[Any]:
    """Return a measurement and its simulation as a list, as a platform file stores them."""
    measured = _rounded(check.measured, 6)
    simulated = _rounded(check.simulated, 6)
    return [check.probe, check.ranks, check.where, check.unit, measured, simulated]


def _rounded(value: float, digits: int) -> float:
    return float(f"{value:.{digits}g}")


def _undisturbed(run: Run, note: Callable[[str], None]) -> Records:
    records, seen = without_disturbed_trials(read_runs([run]))
    if words := exclusion_words(seen):
        note(f"{run.path}: {words}")
    return records


def _choose(records: Records, given: str | None) -> str:
    names = records.platforms
    if given is None and len(names) == 1:
        return names[0]
    if given not in names:
        problem = (
            "the run has several platforms"
            if given is None
            else (f"the run has no platform '{given}'")
        )
        raise AnalysisError(problem, hint=f"name one with --platform: {', '.join(names)}")
    return given


def _between_nodes(
    tables: Sequence[pl.DataFrame], probe: str, metric: str = ""
) -> Iterator[tuple[int, float, str]]:
    """Yield size, value and unit of a probe's points between nodes.

    The points come from the first table that has points of the probe between nodes.
    """
    wanted = pl.col("metric") == metric if metric else pl.col("headline")
    # The number of nodes is 0 if the study left it to the platform.
    apart = (pl.col("ranks") == 2) & (pl.col("nodes") != 1)
    for table in tables:
        rows = table.filter(wanted & apart & (pl.col("probe") == probe))
        for row in rows.iter_rows(named=True):
            size = parse_point(row["point"]).get("size_bytes")
            if isinstance(size, int):
                yield size, row["value"], row["unit"]
        if rows.height:
            return


def _curve(tables: Sequence[pl.DataFrame], platform: str) -> _Curve:
    seconds_by_size = {size: value for size, value, _ in _between_nodes(tables, _PING_PONG)}
    if 0 not in seconds_by_size or len(seconds_by_size) < _FEWEST_SIZES:
        raise AnalysisError(
            f"{platform} has no ping-pong curve with at least {_FEWEST_SIZES} sizes, of which"
            " the smallest is 0 bytes",
            hint=f'measure it: [[measure]] probe = "{_PING_PONG}", ranks = 2',
        )
    return sorted(seconds_by_size.items())


def _both_ways(tables: Sequence[pl.DataFrame], curve: _Curve) -> float | None:
    """Return a node's capacity in both directions together.

    The result is None if this capacity is twice the capacity of one direction. It can be smaller,
    for example if the processor itself copies every byte.
    """
    largest = []
    for probe in _BOTH_WAYS:
        points = [(size, rate) for size, rate, _ in _between_nodes(tables, probe, "bandwidth")]
        if points:
            _, rate = max(points)
            largest.append(rate)
    if not largest:
        return None
    one_way = 1 / _byte_s(curve)
    bytes_per_s = max(*largest, one_way)
    if bytes_per_s >= 2 * one_way:
        return None
    return _rounded(bytes_per_s, 5)


def _byte_s(curve: _Curve) -> float:
    """Return the time in s per byte of the largest message, after subtracting the latency."""
    _, empty_s = curve[0]
    size, largest_s = curve[-1]
    return (largest_s - empty_s) / size


def _overheads(
    tables: Sequence[pl.DataFrame], curve: _Curve, eager_bytes: int
) -> dict[str, list[list[float]]]:
    """Return by message size how long sender and receiver are busy, and when the message leaves.

    The message rate gives the time of the busier of the two processes. This is assumed to be the
    sender, because writing to a socket or a queue is more work than finding the message there. The
    receiver's work for a message that has arrived was measured separately. The two times together
    may exceed the one-way time: then a message is delivered before its sender has finished, and
    leaves earlier by this excess.

    If the receiver's work was not measured, the receiver takes as long as the sender, limited by
    the one-way time. If the rate was not measured, the result is empty.
    """
    # Use only sizes at which the sender limits the rate, and not the link.
    busy = []
    for size, rate in _by_size(tables, _RATE):
        link_s = size * _byte_s(curve)
        if size <= _SMALL_BYTES or size / rate > _LINK_BOUND * link_s:
            busy.append((size, size / rate))
    received = _small_as_one(_by_size(tables, _OVERHEAD, "receive"), eager_bytes)
    overheads: dict[str, list[list[float]]] = defaultdict(list)
    for size, busy_s in _small_as_one(busy, eager_bytes):
        latency_s = seconds_at(curve, size)
        on_the_way_s = (1 - _LEAST_OF_LATENCY) * latency_s
        if received:
            receive_s = min(seconds_at(received, size), busy_s, on_the_way_s)
        else:
            busy_s = min(busy_s, _MOST_OF_LATENCY * latency_s)
            receive_s = min(busy_s, on_the_way_s - busy_s)
        departure_s = min(busy_s, on_the_way_s - receive_s)
        overheads["send_overhead_s"].append([size, _rounded(busy_s, 4)])
        overheads["receive_overhead_s"].append([size, _rounded(receive_s, 4)])
        overheads["departure_s"].append([size, _rounded(departure_s, 4)])
    return overheads


def _small_as_one(points: _Curve, eager_bytes: int) -> _Curve:
    """Return the points below `eager_bytes`, with one time for all small messages.

    This time is the shortest time of a message of at most `_SMALL_BYTES`.
    """
    small = [seconds for size, seconds in points if size <= _SMALL_BYTES]
    if not small:
        return []
    least_s = min(small)
    larger = [point for point in points if _SMALL_BYTES < point[0] < eager_bytes]
    return [(0, least_s), (_SMALL_BYTES, least_s), *larger]


def _by_size(tables: Sequence[pl.DataFrame], probe: str, metric: str = "") -> _Curve:
    """Return size and value of a probe's messages that are not empty.

    If a size has several values, the shortest time or the highest rate counts.
    """
    better = min if metric else max
    values: dict[int, float] = {}
    for size, value, _ in _between_nodes(tables, probe, metric):
        if size > 0:
            values[size] = better(value, values.get(size, value))
    return sorted(values.items())
