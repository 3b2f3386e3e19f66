"""The probes of ``fleetbench``, which tests all nodes of a fleet in one job for bad nodes.

All nodes compute and stream memory at the same time. Then pairs of nodes exchange messages in
rounds, as in a round robin tournament: all pairs, or a sample. In a round, all pairs send short
messages at the same time. Long messages are sent by one pair after the other, because pairs on the
same switch would disturb each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from bareline.probes._native import MeasuredPoint, Report, native, options, read_report
from bareline.probes.base import Probe, ProbeReading, declared
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample
from bareline.vocabulary.nodeset import unfold

#: Options with which the program repeats the names of the nodes in its output.
NAMES = ("--names", "{nodes}")


def read_fleet(output: Output, benchmark: str) -> tuple[Report, tuple[str, ...]]:
    """Return the content of a complete output, and the name of each rank's node.

    Raises ParseError: the output is incomplete or invalid, or it does not name the nodes.
    """
    report = read_report(output, "fleetbench", benchmark)
    hosts = report.header.get("hosts")
    if not isinstance(hosts, list) or len(hosts) != report.header.get("ranks"):
        raise ParseError("the output's header does not name one host for each rank")
    names = report.header.get("names")
    if not isinstance(names, str):  # empty where none were given; absent only in a damaged header
        raise ParseError("the output's header does not contain the names of the nodes")
    try:
        given = unfold(names) if names else []
    except ValueError as error:
        raise ParseError(
            f"the names in the output's header are not a list of nodes: {error}"
        ) from error
    return report, _names(given, [str(host) for host in hosts])


def _names(given: list[str], hosts: list[str]) -> tuple[str, ...]:
    """Return the platform's node names in the order of the ranks.

    - `given`: the platform's node names in any order.
    - `hosts`: the host name of each rank. If the node names are the host names, the host names
      show the order.
    """
    short = [host.partition(".")[0] for host in hosts]
    by_host = {name.partition(".")[0]: name for name in given}
    if len(given) != len(hosts):
        given = [f"rank{number}" for number in range(len(hosts))]
    elif len(by_host) == len(given) and set(by_host) == set(short):
        given = [by_host[host] for host in short]
    return tuple(given)


def node_of(point: MeasuredPoint, key: str, names: tuple[str, ...]) -> str:
    """Return the name of the node on which the rank of a point runs.

    - `key`: the name of the coordinate whose value is the rank.

    Raises ParseError: the job has no such rank.
    """
    rank = point.coordinates.get(key)
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < len(names):
        raise ParseError(f"the point {dict(point.coordinates)} has a rank that is not in the job")
    return names[rank]


@dataclass(frozen=True, slots=True)
class NodeParams:
    """Parameters of the computation on every node.

    - `duration_s`: time for which all cores of a node compute. It should be long enough to reach
      limits of power or heat.
    """

    duration_s: Annotated[float, Field(gt=0, le=600)] = 0.5


@dataclass(frozen=True, slots=True)
class NodeMemoryParams(NodeParams):
    """Parameters of the memory streams of every node.

    - `duration_s`: time for which all cores of a node stream.
    - `array_bytes`: size of each of a node's three arrays, which together should be much larger
      than its caches.
    """

    array_bytes: Annotated[int, Field(ge=1 << 16, le=1 << 40)] = 128 << 20


class EachNode(Probe[Any]):
    """The probe of sustained work on all cores of every node."""

    benchmark: ClassVar[str]

    def command(self, params: Any, layout: Layout) -> Command:
        words = options(params, "duration_s")
        if isinstance(params, NodeMemoryParams):
            words += ("--array-bytes", str(params.array_bytes))
        return native("fleetbench", self.benchmark, *words, *NAMES, mpi=True)

    def parse(self, params: Any, output: Output) -> ProbeReading:
        report, names = read_fleet(output, self.benchmark)
        rates = {node_of(point, "rank", names): point.positive("rate") for point in report.points}
        metric = f"node_{self.headline}"
        each_node = (Sample(metric, rate, {"node": name}) for name, rate in rates.items())
        return ProbeReading((Sample(self.headline, median(rates.values())), *each_node))


@dataclass(frozen=True, slots=True)
class PairParams:
    """Parameters of the measurement between pairs of nodes.

    - `pairs`: "all" pairs; "sampled", the pairs whose numbers differ by a power of two, in 2 log2 N
      rounds for N nodes; or "auto", which is "all" for up to 32 nodes and "sampled" for more nodes.
    - `together`: whether the pairs of a round also send long messages at the same time, which shows
      the loss of a switch under load.
    - `size_bytes`: size of a long message, which both ends send at the same time.
    - `repeats`: number of long messages that each pair sends; their median counts.
    - `iterations`: number of round trips of short messages in each pair; their median counts.
    """

    pairs: Literal["auto", "all", "sampled"] = "auto"
    together: bool = False
    size_bytes: Annotated[int, Field(ge=1, le=1 << 30)] = 1 << 20
    repeats: Annotated[int, Field(ge=1, le=100_000)] = 8
    iterations: Annotated[int, Field(ge=1, le=1_000_000)] = 100


class EachPair(Probe[PairParams]):
    """The probe of 8-byte latency, and of bandwidth per direction, between a fleet's nodes."""

    name: ClassVar[str] = "mpi.each_pair"
    layer: ClassVar[Layer] = Layer.MPI
    title: ClassVar[str] = "the latency of a fleet's median link"
    summary: ClassVar[str] = "Latency and bandwidth of the links between a fleet's nodes"
    params = PairParams
    min_ranks: ClassVar[int] = 2
    metrics: ClassVar[Mapping[str, Metric]] = {
        "latency": Metric("s", "lower"),
        "bandwidth": Metric("B/s", "higher"),
        "pair_latency": Metric("s", "lower", detail=True),
        "pair_bandwidth": Metric("B/s", "higher", detail=True),
    }

    def command(self, params: PairParams, layout: Layout) -> Command:
        words = options(params, "pairs", "size_bytes", "repeats", "iterations")
        together = ("--together",) if params.together else ()
        return native("fleetbench", "pairs", *words, *together, *NAMES, mpi=True)

    def parse(self, params: PairParams, output: Output) -> ProbeReading:
        report, names = read_fleet(output, "pairs")
        samples: list[Sample] = []
        for metric in ("latency", "bandwidth"):
            values = [point.positive(metric) for point in report.points]
            samples.append(Sample(metric, median(values)))
            for point, value in zip(report.points, values, strict=True):
                ends = {"node": node_of(point, "a", names), "peer": node_of(point, "b", names)}
                samples.append(Sample(f"pair_{metric}", value, ends))
        return ProbeReading(tuple(samples))


PROBES = (
    declared(
        EachNode,
        "compute.each_node",
        layer=Layer.COMPUTE,
        title="the sustained arithmetic of a fleet's median node",
        summary="Sustained arithmetic of every node of a fleet, all at once",
        params=NodeParams,
        benchmark="processor",
        metrics={
            "rate": Metric("flop/s", "higher"),
            "node_rate": Metric("flop/s", "higher", detail=True),
        },
    ),
    declared(
        EachNode,
        "memory.each_node",
        layer=Layer.MEMORY,
        title="the memory bandwidth of a fleet's median node",
        summary="Memory bandwidth of every node of a fleet, all at once",
        params=NodeMemoryParams,
        benchmark="memory",
        metrics={
            "bandwidth": Metric("B/s", "higher"),
            "node_bandwidth": Metric("B/s", "higher", detail=True),
        },
    ),
    EachPair(),
)
