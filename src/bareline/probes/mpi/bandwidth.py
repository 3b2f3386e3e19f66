"""MPI bandwidth: a window of messages from the first to the last rank, by message size.

Counterparts: ``osu_bw``, IMB Uniband.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import Point
from bareline.probes.mpi._mpibench import MpiFunction, rate_metrics, rate_samples
from bareline.vocabulary.model import Metric, Sample


class Bandwidth(MpiFunction):
    """A window of messages from the first to the last rank."""

    name: ClassVar[str] = "mpi.bandwidth"
    title: ClassVar[str] = "MPI bandwidth"
    summary: ClassVar[str] = "a window of messages from the first to the last rank"
    source: ClassVar[str] = "osu_bw, IMB Uniband"
    benchmark: ClassVar[str] = "bandwidth"
    smallest_bytes: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = rate_metrics()

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give the bandwidth of one message size."""
        yield from rate_samples(point)


PROBE = Bandwidth()
