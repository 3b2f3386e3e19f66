"""MPI bidirectional bandwidth: windows of messages both ways between two ranks, by size.

Counterparts: ``osu_bibw``, IMB Biband.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import Point
from bareline.probes.mpi._mpibench import MpiFunction, rate_metrics, rate_samples
from bareline.vocabulary.model import Metric, Sample


class BidirectionalBandwidth(MpiFunction):
    """Windows of messages both ways between the first and the last rank."""

    name: ClassVar[str] = "mpi.bibandwidth"
    title: ClassVar[str] = "MPI bidirectional bandwidth"
    summary: ClassVar[str] = "windows of messages both ways between the first and the last rank"
    source: ClassVar[str] = "osu_bibw, IMB Biband"
    benchmark: ClassVar[str] = "bibandwidth"
    smallest_bytes: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = rate_metrics()

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give the bandwidth of one message size."""
        yield from rate_samples(point)


PROBE = BidirectionalBandwidth()
