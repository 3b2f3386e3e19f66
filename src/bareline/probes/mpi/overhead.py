"""Overhead: what a short message costs sender and receiver themselves, by message size.

``send`` is the time of ``MPI_Send`` while nothing else is under way, ``receive`` that of
``MPI_Recv`` of a message that has arrived; the rest of the latency is its way. Of a message that
waits for its receiver (rendezvous) ``send`` holds that waiting, and tells nothing.

References
----------
D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993,
doi:10.1145/155332.155333.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import Point, positive
from bareline.probes.mpi._mpibench import MpiFunction
from bareline.vocabulary.model import Metric, Sample


class Overhead(MpiFunction):
    """One message between the first and the last rank, each end timed by itself."""

    name: ClassVar[str] = "mpi.overhead"
    title: ClassVar[str] = "MPI overhead of a message"
    summary: ClassVar[str] = "what a message costs sender and receiver themselves (LogP)"
    source: ClassVar[str] = "Culler et al. 1993"
    benchmark: ClassVar[str] = "overhead"
    smallest_bytes: ClassVar[int] = 1
    metrics: ClassVar[Mapping[str, Metric]] = {
        "send": Metric("s", "lower"),
        "receive": Metric("s", "lower"),
    }

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give both ends of one message size."""
        for metric in ("send", "receive"):
            value = positive(point.quantile(metric, "median"), metric, point)
            yield Sample(metric, value, point.at)


PROBE = Overhead()
