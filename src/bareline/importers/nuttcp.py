"""nuttcp, 6 and later: the usual line of results and that of ``-fparse``, TCP and UDP.

References
----------
B. Fink and R. Scott, "nuttcp", https://www.nuttcp.net.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from bareline.errors import ParseError
from bareline.importers.base import Imported, Importer, outcome_of
from bareline.importers.table import number, rounding
from bareline.model import Layer, Metric, Sample, Scalar

#: Bytes of nuttcp's MB.
_MB = 1 << 20
#: The last line of a transfer has the processor times; interval reports have not.
_USUAL = re.compile(
    r"^(?P<megabytes>\S+) MB / +(?P<real_seconds>\S+) sec = +(?P<rate_Mbps>\S+) Mbps"
    r" (?P<tx_cpu>\S+) %TX (?P<rx_cpu>\S+) %RX"
    r"(?: (?P<retrans>\S+) retrans)?"
    r"(?: (?P<drop>\S+) / +(?P<pkt>\S+) drop/pkt (?P<data_loss>\S+) %loss)?"
    r"(?: (?P<rtt_ms>\S+) msRTT)?$"
)
_RESULT = re.compile(r"^.*(?:%TX.*%RX|real_seconds=\S* +rate_Mbps=).*$\n?", re.MULTILINE)
_SNIFF = re.compile(r"\bMB / +\S+ sec = +\S+ Mbps|\breal_seconds=\S* +rate_Mbps=")
_REQUIRED = ("megabytes", "real_seconds", "rate_Mbps", "tx_cpu", "rx_cpu")

_METRICS: Mapping[str, tuple[str, Metric, float]] = {
    "rate_Mbps": ("rate", Metric("bit/s", "higher"), 1e6),
    "tx_cpu": ("cpu_sender", Metric("%", "none"), 1.0),
    "rx_cpu": ("cpu_receiver", Metric("%", "none"), 1.0),
    "retrans": ("retransmissions", Metric("1", "lower"), 1.0),
    "data_loss": ("loss", Metric("%", "lower"), 1.0),
    "rtt_ms": ("rtt", Metric("s", "none"), 1e-3),
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
        ends = [match.end() for match in _RESULT.finditer(text)]
        if not ends:
            return (text,)
        return [text[low:high] for low, high in pairwise([0, *ends[:-1], len(text)])]

    def parse(self, text: str) -> Iterable[Imported]:
        """Read one transfer."""
        fields: dict[str, str] = {}
        problem: ParseError | None = None
        try:
            fields = _fields(text)
        except ParseError as error:
            problem = error
        udp = "drop" in fields or "drop/pkt" in text or " drop=" in text
        given = {key: _METRICS[key] for key in _METRICS if key in fields} or {
            "rate_Mbps": _METRICS["rate_Mbps"]
        }
        metrics = {name: metric for name, metric, _ in given.values()}

        def read() -> Iterable[Sample]:
            if problem is not None:
                raise problem
            _check(fields)
            return [
                Sample(name, scale * number(fields[key], key))
                for key, (name, _, scale) in given.items()
            ]

        yield Imported(
            probe="nuttcp.udp" if udp else "nuttcp.tcp",
            title=f"{'UDP' if udp else 'TCP'} throughput (nuttcp)",
            layer=Layer.NETWORK,
            metrics=metrics,
            params=_params(fields),
            outcome=outcome_of(metrics, read),
        )


def _fields(text: str) -> dict[str, str]:
    """Give the values of the line of results by their names in ``-fparse``."""
    lines = [match[0].strip() for match in _RESULT.finditer(text)]
    if len(lines) != 1:
        raise ParseError("there is no line of results: the transfer did not end")
    line = lines[0]
    if not text[text.rindex(line) + len(line) :].startswith("\n"):
        raise ParseError("the line of results has no end: the output is truncated")
    if "=" not in line.partition(" ")[0]:
        match = _USUAL.fullmatch(line)
        if match is None:
            raise ParseError(f"the line of results is damaged: '{line}'")
        return {key: value for key, value in match.groupdict().items() if value is not None}
    pairs = [part.partition("=") for part in line.split()]
    fields = {key: value for key, _, value in pairs}
    if len(fields) < len(pairs) or not all(equals for _, equals, _ in pairs):
        raise ParseError(f"the line of results is damaged: '{line}'")
    missing = [key for key in _REQUIRED if key not in fields]
    if missing:
        raise ParseError(f"the result has no {missing[0]}")
    return fields


def _params(fields: Mapping[str, str]) -> dict[str, Scalar]:
    try:
        return {"duration_s": round(number(fields.get("real_seconds", ""), "real_seconds"))}
    except ParseError:
        return {}


def _check(fields: Mapping[str, str]) -> None:
    """Refuse a result whose numbers contradict each other."""
    moved_bits = number(fields["megabytes"], "megabytes") * _MB * 8
    rate_bps = number(fields["rate_Mbps"], "rate_Mbps") * 1e6
    time_s = number(fields["real_seconds"], "real_seconds")
    if moved_bits <= 0 or rate_bps <= 0 or time_s <= 0:
        raise ParseError("nothing was transferred")
    slack = rounding(fields["real_seconds"]) + 1e-4 * time_s
    if abs(moved_bits / rate_bps - time_s) > slack:
        raise ParseError("rate, amount and time contradict each other")
    if "data_loss" in fields:
        dropped, sent = number(fields["drop"], "drop"), number(fields["pkt"], "pkt")
        loss = number(fields["data_loss"], "data_loss")
        if not sent or abs(loss - 100 * dropped / sent) > 0.01:
            raise ParseError("dropped, sent and lost packets contradict each other")


IMPORTER = Nuttcp()
