"""The reader of iperf3 with ``--json``, 3.1 and later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field

from bareline.formats.document import (
    Amount,
    Count,
    JsonModel,
    check_quotient,
    document_starts,
    find_object,
    read_object,
    split_documents,
)
from bareline.formats.importer import Importer, holding, version_in
from bareline.formats.settings import Settings
from bareline.formats.transfer import Transfer, transfer_reader
from bareline.vocabulary.errors import ParseError

#: A cookie of the real program has 36 characters.
_COOKIE = re.compile(r'"cookie"\s*:\s*"(\w{36})"')
_USUAL_DATAGRAMS = (1448, 1460, 8192, 8948)
_VERSION = re.compile(r'"version"\s*:\s*"iperf (3[^"\s]{0,20})')


_MARK = re.compile(r'"version"\s*:\s*"iperf 3')
_SECONDS = re.compile(r'"timesecs"\s*:\s*(\d{1,11})\b')


class _Sum(JsonModel):
    bits_per_second: Amount
    bytes: Amount
    seconds: Amount
    end: Amount

    def check(self, subject: str) -> float:
        """Return the rate in bit/s until the receiver's last byte.

        The rate must agree with the time in the key "end". The key "seconds" is not used, because
        its time is shorter than the time in "end".
        """
        check_quotient(self.bits_per_second, 8 * self.bytes, self.end, subject)
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
    test_start: dict[str, Any]
    sock_bufsize: int | None = None
    target_bitrate: int | None = None
    accepted_connection: Any = None


class _Rate(JsonModel):
    bits_per_second: Amount


class _Interval(JsonModel):
    """An interval of the test, for which iperf3 prints rates.

    Only the sum over streams is read, because iperf3 until 3.1 printed -nan for single streams.
    """

    sum: _Rate


#: Settings of a test. A setting that is not listed belongs to the case.
_SETTINGS = Settings(
    labels=frozenset(("protocol", "interval", "fqrate")),
    defaults={
        "blksize": (131072,),
        "omit": (0,),
        "bytes": (0,),
        "blocks": (0,),
        "reverse": (0,),
        "bidir": (0,),
        "tos": (0,),
        "target_bitrate": (0,),
        "sock_bufsize": (0,),
        "gso": (0,),
        "gro": (0,),
        "gso_dg_size": (0,),
        "gso_bf_size": (0,),
        "gro_bf_size": (0,),
    },
    names={
        "num_streams": "streams",
        "duration": "duration_s",
        "omit": "omit_s",
        "target_bitrate": "target_bps",
        "blksize": "block_bytes",
        "sock_bufsize": "socket_buffer_bytes",
    },
)


class _Test(JsonModel):
    start: _Start
    intervals: list[Any] = Field(default_factory=list)
    end: _End


def read(text: str) -> Transfer:
    """Return the transfer in the JSON object of one test.

    Raises ParseError: the test failed, ended early, ran in both directions, or has contradictory
    numbers.
    """
    content = find_object(text)
    if content.get("error"):
        raise ParseError(f"iperf3 reports: {content['error']}")
    test = read_object(_Test, content)
    given = _given(test.start)
    requested = read_object(_Asked, test.start.test_start)
    end = test.end
    if end.sum_sent_bidir_reverse is not None:
        raise ParseError("the test ran both ways at once (--bidir), which bareline does not read")
    udp = requested.protocol == "UDP"
    if _is_receivers(test):
        rate_bps = end.sum_received.check("sum_received")
        raise ParseError(
            f"this is the output of the server (iperf3 -s): it contains the received rate "
            f"({rate_bps:.4g} bit/s), but not the sent rate; import the client's output"
        )
    end.sum_sent.check("sum_sent")
    rate_bps = end.sum_received.check("sum_received")
    if requested.duration and end.sum_sent.seconds < 0.9 * requested.duration:
        raise ParseError(f"the test ended after {end.sum_sent.seconds} of {requested.duration} s")
    # In the reverse direction the remote end sends.
    cpu = (end.cpu_utilization_percent.host_total, end.cpu_utilization_percent.remote_total)
    sender, receiver = reversed(cpu) if requested.reverse else cpu
    printed: dict[str, float | None]
    if udp:
        loss, jitter_s = _datagrams(end.sum_received)
        printed = {"loss": loss, "jitter": jitter_s}
    else:
        printed = {"retransmissions": end.sum_sent.retransmits}
    printed |= {"rate": rate_bps, "cpu_sender": sender, "cpu_receiver": receiver}
    return Transfer(
        udp=udp,
        printed=printed,
        params=_SETTINGS.case(given),
        ignored=_SETTINGS.ignored(given),
        stream_rates_bps=_stream_rates(end, requested, udp=udp),
        interval_rates_bps=tuple(_interval_rates(test.intervals)),
    )


def _given(start: _Start) -> dict[str, Any]:
    """Return the settings of a test.

    If the amount of data was set, the duration is a result and is not among the settings.
    """
    given = dict(start.test_start)
    for name in ("sock_bufsize", "target_bitrate"):
        value = getattr(start, name)
        if value is not None:
            given.setdefault(name, value)
    if given.get("bytes") or given.get("blocks"):
        given.pop("duration", None)
    # The default block of UDP depends on the MTU of the path, and is not a parameter.
    if given.get("protocol") == "UDP" and given.get("blksize") in _USUAL_DATAGRAMS:
        given.pop("blksize")
    return given


def _interval_rates(intervals: Sequence[Any]) -> Iterable[float]:
    """Yield the rate of every interval that has one.

    For an interval without packets iperf3 prints -nan.
    """
    for interval in intervals:
        try:
            yield read_object(_Interval, interval).sum.bits_per_second
        except ParseError:
            continue


def _is_receivers(test: _Test) -> bool:
    """Return whether the server printed the output; the server does not know the sent rate."""
    sent = test.end.sum_sent
    received = test.end.sum_received
    accepted = test.start.accepted_connection is not None
    return accepted and not sent.bytes and bool(received.bytes)


def _identity(text: str) -> str:
    """Return the random cookie of the test."""
    match = _COOKIE.search(text)
    return match[1] if match else ""


def _stream_rates(end: _End, requested: _Asked, *, udp: bool) -> tuple[float, ...]:
    if len(end.streams) != requested.num_streams:
        raise ParseError(
            f"the result has {len(end.streams)} streams instead of the requested"
            f" {requested.num_streams}"
        )
    if udp:
        sent = [_there(stream.udp, "sender") for stream in end.streams]
    else:
        sent = [_there(stream.sender, "sender") for stream in end.streams]
    if sum(part.bytes for part in sent) != end.sum_sent.bytes:
        raise ParseError("the bytes of the streams do not add up to the bytes in 'sum_sent'")
    if udp:
        return ()
    received = [_there(stream.receiver, "receiver") for stream in end.streams]
    if sum(part.bytes for part in received) != end.sum_received.bytes:
        raise ParseError("the bytes of the streams do not add up to the bytes in 'sum_received'")
    return tuple(part.check("a stream's receiver") for part in received)


def _there(part: _Sum | None, name: str) -> _Sum:
    if part is None:
        raise ParseError(f"the result of a stream has no '{name}'")
    return part


def _datagrams(received: _Received) -> tuple[float, float]:
    lost = received.lost_packets
    sent = received.packets
    percent = received.lost_percent
    if lost is None or sent is None or percent is None or received.jitter_ms is None:
        raise ParseError(
            "the receiver's sum lacks lost_packets, packets, lost_percent or jitter_ms"
        )
    if not sent or abs(percent - 100 * lost / sent) > 0.01:
        raise ParseError("lost_packets, packets and lost_percent contradict each other")
    return percent, received.jitter_ms * 1e-3


def _started(text: str) -> datetime | None:
    """Return the start of the test."""
    match = _SECONDS.search(text)
    return datetime.fromtimestamp(int(match[1]), UTC) if match else None


IMPORTER = Importer(
    name="iperf3",
    title="iperf3 --json",
    sniff=holding(_MARK),
    launches=split_documents,
    starts=document_starts(_MARK),
    started=_started,
    identity=_identity,
    parse=transfer_reader("iperf3", read, lambda text: '"UDP"' in text),
    facts=version_in("import.iperf3", _VERSION),
)
