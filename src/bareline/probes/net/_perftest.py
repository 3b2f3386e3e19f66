"""What the probes of perftest, the RDMA benchmarks of the OFED stack, have in common.

The real tools are run as they are (Debian's package ``perftest``). Where a node has no RDMA device
they say so and the trial is a failed record with that reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.formats import perftest
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Failed, Layer, Layout, Output, Sample, Server


@dataclass(frozen=True, slots=True)
class PerftestParams:
    """Parameters of an RDMA test over all message sizes.

    Attributes
    ----------
    iterations
        Messages of each size; 0 leaves the program's choice. ``-n``.
    device
        Name of the RDMA device; empty takes the first. ``-d``.
    """

    iterations: Annotated[int, Field(ge=0)] = 0
    device: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*$")] = ""


class Perftest(Probe[PerftestParams]):
    """A perftest program between the first and the last node, at every message size.

    Attributes
    ----------
    program
        Its name.
    """

    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    params = PerftestParams
    program: ClassVar[str]

    def command(self, params: PerftestParams, layout: Layout) -> Command:
        """Run the program as server on the last node and as client on the first."""
        options = ["-a", "-F", "-p", "{server_port}"]
        if params.iterations:
            options += ["-n", str(params.iterations)]
        if params.device:
            options += ["-d", params.device]
        return Command(
            argv=(self.program, *options, "{server_host}"),
            server=Server(argv=(self.program, *options)),
            requires=(self.program,),
        )

    def parse(self, params: PerftestParams, output: Output) -> Iterable[Sample]:
        """Read the table of message sizes."""
        found = list(perftest.read(output.stdout))
        if len(found) != 1 or found[0].probe != f"perftest.{self.program}":
            raise ParseError(f"not the output of one {self.program}")
        outcome = found[0].outcome
        if isinstance(outcome, Failed):
            raise ParseError(outcome.reason)
        return [sample for sample in outcome.samples if sample.metric in self.metrics]
