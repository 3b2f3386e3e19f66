"""The probes of MPI functions that mpibench measures, a table row for each.

A library connects two ranks at their first message, by a handshake of sockets (TCP) or of queue
pairs (InfiniBand). A program has this cost once for each pair of ranks; `mpi.first_message`
measures it.

References
----------
D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993,
doi:10.1145/155332.155333.
P. Luszczek et al., "The HPC Challenge (HPCC) Benchmark Suite", SC'06, doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Report, counted, positive
from bareline.probes.base import declared
from bareline.probes.mpi._mpibench import (
    MpiFunction,
    MpiParams,
    latency_metrics,
    latency_samples,
    rate_metrics,
    rate_samples,
)
from bareline.vocabulary.collectives import COLLECTIVES, SIZED
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Metric, Sample


@dataclass(frozen=True, slots=True)
class WindowParams(MpiParams):
    """Parameters of a window of messages by size.

    - `window`: number of messages in flight; 0 means the program's default of 64. OSU's ``-W``.
    """

    window: Annotated[int, Field(ge=0, le=65536)] = 0

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        # super() would fail: a dataclass with slots is a new class, but super() in its methods
        # refers to the original class.
        return (*MpiParams.options(self, smallest), *counted(W=self.window))


@dataclass(frozen=True, slots=True)
class RingParams(MpiParams):
    """Parameters of a ring.

    - `order`: order of the ranks in the ring: "natural", or "random" (several orders from a fixed
      seed).
    """

    order: Literal["natural", "random"] = "random"


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

    - `operation`: "p2p" is MPI_Isend and MPI_Irecv between all pairs; all other operations are
      collectives.
    """

    operation: Operation = "iallreduce"


@dataclass(frozen=True, slots=True)
class MpiSizelessParams:
    """Parameters of an MPI function without a message.

    - `iterations`: limit for the iterations; 0 leaves the choice to the program. OSU's ``-i``.
    - `warmup`: iterations before the first measured iteration; 0 leaves the choice to the program.
      OSU's ``-x``.
    - `budget_s`: time limit, which may reduce the number of iterations.
    """

    iterations: Annotated[int, Field(ge=0)] = 0
    warmup: Annotated[int, Field(ge=0)] = 0
    budget_s: Annotated[float, Field(gt=0)] = 0.2

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        return (*counted(i=self.iterations, x=self.warmup), "-t", f"{self.budget_s:g}")


@dataclass(frozen=True, slots=True)
class InitParams:
    """Parameters of the probe of MPI_Init; it has no parameters."""

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        return ()


class SizelessFunction(MpiFunction):
    """The probe of a benchmark of mpibench without messages; the output has one point."""

    params: type[Any] = MpiSizelessParams

    def check_points(self, params: Any, report: Report) -> None:
        points = [dict(point.coordinates) for point in report.points]
        if points != [{}]:
            raise ParseError(
                f"the output has {len(points)} points, but the benchmark has exactly one point,"
                " without a size"
            )


