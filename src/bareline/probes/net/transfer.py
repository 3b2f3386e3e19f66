"""The probes of TCP and UDP throughput between two nodes' memories, by nuttcp and iperf3.

The tools are Debian's unchanged packages ``nuttcp``, by Bill Fink and Rob Scott, and ``iperf3``, by
ESnet; a trial is one transfer. iperf3's rate in the first second is a separate metric, because it
is lower than the later rate during TCP's slow start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.formats import iperf3, nuttcp
from bareline.formats.transfer import METRICS
from bareline.probes._native import counted
from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Server


@dataclass(frozen=True, slots=True)
class NuttcpParams:
    """Parameters of a TCP transfer.

    - `duration_s`: length of the transfer. nuttcp's ``-T``.
    - `streams`: number of parallel TCP streams. nuttcp's ``-N``.
    - `window_kib`: socket buffer at both ends in KiB; 0 leaves the choice to the kernel. nuttcp's
      ``-w``.
    """

    duration_s: Annotated[int, Field(ge=1, le=3600)] = 10
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    window_kib: Annotated[int, Field(ge=0)] = 0


class Nuttcp(Probe[NuttcpParams]):
    """The probe of a TCP transfer from the first to the last node."""

    name: ClassVar[str] = "net.nuttcp"
    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    title: ClassVar[str] = "TCP throughput (nuttcp)"
    summary: ClassVar[str] = "nuttcp: TCP throughput, retransmissions, CPU at both ends"
    source: ClassVar[str] = "nuttcp 6.1 and later"
    params = NuttcpParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        name: METRICS[name]
        for name in ("rate", "retransmissions", "cpu_sender", "cpu_receiver", "rtt")
    }

    def command(self, params: NuttcpParams, layout: Layout) -> Command:
        several = params.streams if params.streams > 1 else 0
        return _nuttcp("-fparse", *counted(T=params.duration_s, N=several, w=params.window_kib))

    def delivers(self, params: NuttcpParams) -> Mapping[str, Metric]:
        """Return the metrics that nuttcp prints for this number of streams."""
        if params.streams == 1:
            return self.metrics
        return {name: metric for name, metric in self.metrics.items() if name != "retransmissions"}

    def parse(self, params: NuttcpParams, output: Output) -> ProbeReading:
        transfer = nuttcp.read(output.stdout)
        if transfer.udp:
            raise ParseError("the test did not use the requested TCP stream")
        return ProbeReading(_declared_samples(transfer.values, self.metrics))


def _declared_samples(
    values: Mapping[str, float], metrics: Mapping[str, Metric]
) -> tuple[Sample, ...]:
    """Return a tool's values, except the values that are not metrics of the probe."""
    return tuple(Sample(name, value) for name, value in values.items() if name in metrics)


def _nuttcp(*options: str) -> Command:
    """Return the command of a transfer from the first node to a nuttcp server on the last node."""
    ports = ("-P", "{server_port}", "-p", "{server_data_port}")
    return Command(
        argv=("nuttcp", "-t", *options, *ports, "{server_host}"),
        server=Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}")),
        requires=("nuttcp",),
    )


@dataclass(frozen=True, slots=True)
class NuttcpUdpParams:
    """Parameters of a stream of datagrams.

    - `duration_s`: length of the transfer. nuttcp's ``-T``.
    - `rate_mbps`: the sender's limit in Mb/s; with 0, it sends as fast as possible. nuttcp's
      ``-R``.
    - `datagram_bytes`: payload of a datagram. nuttcp's ``-l``; by default a datagram fits into a
      frame of 1500 bytes and is not divided.
    """

    duration_s: Annotated[int, Field(ge=1, le=3600)] = 10
    rate_mbps: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    datagram_bytes: Annotated[int, Field(ge=64, le=65_000)] = 1_400


