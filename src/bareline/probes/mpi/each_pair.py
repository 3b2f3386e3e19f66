"""Links between the nodes of a fleet: which of them are worse than the others.

All pairs meet in the rounds of a round robin tournament, or a sample does. Short messages of a
round's pairs go at once; long ones one pair after another, since pairs that share a switch would
take from each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes._fleet import NAMES, node_of, read_fleet
from bareline.probes._native import positive
from bareline.probes.base import Probe
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class PairParams:
    """Parameters of the links.

    Attributes
    ----------
    pairs
        "all", "sampled" (at distances of powers of two: 2 log2 N rounds), or "auto": all of up to
        32 nodes, else sampled.
    together
        Long messages of a round's pairs at once: what a switch loses under load.
    size_bytes
        Of a long message, which both ends send at once.
    repeats
        Long messages of a pair; their median counts.
    iterations
        Short messages there and back, of a pair; their median counts.
    """

    pairs: Literal["auto", "all", "sampled"] = "auto"
    together: bool = False
    size_bytes: Annotated[int, Field(ge=1, le=1 << 30)] = 1 << 20
    repeats: Annotated[int, Field(ge=1, le=100_000)] = 8
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 100


class EachPair(Probe[PairParams]):
    """Latency of 8 bytes, and bandwidth each way of an exchange, between the nodes of a fleet."""

    name: ClassVar[str] = "mpi.each_pair"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the latency of a fleet's median link"
    summary: ClassVar[str] = "Latency and bandwidth of the links between a fleet's nodes"
    params = PairParams
    min_ranks: ClassVar[int] = 2
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        "bandwidth": Metric("B/s", "higher"),
        "pair_latency": Metric("s", "lower", detail=True),
        "pair_bandwidth": Metric("B/s", "higher", detail=True),
    }

    def command(self, params: PairParams, layout: Layout) -> Command:
        """Run fleetbench under MPI, a rank on each node."""
        options = (
            *("--pairs", params.pairs),
            *("--size", str(params.size_bytes), "--repeats", str(params.repeats)),
            *("--iterations", str(params.iterations)),
            *(("--together",) if params.together else ()),
            *NAMES,
        )
        return Command(argv=("{native}/fleetbench", "pairs", *options), mpi=True)

    def parse(self, params: PairParams, output: Output) -> Iterable[Sample]:
        """Read every pair, and the medians over all."""
        report, names = read_fleet(output, "pairs")
        for metric in ("latency", "bandwidth"):
            values = [positive(point.number(metric), metric, point) for point in report.points]
            yield Sample(metric, median(values))
            for point, value in zip(report.points, values, strict=True):
                ends = {"node": node_of(point, "a", names), "peer": node_of(point, "b", names)}
                yield Sample(f"pair_{metric}", value, ends)


PROBE = EachPair()
