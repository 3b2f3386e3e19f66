"""Bandwidth and message rate of all pairs of ranks together, by message size.

Counterpart: ``osu_mbw_mr``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import Point
from bareline.probes.mpi._mpibench import MpiFunction, rate_metrics, rate_samples
from bareline.vocabulary.model import Metric, Sample


class MultiPair(MpiFunction):
    """Windows of messages from the lower half of the ranks to the upper half, all at once."""

    name: ClassVar[str] = "mpi.multi_pair"
    title: ClassVar[str] = "MPI bandwidth of all pairs"
    summary: ClassVar[str] = "bandwidth and message rate of all pairs of ranks together"
    source: ClassVar[str] = "osu_mbw_mr"
    benchmark: ClassVar[str] = "multi_pair"
    smallest_bytes: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = {
        **rate_metrics(),
        **rate_metrics("message_rate", "op/s"),
    }

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give bandwidth and message rate of one message size."""
        yield from rate_samples(point)
        yield from rate_samples(point, "message_rate", "message_rate")


PROBE = MultiPair()
