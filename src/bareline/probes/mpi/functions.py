"""The functions of MPI that mpibench measures by message size, a row of a table each.

What each point of an output means, and the parameters that some functions have besides, stand
above the table. OSU's and IMB's counterparts are in the rows.

References
----------
D. Culler et al., "LogP: towards a realistic model of parallel computation", PPoPP 1993,
doi:10.1145/155332.155333.
P. Luszczek et al., "The HPC Challenge (HPCC) Benchmark Suite", SC'06, doi:10.1145/1188455.1188677.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, positive
from bareline.probes.base import declared
from bareline.probes.mpi._mpibench import (
    MpiFunction,
    MpiParams,
    latency_metrics,
    latency_samples,
    rate_metrics,
    rate_samples,
)
from bareline.vocabulary.collectives import SIZED
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Metric, Sample


@dataclass(frozen=True, slots=True)
class WindowParams(MpiParams):
    """Parameters of a window of messages by size.

    - `window`: messages in flight; 0 leaves the program's choice, 64. OSU's ``-W``.
    """

    window: Annotated[int, Field(ge=0, le=65536)] = 0

    def options(self, smallest: int = 0) -> tuple[str, ...]:
        """Add the window to the options of any function."""
        # Without super(): a dataclass with slots is made anew, and its methods know the old one.
        chosen = MpiParams.options(self, smallest)
        return (*chosen, "-W", str(self.window)) if self.window else chosen


@dataclass(frozen=True, slots=True)
class RingParams(MpiParams):
    """Parameters of a ring.

    - `order`: "natural" or "random" (several seeded orders).
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

    - `operation`: "p2p" is MPI_Isend and MPI_Irecv between all pairs; the others are collectives.
    """

    operation: Operation = "iallreduce"


def _with_bandwidth(point: MeasuredPoint) -> Iterable[Sample]:
    """Add the bandwidth of a ping-pong: message size over latency."""
    yield from latency_samples(point)
    size_bytes = point.at.get("size_bytes")
    if not isinstance(size_bytes, int):
        raise ParseError(f"the point {dict(point.at)} has no message size")
    if size_bytes:
        yield Sample("bandwidth", size_bytes / point.quantile("time", "median"), point.at)


def _with_rate(point: MeasuredPoint) -> Iterable[Sample]:
    """Add the bandwidth of messages that are not empty: what a rank sends and receives."""
    yield from latency_samples(point)
    if point.at.get("size_bytes"):
        yield from rate_samples(point)


def _of_pairs(point: MeasuredPoint) -> Iterable[Sample]:
    yield from rate_samples(point)
    yield from rate_samples(point, "message_rate", "message_rate")


def _of_ends(point: MeasuredPoint) -> Iterable[Sample]:
    """Give what a message costs each end itself.

    ``send`` is the time of ``MPI_Send`` while nothing else is under way, ``receive`` that of
    ``MPI_Recv`` of a message that has arrived; the rest of the latency is its way. ``send`` of a
    message that waits for its receiver (rendezvous) includes that waiting, and means nothing.
    """
    for metric in ("send", "receive"):
        yield Sample(metric, positive(point.quantile(metric, "median"), metric, point), point.at)


def _of_overlap(point: MeasuredPoint) -> Iterable[Sample]:
    """Give the time of both together, each alone, and the share of communication that vanishes."""
    for metric, series in (
        ("latency", "time"),
        ("latency_alone", "time_communication"),
        ("computation", "time_computation"),
    ):
        yield Sample(metric, positive(point.quantile(series, "median"), metric, point), point.at)
    yield Sample("overlap", point.number("overlap"), point.at)


_TIME = Metric("s", "lower")
_TIME_AND_RATE = {**latency_metrics(), **rate_metrics()}

PROBES = (
    declared(
        MpiFunction,
        "mpi.pingpong",
        title="MPI ping-pong",
        summary="ping-pong of two ranks: latency and bandwidth by message size",
        source="osu_latency, IMB PingPong",
        metrics={**latency_metrics(), "bandwidth": Metric("B/s", "higher")},
        point_samples=_with_bandwidth,
    ),
    declared(
        MpiFunction,
        "mpi.bandwidth",
        title="MPI bandwidth",
        summary="a window of messages from the first to the last rank",
        source="osu_bw, IMB Uniband",
        params=WindowParams,
        smallest_bytes=1,
        metrics=rate_metrics(),
        point_samples=rate_samples,
    ),
    declared(
        MpiFunction,
        "mpi.bibandwidth",
        title="MPI bidirectional bandwidth",
        summary="windows of messages both ways between the first and the last rank",
        source="osu_bibw, IMB Biband",
        smallest_bytes=1,
        metrics=rate_metrics(),
        point_samples=rate_samples,
    ),
    declared(
        MpiFunction,
        "mpi.multi_pair",
        title="MPI bandwidth of all pairs",
        summary="bandwidth and message rate of all pairs of ranks together",
        source="osu_mbw_mr",
        smallest_bytes=1,
        metrics={**rate_metrics(), **rate_metrics("message_rate", "op/s")},
        point_samples=_of_pairs,
    ),
    declared(
        MpiFunction,
        "mpi.sendrecv",
        title="MPI_Sendrecv",
        summary="MPI_Sendrecv around a ring: to the right, from the left",
        source="IMB Sendrecv",
        metrics=_TIME_AND_RATE,
        point_samples=_with_rate,
    ),
    declared(
        MpiFunction,
        "mpi.exchange",
        title="MPI neighbour exchange",
        summary="boundary exchange with both neighbours in a ring",
        source="IMB Exchange",
        metrics=_TIME_AND_RATE,
        point_samples=_with_rate,
    ),
    declared(
        # In the random order neighbours are anywhere: almost every message leaves its node.
        MpiFunction,
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
    declared(
        MpiFunction,
        "mpi.overhead",
        title="MPI overhead of a message",
        summary="what a message costs sender and receiver themselves (LogP)",
        source="Culler et al. 1993",
        smallest_bytes=1,
        metrics={"send": _TIME, "receive": _TIME},
        point_samples=_of_ends,
    ),
    declared(
        MpiFunction,
        "mpi.overlap",
        title="non-blocking communication beside computation",
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
        declared(
            MpiFunction,
            each.probe,
            title=each.function,
            summary=each.summary,
            source=f"osu_{each.name}, IMB {each.imb}",
            collective=True,
            smallest_bytes=each.smallest_bytes,
        )
        for each in SIZED
    ),
)
