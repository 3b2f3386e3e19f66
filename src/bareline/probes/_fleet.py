"""Read ``fleetbench``, our program for all nodes of a fleet in one job."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from bareline.probes._native import Point, Report, positive, read_report
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Output, Sample
from bareline.vocabulary.nodeset import unfold

#: Words that have the names of the nodes repeated in the output.
NAMES = ("--names", "{nodes}")


def read_fleet(output: Output, benchmark: str) -> tuple[Report, tuple[str, ...]]:
    """Read a complete output and the name of each rank's node.

    Raises
    ------
    ParseError
        It is not what the program prints, or names do not fit the ranks.
    """
    report = read_report(output, "fleetbench", benchmark)
    hosts = report.header.get("hosts")
    if not isinstance(hosts, list) or len(hosts) != report.header.get("ranks"):
        raise ParseError("the header does not name a host for every rank")
    told = report.header.get("names")
    if not isinstance(told, str):  # empty where none were given; absent only in a damaged header
        raise ParseError("the header does not say which names the nodes have")
    try:
        given = unfold(told) if told else []
    except ValueError as error:
        raise ParseError(f"the header's names are no list of nodes: {error}") from error
    return report, _names(given, [str(host) for host in hosts])


def _names(given: list[str], hosts: list[str]) -> tuple[str, ...]:
    """Choose the names that the platform knows, in the order in which ranks were really laid.

    A launcher that lays ranks over nodes in another order than they were given shows by the names
    that the hosts have for themselves.
    """
    short = [host.partition(".")[0] for host in hosts]
    by_host = {name.partition(".")[0]: name for name in given}
    if len(given) != len(hosts):
        given = [f"rank{number}" for number in range(len(hosts))]
    elif len(by_host) == len(given) and set(by_host) == set(short):
        given = [by_host[host] for host in short]
    return tuple(given)


def node_of(point: Point, key: str, names: tuple[str, ...]) -> str:
    """Give the name of the node that a point names by its rank.

    Raises
    ------
    ParseError
        There is no such rank.
    """
    rank = point.at.get(key)
    if not isinstance(rank, int) or isinstance(rank, bool) or not 0 <= rank < len(names):
        raise ParseError(f"the point {dict(point.at)} is of no rank of the job")
    return names[rank]


def node_samples(output: Output, benchmark: str, metric: str) -> Iterable[Sample]:
    """Give the rate of the median node as `metric`, and of every node as ``node_metric``."""
    report, names = read_fleet(output, benchmark)
    rates = {
        node_of(point, "rank", names): positive(point.number("rate"), "rate", point)
        for point in report.points
    }
    yield Sample(metric, median(rates.values()))
    for name, rate in rates.items():
        yield Sample(f"node_{metric}", rate, {"node": name})
