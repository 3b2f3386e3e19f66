"""Attainable peak: the rate of arithmetic in registers, by instruction set.

What no program on this core exceeds. Where a guest's processor model hides wide vectors, their
points are missing there: what remains says how much of the arithmetic is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import native, options, positive, read_report
from bareline.probes.base import Probe
from bareline.probes.compute._rates import check_options, count_of, thread_options
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.instructions import INSTRUCTION_SETS
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

#: Words of a point's "instructions".
_SETS = frozenset({"scalar", *(known.flag for known in INSTRUCTION_SETS)})


@dataclass(frozen=True, slots=True)
class PeakParams:
    """Parameters of the attainable peak.

    - `repeat`: looks of 10 ms inside a trial; the best burst of 1 ms of each counts, and of them
      the median.
    - `mode`: "single" uses one core, "star" every core at once; the rate is that of a core in both.
    """

    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    mode: Literal["single", "star"] = "single"


class Peak(Probe[PeakParams]):
    """Independent chains of multiplications and additions in double precision."""

    name: ClassVar[str] = "compute.peak"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the attainable peak of a core"
    summary: ClassVar[str] = "Peak of a core's arithmetic, by instruction set"
    params = PeakParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("flop/s", "higher"),
        "set_rate": Metric("flop/s", "higher", detail=True),
        "cores": Metric("1", "none", detail=True),
    }

    def command(self, params: PeakParams, layout: Layout) -> Command:
        return native(
            "nodebench", "peak", *options(params, "repeat"), *thread_options(params.mode, layout)
        )

    def parse(self, params: PeakParams, output: Output) -> Iterable[Sample]:
        """Read nodebench's JSON lines; the last point is the widest instruction set."""
        report = read_report(output, "nodebench", "peak")
        check_options(report, {"mode": params.mode})
        widest = 0.0
        for point in report.points:
            words = str(point.at.get("instructions")).split()
            if not words or not set(words) <= _SETS:
                raise ParseError(f"the point {dict(point.at)} is of no known instruction set")
            widest = positive(point.quantile("rate", "median"), "rate", point)
            yield Sample("set_rate", widest, point.at)
        yield Sample("rate", widest)
        yield Sample("cores", count_of(report, "threads"))


PROBE = Peak()
