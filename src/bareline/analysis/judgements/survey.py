"""Which nodes, links and switches of a fleet are certainly worse than the others.

What is common to a switch is said of the switch, what is common to a node of the node: switches
are judged first, then nodes against what is left, then links. Each is judged once, the family of
all of them at an error of 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bareline.analysis.numbers.cell import Estimate
from bareline.analysis.numbers.fleet import FleetMetric, NodeFleet
from bareline.stats import ALPHA, holm
from bareline.stats.fleet import Deviations, deviations
from bareline.stats.stack import FloatArray, IntArray
from bareline.vocabulary.verdicts import MIN_LAUNCHES

Kind = Literal["switch", "uplink", "node", "link"]

#: A node's links tell of the node when there are at least so many; an uplink needs so many
#: switches: with two or three nobody can say whose the slow one is.
FEWEST_LINKS, FEWEST_SWITCHES = 3, 4
#: Fewer units have no "others" to be held against.
_FEWEST_UNITS = 3


@dataclass(frozen=True, slots=True)
class DeviatingUnit:
    """A unit that is certainly worse than the others.

    - `kind`: "switch": its nodes, or the links between them; "uplink": the links that leave it.
    - `names`: the switch, the node, or the two nodes of a link.
    - `ratio`: how many times worse, with an interval that holds for the whole survey.
    """

    kind: Kind
    names: tuple[str, ...]
    measured: FleetMetric
    ratio: Estimate
    p: float
    n: int


@dataclass(frozen=True, slots=True)
class NodeMap:
    """One metric over the fleet: how many times worse each node is; NaN where nothing is known."""

    measured: FleetMetric
    ratios: FloatArray
    lo: FloatArray
    hi: FloatArray
    n: IntArray
    fence: float


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a fleet.

    - `deviating`: what is certainly worse, switches first, the worst first.
    """

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
class _Judged:
    """Units of one kind that were judged by one metric."""

    kind: Kind
    names: tuple[tuple[str, ...], ...]
    measured: FleetMetric
    found: Deviations


