"""Overlap: how much computation hides behind a non-blocking operation.

Counterparts: ``osu_iallreduce`` and its kin. The overlap is the share of the communication's time
that vanishes behind a computation of the same length; 0 is none, 1 is all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from bareline.probes._native import Point, positive
from bareline.probes.mpi._mpibench import MpiFunction, MpiParams
from bareline.vocabulary.model import Metric, Sample

Operation = Literal[
    "p2p",
    "iallreduce",
    "ireduce",
    "ireduce_scatter",
    "ibcast",
    "iscatter",
    "igather",
    "iallgather",
    "ialltoall",
]


@dataclass(frozen=True, slots=True)
class OverlapParams(MpiParams):
    """Parameters of an overlap measurement.

    Attributes
    ----------
    operation
        "p2p" is MPI_Isend and MPI_Irecv between all pairs; the others are collectives.
    """

    operation: Operation = "iallreduce"


class Overlap(MpiFunction):
    """Communication alone, computation of the same length alone, then both together."""

    name: ClassVar[str] = "mpi.overlap"
    title: ClassVar[str] = "non-blocking communication beside computation"
    summary: ClassVar[str] = "computation hidden behind non-blocking communication"
    source: ClassVar[str] = "osu_iallreduce and its kin"
    params = OverlapParams
    smallest_bytes: ClassVar[int] = 8
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        "latency_alone": Metric("s", "lower"),
        "computation": Metric("s", "none"),
        "overlap": Metric("1", "higher"),
    }

    def benchmark_of(self, params: MpiParams) -> str:
        """Choose the operation."""
        assert isinstance(params, OverlapParams)
        return f"overlap_{params.operation}"

    def point_samples(self, point: Point) -> Iterable[Sample]:
        """Give the time together, each time alone, and the overlap of one message size."""
        for metric, series in (
            ("latency", "time"),
            ("latency_alone", "time_communication"),
            ("computation", "time_computation"),
        ):
            value = positive(point.quantile(series, "median"), metric, point)
            yield Sample(metric, value, point.at)
        yield Sample("overlap", point.number("overlap"), point.at)


PROBE = Overlap()
