"""iperf3's JSON: recognised and split into launches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from bareline.formats import iperf3
from bareline.formats.document import split_documents
from bareline.formats.reading import Reading
from bareline.importers.base import Importer
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar, Stage

_SNIFF = re.compile(r'"version"\s*:\s*"iperf 3')
_RATE = Metric("bit/s", "higher")
_CPU = Metric("%", "none")
_TCP: Mapping[str, Metric] = {
    "rate": _RATE,
    "retransmissions": Metric("1", "lower"),
    "cpu_sender": _CPU,
    "cpu_receiver": _CPU,
}
_UDP: Mapping[str, Metric] = {
    "rate": _RATE,
    "loss": Metric("%", "lower"),
    "jitter": Metric("s", "lower", detail=True),
    "cpu_sender": _CPU,
    "cpu_receiver": _CPU,
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

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one test."""
        try:
            transfer = iperf3.read(text)
        except ParseError as error:
            yield _reading('"UDP"' in text, Failed(Stage.PARSE, str(error)))
            return
        values = {
            "rate": transfer.rate_bps,
            "retransmissions": transfer.retransmissions,
            "loss": transfer.loss,
            "jitter": transfer.jitter_s,
            "cpu_sender": transfer.cpu_sender,
            "cpu_receiver": transfer.cpu_receiver,
        }
        # Other systems than Linux do not count retransmissions.
        samples = [Sample(name, value) for name, value in values.items() if value is not None]
        yield _reading(transfer.udp, Measured(tuple(samples)), transfer.params)

    def facts(self, text: str) -> Mapping[str, Scalar]:
        """Give the version."""
        return iperf3.facts(text)


def _reading(
    udp: bool, outcome: Measured | Failed, params: Mapping[str, Scalar] | None = None
) -> Reading:
    metrics = _UDP if udp else _TCP
    if isinstance(outcome, Measured):
        given = {sample.metric for sample in outcome.samples}
        metrics = {name: metric for name, metric in metrics.items() if name in given}
    return Reading(
        probe="iperf3.udp" if udp else "iperf3.tcp",
        title=f"{'UDP' if udp else 'TCP'} throughput (iperf3)",
        layer=Layer.NETWORK,
        metrics=metrics,
        params=params or {},
        outcome=outcome,
    )


IMPORTER = Iperf3()
