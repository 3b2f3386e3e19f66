"""Ping-pong between two ranks: latency and bandwidth by message size.

Counterparts: ``osu_latency``, IMB PingPong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import Point
from bareline.probes.mpi._mpibench import MpiFunction, latency_metrics
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Metric, Sample


class PingPong(MpiFunction):
    """MPI_Send and MPI_Recv between the first and the last rank; latency is half the round trip."""

    name: ClassVar[str] = "mpi.pingpong"
    title: ClassVar[str] = "MPI ping-pong"
    summary: ClassVar[str] = "ping-pong of two ranks: latency and bandwidth by message size"
    source: ClassVar[str] = "osu_latency, IMB PingPong"
    benchmark: ClassVar[str] = "pingpong"
    metrics: ClassVar[Mapping[str, Metric]] = {
        **latency_metrics(),
        "bandwidth": Metric("B/s", "higher"),
    }

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Add the bandwidth: message size over latency."""
        yield from super().point_samples(point)
        size_bytes = point.at.get("size_bytes")
        if not isinstance(size_bytes, int):
            raise ParseError(f"the point {dict(point.at)} has no message size")
        if size_bytes:
            yield Sample("bandwidth", size_bytes / point.quantile("time", "median"), point.at)


PROBE = PingPong()
