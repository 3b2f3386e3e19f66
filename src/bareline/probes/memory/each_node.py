"""Every node's memory at once: which of a fleet streams less than the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes._fleet import NAMES, node_samples
from bareline.probes.base import Probe
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class NodeMemoryParams:
    """Parameters of what every node streams.

    Attributes
    ----------
    duration_s
        How long all its cores stream.
    array_bytes
        Each of a node's three arrays; together well above its caches.
    """

    duration_s: Annotated[float, Field(gt=0, le=600)] = 0.5
    array_bytes: Annotated[int, Field(ge=1 << 16, le=1 << 40)] = 128 << 20


class EachNodeMemory(Probe[NodeMemoryParams]):
    """The triad of STREAM on all cores of every node, sustained, its results checked."""

    name: ClassVar[str] = "memory.each_node"
    layer: ClassVar[Layer] = Layer.MEMORY
    title: ClassVar[str] = "the memory bandwidth of a fleet's median node"
    summary: ClassVar[str] = "Memory bandwidth of every node of a fleet, all at once"
    params = NodeMemoryParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "bandwidth": Metric("B/s", "higher"),
        "node_bandwidth": Metric("B/s", "higher", detail=True),
    }

    def command(self, params: NodeMemoryParams, layout: Layout) -> Command:
        """Run fleetbench under MPI, a rank on each node."""
        options = ("--duration", f"{params.duration_s:g}", "--array-bytes", str(params.array_bytes))
        return Command(argv=("{native}/fleetbench", "memory", *options, *NAMES), mpi=True)

    def parse(self, params: NodeMemoryParams, output: Output) -> Iterable[Sample]:
        """Read the rate of every node, and their median."""
        return node_samples(output, "memory", "bandwidth")


PROBE = EachNodeMemory()
