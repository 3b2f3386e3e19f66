"""The factor by which an application computes longer on B than on A, and its source."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.interval import ENDS
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import format_point, parse_point

#: Two processors with equal facts are the same for a program that was compiled for one of them.
_SAME = ("cpu.model", "cpu.isa", "cpu.emulated", "cpu.max_hz", "memory.transfers_per_s")
#: Rates of a node that bound the gain or loss of a kernel: probe and headline rate.
_CLASSES = (
    ("compute.peak", "rate"),
    ("compute.dgemm", "rate"),
    ("compute.fft", "rate"),
    ("memory.stream", "triad"),
    ("memory.random_access", "rate"),
)


@dataclass(frozen=True, slots=True)
class ComputeFactor:
    """The factor by which B computes longer than A; `value` is None if only bounds are known."""

    value: float | None
    lo: float
    hi: float
    source: str

    @property
    def middle(self) -> float:
        """The factor, or the middle of its bounds if the factor is not known."""
        return self.value or math.sqrt(self.lo * self.hi)


AS_IT_IS = ComputeFactor(1.0, 1.0, 1.0, "the same platform")


def same_processor(a: PlatformCurves, b: PlatformCurves) -> str:
    """Return "" if both platforms have the same processor, else their first difference."""
    for key in _SAME:
        if a.facts.get(key) != b.facts.get(key):
            return f"{key}: {a.facts.get(key, 'unknown')} and {b.facts.get(key, 'unknown')}"
    return ""


def factor_between(
    a: PlatformCurves,
    b: PlatformCurves,
    rates: Records | None = None,
    calibration: Records | None = None,
    program: str = "",
) -> ComputeFactor:
    """Return the best known factor of computing time from A to B.

    The first of these sources that is available is used: a calibration, equal processors (factor
    1), times of the program with one rank, bounds from measured rates.

    - `rates`: the run of the measured curves. It may also contain rates of a node, and times of the
      program with one rank.
    - `program`: the application's probe and parameters, if they are known.

    Raises AnalysisError: the processors differ, and no measurement shows by how much.
    """
    if calibration is not None:
        return calibrated(calibration, a.platform, b.platform, program)
    differs = same_processor(a, b)
    if not differs:
        return ComputeFactor(1.0, 1.0, 1.0, "the same processor and instruction sets")
    ratios: list[float] = []
    if rates is not None:
        programs = _one_rank(rates, a.platform, b.platform) if program else {}
        if program in programs:
            return _factor(programs[program], program)
        ratios = _ratios(rates, a.platform, b.platform)
    if not ratios:
        raise AnalysisError(
            f"the computing speed of {b.platform} is not known ({differs})",
            hint="measure one rank of the application on one node of both (--calibrate RUN), or "
            'add [[measure]] probe = "compute.dgemm" and probe = "memory.stream" to the ladder',
        )
    low = min(ratios)
    high = max(ratios)
    return ComputeFactor(
        None, low, high, f"between {low:.2f} and {high:.2f} times by class of instruction"
    )


def calibrated(records: Records, a: str, b: str, program: str = "") -> ComputeFactor:
    """Return the factor from times of the application with one rank on one node of each platform.

    - `program`: the application's probe and parameters. Without it the run must contain only one
      application, because each application has a different factor.

    Raises AnalysisError: the run has no times of one rank on both platforms, or times of several
    applications.
    """
    programs = _one_rank(records, a, b)
    where = ", ".join(str(run.path) for run in records.runs)
    if program and program in programs:
        return _factor(programs[program], program)
    if not programs:
        raise AnalysisError(
            f"no application was measured with one rank on both {a} and {b}",
            where=where,
            hint="measure the application with ranks = 1, nodes = 1 on both platforms",
        )
    if len(programs) > 1:
        raise AnalysisError(
            f"{len(programs)} applications were measured with one rank, so that the choice is"
            " not clear",
            where=where,
            hint=f"calibrate with a run of one of {'; '.join(programs)}",
        )
    ((name, logs),) = programs.items()
    return _factor(logs, name)


Logs = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


def _one_rank(records: Records, a: str, b: str) -> dict[str, Logs]:
    """Return the logarithms of the one-rank times of each program that ran on both platforms."""
    headline = records.declarations.filter(
        pl.col("headline") & (pl.col("unit") == "s") & pl.col("layer").is_in(["npb", "app"])
    )
    times = records.samples.filter(pl.col("ranks") == 1).join(
        headline.select("probe", "metric"), on=["probe", "metric"], how="semi"
    )
    programs: dict[str, Logs] = {}
    for (probe, params), group in times.group_by("probe", "params", maintain_order=True):
        on_a = _logs_of(group, a)
        on_b = _logs_of(group, b)
        if len(on_a) and len(on_b):
            programs[program_of(str(probe), str(params))] = (on_a, on_b)
    return programs


def _logs_of(samples: pl.DataFrame, platform: str) -> npt.NDArray[np.float64]:
    values = samples.filter(pl.col("platform") == platform)["value"].to_numpy()
    return np.asarray(np.log(values))


def program_of(probe: str, params: str) -> str:
    """Return an application's name: its probe and its parameters without ``profile``."""
    point = {key: value for key, value in parse_point(params).items() if key != "profile"}
    return " ".join(filter(None, (probe, format_point(point))))


def _factor(logs: Logs, program: str) -> ComputeFactor:
    rng = np.random.default_rng(1)
    draws = [np.median(rng.choice(values, (400, len(values))), axis=1) for values in logs]
    low, high = np.exp(np.quantile(draws[1] - draws[0], ENDS))
    value = float(np.exp(np.median(logs[1]) - np.median(logs[0])))
    return ComputeFactor(value, float(low), float(high), f"one rank of {program} on each")


def _ratios(records: Records, a: str, b: str) -> list[float]:
    """Return the factor of computing time for each class of instructions.

    Only classes that were measured on both platforms have a factor.
    """
    ratios: list[float] = []
    for probe, metric in _CLASSES:
        rows = records.samples_of(probe).filter(pl.col("metric") == metric)
        rate_a = rows.filter(pl.col("platform") == a)["value"].median()
        rate_b = rows.filter(pl.col("platform") == b)["value"].median()
        if isinstance(rate_a, float) and isinstance(rate_b, float) and rate_b > 0:
            ratios.append(rate_a / rate_b)
    return ratios
