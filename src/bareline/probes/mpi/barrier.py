"""MPI_Barrier: time by number of ranks.

Counterparts: ``osu_barrier``, IMB Barrier.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import read_report
from bareline.probes.base import Probe
from bareline.probes.mpi._mpibench import (
    MpiSizelessParams,
    latency_metrics,
    latency_samples,
    mean_of_loop,
)
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


class Barrier(Probe[MpiSizelessParams]):
    """MPI_Barrier over all ranks."""

    name: ClassVar[str] = "mpi.barrier"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "MPI_Barrier"
    summary: ClassVar[str] = "Barrier: time by ranks"
    source: ClassVar[str] = "osu_barrier, IMB Barrier"
    params = MpiSizelessParams
    metrics: ClassVar[Mapping[str, Metric]] = latency_metrics()
    min_ranks: ClassVar[int] = 2
    collective: ClassVar[bool] = True

    def command(self, params: MpiSizelessParams, layout: Layout) -> Command:
        """Run mpibench under MPI."""
        return Command(argv=("{native}/mpibench", "barrier", *params.options()), mpi=True)

    def parse(self, params: MpiSizelessParams, output: Output) -> Iterable[Sample]:
        """Read mpibench's JSON lines."""
        points = read_report(output, "mpibench", "barrier").points
        if [dict(point.at) for point in points] != [{}]:
            raise ParseError(f"{len(points)} points of a benchmark that has one")
        samples = latency_samples(points[0])
        yield from mean_of_loop(samples) if output.clock == "simulated" else samples


PROBE = Barrier()