class NuttcpUdp(Probe[NuttcpUdpParams]):
    """The probe of datagrams from the first to the last node: received rate, and loss."""

    name: ClassVar[str] = "net.nuttcp_udp"
    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    title: ClassVar[str] = "UDP throughput (nuttcp)"
    summary: ClassVar[str] = "nuttcp: UDP throughput that arrives, loss, CPU at both ends"
    source: ClassVar[str] = "nuttcp 6.1 and later"
    params = NuttcpUdpParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        name: METRICS[name] for name in ("rate", "loss", "cpu_sender", "cpu_receiver")
    }

    def command(self, params: NuttcpUdpParams, layout: Layout) -> Command:
        limit = f"-R{params.rate_mbps}m" if params.rate_mbps else "-Ru"
        chosen = counted(T=params.duration_s, l=params.datagram_bytes)
        return _nuttcp("-u", "-fparse", *chosen, limit)

    def parse(self, params: NuttcpUdpParams, output: Output) -> ProbeReading:
        transfer = nuttcp.read(output.stdout)
        if not transfer.udp:
            raise ParseError("the test did not send the requested datagrams")
        return ProbeReading(_declared_samples(transfer.values, self.metrics))


@dataclass(frozen=True, slots=True)
class Iperf3Params:
    """Parameters of a transfer.

    - `duration_s`: length of the transfer; at least two seconds, as the first second is reported
      separately. ``-t``.
    - `streams`: number of parallel TCP streams. ``-P``.
    - `window_bytes`: socket buffer; 0 leaves the choice to the kernel. ``-w``.
    """

    duration_s: Annotated[int, Field(ge=2, le=3600)] = 10
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    window_bytes: Annotated[int, Field(ge=0)] = 0


class Iperf3(Probe[Iperf3Params]):
    """The probe of parallel TCP streams from the first to the last node."""

    name: ClassVar[str] = "net.iperf3"
    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    title: ClassVar[str] = "TCP throughput (iperf3)"
    summary: ClassVar[str] = "iperf3: TCP throughput of parallel streams, slow start, CPU"
    source: ClassVar[str] = "iperf3 3.1 and later"
    params = Iperf3Params
    metrics: ClassVar[Mapping[str, Metric]] = {
        "rate": Metric("bit/s", "higher"),
        "rate_stream_min": Metric("bit/s", "higher", detail=True),
        "rate_stream_max": Metric("bit/s", "higher", detail=True),
        "slow_start": Metric("1", "higher"),
        "retransmissions": Metric("1", "lower"),
        "cpu_sender": Metric("%", "none"),
        "cpu_receiver": Metric("%", "none"),
    }

    def command(self, params: Iperf3Params, layout: Layout) -> Command:
        chosen = counted(t=params.duration_s, P=params.streams, i=1, w=params.window_bytes)
        return Command(
            argv=("iperf3", "-c", "{server_host}", "-p", "{server_port}", "-J", *chosen),
            server=Server(argv=("iperf3", "-s", "-p", "{server_port}")),
            requires=("iperf3",),
        )

    def parse(self, params: Iperf3Params, output: Output) -> ProbeReading:
        transfer = iperf3.read(output.stdout)
        if transfer.udp or transfer.params["streams"] != params.streams:
            raise ParseError(f"the test did not use the {params.streams} requested TCP streams")
        values = transfer.values
        if "retransmissions" not in values:
            raise ParseError("the kernel does not count retransmissions")
        slow_start = _slow_start(transfer.interval_rates_bps, params.duration_s)
        samples = (
            Sample("rate_stream_min", min(transfer.stream_rates_bps)),
            Sample("rate_stream_max", max(transfer.stream_rates_bps)),
            Sample("slow_start", slow_start),
        )
        return ProbeReading(samples + _declared_samples(values, self.metrics))


def _slow_start(rates_bps: Sequence[float], duration_s: int) -> float:
    if len(rates_bps) < duration_s:
        raise ParseError(f"the result has fewer than {duration_s} intervals of one second")
    later = sum(rates_bps[1:duration_s]) / (duration_s - 1)
    if later <= 0:
        raise ParseError("nothing was transferred after the first second")
    return rates_bps[0] / later


PROBES = (Nuttcp(), NuttcpUdp(), Iperf3())