def _with_bandwidth(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield a ping-pong's latency, and its bandwidth: the message size divided by the latency."""
    yield from latency_samples(point)
    size_bytes = point.coordinates.get("size_bytes")
    if not isinstance(size_bytes, int):
        raise ParseError(f"the result at {dict(point.coordinates)} has no message size")
    if size_bytes:
        yield point.sample("bandwidth", size_bytes / point.quantile("time", "median"))


def _with_rate(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield the latency and, unless the message is empty, the bandwidth.

    A rank both sends and receives a message in the measured time.
    """
    yield from latency_samples(point)
    if point.coordinates.get("size_bytes"):
        yield from rate_samples(point)


def _of_pairs(point: MeasuredPoint) -> Iterable[Sample]:
    yield from rate_samples(point)
    yield from rate_samples(point, "message_rate", "message_rate")


def _of_ends(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield the processor time of a message at sender and receiver.

    ``send`` is the time of ``MPI_Send`` while no other message is in flight. ``receive`` is the
    time of ``MPI_Recv`` for a message that has arrived. The rest of the latency is the message's
    time in the network. If the sender waits for the receiver (rendezvous), ``send`` includes the
    wait and is not meaningful.
    """
    for metric in ("send", "receive"):
        yield point.sample(metric, point.positive(metric, "median"))


def _of_overlap(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield three times, and the overlap of communication and computation.

    The times are of communication with computation, of communication alone, and of computation
    alone. The overlap is the part of the communication time that is hidden by computation.
    """
    for metric, series in (
        ("latency", "time"),
        ("latency_alone", "time_communication"),
        ("computation", "time_computation"),
    ):
        median = point.quantile(series, "median")
        yield point.sample(metric, positive(median, metric, point))
    yield point.sample("overlap", point.number("overlap"))


def _of_init(point: MeasuredPoint) -> Iterable[Sample]:
    yield Sample("time", point.positive("time", "max"))
    yield Sample("time_rank_mean", point.number("rank_mean"))


def _of_first_message(point: MeasuredPoint) -> Iterable[Sample]:
    yield Sample("time", point.positive("time", "max"))
    yield Sample("time_next", point.positive("next"))


def _of_beside(point: MeasuredPoint) -> Iterable[Sample]:
    """Yield the time of a piece of code between messages, its time alone, and their ratio.

    Each time is an average of quartiles, so that runs during which the process lost its core have
    no influence. Also yield the time of an all-reduce of 8 B, and the time of such an all-reduce
    after 100 us in which the ranks read memory.
    """
    times = {}
    for name in ("between", "alone"):
        low, middle, high = (point.quantile(name, quartile) for quartile in ("q1", "median", "q3"))
        times[name] = positive((low + 2 * middle + high) / 4, name, point)
    yield Sample("ratio", times["between"] / times["alone"])
    for name, time in times.items():
        yield Sample(name, time)
    for name in ("allreduce", "allreduce_cold"):
        yield Sample(name, point.positive(name, "median"))


def _times(detail: str) -> Mapping[str, Metric]:
    return {"time": Metric("s", "lower"), detail: Metric("s", "lower", detail=True)}


_TIME = Metric("s", "lower")
_TIME_AND_RATE = {**latency_metrics(), **rate_metrics()}

_function = partial(declared, MpiFunction)
_sizeless = partial(declared, SizelessFunction)
PROBES = (
    _function(
        "mpi.pingpong",
        title="MPI ping-pong",
        summary="ping-pong of two ranks: latency and bandwidth by message size",
        source="osu_latency, IMB PingPong",
        metrics={**latency_metrics(), "bandwidth": Metric("B/s", "higher")},
        point_samples=_with_bandwidth,
    ),
    _function(
        "mpi.bandwidth",
        title="MPI bandwidth",
        summary="a window of messages from the first to the last rank",
        source="osu_bw, IMB Uniband",
        params=WindowParams,
        smallest_bytes=1,
        metrics=rate_metrics(),
        point_samples=rate_samples,
    ),
    _function(
        "mpi.bibandwidth",
        title="MPI bidirectional bandwidth",
        summary="windows of messages both ways between the first and the last rank",
        source="osu_bibw, IMB Biband",
        smallest_bytes=1,
        metrics=rate_metrics(),
        point_samples=rate_samples,
    ),
    _function(
        "mpi.multi_pair",
        title="MPI bandwidth of all pairs",
        summary="bandwidth and message rate of all pairs of ranks together",
        source="osu_mbw_mr",
        smallest_bytes=1,
        metrics={**rate_metrics(), **rate_metrics("message_rate", "op/s")},
        point_samples=_of_pairs,
    ),
    _function(
        "mpi.sendrecv",
        title="MPI_Sendrecv",
        summary="MPI_Sendrecv around a ring: to the right, from the left",
        source="IMB Sendrecv",
        metrics=_TIME_AND_RATE,
        point_samples=_with_rate,
    ),
    _function(
        "mpi.exchange",
        title="MPI neighbour exchange",
        summary="boundary exchange with both neighbours in a ring",
        source="IMB Exchange",
        metrics=_TIME_AND_RATE,
        point_samples=_with_rate,
    ),
    _function(
        # In the random order neighbours are anywhere: almost every message leaves its node.
        "mpi.ring",
        title="the MPI ring",
        summary="HPC Challenge's natural or random order ring: latency and bandwidth",
        source="HPCC natural and random order ring",
        params=RingParams,
        benchmark="ring_{order}",
        smallest_bytes=1,
        metrics=_TIME_AND_RATE,
        point_samples=_with_rate,
    ),
    _function(
        "mpi.overhead",
        title="MPI overhead of a message",
        summary="processor time of a message at sender and receiver (LogP)",
        source="Culler et al. 1993",
        smallest_bytes=1,
        metrics={"send": _TIME, "receive": _TIME},
        point_samples=_of_ends,
    ),
    _function(
        "mpi.overlap",
        title="non-blocking communication during computation",
        summary="computation hidden behind non-blocking communication",
        source="osu_iallreduce and its kin",
        params=OverlapParams,
        benchmark="overlap_{operation}",
        smallest_bytes=8,
        metrics={
            "latency": _TIME,
            "latency_alone": _TIME,
            "computation": Metric("s", "none"),
            "overlap": Metric("1", "higher"),
        },
        point_samples=_of_overlap,
    ),
    *(
        _function(
            each.probe,
            title=each.function,
            summary=each.summary,
            source=f"osu_{each.name}, IMB {each.imb}",
            collective=True,
            smallest_bytes=each.smallest_bytes,
        )
        for each in SIZED
    ),
    _sizeless(
        "mpi.barrier",
        title="MPI_Barrier",
        summary=COLLECTIVES["barrier"].summary,
        source="osu_barrier, IMB Barrier",
        collective=True,
    ),
    _sizeless(
        "mpi.init",
        title="MPI_Init",
        summary="MPI_Init: time of the slowest rank and the mean over ranks",
        source="osu_init",
        params=InitParams,
        min_ranks=1,
        metrics=_times("time_rank_mean"),
        point_samples=_of_init,
    ),
    _sizeless(
        "mpi.first_message",
        title="the first message between two ranks",
        summary="the first message between two ranks, which connects them",
        source="bareline",
        params=InitParams,
        metrics=_times("time_next"),
        point_samples=_of_first_message,
    ),
    _sizeless(
        "mpi.beside_compute",
        title="computing between messages",
        summary="cost of the network for the processor: code after messages and after itself",
        source="bareline",
        metrics={
            "ratio": Metric("1", "lower"),
            **{name: Metric("s", "lower", detail=True) for name in ("between", "alone")},
            **{name: Metric("s", "lower") for name in ("allreduce", "allreduce_cold")},
        },
        point_samples=_of_beside,
    ),
)
