"""nuttcp, 6 and later: the usual line of results and that of ``-fparse``, TCP and UDP.

References
----------
B. Fink and R. Scott, "nuttcp", https://www.nuttcp.net.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from bareline.formats.importer import Importer, holding
from bareline.formats.table import number, rounding
from bareline.formats.transfer import Transfer, transfer_reader
from bareline.vocabulary.errors import ParseError

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
_DATAGRAMS = re.compile(r"drop/pkt| drop=")
_REQUIRED = ("megabytes", "real_seconds", "rate_Mbps", "tx_cpu", "rx_cpu")
_NUMBERS = (*_REQUIRED, "retrans", "rtt_ms", "drop", "pkt", "data_loss")


def read(text: str) -> Transfer:
    """Read the line of results of one transfer.

    Raises ParseError: it is missing, damaged or doubled, or its numbers contradict each other.
    """
    values = _values(text)
    rtt_ms = values.get("rtt_ms")
    return Transfer(
        udp="data_loss" in values,
        said={
            "rate": values["rate_Mbps"] * 1e6,
            "cpu_sender": values["tx_cpu"],
            "cpu_receiver": values["rx_cpu"],
            "retransmissions": values.get("retrans"),  # not of several streams
            "loss": values.get("data_loss"),
            "rtt": None if rtt_ms is None else rtt_ms * 1e-3,
        },
        params={"duration_s": round(values["real_seconds"])},
    )


def _values(text: str) -> dict[str, float]:
    fields = _fields(text)
    values = {key: number(value, key) for key, value in fields.items() if key in _NUMBERS}
    moved_bits = values["megabytes"] * _MB * 8
    rate_bps, time_s = values["rate_Mbps"] * 1e6, values["real_seconds"]
    if moved_bits <= 0 or rate_bps <= 0 or time_s <= 0:
        raise ParseError("nothing was transferred")
    slack = rounding(fields["real_seconds"]) + 1e-4 * time_s
    if abs(moved_bits / rate_bps - time_s) > slack:
        raise ParseError("rate, amount and time contradict each other")
    if "data_loss" in values:
        if "drop" not in values or not values.get("pkt"):
            raise ParseError("the result has no dropped or sent packets")
        if abs(values["data_loss"] - 100 * values["drop"] / values["pkt"]) > 0.01:
            raise ParseError("dropped, sent and lost packets contradict each other")
    return values


def _fields(text: str) -> dict[str, str]:
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


def _launches(text: str) -> Sequence[str]:
    ends = [match.end() for match in _RESULT.finditer(text)]
    return [text[low:high] for low, high in pairwise([0, *ends[:-1], len(text)])]


IMPORTER = Importer(
    name="nuttcp",
    title="nuttcp",
    sniff=holding(_SNIFF),
    launches=_launches,
    parse=transfer_reader("nuttcp", read, holding(_DATAGRAMS)),
)