class _Judge:
    """Judges the units of a fleet, all at one error."""

    def __init__(self, fleet: NodeFleet, margin: float) -> None:
        self.fleet = fleet
        self.groups = fleet.groups
        self.names = tuple((name,) for name in fleet.nodes)
        self.margin = math.log1p(margin)
        self.tests = sum(_units_of(fleet, one) for one in fleet.measured)
        self.judged: list[_Judged] = []
        self.maps: list[NodeMap] = []

    def units(
        self,
        kind: Kind,
        names: Sequence[tuple[str, ...]],
        measured: FleetMetric,
        values: FloatArray,
    ) -> list[int]:
        """Judge units by a row of values each; give those that deviate whatever else does."""
        known = np.flatnonzero((~np.isnan(values)).sum(axis=1) >= MIN_LAUNCHES)
        if len(known) < (2 if kind == "switch" else _FEWEST_UNITS):
            return []
        found = deviations(values[known], margin=self.margin, alpha=ALPHA, tests=self.tests)
        own = tuple(names[int(at)] for at in known)
        self.judged.append(_Judged(kind, own, measured, found))
        return [int(at) for at in known[found.p <= ALPHA / self.tests]]

    def nodes(self, one: FleetMetric) -> None:
        """Judge what was measured on each node."""
        values = _placed(one.values, one.ends[:, 0], len(self.fleet.nodes))
        self.map(one, values)
        slow = self.units("switch", self._switches(), one, self._by_switch(values))
        self.units("node", self.names, one, self._without(values, slow))

    def links(self, one: FleetMetric) -> None:
        """Judge what was measured between nodes."""
        ends = self.groups[one.ends]
        within = (ends[:, 0] == ends[:, 1]) | (ends < 0).any(axis=1)
        values = one.values.copy()
        for kind in (within, ~within):  # a way through more switches is no fault
            values[kind] -= _median(values[kind])
        count = len(self.fleet.switches)
        inside = [np.flatnonzero(within & (ends[:, 0] == at)) for at in range(count)]
        leaving = [np.flatnonzero(~within & (ends == at).any(axis=1)) for at in range(count)]
        self.map(one, self._of_ends(one, values))
        taken = np.zeros_like(values)
        for kind, rows in self._ways(inside, leaving):
            common = np.stack([_median(values[own]) for own in rows])
            for at in self.units(kind, self._switches(), one, common):
                # Of two slow switches that a link joins, the slower one explains it.
                taken[rows[at]] = np.fmax(taken[rows[at]], common[at])
        values -= taken
        of_nodes = self._of_ends(one, values)
        for at in self.units("node", self.names, one, of_nodes):
            own = (one.ends == at).any(axis=1)
            values[own] -= of_nodes[at]
        self.units("link", one.units, one, values)

    def map(self, one: FleetMetric, values: FloatArray) -> None:
        """Keep how each node stands to the others, whoever is to blame."""
        if len(values) < 2:
            return
        found = deviations(values, margin=self.margin, alpha=ALPHA, tests=self.tests)
        n = found.n.astype(np.int64)
        ends = (np.exp(found.shift), np.exp(found.lo), np.exp(found.hi))
        self.maps.append(NodeMap(one, *ends, n, math.exp(found.fence)))

    def _switches(self) -> list[tuple[str, ...]]:
        return [(name,) for name in self.fleet.switches]

    @staticmethod
    def _ways(
        inside: Sequence[IntArray], leaving: Sequence[IntArray]
    ) -> Iterator[tuple[Kind, Sequence[IntArray]]]:
        if len(inside) > 1:
            yield "switch", inside
        if len(leaving) >= FEWEST_SWITCHES:
            yield "uplink", leaving

    def _by_switch(self, values: FloatArray) -> FloatArray:
        rows = [_median(values[self.groups == at]) for at in range(len(self.fleet.switches))]
        return np.stack(rows) if rows else np.zeros((0, values.shape[1]))

    def _without(self, values: FloatArray, slow: Sequence[int]) -> FloatArray:
        """Take out of the nodes of slow switches what these have in common."""
        left = values.copy()
        usual = _median(values[~np.isin(self.groups, slow)])
        for at in slow:
            own = self.groups == at
            left[own] += usual - _median(values[own])
        return left

    def _of_ends(self, one: FleetMetric, values: FloatArray) -> FloatArray:
        """Give every node the median of its links."""
        found = np.full((len(self.fleet.nodes), values.shape[1]), np.nan)
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


def _units_of(fleet: NodeFleet, one: FleetMetric) -> int:
    """Count what a metric judges: it must be known before the first is."""
    switches = len(fleet.switches)
    if one.of_pairs:
        return len(one.units) + len(fleet.nodes) + 2 * switches
    return len(one.units) + switches


def _certain(judged: Sequence[_Judged]) -> tuple[DeviatingUnit, ...]:
    p = np.concatenate([one.found.p for one in judged]) if judged else np.zeros(0)
    adjusted = holm(p)
    found, begin = [], 0
    for one in judged:
        for at, name in enumerate(one.names):
            value = float(adjusted[begin + at])
            if value <= ALPHA:
                ends = (
                    math.exp(each[at]) for each in (one.found.shift, one.found.lo, one.found.hi)
                )
                n = int(one.found.n[at])
                found.append(DeviatingUnit(one.kind, name, one.measured, Estimate(*ends), value, n))
        begin += len(one.names)
    return tuple(sorted(found, key=lambda one: (_KINDS.index(one.kind), -one.ratio.value)))


_KINDS: tuple[Kind, ...] = ("switch", "uplink", "node", "link")


def _median(rows: FloatArray) -> FloatArray:
    found = np.full(rows.shape[1], np.nan)
    known = ~np.isnan(rows).all(axis=0) if len(rows) else np.zeros(rows.shape[1], dtype=bool)
    if known.any():
        found[known] = np.nanmedian(rows[:, known], axis=0)
    return found


def _placed(values: FloatArray, at: IntArray, count: int) -> FloatArray:
    """Lay rows where their nodes stand; a node that a metric lacks has no values."""
    found = np.full((count, values.shape[1]), np.nan)
    found[at] = values
    return found
