"""Noise: what the system takes from a program that only computes, by a fixed work quantum.

References
----------
M. Sottile, R. Minnich, "Analysis of Microbenchmarks for Performance Tuning of Clusters", CLUSTER
2004, doi:10.1109/CLUSTR.2004.1392636.
F. Petrini, D. J. Kerbyson, S. Pakin, "The Case of the Missing Supercomputer Performance", SC 2003,
doi:10.1145/1048935.1050204.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, native, options, positive, read_report
from bareline.probes.base import Probe
from bareline.probes.compute._periodicity import find_period
from bareline.probes.compute._rates import check_options, count_of, only_point, thread_options
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

#: Quanta to a bin, as nodebench has it.
_QUANTA_PER_BIN = 2


@dataclass(frozen=True, slots=True)
class NoiseParams:
    """Parameters of the noise.

    - `quantum_s`: length of the work when nothing disturbs it.
    - `duration_s`: how long it is repeated. Bins of two quanta are searched for what comes back:
      the slowest beat that can be seen has a few periods in this time, the fastest has two bins.
    - `mode`: "single" uses one core, "star" every core at once.
    """

    quantum_s: Annotated[float, Field(ge=1e-5, le=1)] = 1e-4
    duration_s: Annotated[float, Field(gt=0, le=3600)] = 1.6384
    mode: Literal["single", "star"] = "star"

    def __post_init__(self) -> None:
        """Hold the times against each other.

        Raises ValueError: there are too few bins to look for anything.
        """
        if self.bins < 16:
            raise ValueError(
                f"duration_s = {self.duration_s:g} has {self.bins} bins of {_QUANTA_PER_BIN} "
                "quanta, but 16 are needed"
            )

    @property
    def bins(self) -> int:
        """How many bins the duration holds."""
        return round(self.duration_s / (_QUANTA_PER_BIN * self.quantum_s))


class Noise(Probe[NoiseParams]):
    """Durations of equal work on every core: lost share, jitter, stolen time, what is periodic."""

    name: ClassVar[str] = "compute.noise"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "fixed work under the system's noise"
    summary: ClassVar[str] = "Noise: lost share, jitter, stolen time and its period"
    source: ClassVar[str] = "FWQ of the ASC benchmarks"
    params = NoiseParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "slowdown": Metric("1", "lower"),
        "lost_share": Metric("1", "lower"),
        "lost_share_max": Metric("1", "lower", detail=True),
        "jitter": Metric("1", "lower"),
        "jitter_max": Metric("1", "lower", detail=True),
        "stolen_share": Metric("1", "lower"),
        "quantum": Metric("s", "none", detail=True),
        "period_frequency": Metric("Hz", "none"),
        "period_share": Metric("1", "none"),
        "spectrum": Metric("1", "none", detail=True),
        "cores": Metric("1", "none", detail=True),
    }

    def command(self, params: NoiseParams, layout: Layout) -> Command:
        return native(
            "nodebench",
            "noise",
            *options(params, "quantum_s", "duration_s"),
            *thread_options(params.mode, layout),
        )

    def parse(self, params: NoiseParams, output: Output) -> Iterable[Sample]:
        """Read nodebench's JSON lines and look for what comes back regularly."""
        report = read_report(output, "nodebench", "noise")
        check_options(
            report,
            {
                "mode": params.mode,
                "quantum_s": params.quantum_s,
                "duration_s": params.duration_s,
            },
        )
        point = only_point(report)
        shortest = positive(point.quantile("quantum", "min"), "quantum", point)
        lost = _share(point, "lost_share")
        # A ratio of slowdowns is what it costs; one of small shares would look like much.
        yield Sample("slowdown", 1 + lost)
        yield Sample("lost_share", lost)
        yield Sample("lost_share_max", _share(point, "lost_share_max"))
        yield Sample("jitter", point.quantile("quantum", "p99") / shortest)
        yield Sample("jitter_max", point.quantile("quantum", "max") / shortest)
        yield Sample("stolen_share", _share(point, "stolen_share"))
        yield Sample("quantum", shortest)
        yield Sample("cores", count_of(report, "threads"))
        bin_s = positive(point.number("bin_s"), "bin_s", point)
        period = find_period(_bins(point, params.bins), bin_s)
        yield Sample("period_frequency", period.frequency_hz)
        yield Sample("period_share", period.share)
        for frequency_hz, share in period.spectrum:
            yield Sample("spectrum", share, {"frequency_hz": frequency_hz})


def _share(point: MeasuredPoint, name: str) -> float:
    value = point.number(name)
    if value < 0:
        raise ParseError(f"{name} = {value} is negative")
    return value


def _bins(point: MeasuredPoint, count: int) -> list[int]:
    """Give the lost time of each bin in ns."""
    bins = point.fields.get("lost_ns")
    if not isinstance(bins, list) or len(bins) != count:
        raise ParseError(f"there are no {count} bins of lost time")
    if not all(type(value) is int and value >= 0 for value in bins):
        raise ParseError("a bin of lost time is no time")
    return bins


PROBE = Noise()
