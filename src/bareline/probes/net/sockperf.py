"""The probe of sockperf: latency of messages over TCP sockets between two nodes.

The tool is Debian's unchanged package ``sockperf``, by Mellanox; a trial is a ping-pong of one
size. sockperf reports half of the round trip, and the distribution over all messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample, Server

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_RUN = re.compile(
    r"\[Valid Duration\] RunTime=(\S+) sec; SentMessages=(\d+); ReceivedMessages=(\d+)$"
)
_MEAN = re.compile(r"====> avg-latency=(\S+) \(std-dev=\S+\)$")
_LOST = re.compile(
    r"# dropped messages = (\d+); # duplicated messages = (\d+); # out-of-order .* = (\d+)$"
)
_OBSERVATION = re.compile(r"---> <(MAX|MIN)> observation = +(\S+)$")
_PERCENTILE = re.compile(r"---> percentile (\S+) = +(\S+)$")
_NUMBER = re.compile(r"\d{1,12}\.\d{3}")
_ERROR = re.compile(r"^sockperf: ERROR: (.*)$", re.MULTILINE)
_PERCENTILES = {
    "99.900": "latency_p99_9",
    "99.000": "latency_p99",
    "75.000": "latency_q3",
    "50.000": "latency",
    "25.000": "latency_q1",
}


@dataclass(frozen=True, slots=True)
class SockperfParams:
    """Parameters of a ping-pong.

    - `size_bytes`: size of a message, including sockperf's header of 14 bytes. ``-m``.
    - `duration_s`: length of the test. ``-t``.
    """

    size_bytes: Annotated[int, Field(ge=14, le=65_507)] = 14
    duration_s: Annotated[int, Field(ge=1, le=3600)] = 5


class Sockperf(Probe[SockperfParams]):
    """The probe of messages to and fro between the first and the last node, one at a time."""

    name: ClassVar[str] = "net.sockperf"
    layer: ClassVar[Layer] = Layer.NETWORK
    nodes: ClassVar[int | None] = 2
    title: ClassVar[str] = "the latency of sockets (sockperf)"
    summary: ClassVar[str] = "sockperf: latency of TCP sockets, with percentiles"
    source: ClassVar[str] = "sockperf 3.7"
    params = SockperfParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        **{
            f"latency_{name}": Metric("s", "lower", detail=True)
            for name in ("mean", "min", "q1", "q3", "p99", "p99_9", "max")
        },
        "messages_lost": Metric("1", "lower", detail=True),
    }

    def command(self, params: SockperfParams, layout: Layout) -> Command:
        size = ("-m", str(params.size_bytes))
        length = ("-t", str(params.duration_s))
        where = ("-i", "{server_host}", "-p", "{server_port}")
        return Command(
            argv=("sockperf", "ping-pong", "--tcp", *where, *size, *length),
            server=Server(argv=("sockperf", "server", "--tcp", "-p", "{server_port}")),
            requires=("sockperf",),
        )

    def parse(self, params: SockperfParams, output: Output) -> ProbeReading:
        text = _COLOURS.sub("", output.stdout)
        if failed := _ERROR.search(text):
            raise ParseError(f"sockperf reports: {failed[1]}")
        if not text.endswith("\n"):
            raise ParseError("the output is truncated: its last line has no end")
        lines = [line.removeprefix("sockperf: ") for line in text.splitlines()]
        time_s, sent, received = _only(_RUN, lines, "valid duration")
        if _number(time_s) < 0.25 * params.duration_s:
            raise ParseError(f"the test ended after {time_s} of {params.duration_s} s")
        lost = sum(map(int, _only(_LOST, lines, "dropped messages")))
        if not int(received) or int(sent) - int(received) > lost + 1:
            raise ParseError("the messages sent, received and lost contradict each other")
        values = dict(_latencies(lines))
        order = [f"latency{part}" for part in ("_min", "_q1", "", "_q3", "_p99", "_p99_9", "_max")]
        figures = [values[name] for name in order if name in values]
        low = values["latency_min"]
        high = values["latency_max"]
        if figures != sorted(figures) or not low <= values["latency_mean"] <= high:
            raise ParseError(
                "the latencies are not in ascending order: minimum, percentiles, maximum"
            )
        latencies = (Sample(name, value) for name, value in values.items())
        return ProbeReading((*latencies, Sample("messages_lost", lost)))


def _latencies(lines: list[str]) -> Iterable[tuple[str, float]]:
    yield "latency_mean", _number(_only(_MEAN, lines, "mean latency")[0]) * 1e-6
    observations = [match.groups() for line in lines if (match := _OBSERVATION.match(line))]
    if [end for end, _ in observations] != ["MAX", "MIN"]:
        raise ParseError(
            "the line of the maximum (<MAX>) or of the minimum (<MIN>) observation is missing"
        )
    for (_, text), name in zip(observations, ("latency_max", "latency_min"), strict=True):
        yield name, _number(text) * 1e-6
    for line in lines:
        if (match := _PERCENTILE.match(line)) and match[1] in _PERCENTILES:
            yield _PERCENTILES[match[1]], _number(match[2]) * 1e-6


def _only(pattern: re.Pattern[str], lines: list[str], subject: str) -> tuple[str, ...]:
    matches = [match.groups() for line in lines if (match := pattern.match(line))]
    if len(matches) != 1:
        raise ParseError(f"the output has {len(matches)} lines of the {subject} instead of one")
    return matches[0]


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text) or float(text) <= 0:
        raise ParseError(f"'{text}' is not a valid latency; it must be a number above 0")
    return float(text)


PROBE = Sockperf()
