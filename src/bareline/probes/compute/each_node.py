"""Every node's arithmetic at once: which of a fleet computes less than the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes._fleet import NAMES, node_samples
from bareline.probes.base import Probe
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class NodeParams:
    """Parameters of what every node computes.

    Attributes
    ----------
    duration_s
        How long all its cores compute: long enough for a limit of power or heat to show.
    """

    duration_s: Annotated[float, Field(gt=0, le=600)] = 0.5


class EachNode(Probe[NodeParams]):
    """Arithmetic in registers on all cores of every node, sustained."""

    name: ClassVar[str] = "compute.each_node"
    layer: ClassVar[Layer] = Layer.COMPUTE
    title: ClassVar[str] = "the sustained arithmetic of a fleet's median node"
    summary: ClassVar[str] = "Sustained arithmetic of every node of a fleet, all at once"
    params = NodeParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("flop/s", "higher"),
        "node_rate": Metric("flop/s", "higher", detail=True),
    }

    def command(self, params: NodeParams, layout: Layout) -> Command:
        """Run fleetbench under MPI, a rank on each node."""
        options = ("--duration", f"{params.duration_s:g}", *NAMES)
        return Command(argv=("{native}/fleetbench", "processor", *options), mpi=True)

    def parse(self, params: NodeParams, output: Output) -> Iterable[Sample]:
        """Read the rate of every node, and their median."""
        return node_samples(output, "processor", "rate")


PROBE = EachNode()
