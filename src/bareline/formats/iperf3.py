"""iperf3 with ``--json``, 3.1 and later: what is received over all TCP or UDP streams, one way."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import (
    Amount,
    Count,
    JsonModel,
    check_quotient,
    find_object,
    read_object,
    split_documents,
)
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.transfer import Transfer, transfer_reader
from bareline.vocabulary.errors import ParseError

_VERSION = re.compile(r'"version"\s*:\s*"iperf (3[^"\s]{0,20})')


class _Sum(JsonModel):
    bits_per_second: Amount
    bytes: Amount
    seconds: Amount
    end: Amount

    def check(self, what: str) -> float:
        """Give the rate, in bit/s, until the receiver's last byte, which "seconds" leaves out."""
        check_quotient(self.bits_per_second, 8 * self.bytes, self.end, what)
        return self.bits_per_second


class _Sent(_Sum):
    retransmits: Amount | None = None


class _Received(_Sum):
    jitter_ms: Amount | None = None
    lost_packets: Amount | None = None
    packets: Amount | None = None
    lost_percent: Amount | None = None


class _Stream(JsonModel):
    sender: _Sum | None = None
    receiver: _Sum | None = None
    udp: _Sum | None = None


class _Cpu(JsonModel):
    host_total: Amount
    remote_total: Amount


class _End(JsonModel):
    streams: Annotated[list[_Stream], Field(min_length=1)]
    sum_sent: _Sent
    sum_received: _Received
    cpu_utilization_percent: _Cpu
    sum_sent_bidir_reverse: Any = None


class _Asked(JsonModel):
    protocol: str
    num_streams: Count
    duration: Count
    omit: Count = 0
    target_bitrate: Count = 0
    reverse: Count = 0


class _Start(JsonModel):
    test_start: _Asked


class _Rate(JsonModel):
    bits_per_second: Amount


class _Interval(JsonModel):
    sum: _Rate


class _Test(JsonModel):
    start: _Start
    intervals: list[_Interval] = Field(default_factory=list)
    end: _End


def read(text: str) -> Transfer:
    """Read the JSON object of one test.

    Raises ParseError: the test failed, ended early, ran both ways, or its numbers contradict.
    """
    content = find_object(text)
    if content.get("error"):
        raise ParseError(f"iperf3 says: {content['error']}")
    test = read_object(_Test, content)
    asked, end = test.start.test_start, test.end
    if end.sum_sent_bidir_reverse is not None:
        raise ParseError("the test ran both ways at once (--bidir), which is not read")
    udp = asked.protocol == "UDP"
    end.sum_sent.check("sum_sent")
    rate_bps = end.sum_received.check("sum_received")
    if asked.duration and end.sum_sent.seconds < 0.9 * asked.duration:
        raise ParseError(f"the test ended after {end.sum_sent.seconds} of {asked.duration} s")
    # In the reverse direction the remote end is the one that sends.
    cpu = (end.cpu_utilization_percent.host_total, end.cpu_utilization_percent.remote_total)
    sender, receiver = reversed(cpu) if asked.reverse else cpu
    loss, jitter_s = _datagrams(end.sum_received) if udp else (None, None)
    rest = {"omit_s": asked.omit, "target_bps": asked.target_bitrate}
    params = {"streams": asked.num_streams, "duration_s": asked.duration}
    params |= {name: value for name, value in rest.items() if value}
    return Transfer(
        udp=udp,
        said={
            "rate": rate_bps,
            "retransmissions": None if udp else end.sum_sent.retransmits,
            "loss": loss,
            "jitter": jitter_s,
            "cpu_sender": sender,
            "cpu_receiver": receiver,
        },
        params=params,
        stream_rates_bps=_stream_rates(end, asked, udp=udp),
        interval_rates_bps=tuple(interval.sum.bits_per_second for interval in test.intervals),
    )


def _stream_rates(end: _End, asked: _Asked, *, udp: bool) -> tuple[float, ...]:
    if len(end.streams) != asked.num_streams:
        raise ParseError(f"not the {asked.num_streams} streams that were asked for")
    sent = [stream.udp if udp else stream.sender for stream in end.streams]
    if sum(_there(part, "sender").bytes for part in sent) != end.sum_sent.bytes:
        raise ParseError("the streams' bytes do not add up to their sum")
    if udp:
        return ()
    received = [_there(stream.receiver, "receiver") for stream in end.streams]
    if sum(part.bytes for part in received) != end.sum_received.bytes:
        raise ParseError("the streams' received bytes do not add up to their sum")
    return tuple(part.check("a stream's receiver") for part in received)


def _there(part: _Sum | None, name: str) -> _Sum:
    if part is None:
        raise ParseError(f"a stream has no '{name}'")
    return part


def _datagrams(received: _Received) -> tuple[float, float]:
    lost, sent, percent = received.lost_packets, received.packets, received.lost_percent
    if lost is None or sent is None or percent is None or received.jitter_ms is None:
        raise ParseError("the receiver's datagrams are not all reported")
    if not sent or abs(percent - 100 * lost / sent) > 0.01:
        raise ParseError("lost_packets, packets and lost_percent contradict each other")
    return percent, received.jitter_ms * 1e-3


IMPORTER = Importer(
    name="iperf3",
    title="iperf3 --json",
    sniff=holding(re.compile(r'"version"\s*:\s*"iperf 3')),
    launches=split_documents,
    parse=transfer_reader("iperf3", read, lambda text: '"UDP"' in text),
    facts=version_in("import.iperf3", _VERSION),
)
