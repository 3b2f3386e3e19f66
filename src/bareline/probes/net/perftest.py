"""The probes of perftest, the RDMA benchmarks of the OFED stack: RDMA writes without MPI.

The tools are Debian's unchanged package ``perftest``. If a node has no RDMA device, the trial fails
with this reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.formats import perftest as format_
from bareline.probes._native import counted
from bareline.probes.base import Probe, ProbeReading, declared
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Server


@dataclass(frozen=True, slots=True)
class PerftestParams:
    """Parameters of an RDMA test over all message sizes.

    - `iterations`: number of messages of each size; 0 leaves the choice to the program. ``-n``.
    - `device`: name of the RDMA device; by default the first device. ``-d``.
    """

    iterations: Annotated[int, Field(ge=0)] = 0
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*$")] = ""


class Perftest(Probe[PerftestParams]):
    """The probe of a perftest program between the first and the last node, at every size."""

    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    params = PerftestParams

    @property
    def _program(self) -> str:
        return self.name.removeprefix("net.")

    def command(self, params: PerftestParams, layout: Layout) -> Command:
        device = ("-d", params.device) if params.device else ()
        options = ("-a", "-F", "-p", "{server_port}", *counted(n=params.iterations), *device)
        return Command(
            argv=(self._program, *options, "{server_host}"),
            server=Server(argv=(self._program, *options)),
            requires=(self._program,),
        )

    def parse(self, params: PerftestParams, output: Output) -> ProbeReading:
        readings = list(format_.read(output.stdout))
        if len(readings) != 1 or readings[0].probe != f"perftest.{self._program}":
            raise ParseError(f"this is not the output of exactly one run of {self._program}")
        samples = (sample for sample in readings[0].samples if sample.metric in self.metrics)
        return ProbeReading(tuple(samples))


PROBES = (
    declared(
        Perftest,
        "net.ib_write_bw",
        title="RDMA write bandwidth (ib_write_bw)",
        summary="perftest: bandwidth of RDMA writes by message size",
        source="ib_write_bw of perftest 2 to 6",
        metrics={
            "bandwidth": Metric("B/s", "higher"),
            "bandwidth_peak": Metric("B/s", "higher", detail=True),
            "message_rate": Metric("op/s", "higher", detail=True),
        },
    ),
    declared(
        Perftest,
        "net.ib_write_lat",
        title="RDMA write latency (ib_write_lat)",
        summary="perftest: latency of RDMA writes by message size",
        source="ib_write_lat of perftest 2 to 6",
        metrics={
            "latency": Metric("s", "lower"),
            **{
                f"latency_{name}": Metric("s", "lower", detail=True)
                for name in ("mean", "min", "max")
            },
        },
    ),
)
