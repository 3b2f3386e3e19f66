"""Find the nodes, links and switches of a fleet that are certainly worse than the rest.

A loss common to a switch is attributed to the switch, a loss common to a node to the node: switches
are judged first, then nodes by the remaining losses, then links. Each is judged once, and the
family of all of them has an error of 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bareline.analysis.numbers.fleet import FleetMetric, NodeFleet
from bareline.analysis.numbers.row import Estimate
from bareline.stats import ALPHA, holm
from bareline.stats.fleet import Deviations, deviations
from bareline.stats.stack import FloatArray, IntArray
from bareline.vocabulary.verdicts import MIN_LAUNCHES

Kind = Literal["switch", "uplink", "node", "link"]
_KINDS: tuple[Kind, ...] = get_args(Kind)

#: With fewer links of a node, or switches of an uplink, the cause of a slow one is ambiguous.
FEWEST_LINKS, FEWEST_SWITCHES = 3, 4
_PAIR_BANDWIDTH = "pair_bandwidth"
#: Links of healthy nodes differ by some per cent from the factory.
_HEALTHY_SPREAD = 1.05
#: Fewer units are too few to compare each of them with the rest.
_FEWEST_UNITS = 3


@dataclass(frozen=True, slots=True)
class DeviatingUnit:
    """A unit that is certainly worse than the rest.

    - `kind`: "switch": its nodes, or the links between them; "uplink": the links that leave it.
    - `names`: the switch, the node, or the two nodes of a link.
    - `ratio`: how many times worse, with an interval that is valid for the whole survey together.
    """

    kind: Kind
    names: tuple[str, ...]
    measured: FleetMetric
    ratio: Estimate
    p: float
    n: int


@dataclass(frozen=True, slots=True)
class NodeMap:
    """One metric over the fleet: how many times worse each node is; NaN where unknown."""

    measured: FleetMetric
    ratios: FloatArray
    lo: FloatArray
    hi: FloatArray
    n: IntArray
    fence: float


@dataclass(frozen=True, slots=True)
class Survey:
    """The results for a fleet: units that certainly deviate, switches first; maps of all nodes."""

    fleet: NodeFleet
    deviating: tuple[DeviatingUnit, ...]
    maps: tuple[NodeMap, ...]
    tests: int
    launches: tuple[int, int]

    @property
    def bad_nodes(self) -> tuple[str, ...]:
        """Nodes that deviate themselves, in the fleet's order."""
        found = {one.names[0] for one in self.deviating if one.kind == "node"}
        return tuple(name for name in self.fleet.nodes if name in found)


@dataclass(frozen=True, slots=True)
class ServerNode:
    """The node with the best links, suited to serve files that all nodes read.

    - `ratio`: how many times worse its links are than other links; below 1 they are better.
    """

    name: str
    ratio: Estimate

    @property
    def is_better(self) -> bool:
        """Whether its links are certainly better than usual, by more than healthy links differ."""
        return self.ratio.hi is not None and self.ratio.hi * _HEALTHY_SPREAD < 1


def server_node(found: Survey) -> ServerNode | None:
    """Return the node with the best bandwidth between nodes; None where no pairs were measured.

    A node that deviates, or whose switch does, is not proposed.
    """
    maps = [one for one in found.maps if one.measured.metric == _PAIR_BANDWIDTH]
    if not maps:
        return None
    links = maps[0]
    slow_switches = {one.names[0] for one in found.deviating if one.kind in ("switch", "uplink")}
    slow = {name for switch in slow_switches for name in found.fleet.switches.get(switch, ())}
    slow |= set(found.bad_nodes)
    healthy = [
        at
        for at, name in enumerate(found.fleet.nodes)
        if name not in slow and math.isfinite(links.ratios[at])
    ]
    if not healthy:
        return None
    best = min(healthy, key=lambda at: float(links.ratios[at]))
    ends = (float(each[best]) for each in (links.ratios, links.lo, links.hi))
    return ServerNode(found.fleet.nodes[best], Estimate(*ends))


#: Units of one kind that were judged by one metric: kind, names, metric and deviations.
_Judged = tuple[Kind, Sequence[tuple[str, ...]], FleetMetric, Deviations]


