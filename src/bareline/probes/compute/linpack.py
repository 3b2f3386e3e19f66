"""Linpack on one node: a dense linear system, solved by the LAPACK in the platform's OpenBLAS.

References
----------
A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, "HPL: a portable implementation of the
High-Performance Linpack benchmark", https://www.netlib.org/benchmark/hpl.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, kernels_of_header, native, options, read_report
from bareline.probes.base import Probe
from bareline.probes.compute._rates import (
    check_options,
    count_of,
    only_point,
    peak_metrics,
    peak_samples,
    thread_options,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Scalar

#: HPL's limit of the scaled residual.
MOST_RESIDUAL = 16.0


@dataclass(frozen=True, slots=True)
class LinpackParams:
    """Parameters of Linpack.

    - `n`: order of the system.
    - `memory_share`: where above 0: the order is the largest that fits into this share of the
      memory that the node has available, and ``n`` is not used. Platforms then solve systems of
      different order.
    - `repeat`: solutions inside a trial; the median counts.
    - `mode`: "single" uses one core, "all" every core. The study's ``threads`` above 1 says how
      many.
    - `budget_s`: longest time; fewer solutions are made where it ends.
    """

    n: Annotated[int, Field(ge=16, le=400_000)] = 1000
    memory_share: Annotated[float, Field(ge=0, le=0.9)] = 0.0
    repeat: Annotated[int, Field(ge=1, le=10_000)] = 5
    mode: Literal["single", "all"] = "all"
    budget_s: Annotated[float, Field(gt=0, le=86_400)] = 10.0


class Linpack(Probe[LinpackParams]):
    """A x = b by LU factorisation; 2/3 n^3 + 3/2 n^2 operations; HPL's residual below 16."""

    name: ClassVar[str] = "compute.linpack"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the Linpack rate"
    summary: ClassVar[str] = "Linpack on one node through OpenBLAS's LAPACK: share of peak"
    source: ClassVar[str] = "HPL; Intel's SMP Linpack"
    params = LinpackParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **peak_metrics(),
        "order": Metric("1", "none", detail=True),
    }

    def command(self, params: LinpackParams, layout: Layout) -> Command:
        size = "memory_share" if params.memory_share else "n"
        return native(
            "nodebench",
            "linpack",
            *options(params, size, "repeat"),
            *thread_options(params.mode, layout),
            *options(params, "budget_s"),
        )

    def parse(self, params: LinpackParams, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", "linpack")
        check_options(report, {"mode": params.mode})
        if not params.memory_share:
            check_options(report, {"n": params.n})
        yield from peak_samples(report)
        yield Sample("cores", count_of(report, "threads"))
        yield Sample("order", solved_order(only_point(report)))

    def facts(self, params: LinpackParams, output: Output) -> Mapping[str, Scalar]:
        return kernels_of_header(read_report(output, "nodebench", "linpack").header)


def solved_order(point: MeasuredPoint) -> int:
    """Give the order of a system whose solution passed HPL's check.

    Raises ParseError: it did not pass, or the order is missing.
    """
    residual, order = point.number("residual"), point.at.get("n")
    if not 0 <= residual < MOST_RESIDUAL:
        raise ParseError(f"the residual {residual:g} is not below {MOST_RESIDUAL:g}")
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ParseError("the point has no order 'n'")
    return order


PROBE = Linpack()
