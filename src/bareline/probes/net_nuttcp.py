"""nuttcp: raw TCP throughput, memory to memory, between two nodes.

The real tool is run as it is (Debian's package ``nuttcp``, by Bill Fink and Rob Scott); one trial
is one transfer. On a platform of one node both ends are the same node.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.errors import ParseError
from bareline.model import Command, Layer, Layout, Metric, Output, Sample, Server
from bareline.probes.base import Probe

_PAIR = re.compile(r"([A-Za-z_]+)=(\S+)")
_NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class NuttcpParams:
    """Parameters of a TCP transfer.

    Attributes
    ----------
    duration_s
        Length of the transfer. nuttcp's ``-T``.
    streams
        Parallel TCP streams. nuttcp's ``-N``.
    window_kib
        Socket buffer at both ends in KiB; 0 leaves it to the kernel. nuttcp's ``-w``.
    """

    duration_s: Annotated[int, Field(ge=1, le=3600)] = 10
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    window_kib: Annotated[int, Field(ge=0)] = 0


class Nuttcp(Probe[NuttcpParams]):
    """One TCP transfer from the first node to the last one."""

    name: ClassVar[str] = "net.nuttcp"
    layer: ClassVar[Layer] = Layer.NETWORK
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
        """Run a server on the last node and the transmitter on the first."""
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

    def parse(self, params: NuttcpParams, output: Output) -> Iterable[Sample]:
        """Read the line of key=value pairs."""
        if not output.stdout.endswith("\n"):
            raise ParseError("the output is truncated: its last line has no end")
        lines = [line for line in output.stdout.splitlines() if "real_seconds=" in line]
        if len(lines) != 1:
            raise ParseError(f"{len(lines)} lines of results instead of one")
        found = dict(_PAIR.findall(lines[0]))
        rate_bps = self._number(found, "rate_Mbps") * 1e6
        if rate_bps <= 0:
            raise ParseError("nothing was transferred")
        # The rate must follow from what was moved and how long it took (which has two decimals).
        moved_bits = self._number(found, "megabytes") * (1 << 20) * 8
        seconds = self._number(found, "real_seconds")
        if abs(moved_bits / rate_bps - seconds) > 0.02 + 0.01 * seconds:
            raise ParseError("rate, amount and time contradict each other")
        yield Sample("rate", rate_bps)
        yield Sample("retransmissions", self._number(found, "retrans"))
        yield Sample("cpu_sender", self._number(found, "tx_cpu"))
        yield Sample("cpu_receiver", self._number(found, "rx_cpu"))
        yield Sample("rtt", self._number(found, "rtt_ms") * 1e-3)

    @staticmethod
    def _number(found: Mapping[str, str], key: str) -> float:
        text = found.get(key, "")
        if not _NUMBER.fullmatch(text):
            raise ParseError(f"no number {key} in nuttcp's result")
        return float(text)


PROBE = Nuttcp()
