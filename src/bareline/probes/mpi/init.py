"""MPI_Init: how long a launch takes to come up, once per trial.

Counterpart: ``osu_init``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from bareline.probes._native import positive, read_report
from bareline.probes.base import Probe
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class InitParams:
    """MPI_Init takes no parameters."""


class Init(Probe[InitParams]):
    """MPI_Init on all ranks at once."""

    name: ClassVar[str] = "mpi.init"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "MPI_Init"
    summary: ClassVar[str] = "MPI_Init: time of the slowest rank and the mean over ranks"
    source: ClassVar[str] = "osu_init"
    params = InitParams
    metrics: ClassVar[Mapping[str, Metric]] = {
        "time": Metric("s", "lower"),
        "time_rank_mean": Metric("s", "lower", detail=True),
    }

    def command(self, params: InitParams, layout: Layout) -> Command:
        """Run mpibench under MPI."""
        return Command(argv=("{native}/mpibench", "init"), mpi=True)

    def parse(self, params: InitParams, output: Output) -> Iterable[Sample]:
        """Read mpibench's JSON lines."""
        points = read_report(output, "mpibench", "init").points
        if len(points) != 1:
            raise ParseError(f"{len(points)} points of a benchmark that has one")
        yield Sample("time", positive(points[0].quantile("time", "max"), "time", points[0]))
        yield Sample("time_rank_mean", points[0].number("rank_mean"))


PROBE = Init()
