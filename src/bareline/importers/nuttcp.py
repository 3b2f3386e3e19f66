"""nuttcp's results: recognised and split into launches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from bareline.formats import nuttcp
from bareline.formats.reading import Reading
from bareline.importers.base import Importer
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Stage

_SNIFF = re.compile(r"\bMB / +\S+ sec = +\S+ Mbps|\breal_seconds=\S* +rate_Mbps=")
_DATAGRAMS = re.compile(r"drop/pkt| drop=")
_METRICS: Mapping[str, Metric] = {
    "rate": Metric("bit/s", "higher"),
    "cpu_sender": Metric("%", "none"),
    "cpu_receiver": Metric("%", "none"),
    "retransmissions": Metric("1", "lower"),
    "loss": Metric("%", "lower"),
    "rtt": Metric("s", "none"),
}


class Nuttcp(Importer):
    """nuttcp's results."""

    name: ClassVar[str] = "nuttcp"
    title: ClassVar[str] = "nuttcp"

    def sniff(self, text: str) -> bool:
        """Look for a line of results or of an interval."""
        return _SNIFF.search(text) is not None

    def launches(self, text: str) -> Sequence[str]:
        """Split after every line of results."""
        ends = [match.end() for match in nuttcp.RESULT.finditer(text)]
        if not ends:
            return (text,)
        return [text[low:high] for low, high in pairwise([0, *ends[:-1], len(text)])]

    def parse(self, text: str) -> Iterable[Reading]:
        """Read one transfer."""
        try:
            transfer = nuttcp.read(text)
        except ParseError as error:
            udp = _DATAGRAMS.search(text) is not None
            yield _reading(udp, {"rate": _METRICS["rate"]}, Failed(Stage.PARSE, str(error)))
            return
        values = {
            "rate": transfer.rate_bps,
            "cpu_sender": transfer.cpu_sender,
            "cpu_receiver": transfer.cpu_receiver,
            "retransmissions": transfer.retransmissions,
            "loss": transfer.loss,
            "rtt": transfer.rtt_s,
        }
        samples = [Sample(name, value) for name, value in values.items() if value is not None]
        metrics = {sample.metric: _METRICS[sample.metric] for sample in samples}
        duration_s = round(transfer.duration_s)
        yield _reading(transfer.udp, metrics, Measured(tuple(samples)), duration_s)


def _reading(
    udp: bool,
    metrics: Mapping[str, Metric],
    outcome: Measured | Failed,
    duration_s: int | None = None,
) -> Reading:
    return Reading(
        probe="nuttcp.udp" if udp else "nuttcp.tcp",
        title=f"{'UDP' if udp else 'TCP'} throughput (nuttcp)",
        layer=Layer.NETWORK,
        metrics=metrics,
        params={} if duration_s is None else {"duration_s": duration_s},
        outcome=outcome,
    )


IMPORTER = Nuttcp()
