"""Transfers over a network: the common form of the trials of all programs that measure them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from bareline.formats.reading import Reading, unread
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar

METRICS: Mapping[str, Metric] = {
    "rate": Metric("bit/s", "higher"),
    "retransmissions": Metric("1", "lower"),
    "loss": Metric("%", "lower"),
    "jitter": Metric("s", "lower", detail=True),
    "cpu_sender": Metric("%", "none"),
    "cpu_receiver": Metric("%", "none"),
    "rtt": Metric("s", "none"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A complete transfer.

    - `udp`: whether the transfer sent datagrams instead of a TCP stream.
    - `printed`: the value of each metric, or None if the program does not print it. For example,
      retransmissions are only counted on Linux.
    - `params`: the requested settings.
    - `ignored`: the settings that do not belong to the case.
    - `stream_rates_bps`: the received rate of each stream in bit/s.
    - `interval_rates_bps`: the client's rate over all streams in each interval, in bit/s.
    """

    udp: bool
    printed: Mapping[str, float | None]
    params: Mapping[str, Scalar] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    stream_rates_bps: tuple[float, ...] = ()
    interval_rates_bps: tuple[float, ...] = ()

    @property
    def values(self) -> dict[str, float]:
        """The values that the program printed, in the order of the metrics."""
        by_metric = {name: self.printed.get(name) for name in METRICS}
        return {name: value for name, value in by_metric.items() if value is not None}


def transfer_reader(
    program: str, read: Callable[[str], Transfer], is_udp: Callable[[str], bool]
) -> Callable[[str], Iterable[Reading]]:
    """Return the reader of the trial of one transfer.

    - `is_udp`: returns whether an output that cannot be read is of a UDP transfer.
    """

    def parse(text: str) -> Iterable[Reading]:
        outcome: Measured | Failed
        try:
            transfer = read(text)
            outcome = Measured(tuple(Sample(*pair) for pair in transfer.values.items()))
        except ParseError as error:
            transfer = Transfer(udp=is_udp(text), printed={})
            outcome = unread(error)
        protocol = "UDP" if transfer.udp else "TCP"
        yield Reading(
            probe=f"{program}.{protocol.lower()}",
            title=f"{protocol} throughput ({program})",
            layer=Layer.NETWORK,
            metrics={name: METRICS[name] for name in transfer.values or ("rate",)},
            params=transfer.params,
            ignored=transfer.ignored,
            outcome=outcome,
        )

    return parse
