"""iperf3: TCP throughput of parallel streams between two nodes.

The real tool is run as it is (Debian's package ``iperf3``, by ESnet); one trial is one transfer.
The rate of the first second against the rest shows TCP's slow start.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from bareline.errors import ParseError
from bareline.model import Command, Layer, Layout, Metric, Output, Sample, Server
from bareline.probes.base import Probe


@dataclass(frozen=True, slots=True)
class Iperf3Params:
    """Parameters of a transfer.

    Attributes
    ----------
    duration_s
        Length of the transfer; at least two seconds, to tell the first from the rest. ``-t``.
    streams
        Parallel TCP streams. ``-P``.
    window_bytes
        Socket buffer; 0 leaves it to the kernel. ``-w``.
    """

    duration_s: Annotated[int, Field(ge=2, le=3600)] = 10
    streams: Annotated[int, Field(ge=1, le=128)] = 1
    window_bytes: Annotated[int, Field(ge=0)] = 0


class Iperf3(Probe[Iperf3Params]):
    """Parallel TCP streams from the first node to the last one."""

    name: ClassVar[str] = "net.iperf3"
    layer: ClassVar[Layer] = Layer.NETWORK
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
        """Run a server on the last node and the client on the first."""
        options = ["-t", str(params.duration_s), "-P", str(params.streams), "-i", "1"]
        if params.window_bytes:
            options += ["-w", str(params.window_bytes)]
        return Command(
            argv=("iperf3", "-c", "{server_host}", "-p", "{server_port}", "-J", *options),
            server=Server(argv=("iperf3", "-s", "-p", "{server_port}")),
            requires=("iperf3",),
        )

    def parse(self, params: Iperf3Params, output: Output) -> Iterable[Sample]:
        """Read iperf3's JSON object."""
        try:
            result = json.loads(output.stdout)
        except ValueError as error:
            raise ParseError(f"not JSON: {error}") from error
        if not isinstance(result, dict):
            raise ParseError("not a JSON object")
        if result.get("error"):
            raise ParseError(f"iperf3 says: {result['error']}")
        streams = _at(result, ("end", "streams"))
        if not isinstance(streams, list) or len(streams) != params.streams:
            raise ParseError(f"not the {params.streams} streams that were asked for")
        rates = [_rate(stream, ("receiver",)) for stream in streams]
        total = _rate(result, ("end", "sum_received"))
        if abs(sum(rates) - total) > 0.01 * total:
            raise ParseError("the streams do not add up to the sum")
        yield Sample("rate", total)
        yield Sample("rate_stream_min", min(rates))
        yield Sample("rate_stream_max", max(rates))
        yield Sample("slow_start", _slow_start(result, params.duration_s))
        retransmissions = _number(result, ("end", "sum_sent", "retransmits"))
        yield Sample("retransmissions", retransmissions)
        cpu = ("end", "cpu_utilization_percent")
        yield Sample("cpu_sender", _number(result, (*cpu, "host_total")))
        yield Sample("cpu_receiver", _number(result, (*cpu, "remote_total")))


def _slow_start(result: Mapping[str, Any], duration_s: int) -> float:
    """Give the rate of the first second over the mean rate of the others."""
    intervals = _at(result, ("intervals",))
    if not isinstance(intervals, list) or len(intervals) < duration_s:
        raise ParseError(f"fewer than {duration_s} intervals of a second")
    rates = [_number(interval, ("sum", "bits_per_second")) for interval in intervals[:duration_s]]
    later = sum(rates[1:]) / len(rates[1:])
    if later <= 0:
        raise ParseError("nothing was transferred after the first second")
    return rates[0] / later


def _at(tree: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            raise ParseError(f"iperf3's result has no {'.'.join(path)}")
        tree = tree[key]
    return tree


def _number(tree: Any, path: Sequence[str]) -> float:
    value = _at(tree, path)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ParseError(f"iperf3's {'.'.join(path)} is {value!r}")
    return float(value)


def _rate(tree: Any, path: Sequence[str]) -> float:
    """Give a rate in bit/s that follows from the bytes and seconds beside it."""
    rate_bps = _number(tree, (*path, "bits_per_second"))
    moved_bits = _number(tree, (*path, "bytes")) * 8
    # The receiver counts until its last byte came, which "seconds" (the sender's) leaves out.
    seconds = _number(tree, (*path, "end")) - _number(tree, (*path, "start"))
    if rate_bps <= 0:
        raise ParseError("nothing was transferred")
    if abs(moved_bits - rate_bps * seconds) > 0.01 * moved_bits:
        raise ParseError("rate, amount and time contradict each other")
    return rate_bps


PROBE = Iperf3()
