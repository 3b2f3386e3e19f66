"""RandomAccess: updates of random words of a table, HPC Challenge's GUPS.

References
----------
P. Luszczek et al., "The HPC Challenge (HPCC) benchmark suite", SC 2006,
doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import (
    asked_size,
    native,
    options,
    positive,
    read_report,
    spread_metrics,
    spread_samples,
)
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

#: The benchmark's own limit.
_MOST_WRONG = 0.01


@dataclass(frozen=True, slots=True)
class RandomAccessParams:
    """Parameters of RandomAccess.

    - `table_bytes`: size of the table, rounded down to a power of two; 0 takes four times the
      last-level cache.
    - `mode`: "single" uses one core, "star" every core at once, each with a table of its own.
    - `budget_s`: longest time; fewer updates are made where it ends.
    """

    table_bytes: Annotated[int, Field(ge=0)] = 0
    mode: Literal["single", "star"] = "single"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0


class RandomAccess(Probe[RandomAccessParams]):
    """Updates in a second, of one core or the mean over cores that all update at once."""

    name: ClassVar[str] = "memory.random_access"
    layer: ClassVar[Layer] = Layer.MEMORY
    title: ClassVar[str] = "random memory updates (GUPS)"
    summary: ClassVar[str] = "RandomAccess: updates of random words of a table (GUPS)"
    source: ClassVar[str] = "HPCC RandomAccess"
    params = RandomAccessParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **spread_metrics("rate", "op/s", "higher"),
        "rate_loop_mean": Metric("op/s", "higher", detail=True),
    }

    def command(self, params: RandomAccessParams, layout: Layout) -> Command:
        size = ("--size", str(params.table_bytes)) if params.table_bytes else ()
        return native("nodebench", "random_access", *size, *options(params, "mode", "budget_s"))

    def parse(self, params: RandomAccessParams, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", "random_access")
        if len(report.points) != 1:
            raise ParseError(f"{len(report.points)} points instead of one")
        point = report.points[0]
        errors, size_bytes = point.number("errors"), point.at.get("size_bytes")
        if not isinstance(size_bytes, int) or not 0 <= errors <= _MOST_WRONG * size_bytes / 8:
            raise ParseError(f"{errors:.0f} words of a table of {size_bytes} B are wrong")
        # The size is a parameter of the trial, or the node's own.
        yield from spread_samples(point, "rate", "rate", {})
        mean = positive(point.number("loop_rate"), "loop_rate", point)
        yield Sample("rate_loop_mean", mean)

    def arrays(self, params: RandomAccessParams, output: Output) -> Mapping[str, int]:
        return {"": asked_size(output)}


PROBE = RandomAccess()
