"""The probe of noise: processor time that a computing program loses to the system.

The program repeats a fixed amount of work (quantum). The probe finds regular disturbances in the
lost time: their frequency, share of the variance, and spectrum in bands. A disturbance such as a
timer tick is short and regular. Its spectrum is a comb: the fundamental and its harmonics are about
equally strong, and any of these lines may be the strongest. The probe therefore compares combs, not
lines.

References
----------
M. Sottile, R. Minnich, "Analysis of Microbenchmarks for Performance Tuning of Clusters", CLUSTER
2004, doi:10.1109/CLUSTR.2004.1392636.
F. Petrini, D. J. Kerbyson, S. Pakin, "The Case of the Missing Supercomputer Performance", SC 2003,
doi:10.1145/1048935.1050204.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Nodebench, Report
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample

#: Number of quanta in a bin, which nodebench also defines.
_QUANTA_PER_BIN = 2


@dataclass(frozen=True, slots=True)
class NoiseParams:
    """Parameters of the noise measurement.

    - `quantum_s`: duration of the work without disturbance.
    - `duration_s`: duration of all repetitions. Regular disturbances are searched in the lost time
      per bin of two quanta. The longest visible period fits a few times into this duration; the
      shortest visible period is two bins.
    - `mode`: "single" uses one core, "star" all cores at the same time.
    """

    quantum_s: Annotated[float, Field(ge=1e-5, le=1)] = 1e-4
    duration_s: Annotated[float, Field(gt=0, le=3600)] = 1.6384
    mode: Literal["single", "star"] = "star"

    def __post_init__(self) -> None:
        if self.bins < 16:
            raise ValueError(
                f"duration_s = {self.duration_s:g} is too short: it gives {self.bins} bins of "
                f"{_QUANTA_PER_BIN} quanta, but at least 16 bins are needed"
            )

    @property
    def bins(self) -> int:
        return round(self.duration_s / (_QUANTA_PER_BIN * self.quantum_s))


class Noise(Nodebench[NoiseParams]):
    """The probe of the durations of equal work.

    Its metrics are the lost share of the time, jitter, stolen time, and periodic losses.
    """

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

    options = ("quantum_s", "duration_s", "mode")
    repeated = ("mode", "quantum_s", "duration_s")

    def samples(self, params: NoiseParams, report: Report) -> Iterable[Sample]:
        point = report.point
        shortest = point.positive("quantum", "min")
        lost = _share(point, "lost_share")
        # A ratio of slowdowns is the cost; a ratio of small shares would look large.
        yield Sample("slowdown", 1 + lost)
        yield Sample("lost_share", lost)
        yield Sample("lost_share_max", _share(point, "lost_share_max"))
        yield Sample("jitter", point.quantile("quantum", "p99") / shortest)
        yield Sample("jitter_max", point.quantile("quantum", "max") / shortest)
        yield Sample("stolen_share", _share(point, "stolen_share"))
        yield Sample("quantum", shortest)
        yield Sample("cores", report.count("threads"))
        bin_s = point.positive("bin_s")
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
    bins = point.fields.get("lost_ns")
    if not isinstance(bins, list) or len(bins) != count:
        raise ParseError(f"the output does not have {count} bins of lost time")
    if not all(type(value) is int and value >= 0 for value in bins):
        raise ParseError("a bin of lost time is not a whole number of ns of at least 0")
    return bins


#: Number of periods of the slowest disturbance that a series must contain.
_PERIODS = 4
#: Number of lines over which the window spreads a line.
_SPREAD = 3
#: A comb with half the frequency of a disturbance also contains all its lines; a comb with twice
#: its frequency contains half of them. The result is therefore the comb with the highest frequency
#: whose score is at least this share of the best score.
_AS_GOOD = 0.7
_BANDS_PER_OCTAVE = 2


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A periodic disturbance in a series.

    - `frequency_hz`: frequency of the disturbance; 0 if the series is constant.
    - `share`: part of the series' variance that the disturbance explains, from 0 to 1. Even in pure
      random noise, the strongest frequency and its harmonics explain a few percent.
    - `spectrum`: for each band, its upper end in Hz and its part of the variance.
    """

    frequency_hz: float
    share: float
    spectrum: tuple[tuple[float, float], ...]


def find_period(series: Sequence[float], step_s: float) -> Disturbance:
    """Return the strongest periodic disturbance of a series of at least 16 values.

    - `step_s`: time between two values.
    """
    import numpy as np

    values = np.asarray(series, dtype=float)
    window = np.hanning(values.size)
    power = np.abs(np.fft.rfft((values - values.mean()) * window)) ** 2
    power[:2] = 0  # the mean, and its leakage through the window
    line_hz = 1 / (values.size * step_s)
    edges = _edges(power.size, line_hz)
    total = float(power.sum())
    if total <= 0:
        return Disturbance(0.0, 0.0, tuple((edge, 0.0) for edge in edges))
    power /= total
    lines, scores = _combs(power)
    best = int(np.flatnonzero(scores >= _AS_GOOD * scores.max())[-1])
    # Neighbours with a similar score belong to the same comb; the strongest of them is its middle.
    near = slice(max(0, best - 2 * _SPREAD), best + 1)
    best = near.start + int(np.argmax(scores[near]))
    share = min(1.0, max(0.0, float(scores[best])))
    starts = [0, *(round(edge / line_hz) + 1 for edge in edges[:-1])]
    sums = map(float, np.add.reduceat(power, starts))
    return Disturbance(float(lines[best] * line_hz), share, tuple(zip(edges, sums, strict=True)))


def _combs(power: Any) -> tuple[Any, Any]:
    """Return the fundamental of each comb, and the part of the variance that the comb explains.

    A comb is a fundamental with its harmonics. A fundamental is a position among the lines of the
    spectrum.
    """
    import numpy as np

    last = power.size - 1
    excess = np.convolve(power, np.ones(_SPREAD), mode="same") - _SPREAD * power.mean()
    # From one fundamental to the next, the comb's last harmonic moves by one line.
    count = int(np.log(last / _PERIODS) * last)
    fundamentals = _PERIODS * np.exp(np.arange(count + 1) / last)
    scores = np.zeros(fundamentals.size)
    for harmonic in range(1, last // _PERIODS + 1):
        reach = int(np.searchsorted(fundamentals, (last + 0.5) / harmonic))
        lines = np.rint(harmonic * fundamentals[:reach]).astype(int)
        scores[:reach] += excess[np.minimum(lines, last)]
    return fundamentals, scores


def _edges(lines: int, line_hz: float) -> list[float]:
    octaves = math.log2(lines - 1)
    count = max(1, round(octaves * _BANDS_PER_OCTAVE))
    edges = [2 ** (octaves * (band + 1) / count) * line_hz for band in range(count)]
    return [float(f"{edge:.4g}") for edge in edges]


PROBE = Noise()
