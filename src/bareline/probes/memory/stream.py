"""STREAM: sustainable memory bandwidth of four vector kernels.

References
----------
J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers",
IEEE TCCA Newsletter, December 1995.
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
    read_report,
    spread_metrics,
    spread_samples,
)
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_KERNELS = ("copy", "scale", "add", "triad")


@dataclass(frozen=True, slots=True)
class StreamParams:
    """Parameters of STREAM.

    - `array_bytes`: size of each of the three arrays; 0 takes four times the last-level cache.
    - `repeat`: repetitions inside a trial; the median counts.
    - `stores`: "regular", "nontemporal" (past the cache, without reading what is overwritten) or
      "best": both are run, and for each kernel the better counts.
    - `mode`: "single" uses the layout's threads, one without any; "all" every core of the node.
    """

    array_bytes: Annotated[int, Field(ge=0)] = 0
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    stores: Literal["best", "regular", "nontemporal"] = "best"
    mode: Literal["single", "all"] = "single"


class StreamProbe(Probe[StreamParams]):
    """Copy, scale, add and triad; bytes counted as STREAM defines them."""

    name: ClassVar[str] = "memory.stream"
    layer: ClassVar[Layer] = Layer.MEMORY
    title: ClassVar[str] = "memory bandwidth (STREAM)"
    summary: ClassVar[str] = "STREAM: memory bandwidth of copy, scale, add, triad"
    source: ClassVar[str] = "McCalpin's STREAM; HPCC STREAM"
    params = StreamParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **spread_metrics("bandwidth", "B/s", "higher"),
        "bandwidth_per_core": Metric("B/s", "higher", detail=True),
    }

    def command(self, params: StreamParams, layout: Layout) -> Command:
        threads = ("--threads", str(layout.threads_per_rank)) if params.mode == "single" else ()
        size = ("--size", str(params.array_bytes)) if params.array_bytes else ()
        return native("nodebench", "stream", *size, *options(params, "repeat", "stores"), *threads)

    def parse(self, params: StreamParams, output: Output) -> Iterable[Sample]:
        report = read_report(output, "nodebench", "stream")
        points, threads = report.points, report.header.get("threads")
        if not isinstance(threads, int) or threads < 1:
            raise ParseError(f"the header says that {threads} threads ran")
        kernels = [point.at.get("kernel") for point in points]
        if kernels != list(_KERNELS):
            raise ParseError(f"kernels {kernels} instead of {list(_KERNELS)}")
        for point in points:
            yield from spread_samples(point, "rate", "bandwidth", point.at)
            per_core = point.quantile("rate", "median") / threads
            yield Sample("bandwidth_per_core", per_core, point.at)

    def arrays(self, params: StreamParams, output: Output) -> Mapping[str, int]:
        return {"": asked_size(output)}


PROBE = StreamProbe()
