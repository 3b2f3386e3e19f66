"""The first message between two ranks: how long it takes them to connect, once per trial.

Libraries connect two ranks when they first talk: over TCP a handshake of sockets, over InfiniBand
one of queue pairs. A program pays that once for each rank that a rank talks to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from bareline.probes._native import positive, read_report
from bareline.probes.base import Probe
from bareline.probes.mpi.init import InitParams
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


class FirstMessage(Probe[InitParams]):
    """A byte exchanged between the first and the last rank, right after MPI_Init."""

    name: ClassVar[str] = "mpi.first_message"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the first message between two ranks"
    summary: ClassVar[str] = "the first message between two ranks, which connects them"
    source: ClassVar[str] = "bareline"
    params = InitParams
    min_ranks: ClassVar[int] = 2
    metrics: ClassVar[Mapping[str, Metric]] = {
        "time": Metric("s", "lower"),
        "time_next": Metric("s", "lower", detail=True),
    }

    def command(self, params: InitParams, layout: Layout) -> Command:
        """Run mpibench under MPI."""
        return Command(argv=("{native}/mpibench", "first_message"), mpi=True)

    def parse(self, params: InitParams, output: Output) -> Iterable[Sample]:
        """Read mpibench's JSON lines: the first exchange, and the one after it."""
        points = read_report(output, "mpibench", "first_message").points
        if len(points) != 1:
            raise ParseError(f"{len(points)} points of a benchmark that has one")
        yield Sample("time", positive(points[0].quantile("time", "max"), "time", points[0]))
        yield Sample("time_next", positive(points[0].number("next"), "next", points[0]))


PROBE = FirstMessage()
