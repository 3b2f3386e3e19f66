"""The reader of sockperf 2.x and 3.x clients: ping-pong, under load, throughput.

A latency is half the round trip. If sockperf prints the whole round trip (``--full-rtt``), its
output contains "Round trip", and the reader halves the value.

References
----------
Mellanox, "sockperf", https://github.com/Mellanox/sockperf.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial

from bareline.formats.importer import Importer, holding, starts_at, version_in
from bareline.formats.reading import LATENCY, MESSAGE_RATE, Reading, as_detail, outcome_of
from bareline.formats.table import check_whole, number, rounding
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layer, Metric, Sample, Scalar

_PREFIX = r"^(?:\[[\w:;, ]*\] )?sockperf: "
TITLE = re.compile(_PREFIX + r"== version #(?P<version>[\d.]+)\S* ==", re.MULTILINE)
_LATENCY = re.compile(_PREFIX + r"Summary: (Latency|Round trip) is (\S+) usec\s*$", re.MULTILINE)
_MEAN = re.compile(_PREFIX + r"====> avg-(?:latency|lat|rtt)= *(\S+) \(", re.MULTILINE)
_PERCENTILE = re.compile(
    _PREFIX + r"---> (?:percentile (50\.000?|75\.000?|90\.000?|99\.000?|99\.90\d?) =|<(MAX|MIN)>"
    r" observation =) *(\S+)\s*$",
    re.MULTILINE,
)
_RATE = re.compile(_PREFIX + r"Summary: Message Rate is (\S+) \[msg/sec\]", re.MULTILINE)
_BANDWIDTH = re.compile(_PREFIX + r"Summary: BandWidth is (\S+) MBps \((\S+) Mbps\)", re.MULTILINE)
_CLIENT = re.compile(r"^sockperf\[CLIENT\] send on:", re.MULTILINE)
_SUMMARY = re.compile(_PREFIX + r"Summary: (?:Latency|Round trip|Message Rate) is ", re.MULTILINE)
_SIZE = re.compile(r"(?:message size: ?|(?<!-)\bmsg-size=)(\d{1,9})")
_RUN = re.compile(r"\b(PingPong|ping-pong|under-load|throughput|playback)\b")
_PROTOCOL = re.compile(r"\bPORT += +\d+ +# (TCP|UDP)\s*$", re.MULTILINE)
_ERROR = re.compile(
    _PREFIX + r"ERROR: (.*)$|^sockperf: (?:No messages were received.*)$", re.MULTILINE
)
_LOSS = re.compile(
    _PREFIX + r"# dropped messages = (\d{1,18}); # duplicated messages = (\d{1,18}); "
    r"# out-of-order messages = (\d{1,18})",
    re.MULTILINE,
)
#: Names of the percentiles, by sockperf's titles.
_NAMES = {"50": "p50", "75": "p75", "90": "p90", "99": "p99", "99.9": "p99_9"}

_LATENCIES: Mapping[str, Metric] = {"latency": LATENCY}
_RATES: Mapping[str, Metric] = {
    "bandwidth": Metric("bit/s", "higher"),
    "message_rate": as_detail(MESSAGE_RATE),
}


def read(text: str) -> Iterable[Reading]:
    """Return the trial in the summary of a client."""
    params = _params(text)
    if _RATE.search(text):
        name = "throughput"
        quantity = "bandwidth"
        metrics = _RATES
        samples = _throughput_samples
    else:
        run = _RUN.search(text)
        mode = run[1] if run else ""
        name = _probe_of(mode)
        quantity = "latency"
        metrics = _latency_metrics(text)
        samples = _latency_samples
    yield Reading(
        probe=f"sockperf.{name}",
        title=f"the sockperf {quantity}",
        layer=Layer.NETWORK,
        metrics=metrics,
        params=params,
        caveats=_caveats(text, params),
        outcome=outcome_of(metrics, partial(samples, text)),
    )


def _probe_of(run: str) -> str:
    return "under_load" if run in ("under-load", "playback") else "ping_pong"


def _params(text: str) -> dict[str, Scalar]:
    params: dict[str, Scalar] = {}
    protocol = _PROTOCOL.search(text)
    if protocol is not None:
        params["protocol"] = protocol[1].lower()
    size = _SIZE.search(text)
    if size is not None:
        params["message_bytes"] = int(size[1])
    return params


def _caveats(text: str, params: Mapping[str, Scalar]) -> tuple[str, ...]:
    caveats: tuple[str, ...] = ()
    if "message_bytes" not in params:
        caveats += ("the output does not give the size of the messages",)
    loss = _LOSS.search(text)
    if loss is not None and any(map(int, loss.groups())):
        dropped, doubled, displaced = loss.groups()
        caveats += (f"messages: {dropped} lost, {doubled} doubled, {displaced} out of order",)
    return caveats


def _latency_metrics(text: str) -> Mapping[str, Metric]:
    details = {f"latency_{name}": as_detail(LATENCY) for name, _ in _percentiles(text)}
    return {**_LATENCIES, **details}


def _percentiles(text: str) -> list[tuple[str, str]]:
    """Return the names and values of the percentiles, in the order of the output."""
    named = []
    for percentile, end, value in _PERCENTILE.findall(text):
        number_text = percentile.rstrip("0").rstrip(".") if "." in percentile else percentile
        named.append((end.lower() or _NAMES.get(number_text, ""), value))
    return [(name, value) for name, value in named if name]


def _check_end(text: str) -> None:
    check_whole(text)
    error = _ERROR.search(text)
    if error is not None:
        words = error[1] or "no messages were received"
        raise ParseError(f"sockperf failed: {words[:100]}")


def _latency_samples(text: str) -> Iterable[Sample]:
    _check_end(text)
    summary = _LATENCY.findall(text)
    if len(summary) != 1:
        raise ParseError("there is no summary: the run did not end")
    quantity, mean_text = summary[0]
    means = _MEAN.findall(text)
    scale = 0.5e-6 if quantity == "Round trip" else 1e-6
    mean_us = number(mean_text, "latency")
    slack = 1.01 * rounding(mean_text)
    if means and abs(number(means[0], "avg-latency") - mean_us) > slack:
        raise ParseError("the mean latency differs from avg-latency in the summary")
    if mean_us <= 0:
        raise ParseError("a latency of 0 is not a valid measurement")
    percentiles = [(name, number(value, name)) for name, value in _percentiles(text)]
    falling = [value for _, value in percentiles]
    if falling != sorted(falling, reverse=True):
        raise ParseError("the percentiles do not fall from <MAX> to <MIN>")
    if falling and not falling[-1] - slack <= mean_us <= falling[0] + slack:
        raise ParseError("the mean is not between the smallest and the largest observation")
    yield Sample("latency", mean_us * scale)
    for name, value in percentiles:
        yield Sample(f"latency_{name}", value * scale)


def _throughput_samples(text: str) -> Iterable[Sample]:
    _check_end(text)
    bandwidths = _BANDWIDTH.findall(text)
    rates = _RATE.findall(text)
    if len(bandwidths) != 1 or len(rates) != 1:
        raise ParseError("there is no summary: the run did not end")
    megabytes, megabits = bandwidths[0]
    both = number(megabytes, "MBps"), number(megabits, "Mbps")
    # sockperf divides bytes by 2^20 and bits by 10^6 or 2^20, as its version does.
    bits = both[0] * 8 * (1 << 20)
    slack = 8 * (1 << 20) * 1.01 * rounding(megabytes) + 1.01e6 * rounding(megabits)
    scales = (1e6, float(1 << 20))
    if both[0] <= 0 or not any(abs(both[1] * scale - bits) <= slack for scale in scales):
        raise ParseError("the rates in MBps and in Mbps contradict each other")
    yield Sample("bandwidth", bits)
    yield Sample("message_rate", number(rates[0], "message rate"))


IMPORTER = Importer(
    name="sockperf",
    title="sockperf 2.x and 3.x",
    sniff=holding(TITLE, _LATENCY),
    starts=starts_at(TITLE, inside=_CLIENT, last=_SUMMARY),
    parse=read,
    facts=version_in("import.sockperf", TITLE),
)
