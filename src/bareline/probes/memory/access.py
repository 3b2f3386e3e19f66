"""Probes of memory on a node: STREAM's bandwidth, RandomAccess's updates, latency of a load.

The processor's TLB contains the physical addresses of a limited number of pages. If a working set
has more pages of 4 KiB, the time of a load includes the translation of the page's address. The
latency with 4 KiB pages minus the latency with 2 MiB pages is the cost of this translation. In a
guest, the cost is several times as high, because the guest's page tables are also translated.

References
----------
J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers",
IEEE TCCA Newsletter, December 1995.
P. Luszczek et al., "The HPC Challenge (HPCC) benchmark suite", SC 2006,
doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import (
    Nodebench,
    Report,
    native,
    options,
    spread_metrics,
    spread_samples,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Sample

_KERNELS = ("copy", "scale", "add", "triad")
#: RandomAccess's own limit of wrong words.
_MOST_WRONG = 0.01
_PAGE_BYTES = {"small": (4 << 10,), "huge": (2 << 20,), "both": (4 << 10, 2 << 20)}


def _size(size_bytes: int) -> tuple[str, ...]:
    return ("--size", str(size_bytes)) if size_bytes else ()


@dataclass(frozen=True, slots=True)
class StreamParams:
    """Parameters of STREAM.

    - `array_bytes`: size of each of the three arrays; 0 means four times the last-level cache.
    - `repeat`: number of repetitions in a trial, of which the median counts.
    - `stores`: "regular"; "nontemporal", which bypass the cache and do not read the old content; or
      "best", with which the program runs both kinds and, for each kernel, the better result counts.
    - `mode`: "single" uses the layout's threads (by default one); "all" uses every core of the
      node.
    """

    array_bytes: Annotated[int, Field(ge=0)] = 0
    repeat: Annotated[int, Field(ge=2, le=10_000)] = 10
    stores: Literal["best", "regular", "nontemporal"] = "best"
    mode: Literal["single", "all"] = "single"


class Stream(Nodebench[StreamParams]):
    """The probe of copy, scale, add and triad; the rates count bytes as STREAM does."""

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
        words = (*_size(params.array_bytes), *options(params, "repeat", "stores"), *threads)
        return native("nodebench", "stream", *words)

    def samples(self, params: StreamParams, report: Report) -> Iterable[Sample]:
        threads = report.count("threads")
        kernels = report.coordinates("kernel")
        if kernels != list(_KERNELS):
            raise ParseError(f"the output has the kernels {kernels} instead of {list(_KERNELS)}")
        for point in report.points:
            yield from spread_samples(point, "rate", "bandwidth")
            per_core = point.quantile("rate", "median") / threads
            yield point.sample("bandwidth_per_core", per_core)

    def arrays_of(self, report: Report) -> Mapping[str, int]:
        return {"": report.requested_bytes}


@dataclass(frozen=True, slots=True)
class RandomAccessParams:
    """Parameters of RandomAccess.

    - `table_bytes`: size of the table, rounded down to a power of two; 0 means four times the
      last-level cache.
    - `mode`: "single" uses one core, "star" all cores at the same time, each with its own table.
    - `budget_s`: time limit, after which no further updates are made.
    """

    table_bytes: Annotated[int, Field(ge=0)] = 0
    mode: Literal["single", "star"] = "single"
    budget_s: Annotated[float, Field(gt=0, le=3600)] = 10.0


class RandomAccess(Nodebench[RandomAccessParams]):
    """The probe of a core's random updates per second; with all cores, the mean over the cores."""

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
        words = (*_size(params.table_bytes), *options(params, "mode", "budget_s"))
        return native("nodebench", "random_access", *words)

    def samples(self, params: RandomAccessParams, report: Report) -> Iterable[Sample]:
        point = report.point
        errors = point.number("errors")
        size_bytes = point.coordinates.get("size_bytes")
        if not isinstance(size_bytes, int) or not 0 <= errors <= _MOST_WRONG * size_bytes / 8:
            raise ParseError(f"{errors:.0f} words of a table of {size_bytes} B are wrong")
        # The size is not a coordinate: it is a parameter of the trial, or the node determines it.
        yield from spread_samples(point, "rate", "rate", coordinates={})
        yield Sample("rate_loop_mean", point.positive("loop_rate"))

    def arrays_of(self, report: Report) -> Mapping[str, int]:
        return {"": report.requested_bytes}


@dataclass(frozen=True, slots=True)
class LatencyParams:
    """Parameters of dependent loads.

    - `min_bytes`: smallest working set. Working sets are powers of two and the sizes half-way
      between two powers.
    - `max_bytes`: largest working set.
    - `pages`: "small" (4 KiB), "huge" (2 MiB) or "both". Page sizes that the node does not provide
      are left out.
    - `budget_s`: time limit of each point.
    """

    min_bytes: Annotated[int, Field(ge=128)] = 16 << 10
    max_bytes: Annotated[int, Field(ge=128, le=1 << 40)] = 256 << 20
    pages: Literal["both", "small", "huge"] = "both"
    budget_s: Annotated[float, Field(gt=0, le=60)] = 0.1

    def __post_init__(self) -> None:
        if not self.points():
            raise ValueError(
                f"no working set is between min_bytes = {self.min_bytes} and "
                f"max_bytes = {self.max_bytes}"
            )

    def points(self) -> list[dict[str, int]]:
        """Return the points: each working set with each page size, in bytes."""
        sizes: list[int] = []
        for power in range(7, self.max_bytes.bit_length()):
            sizes += (1 << power, 3 << power >> 1)
        points: list[dict[str, int]] = []
        for size in sizes:
            if self.min_bytes <= size <= self.max_bytes:
                points += (
                    {"page_bytes": page, "working_set_bytes": size}
                    for page in _PAGE_BYTES[self.pages]
                )
        return points


class MemoryLatency(Nodebench[LatencyParams]):
    """The probe of the time of a load whose address is the result of the previous load."""

    name: ClassVar[str] = "memory.latency"
    layer: ClassVar[Layer] = Layer.MEMORY
    title: ClassVar[str] = "memory latency"
    summary: ClassVar[str] = "dependent loads by working set, with 4 KiB and 2 MiB pages"
    source: ClassVar[str] = "lmbench's lat_mem_rd, in random order"
    params = LatencyParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        **spread_metrics("latency", "s", "lower"),
        "latency_loop_mean": Metric("s", "lower", detail=True),
    }

    def command(self, params: LatencyParams, layout: Layout) -> Command:
        sizes = f"{params.min_bytes}:{params.max_bytes}"
        words = options(params, "pages", "budget_s")
        return native("nodebench", "latency", "--sizes", sizes, *words)

    def samples(self, params: LatencyParams, report: Report) -> Iterable[Sample]:
        measured = [
            *(point.coordinates for point in report.points),
            *(cut.get("point") for cut in report.cut),
        ]
        requested = params.points()
        if sorted(map(_key, measured)) != sorted(map(_key, requested)):
            raise ParseError(
                f"the output has {len(measured)} points instead of the requested {len(requested)}"
            )
        for point in report.points:
            yield from spread_samples(point, "time", "latency")
            mean = point.positive("loop_mean")
            yield point.sample("latency_loop_mean", mean)

    def caveats_of(self, report: Report) -> tuple[str, ...]:
        return ("pages-not-given",) if report.cut else ()


def _key(point: object) -> str:
    return str(sorted(point.items())) if isinstance(point, Mapping) else str(point)


PROBES = (Stream(), RandomAccess(), MemoryLatency())