class _Judge:
    def __init__(self, fleet: NodeFleet, margin: float) -> None:
        self.fleet = fleet
        self.groups = fleet.groups
        self.names, self.switches = [(n,) for n in fleet.nodes], [(n,) for n in fleet.switches]
        self.margin = math.log1p(margin)
        # The number of tests of all metrics must be known before the first test.
        nodes, switches = len(fleet.nodes), len(fleet.switches)
        self.tests = sum(
            len(one.units) + (nodes + 2 * switches if one.of_pairs else switches)
            for one in fleet.measured
        )
        self.judged: list[_Judged] = []
        self.maps: list[NodeMap] = []

    def units(
        self,
        kind: Kind,
        names: Sequence[tuple[str, ...]],
        measured: FleetMetric,
        values: FloatArray,
    ) -> list[int]:
        """Judge units by a row of values each; return those that deviate whatever else does."""
        known = np.flatnonzero((~np.isnan(values)).sum(axis=1) >= MIN_LAUNCHES)
        if len(known) < (2 if kind == "switch" else _FEWEST_UNITS):
            return []
        found = deviations(values[known], margin=self.margin, alpha=ALPHA, tests=self.tests)
        self.judged.append((kind, [names[int(at)] for at in known], measured, found))
        return [int(at) for at in known[found.p <= ALPHA / self.tests]]

    def nodes(self, one: FleetMetric) -> None:
        values = np.full((len(self.names), one.values.shape[1]), np.nan)
        values[one.ends[:, 0]] = one.values
        self.map(one, values)
        own = [self.groups == at for at in range(len(self.switches))]
        common = [_median(values[rows]) for rows in own]
        slow = self.units("switch", self.switches, one, np.stack(common)) if own else []
        # The common loss of the nodes of a slow switch is the switch's.
        usual = _median(values[~np.isin(self.groups, slow)])
        for at in slow:
            values[own[at]] += usual - common[at]
        self.units("node", self.names, one, values)

    def links(self, one: FleetMetric) -> None:
        ends = self.groups[one.ends]
        within = (ends[:, 0] == ends[:, 1]) | (ends < 0).any(axis=1)
        values = one.values.copy()
        for kind in (within, ~within):  # a way through more switches is not a fault
            values[kind] -= _median(values[kind])
        count = len(self.switches)
        inside = [np.flatnonzero(within & (ends[:, 0] == at)) for at in range(count)]
        leaving = [np.flatnonzero(~within & (ends == at).any(axis=1)) for at in range(count)]
        self.map(one, self._of_ends(one, values))
        taken = np.zeros_like(values)
        ways: list[tuple[Kind, list[IntArray]]] = []
        ways += [("switch", inside)] if count > 1 else []
        ways += [("uplink", leaving)] if count >= FEWEST_SWITCHES else []
        for kind, rows in ways:
            common = np.stack([_median(values[own]) for own in rows])
            for at in self.units(kind, self.switches, one, common):
                # Of two slow switches that a link joins, the slower one explains it.
                taken[rows[at]] = np.fmax(taken[rows[at]], common[at])
        values -= taken
        of_nodes = self._of_ends(one, values)
        for at in self.units("node", self.names, one, of_nodes):
            own = (one.ends == at).any(axis=1)
            values[own] -= of_nodes[at]
        self.units("link", one.units, one, values)

    def map(self, one: FleetMetric, values: FloatArray) -> None:
        if len(values) < 2:
            return
        found = deviations(values, margin=self.margin, alpha=ALPHA, tests=self.tests)
        n = found.n.astype(np.int64)
        ends = (np.exp(found.shift), np.exp(found.lo), np.exp(found.hi))
        self.maps.append(NodeMap(one, *ends, n, math.exp(found.fence)))

    def _of_ends(self, one: FleetMetric, values: FloatArray) -> FloatArray:
        found = np.full((len(self.names), values.shape[1]), np.nan)
        rows = np.concatenate([np.arange(len(values))] * 2)
        ends = one.ends.T.ravel()
        order = np.argsort(ends, kind="stable")
        starts = np.searchsorted(ends[order], np.arange(len(found) + 1))
        for node in range(len(found)):
            own = rows[order[starts[node] : starts[node + 1]]]
            if len(own) >= FEWEST_LINKS:
                found[node] = _median(values[own])
        return found


def survey(fleet: NodeFleet, margin: float) -> Survey:
    """Judge a fleet."""
    judge = _Judge(fleet, margin)
    for one in fleet.measured:
        (judge.links if one.of_pairs else judge.nodes)(one)
    launches = [one.values.shape[1] for one in fleet.measured]
    deviating = _certain(judge.judged)
    return Survey(fleet, deviating, tuple(judge.maps), judge.tests, (min(launches), max(launches)))


def _certain(judged: Sequence[_Judged]) -> tuple[DeviatingUnit, ...]:
    adjusted = iter(holm(np.concatenate([np.zeros(0), *(found.p for *_, found in judged)])))
    certain = []
    for kind, names, measured, found in judged:
        for at, name in enumerate(names):
            p = float(next(adjusted))
            if p <= ALPHA:
                ends = (math.exp(each[at]) for each in (found.shift, found.lo, found.hi))
                n = int(found.n[at])
                certain.append(DeviatingUnit(kind, name, measured, Estimate(*ends), p, n))
    return tuple(sorted(certain, key=lambda one: (_KINDS.index(one.kind), -one.ratio.value)))


def _median(rows: FloatArray) -> FloatArray:
    found = np.full(rows.shape[1], np.nan)
    known = ~np.isnan(rows).all(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=bool)
    if known.any():
        found[known] = np.nanmedian(rows[:, known], axis=0)
    return found
