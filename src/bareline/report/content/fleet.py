"""The results of a survey of a fleet, in words and rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Literal

import numpy as np
from typing_extensions import TypedDict

from bareline.analysis.judgements.survey import DeviatingUnit, NodeMap, Survey, server_node
from bareline.analysis.numbers.fleet import FleetMetric, NodeFleet
from bareline.analysis.numbers.row import bounds, with_interval
from bareline.report.content.wording import metric_name
from bareline.vocabulary.nodeset import fold, nodes_text
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import count, plain

_WHAT: Mapping[tuple[str, str], str] = {
    ("compute.each_node", "node_rate"): "arithmetic",
    ("memory.each_node", "node_bandwidth"): "memory bandwidth",
    ("mpi.each_pair", "pair_latency"): "latency",
    ("mpi.each_pair", "pair_bandwidth"): "bandwidth between nodes",
}
#: How many links are named before the rest is only counted.
_MOST_LINKS = 20


def measure_words(one: FleetMetric) -> str:
    """Name the measured quantity of each node or pair."""
    known = _WHAT.get((one.probe, one.metric)) or f"{one.probe} {metric_name(one.metric)}"
    return f"{known} ({one.params})" if one.params else known


def unit_words(one: DeviatingUnit) -> str:
    """Name a unit: a node, a link, a switch."""
    if one.kind == "link":
        return f"link {' - '.join(one.names)}"
    if one.kind == "uplink":
        return f"links that leave switch {one.names[0]}"
    return f"{one.kind} {one.names[0]}"


def deviation_words(one: DeviatingUnit, fleet: NodeFleet) -> str:
    """Describe a unit's deviation: ``node n17: memory bandwidth 1.31 times lower [1.27, 1.35]``."""
    word = "lower" if one.measured.better == "higher" else "higher"
    own = fleet.switches.get(one.names[0], ()) if one.kind == "switch" else ()
    whose = f" ({nodes_text(own)})" if own else ""
    ratio = with_interval(one.ratio, f"times {word}", plain)
    return f"{unit_words(one)}{whose}: {measure_words(one.measured)} {ratio}, n = {one.n}"


def survey_lines(found: Survey) -> Iterator[str]:
    """Describe the survey of a fleet in lines: its nodes, those left out, and the deviations."""
    fleet = found.fleet
    low, high = found.launches
    launches = f"{low} launches" if low == high else f"{low} to {high} launches"
    switches = f" on {count(len(fleet.switches), 'switch', 'switches')}" if fleet.switches else ""
    yield f"{count(len(fleet.nodes), 'node')} of {fleet.platform}{switches}, {launches}"
    if fleet.excluded:
        yield f"left out: {fleet.excluded}"
    links = 0
    for one in found.deviating:
        links += one.kind == "link"
        if one.kind != "link" or links <= _MOST_LINKS:
            yield deviation_words(one, fleet)
    if links > _MOST_LINKS:
        yield f"and {links - _MOST_LINKS} more links"
    if not found.deviating and low:
        yield "nothing deviates certainly"


def method_words(found: Survey) -> str:
    """Describe how certain the list is."""
    return (
        f"{found.tests:,} nodes, links and switches were judged; the chance that any healthy one "
        "is named is at most 5 %, and intervals hold for all of them at once"
    )


def server_words(found: Survey) -> str:
    """Name the node for a file server; empty where links were not measured."""
    server = server_node(found)
    if server is None:
        return ""
    if not server.is_better:
        return "for a file server any healthy node will do: no node's links are certainly better"
    ratio = with_interval(server.ratio.inverse(), "times higher", plain)
    return f"for a file server: node {server.name}, bandwidth between nodes {ratio}"


def remedy(found: Survey) -> str:
    """Describe how the nodes that deviate are left out; empty where none does."""
    if not found.bad_nodes:
        return ""
    already = f"{found.fleet.excluded}," if found.fleet.excluded else ""
    listed = f"{already}{fold(found.bad_nodes)}"
    return f'to leave them out, add to [platform.{found.fleet.platform}]: exclude = "{listed}"'


class Deviation(TypedDict):
    """``nodes``: a node, link or switch held against the others of its cluster."""

    platform: str
    kind: Literal["node", "link", "uplink", "switch"]
    name: str
    peer: str | None
    probe: str
    metric: str
    params: str
    ratio: float | None
    lo: float | None
    hi: float | None
    p: float | None
    n: int
    deviates: bool


def deviating_rows(found: Survey) -> list[Deviation]:
    """Return the deviations as tidy rows."""
    return [
        row_of(Deviation, one.measured, platform=found.fleet.platform, kind=one.kind,
               name=one.names[0], peer=one.names[1] if len(one.names) > 1 else None, p=one.p,
               n=one.n, deviates=True, **bounds(one.ratio))
        for one in found.deviating
    ]  # fmt: skip


def node_rows(found: Survey) -> list[Deviation]:
    """Return the ratio of every node to its cluster by each metric, whatever the cause."""

    def number(value: float) -> float | None:
        return None if math.isnan(value) else float(value)

    return [
        row_of(Deviation, one.measured, platform=found.fleet.platform, kind="node", name=name,
               peer=None, ratio=number(one.ratios[at]), lo=number(one.lo[at]),
               hi=number(one.hi[at]), p=None, n=int(one.n[at]),
               deviates=deviates(found, one, name))
        for one in found.maps
        for at, name in enumerate(found.fleet.nodes)
    ]  # fmt: skip


def deviates(found: Survey, one: NodeMap, name: str) -> bool:
    """Return whether a node itself deviates by a metric."""
    about = [d for d in found.deviating if (d.kind, d.names) == ("node", (name,))]
    return any(deviating.measured is one.measured for deviating in about)


def rows_of_nodes(fleet: NodeFleet, most: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return a row for each switch, or for `most` nodes each: its name and its nodes' indices."""
    laid: list[tuple[str, tuple[int, ...]]] = []
    for at, name in [*enumerate(fleet.switches), (-1, "")]:
        own = [int(node) for node in np.flatnonzero(fleet.groups == at)]
        for begin in range(0, len(own), most):
            part = tuple(own[begin : begin + most])
            listed = nodes_text([fleet.nodes[node] for node in part], 3)
            laid.append((f"{name}: {listed}" if name else listed, part))
    return laid
