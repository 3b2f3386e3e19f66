"""Functions of MPI without a message: barriers, start-up, and the message that connects two ranks.

Libraries connect two ranks when they first talk: over TCP a handshake of sockets, over InfiniBand
one of queue pairs. A program pays that once for each rank that a rank talks to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

from bareline.probes._native import MeasuredPoint, native, positive, read_report
from bareline.probes.base import Probe, declared
from bareline.probes.mpi._mpibench import effort, latency_metrics, latency_samples, mean_of_loop
from bareline.vocabulary.collectives import COLLECTIVES
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample


@dataclass(frozen=True, slots=True)
class MpiSizelessParams:
    """Parameters of an MPI function without a message.

    - `iterations`: iterations, at most; 0 leaves the program's choice. OSU's ``-i``.
    - `warmup`: iterations before the first that counts; 0 leaves the program's choice. OSU's
      ``-x``.
    - `budget_s`: longest time; fewer iterations are run where it is short.
    """

    iterations: Annotated[int, Field(ge=0)] = 0
    warmup: Annotated[int, Field(ge=0)] = 0
    budget_s: Annotated[float, Field(gt=0)] = 0.2

    def options(self) -> tuple[str, ...]:
        return effort(self.iterations, self.warmup, self.budget_s)


@dataclass(frozen=True, slots=True)
class InitParams:
    """MPI_Init takes no parameters."""

    def options(self) -> tuple[str, ...]:
        return ()


class SizelessFunction(Probe[Any]):
    """A benchmark of mpibench with one point."""

    layer: ClassVar[Layer] = Layer.MPI

    def command(self, params: Any, layout: Layout) -> Command:
        return native("mpibench", self._benchmark, *params.options(), mpi=True)

    @property
    def _benchmark(self) -> str:
        return self.name.removeprefix("mpi.")

    def parse(self, params: Any, output: Output) -> Iterable[Sample]:
        points = read_report(output, "mpibench", self._benchmark).points
        if [dict(point.at) for point in points] != [{}]:
            raise ParseError(f"{len(points)} points of a benchmark that has one")
        samples = self.point_samples(points[0])
        looped = self.collective and output.clock == "simulated"
        return mean_of_loop(samples) if looped else samples

    @staticmethod
    def point_samples(point: MeasuredPoint) -> Iterable[Sample]:
        """Turn the point into samples; a row may have another way."""
        return latency_samples(point)


def _of_init(point: MeasuredPoint) -> Iterable[Sample]:
    yield Sample("time", positive(point.quantile("time", "max"), "time", point))
    yield Sample("time_rank_mean", point.number("rank_mean"))


def _of_first_message(point: MeasuredPoint) -> Iterable[Sample]:
    """Give the first exchange, and the one after it."""
    yield Sample("time", positive(point.quantile("time", "max"), "time", point))
    yield Sample("time_next", positive(point.number("next"), "next", point))


def _of_beside(point: MeasuredPoint) -> Iterable[Sample]:
    """Give what code takes after a message, and after itself; means without lost cores.

    Beside it an all-reduce of 8 B, and one after 100 us of reading memory.
    """
    times = {name: _trimean(point, name) for name in ("between", "alone")}
    yield Sample("ratio", times["between"] / times["alone"])
    for name, time in times.items():
        yield Sample(name, time)
    for name in ("allreduce", "allreduce_cold"):
        yield Sample(name, positive(point.quantile(name, "median"), name, point))


def _trimean(point: MeasuredPoint, name: str) -> float:
    low, middle, high = (point.quantile(name, one) for one in ("q1", "median", "q3"))
    return positive((low + 2 * middle + high) / 4, name, point)


def _times(detail: str) -> Mapping[str, Metric]:
    return {"time": Metric("s", "lower"), detail: Metric("s", "lower", detail=True)}


PROBES = (
    declared(
        SizelessFunction,
        "mpi.barrier",
        title="MPI_Barrier",
        summary=COLLECTIVES["barrier"].summary,
        source="osu_barrier, IMB Barrier",
        params=MpiSizelessParams,
        min_ranks=2,
        collective=True,
        metrics=latency_metrics(),
    ),
    declared(
        SizelessFunction,
        "mpi.init",
        title="MPI_Init",
        summary="MPI_Init: time of the slowest rank and the mean over ranks",
        source="osu_init",
        params=InitParams,
        metrics=_times("time_rank_mean"),
        point_samples=_of_init,
    ),
    declared(
        SizelessFunction,
        "mpi.first_message",
        title="the first message between two ranks",
        summary="the first message between two ranks, which connects them",
        source="bareline",
        params=InitParams,
        min_ranks=2,
        metrics=_times("time_next"),
        point_samples=_of_first_message,
    ),
    declared(
        SizelessFunction,
        "mpi.beside_compute",
        title="computing between messages",
        summary="what the network costs the processor: code after messages and after itself",
        source="bareline",
        params=MpiSizelessParams,
        min_ranks=2,
        metrics={
            "ratio": Metric("1", "lower"),
            **{name: Metric("s", "lower", detail=True) for name in ("between", "alone")},
            **{name: Metric("s", "lower") for name in ("allreduce", "allreduce_cold")},
        },
        point_samples=_of_beside,
    ),
)
