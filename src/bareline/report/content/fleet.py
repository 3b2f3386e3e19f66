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

_QUANTITIES: Mapping[tuple[str, str], str] = {
    ("compute.each_node", "node_rate"): "arithmetic",
    ("memory.each_node", "node_bandwidth"): "memory bandwidth",
    ("mpi.each_pair", "pair_latency"): "latency",
    ("mpi.each_pair", "pair_bandwidth"): "bandwidth between nodes",
}
#: The largest number of links that are named; further links are counted.
_MOST_LINKS = 20


def measure_words(measured: FleetMetric) -> str:
    """Name the quantity that was measured on each node or pair of nodes."""
    name = f"{measured.probe} {metric_name(measured.metric)}"
    quantity = _QUANTITIES.get((measured.probe, measured.metric)) or name
    return f"{quantity} ({measured.params})" if measured.params else quantity


def unit_words(unit: DeviatingUnit) -> str:
    """Name a unit of the fleet: a node, a link or a switch."""
    if unit.kind == "link":
        return f"link {' - '.join(unit.names)}"
    if unit.kind == "uplink":
        return f"links that leave switch {unit.names[0]}"
    return f"{unit.kind} {unit.names[0]}"


def deviation_words(unit: DeviatingUnit, fleet: NodeFleet) -> str:
    """Describe a unit's deviation: ``node n17: memory bandwidth 1.31 times lower [1.27, 1.35]``."""
    name = unit_words(unit)
    if unit.kind == "switch":
        nodes = fleet.switches.get(unit.names[0], ())
        if nodes:
            name += f" ({nodes_text(nodes)})"
    word = "lower" if unit.measured.better == "higher" else "higher"
    ratio = with_interval(unit.ratio, f"times {word}", plain)
    return f"{name}: {measure_words(unit.measured)} {ratio}, n = {unit.n}"


def survey_lines(survey: Survey) -> Iterator[str]:
    """Yield the lines that describe a survey: its nodes, the nodes left out, and the deviations."""
    fleet = survey.fleet
    low, high = survey.launches
    launches = f"{low} launches" if low == high else f"{low} to {high} launches"
    nodes = f"{count(len(fleet.nodes), 'node')} of {fleet.platform}"
    if fleet.switches:
        nodes += f" on {count(len(fleet.switches), 'switch', 'switches')}"
    yield f"{nodes}, {launches}"
    if fleet.excluded:
        yield f"left out: {fleet.excluded}"
    links = 0
    for unit in survey.deviating:
        links += unit.kind == "link"
        if unit.kind != "link" or links <= _MOST_LINKS:
            yield deviation_words(unit, fleet)
    if links > _MOST_LINKS:
        yield f"and {links - _MOST_LINKS} more links"
    if not survey.deviating and low:
        yield "nothing deviates certainly"


def method_words(survey: Survey) -> str:
    """Describe the chance that the list of deviations contains a healthy node, link or switch."""
    return (
        f"{survey.tests:,} nodes, links and switches were judged; the chance that any healthy one "
        "is named is at most 5 %, and the intervals are valid for all of them at once"
    )


def server_words(survey: Survey) -> str:
    """Name the best node for a file server; empty if no links were measured."""
    server = server_node(survey)
    if server is None:
        return ""
    if not server.is_better:
        return "for a file server any healthy node will do: no node's links are certainly better"
    ratio = with_interval(server.ratio.inverse(), "times higher", plain)
    return f"for a file server: node {server.name}, bandwidth between nodes {ratio}"


def remedy(survey: Survey) -> str:
    """Describe how to leave out the nodes that deviate; empty if none deviates."""
    if not survey.bad_nodes:
        return ""
    excluded = fold(survey.bad_nodes)
    if survey.fleet.excluded:
        excluded = f"{survey.fleet.excluded},{excluded}"
    return f'to leave them out, add to [platform.{survey.fleet.platform}]: exclude = "{excluded}"'


class Deviation(TypedDict):
    """A row of ``nodes``: a node, link or switch compared with the rest of its cluster."""

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


def deviating_rows(survey: Survey) -> list[Deviation]:
    """Return the nodes, links and switches that deviate, as tidy rows."""
    rows: list[Deviation] = []
    for unit in survey.deviating:
        peer = unit.names[1] if len(unit.names) > 1 else None
        row = row_of(
            Deviation,
            unit.measured,
            platform=survey.fleet.platform,
            kind=unit.kind,
            name=unit.names[0],
            peer=peer,
            p=unit.p,
            n=unit.n,
            deviates=True,
            **bounds(unit.ratio),
        )
        rows.append(row)
    return rows


def node_rows(survey: Survey) -> list[Deviation]:
    """Return for each metric the ratio of every node to its cluster, whether or not it deviates."""
    rows: list[Deviation] = []
    for node_map in survey.maps:
        for place, name in enumerate(survey.fleet.nodes):
            row = row_of(
                Deviation,
                node_map.measured,
                platform=survey.fleet.platform,
                kind="node",
                name=name,
                peer=None,
                ratio=_number(node_map.ratios[place]),
                lo=_number(node_map.lo[place]),
                hi=_number(node_map.hi[place]),
                p=None,
                n=int(node_map.n[place]),
                deviates=deviates(survey, node_map, name),
            )
            rows.append(row)
    return rows


def _number(value: float) -> float | None:
    """Return a number as a Python float; None if it is not a number."""
    return None if math.isnan(value) else float(value)


def deviates(survey: Survey, node_map: NodeMap, name: str) -> bool:
    """Whether the node itself (not its links or switch) deviates by the metric of `node_map`."""
    for unit in survey.deviating:
        is_node = unit.kind == "node" and unit.names == (name,)
        if is_node and unit.measured is node_map.measured:
            return True
    return False


def rows_of_nodes(fleet: NodeFleet, most: int) -> list[tuple[str, tuple[int, ...]]]:
    """Return the name and the indices of the nodes of each row of the map.

    A row has at most `most` nodes of one switch, or nodes without a known switch.
    """
    rows: list[tuple[str, tuple[int, ...]]] = []
    for switch, name in [*enumerate(fleet.switches), (-1, "")]:
        nodes = [int(node) for node in np.flatnonzero(fleet.groups == switch)]
        for begin in range(0, len(nodes), most):
            part = tuple(nodes[begin : begin + most])
            title = nodes_text([fleet.nodes[node] for node in part], 3)
            if name:
                title = f"{name}: {title}"
            rows.append((title, part))
    return rows
