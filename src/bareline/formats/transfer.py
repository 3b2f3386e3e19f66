"""Transfers over a network: what every program that measures one gives as a trial."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.formats.reading import Reading
from bareline.vocabulary.model import Failed, Layer, Measured, Metric, Sample, Scalar

_METRICS: Mapping[str, Metric] = {
    "rate": Metric("bit/s", "higher"),
    "retransmissions": Metric("1", "lower"),
    "loss": Metric("%", "lower"),
    "jitter": Metric("s", "lower", detail=True),
    "cpu_sender": Metric("%", "none"),
    "cpu_receiver": Metric("%", "none"),
    "rtt": Metric("s", "none"),
}


def transfer_reading(
    program: str,
    outcome: Mapping[str, float | None] | Failed,
    *,
    udp: bool,
    params: Mapping[str, Scalar] | None = None,
) -> Reading:
    """Give the trial of one transfer.

    - `outcome`: the value of each metric, None where the program does not say it: systems other
      than Linux count no retransmissions. Or why there is none.
    - `udp`: datagrams were sent, not a TCP stream.
    """
    values = {} if isinstance(outcome, Failed) else outcome
    told = {name: value for name, value in values.items() if value is not None}
    samples = tuple(Sample(name, told[name]) for name in _METRICS if name in told)
    return Reading(
        probe=f"{program}.{'udp' if udp else 'tcp'}",
        title=f"{'UDP' if udp else 'TCP'} throughput ({program})",
        layer=Layer.NETWORK,
        metrics={
            name: metric for name, metric in _METRICS.items() if name in told or name == "rate"
        },
        params=params or {},
        outcome=outcome if isinstance(outcome, Failed) else Measured(samples),
    )
