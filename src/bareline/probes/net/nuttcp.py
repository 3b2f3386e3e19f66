"""nuttcp: raw TCP throughput, memory to memory, between two nodes.

The real tool is run as it is (Debian's package ``nuttcp``, by Bill Fink and Rob Scott); one trial
is one transfer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.formats import nuttcp
from bareline.probes.base import Probe
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Server


@dataclass(frozen=True, slots=True)
class NuttcpParams:
    """Parameters of a TCP transfer.

    - `duration_s`: length of the transfer. nuttcp's ``-T``.
    - `streams`: parallel TCP streams. nuttcp's ``-N``.
    - `window_kib`: socket buffer at both ends in KiB; 0 leaves it to the kernel. nuttcp's ``-w``.
    """

    duration_s: Annotated[int, Field(ge=1, le=3600)] = 10
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    window_kib: Annotated[int, Field(ge=0)] = 0


class Nuttcp(Probe[NuttcpParams]):
    """One TCP transfer from the first node to the last one."""

    name: ClassVar[str] = "net.nuttcp"
    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    title: ClassVar[str] = "TCP throughput (nuttcp)"
    summary: ClassVar[str] = "nuttcp: TCP throughput, retransmissions, CPU at both ends"
    source: ClassVar[str] = "nuttcp 6.1 and later"
    params = NuttcpParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("bit/s", "higher"),
        "retransmissions": Metric("1", "lower"),
        "cpu_sender": Metric("%", "none"),
        "cpu_receiver": Metric("%", "none"),
        "rtt": Metric("s", "none"),
    }

    def command(self, params: NuttcpParams, layout: Layout) -> Command:
        options = ["-fparse", "-T", str(params.duration_s)]
        if params.streams > 1:
            options += ["-N", str(params.streams)]
        if params.window_kib:
            options += ["-w", str(params.window_kib)]
        ports = ("-P", "{server_port}", "-p", "{server_data_port}")
        return Command(
            argv=("nuttcp", "-t", *options, *ports, "{server_host}"),
            server=Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}")),
            requires=("nuttcp",),
        )

    def delivers(self, params: NuttcpParams) -> Mapping[str, Metric]:
        """Leave out what nuttcp does not say of several streams."""
        if params.streams == 1:
            return self.metrics
        return {name: metric for name, metric in self.metrics.items() if name != "retransmissions"}

    def parse(self, params: NuttcpParams, output: Output) -> Iterable[Sample]:
        transfer = nuttcp.read(output.stdout)
        yield from (Sample(*pair) for pair in transfer.values.items() if pair[0] in self.metrics)


PROBE = Nuttcp()
