"""Memory latency: dependent loads over a growing working set, with 4 KiB and 2 MiB pages.

Where the set exceeds what the processor remembers of the page tables, a load with 4 KiB pages also
pays for finding its page. The difference to 2 MiB pages is the cost of address translation, which
virtualization multiplies: a guest's page tables are themselves translated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import (
    cut_caveats,
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

_PAGE_BYTES = {"small": (4 << 10,), "huge": (2 << 20,), "both": (4 << 10, 2 << 20)}


@dataclass(frozen=True, slots=True)
class LatencyParams:
    """Parameters of dependent loads.

    - `min_bytes`, `max_bytes`: working sets: powers of two and the sizes half-way between, within
      these.
    - `pages`: "small" (4 KiB), "huge" (2 MiB) or "both". What the node does not give is cut.
    - `budget_s`: time of each point.
    """

    min_bytes: Annotated[int, Field(ge=128)] = 16 << 10
    max_bytes: Annotated[int, Field(ge=128, le=1 << 40)] = 256 << 20
    pages: Literal["both", "small", "huge"] = "both"
    budget_s: Annotated[float, Field(gt=0, le=60)] = 0.1

    def __post_init__(self) -> None:
        """Hold the sizes against each other; raises ValueError: there is no size between them."""
        if not self.sizes():
            raise ValueError(
                f"no working set lies between min_bytes = {self.min_bytes} and "
                f"max_bytes = {self.max_bytes}"
            )

    def sizes(self) -> list[int]:
        """List the working sets in bytes."""
        powers = [1 << power for power in range(7, self.max_bytes.bit_length())]
        steps = [size for power in powers for size in (power, power + power // 2)]
        return [size for size in steps if self.min_bytes <= size <= self.max_bytes]

    def points(self) -> list[tuple[int, int]]:
        """List working sets with page sizes, in bytes, in the order in which they are measured."""
        return [(size, page) for size in self.sizes() for page in _PAGE_BYTES[self.pages]]


class MemoryLatency(Probe[LatencyParams]):
    """Time of a load whose address is the result of the load before."""

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
        return native(
            "nodebench",
            "latency",
            "--sizes",
            f"{params.min_bytes}:{params.max_bytes}",
            *options(params, "pages", "budget_s"),
        )

    def parse(self, params: LatencyParams, output: Output) -> Iterable[Sample]:
        """Read nodebench's JSON lines, and hold its points against those that were asked for."""
        report = read_report(output, "nodebench", "latency")
        cut = [point.get("point") for point in report.cut]
        said = [*(point.at for point in report.points), *cut]
        asked = [{"page_bytes": page, "working_set_bytes": size} for size, page in params.points()]
        if sorted(map(_key, said)) != sorted(map(_key, asked)):
            raise ParseError(f"{len(said)} points instead of the {len(asked)} asked for")
        for point in report.points:
            yield from spread_samples(point, "time", "latency", point.at)
            mean = positive(point.number("loop_mean"), "loop_mean", point)
            yield Sample("latency_loop_mean", mean, point.at)

    def caveats(self, params: LatencyParams, output: Output) -> Iterable[str]:
        """Say when the node did not give pages or memory for all points."""
        return ("pages-not-given",) if any(cut_caveats(output)) else ()


def _key(point: object) -> str:
    return str(sorted(point.items())) if isinstance(point, Mapping) else str(point)


PROBE = MemoryLatency()
