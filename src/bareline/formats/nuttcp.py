"""The reader of nuttcp, 6 and later: the default and the ``-fparse`` result line, TCP and UDP.

References
----------
B. Fink and R. Scott, "nuttcp", https://www.nuttcp.net.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bareline.formats.importer import Importer, holding
from bareline.formats.table import number, rounding
from bareline.formats.transfer import Transfer, transfer_reader
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Scalar

#: Bytes of nuttcp's MB.
_MB = 1 << 20
#: The last line of a transfer contains the processor times, unlike the lines of intervals.
_USUAL = re.compile(
    r"^(?:[^\s:]+: +)?(?P<megabytes>\S+) MB / +(?P<real_seconds>\S+) sec = +(?P<rate_Mbps>\S+) Mbps"
    r" (?P<tx_cpu>\S+) %TX (?P<rx_cpu>\S+) %RX"
    r"(?: (?P<retrans>\S+) retrans)?"
    r"(?: (?P<drop>\S+) / +(?P<pkt>\S+) drop/pkt (?P<data_loss>\S+) %loss)?"
    r"(?: +(?P<cwnd>\S+) [KMG]?B-cwnd)?"
    r"(?: (?P<rtt_ms>\S+) msRTT)?$"
)
_RESULT = re.compile(r"^.*(?:%TX.*%RX|real_seconds=\S* +rate_Mbps=).*$\n?", re.MULTILINE)
_SNIFF = re.compile(r"\bMB / +\S+ sec = +\S+ Mbps|\breal_seconds=\S* +rate_Mbps=")
_DATAGRAMS = re.compile(r"drop/pkt| drop=")
_REQUIRED = ("megabytes", "real_seconds", "rate_Mbps", "tx_cpu", "rx_cpu")
_NUMBERS = (*_REQUIRED, "retrans", "rtt_ms", "drop", "pkt", "data_loss")


def read(text: str) -> Transfer:
    """Return the transfer in a line of results.

    Raises ParseError: the line is missing, damaged or repeated, or its numbers contradict each
    other.
    """
    fields = _fields(text)
    values = _values(fields)
    printed: dict[str, float | None] = {
        "rate": values["rate_Mbps"] * 1e6,
        "cpu_sender": values["tx_cpu"],
        "cpu_receiver": values["rx_cpu"],
        "retransmissions": values.get("retrans"),  # not of several streams
        "loss": values.get("data_loss"),
    }
    if "rtt_ms" in values:
        printed["rtt"] = values["rtt_ms"] * 1e-3
    return Transfer(
        udp="data_loss" in values,
        printed=printed,
        params=_params(values),
    )


def _params(values: Mapping[str, float]) -> dict[str, Scalar]:
    """Return the requested duration, or the requested amount of data.

    With ``-T``, a transfer ends within a few hundredths of whole seconds. With ``-n``, the amount
    is a whole number of buffers, and the duration is a result.
    """
    time_s = values["real_seconds"]
    megabytes = values["megabytes"]
    whole_s = max(1, round(time_s))
    amount_mib = _asked_mib(megabytes)
    # A transfer with -T ends less than a tenth of a second after its duration.
    timed = abs(time_s - whole_s) <= 0.1
    strange = amount_mib % 256 == 0 or amount_mib % 1000 == 0  # for an amount that time ended
    if amount_mib and (strange or not timed):
        return {"amount_mib": amount_mib}
    return {"duration_s": whole_s}


def _asked_mib(megabytes: float) -> int:
    """Return the amount in MiB if a user may have requested it, else 0.

    nuttcp sends whole buffers of 64 KiB, and the last one may be missing from the amount.
    """
    whole = round(megabytes)
    if whole < 1 or abs(megabytes - whole) > 0.01:
        return 0
    is_power = whole & (whole - 1) == 0
    return whole if is_power or whole % 10 == 0 or whole % 64 == 0 else 0


def _values(fields: Mapping[str, str]) -> dict[str, float]:
    values = {key: number(value, key) for key, value in fields.items() if key in _NUMBERS}
    moved_bits = values["megabytes"] * _MB * 8
    rate_bps = values["rate_Mbps"] * 1e6
    time_s = values["real_seconds"]
    if moved_bits <= 0 or rate_bps <= 0 or time_s <= 0:
        raise ParseError("nothing was transferred")
    slack = rounding(fields["real_seconds"]) + 1e-4 * time_s
    if abs(moved_bits / rate_bps - time_s) > slack:
        raise ParseError("rate, amount and time contradict each other")
    if "data_loss" in values:
        if "drop" not in values or not values.get("pkt"):
            raise ParseError("the result lacks the number of dropped or of sent packets")
        if abs(values["data_loss"] - 100 * values["drop"] / values["pkt"]) > 0.01:
            raise ParseError("dropped, sent and lost packets contradict each other")
    return values


def _fields(text: str) -> dict[str, str]:
    line = _result_line(text)
    if "=" not in line.partition(" ")[0]:
        match = _USUAL.fullmatch(line)
        if match is None:
            raise ParseError(f"the line of results is damaged: '{line}'")
        return {key: value for key, value in match.groupdict().items() if value is not None}
    return _labelled_fields(line)


def _result_line(text: str) -> str:
    """Return the line of results.

    Raises ParseError: there is not exactly one line, or it is incomplete.
    """
    lines = [match[0].strip() for match in _RESULT.finditer(text)]
    if len(lines) != 1:
        raise ParseError("there is no line of results: the transfer did not end")
    line = lines[0]
    if not text[text.rindex(line) + len(line) :].startswith("\n"):
        raise ParseError("the line of results has no end: the output is truncated")
    return line


def _labelled_fields(line: str) -> dict[str, str]:
    """Return the fields of a line of ``key=value``.

    Raises ParseError: the line is damaged.
    """
    pairs = [part.partition("=") for part in line.split()]
    fields = {key: value for key, _, value in pairs}
    if len(fields) < len(pairs) or not all(equals for _, equals, _ in pairs):
        raise ParseError(f"the line of results is damaged: '{line}'")
    missing = [key for key in _REQUIRED if key not in fields]
    if missing:
        raise ParseError(f"the result has no {missing[0]}")
    return fields


def _starts(text: str) -> Sequence[int]:
    """Return the offset of the first line of every transfer, which may be an interval's line."""
    starts: list[int] = []
    end = 0
    for result in _RESULT.finditer(text):
        first = _SNIFF.search(text, end, result.end())
        begin = first.start() if first else result.start()
        starts.append(text.rfind("\n", 0, begin) + 1)
        end = result.end()
    rest = _SNIFF.search(text, end)
    if rest and not starts:
        starts.append(text.rfind("\n", 0, rest.start()) + 1)
    return starts


def _launches(text: str) -> Sequence[str]:
    ends = [match.end() for match in _RESULT.finditer(text)]
    return [text[low:high] for low, high in pairwise([0, *ends[:-1], len(text)])]


IMPORTER = Importer(
    name="nuttcp",
    title="nuttcp",
    sniff=holding(_SNIFF),
    launches=_launches,
    starts=_starts,
    parse=transfer_reader("nuttcp", read, holding(_DATAGRAMS)),
)
