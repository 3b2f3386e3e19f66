"""iperf3 with ``--json``, 3.1 and later: TCP and UDP, one direction.

The rate is what arrived at the receiver, over all streams.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.errors import ParseError
from bareline.importers.base import Imported, Importer, outcome_of
from bareline.importers.document import Document, check_quotient, split_documents
from bareline.model import Layer, Metric, Sample, Scalar

_SNIFF = re.compile(r'"version"\s*:\s*"iperf 3')
_VERSION = re.compile(r'"version"\s*:\s*"iperf (3[^"\s]{0,20})')

_RATE = Metric("bit/s", "higher")
_TCP: Mapping[str, Metric] = {
    "rate": _RATE,
    "retransmissions": Metric("1", "lower"),
    "cpu_sender": Metric("%", "none"),
    "cpu_receiver": Metric("%", "none"),
}
_UDP: Mapping[str, Metric] = {
    "rate": _RATE,
    "loss": Metric("%", "lower"),
    "jitter": Metric("s", "lower", detail=True),
    "cpu_sender": Metric("%", "none"),
    "cpu_receiver": Metric("%", "none"),
}


class Iperf3(Importer):
    """iperf3's JSON."""

    name: ClassVar[str] = "iperf3"
    title: ClassVar[str] = "iperf3 --json"

    def sniff(self, text: str) -> bool:
        """Look for the version."""
        return _SNIFF.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split before each JSON object."""
        return split_documents(text)

    def parse(self, text: str) -> Iterable[Imported]:
        """Read one test."""
        problem: ParseError | None = None
        document = Document({})
        params: dict[str, Scalar] = {}
        udp = '"UDP"' in text
        try:
            document = Document.parse(text)
            params = _params(document)
        except ParseError as error:
            problem = error
        # Other systems than Linux do not count retransmissions.
        counted = udp or '"retransmits"' in text or problem is not None
        metrics = dict(_UDP if udp else _TCP)
        if not counted:
            del metrics["retransmissions"]

        def read() -> Iterable[Sample]:
            if "error" in document:
                raise ParseError(f"iperf3 says: {document.content['error']}")
            if problem is not None:
                raise problem
            return list(_samples(document, udp=udp, counted=counted))

        yield Imported(
            probe="iperf3.udp" if udp else "iperf3.tcp",
            title=f"{'UDP' if udp else 'TCP'} throughput (iperf3)",
            layer=Layer.NETWORK,
            metrics=metrics,
            params=params,
            outcome=outcome_of(metrics, read),
        )

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version."""
        match = _VERSION.search(text)
        return {"import.iperf3": match[1]} if match else {}


def _params(document: Document) -> dict[str, Scalar]:
    asked = document.at("start", "test_start")
    params: dict[str, Scalar] = {
        "streams": _whole(asked, "num_streams"),
        "duration_s": _whole(asked, "duration"),
    }
    if asked.content.get("omit"):
        params["omit_s"] = _whole(asked, "omit")
    if asked.content.get("target_bitrate"):
        params["target_bps"] = _whole(asked, "target_bitrate")
    return params


def _whole(document: Document, key: str) -> int:
    value = document.number(key)
    if not value.is_integer():
        raise ParseError(f"'{key}' = {value} is no whole number")
    return int(value)


def _samples(document: Document, *, udp: bool, counted: bool) -> Iterable[Sample]:
    end = document.at("end")
    if "sum_sent_bidir_reverse" in end:
        raise ParseError("the test ran both ways at once (--bidir), which is not read")
    sent = end.at("sum_sent")
    received = end.at("sum_received")
    for name, total in (("sum_sent", sent), ("sum_received", received)):
        rate = total.number("bits_per_second")
        check_quotient(rate, 8 * total.number("bytes"), total.number("seconds"), name)
    _check_streams(end, sent, udp=udp)
    _check_length(document, sent)
    # In the reverse direction the remote end is the one that sends.
    reverse = bool(document.at("start", "test_start").content.get("reverse"))
    cpu = end.at("cpu_utilization_percent")
    local, remote = cpu.number("host_total"), cpu.number("remote_total")
    yield Sample("rate", received.number("bits_per_second"))
    yield Sample("cpu_sender", remote if reverse else local)
    yield Sample("cpu_receiver", local if reverse else remote)
    if udp:
        yield from _datagrams(received)
    elif counted:
        yield Sample("retransmissions", sent.number("retransmits"))


def _check_streams(end: Document, sent: Document, *, udp: bool) -> None:
    """Refuse a sum that is not the sum of its streams."""
    parts = [stream.at("udp" if udp else "sender") for stream in end.each("streams")]
    if sum(part.number("bytes") for part in parts) != sent.number("bytes"):
        raise ParseError("the streams' bytes do not add up to their sum")


def _check_length(document: Document, sent: Document) -> None:
    """Refuse a test that ended early."""
    asked_s = document.at("start", "test_start").number("duration")
    if asked_s and sent.number("seconds") < 0.9 * asked_s:
        raise ParseError(f"the test ended after {sent.number('seconds')} of {asked_s} s")


def _datagrams(received: Document) -> Iterable[Sample]:
    lost, sent = received.number("lost_packets"), received.number("packets")
    percent = received.number("lost_percent")
    if not sent or abs(percent - 100 * lost / sent) > 0.01:
        raise ParseError("lost_packets, packets and lost_percent contradict each other")
    yield Sample("loss", percent)
    yield Sample("jitter", received.number("jitter_ms") * 1e-3)


IMPORTER = Iperf3()
