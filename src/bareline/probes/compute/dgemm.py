"""DGEMM: the rate of a matrix product in double precision, by the platform's own OpenBLAS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import kernels_of_header, native, options, positive, read_report
from bareline.probes.base import Probe
from bareline.probes.compute._rates import (
    check_options,
    count_of,
    only_point,
    peak_metrics,
    peak_samples,
    thread_options,
)
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Scalar


@dataclass(frozen=True, slots=True)
class DgemmParams:
    """Parameters of DGEMM.

    - `n`: order of the square matrices.
    - `repeat`: repetitions inside a trial; the median counts.
    - `mode`: "single" uses one core; "star" every core at once, each with matrices of its own
      (HPCC's StarDGEMM; the rate is that of the median core); "all" all cores together on one
      product. The study's ``threads`` above 1 says how many cores.
    - `budget_s`: longest time; fewer repetitions are made where it ends.
    """

    n: Annotated[int, Field(ge=16, le=65_536)] = 1024
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    mode: Literal["single", "star", "all"] = "single"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0


class Dgemm(Probe[DgemmParams]):
    """C = A B on square matrices; 2 n^3 operations; result checked."""

    name: ClassVar[str] = "compute.dgemm"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the DGEMM rate"
    summary: ClassVar[str] = "DGEMM through OpenBLAS: one core, every core, all together"
    source: ClassVar[str] = "HPCC DGEMM"
    params = DgemmParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **peak_metrics(),
        "slowest_core_rate": Metric("flop/s", "higher", detail=True),
    }

    def command(self, params: DgemmParams, layout: Layout) -> Command:
        return native(
            "nodebench",
            "dgemm",
            *options(params, "n", "repeat"),
            *thread_options(params.mode, layout),
            *options(params, "budget_s"),
        )

    def parse(self, params: DgemmParams, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", "dgemm")
        check_options(report, {"n": params.n, "mode": params.mode})
        cores = count_of(report, "threads")
        point = only_point(report)
        yield from peak_samples(report)
        yield Sample("cores", cores)
        if params.mode == "star":
            slowest = positive(point.number("slowest_core_rate"), "slowest_core_rate", point)
        else:
            slowest = point.quantile("rate", "median") / cores
        yield Sample("slowest_core_rate", slowest)

    def facts(self, params: DgemmParams, output: Output) -> Mapping[str, Scalar]:
        return kernels_of_header(read_report(output, "nodebench", "dgemm").header)


PROBE = Dgemm()
