"""Probes of floating-point rates on a node: DGEMM, FFT, Linpack, and a core's attainable peak.

The peak is measured, not computed. Immediately before and after DGEMM and Linpack, the same program
runs independent multiplications and additions in registers, with the widest instructions of the
processor, on the same number of cores. A nominal frequency is of little use if clocks depend on the
load, and of no use in a guest. A guest's processor model may hide wide vectors. `compute.peak` then
has no points for these vectors; its remaining points show the guest's attainable rate.

References
----------
M. Frigo, S. G. Johnson, "The Design and Implementation of FFTW3", Proc. IEEE 93(2), 2005,
doi:10.1109/JPROC.2004.840301.
A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, "HPL: a portable implementation of the
High-Performance Linpack benchmark", https://www.netlib.org/benchmark/hpl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Nodebench, Report, spread_metrics, spread_samples
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.instructions import INSTRUCTION_SETS
from bareline.vocabulary.model import Layer, Metric, Sample

#: A measured rate may exceed a measured peak by the noise of both measurements, not by more.
_MOST_OF_PEAK = 1.5
#: HPL's limit of the scaled residual.
_MOST_RESIDUAL = 16.0
#: Bits of Arm's scalable vectors, after the name of their set.
_WIDTH = re.compile(r"[1-9]\d{2,3}")
_SETS = frozenset({"scalar", *(row.flag for row in INSTRUCTION_SETS)})

_RATE = spread_metrics("rate", "flop/s", "higher")
_CORES = {"cores": Metric("1", "none", detail=True)}
_RATE_AND_PEAK = {
    **_RATE,
    "share_of_peak": Metric("1", "higher"),
    "peak_rate": Metric("flop/s", "higher"),
    **_CORES,
}


def _peak_samples(report: Report) -> Iterable[Sample]:
    """Yield the rate of the only point, the peak of a core, and the rate's share of the peak.

    The share is the rate divided by the peak of all cores that together achieve the rate.
    """
    point = report.point
    yield from spread_samples(point, "rate", "rate", coordinates={})
    rate = point.quantile("rate", "median")
    peak = point.positive("peak_rate")
    together = point.positive("peak_cores")
    if rate > _MOST_OF_PEAK * peak * together:
        raise ParseError(f"a rate of {rate:g} flop/s is above the peak of {peak * together:g}")
    yield Sample("share_of_peak", rate / (peak * together))
    yield Sample("peak_rate", peak)
    yield Sample("cores", report.count("threads"))


@dataclass(frozen=True, slots=True)
class DgemmParams:
    """Parameters of DGEMM.

    - `n`: order of the square matrices.
    - `repeat`: number of repetitions in a trial, of which the median counts.
    - `mode`: "single" uses one core. "star" uses all cores at the same time, each for a product of
      separate matrices, as in HPCC's StarDGEMM; the result is the median core's rate. "all" uses
      all cores together for one product. If a study sets ``threads`` above 1, this is the number
      of cores.
    - `budget_s`: time limit, after which no repetition is started.
    """

    n: Annotated[int, Field(ge=16, le=65_536)] = 1024
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    mode: Literal["single", "star", "all"] = "single"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0


class Dgemm(Nodebench[DgemmParams]):
    """The probe of C = A B for square matrices by OpenBLAS; the program checks the result.

    The rate counts 2 n^3 operations.
    """

    name: ClassVar[str] = "compute.dgemm"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the DGEMM rate"
    summary: ClassVar[str] = "DGEMM through OpenBLAS: one core, every core, all together"
    source: ClassVar[str] = "HPCC DGEMM"
    params = DgemmParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **_RATE_AND_PEAK,
        "slowest_core_rate": Metric("flop/s", "higher", detail=True),
    }
    options = ("n", "repeat", "mode", "budget_s")
    repeated = ("n", "mode")

    def samples(self, params: DgemmParams, report: Report) -> Iterable[Sample]:
        yield from _peak_samples(report)
        point = report.point
        if params.mode == "star":
            slowest = point.positive("slowest_core_rate")
        else:
            slowest = point.quantile("rate", "median") / report.count("threads")
        yield Sample("slowest_core_rate", slowest)


@dataclass(frozen=True, slots=True)
class FftParams:
    """Parameters of the FFT.

    - `n`: number of points of the one-dimensional transform.
    - `n3`: number of points along each edge of the three-dimensional transform.
    - `repeat`: number of repetitions in a trial, of which the median counts.
    - `mode`: "single" uses one core, "all" every core. If a study sets ``threads`` above 1, this is
      the number of cores.
    - `plan`: whether FFTW measures or estimates the fastest algorithm.
    - `budget_s`: time limit for a transform's repetitions, and for its planning.
    """

    n: Annotated[int, Field(ge=2, le=1 << 30)] = 1 << 18
    n3: Annotated[int, Field(ge=2, le=1000)] = 64
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 20
    mode: Literal["single", "all"] = "single"
    plan: Literal["measure", "estimate"] = "measure"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 5.0


class Fft(Nodebench[FftParams]):
    """The probe of complex 1D and 3D transforms by FFTW; the program checks the result.

    The rate counts 5 N log2 N operations for N points.
    """

    name: ClassVar[str] = "compute.fft"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the FFT rate"
    summary: ClassVar[str] = "FFTW: complex transforms of a line and of a cube"
    source: ClassVar[str] = "HPCC FFT; benchFFT"
    params = FftParams
    metrics: ClassVar[Mapping[str, Metric]] = {**_RATE, **_CORES}
    options = ("n", "n3", "repeat", "plan", "mode", "budget_s")
    repeated = ("mode", "plan")

    def samples(self, params: FftParams, report: Report) -> Iterable[Sample]:
        requested = [("1d", params.n), ("3d", params.n3)]
        transforms = report.coordinates("transform")
        measured = list(zip(transforms, report.coordinates("length"), strict=True))
        if measured != requested:
            raise ParseError(f"the output has the transforms {measured} instead of {requested}")
        for point in report.points:
            # The length is not a coordinate, because it is already a parameter of the trial.
            transform = {"transform": point.coordinates["transform"]}
            yield from spread_samples(point, "rate", "rate", coordinates=transform)
        yield Sample("cores", report.count("threads"))


@dataclass(frozen=True, slots=True)
class LinpackParams:
    """Parameters of Linpack.

    - `n`: order of the system.
    - `memory_share`: if above 0, the order is the largest that fits into this share of the node's
      available memory, and ``n`` is not used. Platforms then solve systems of different order.
    - `repeat`: number of solutions in a trial, of which the median counts.
    - `mode`: "single" uses one core, "all" every core. If a study sets ``threads`` above 1, this is
      the number of cores.
    - `budget_s`: time limit, after which no solution is started.
    """

    n: Annotated[int, Field(ge=16, le=400_000)] = 1000
    memory_share: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    repeat: Annotated[int, Field(ge=1, le=10_000)] = 5
    mode: Literal["single", "all"] = "all"
    budget_s: Annotated[float, Field(gt=0, le=86_400)] = 10.0


class Linpack(Nodebench[LinpackParams]):
    """The probe of the solution of A x = b by OpenBLAS, which is checked by HPL's residual.

    The rate counts 2/3 n^3 + 3/2 n^2 operations. The scaled residual must be below 16.
    """

    name: ClassVar[str] = "compute.linpack"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the Linpack rate"
    summary: ClassVar[str] = "Linpack on one node through OpenBLAS's LAPACK: share of peak"
    source: ClassVar[str] = "HPL; Intel's SMP Linpack"
    params = LinpackParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **_RATE_AND_PEAK,
        "order": Metric("1", "none", detail=True),
    }
    repeated = ("mode",)

    def words(self, params: LinpackParams) -> Iterable[str]:
        order = "memory_share" if params.memory_share else "n"
        return (order, "repeat", "mode", "budget_s")

    def samples(self, params: LinpackParams, report: Report) -> Iterable[Sample]:
        if not params.memory_share:
            report.check(params, "n")
        yield from _peak_samples(report)
        yield Sample("order", solved_order(report.point))


def solved_order(point: MeasuredPoint) -> int:
    """Return the order of a system whose solution passed HPL's check.

    Raises ParseError: the solution did not pass, or the order is missing.
    """
    residual = point.number("residual")
    order = point.coordinates.get("n")
    if not 0 <= residual < _MOST_RESIDUAL:
        raise ParseError(f"the residual {residual:g} is not below {_MOST_RESIDUAL:g}")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ParseError("the point does not contain the order 'n' of the matrix")
    return order


@dataclass(frozen=True, slots=True)
class PeakParams:
    """Parameters of the attainable peak.

    - `repeat`: number of measurements of 10 ms in a trial. Each measurement has one value, the rate
      in its best 1 ms; the result is the median of these values.
    - `mode`: "single" uses one core, "star" all cores at the same time; in both modes, the result
      is the rate of a core.
    """

    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    mode: Literal["single", "star"] = "single"


class Peak(Nodebench[PeakParams]):
    """The probe of independent multiplications and additions in double precision, in registers."""

    name: ClassVar[str] = "compute.peak"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the attainable peak of a core"
    summary: ClassVar[str] = "Peak of a core's arithmetic, by instruction set"
    params = PeakParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("flop/s", "higher"),
        "set_rate": Metric("flop/s", "higher", detail=True),
        **_CORES,
    }
    options = ("repeat", "mode")
    repeated = ("mode",)

    def samples(self, params: PeakParams, report: Report) -> Iterable[Sample]:
        """Yield the rate of each instruction set; ``rate`` is the rate of the last, widest set."""
        widest = 0.0
        for point in report.points:
            words = str(point.coordinates.get("instructions")).split()
            if words[:1] == ["sve"] and words[1:] and _WIDTH.fullmatch(words[1]):
                del words[1]
            if not words or not set(words) <= _SETS:
                raise ParseError(
                    f"the point {dict(point.coordinates)} has an unknown instruction set"
                )
            widest = point.positive("rate", "median")
            yield point.sample("set_rate", widest)
        yield Sample("rate", widest)
        yield Sample("cores", report.count("threads"))


PROBES = (Dgemm(), Fft(), Linpack(), Peak())
