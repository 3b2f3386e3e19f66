"""Find the nodes, links and switches of a fleet that are certainly worse than the rest.

A loss of all links of a switch is attributed to the switch, and a loss of all links of a node to
the node. So switches are judged first, then nodes by the remaining losses, then links. The
probability of any false result in the survey is at most 5 %.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bareline.analysis.numbers.fleet import FleetMetric, NodeFleet
from bareline.analysis.numbers.row import Estimate
from bareline.stats import ALPHA, holm
from bareline.stats.fleet import Deviations, deviations
from bareline.stats.launch_array import BoolArray, FloatArray, IntArray
from bareline.vocabulary.verdicts import MIN_LAUNCHES

Kind = Literal["switch", "uplink", "node", "link"]
_KINDS: tuple[Kind, ...] = get_args(Kind)

#: With fewer links of a node, or switches of an uplink, the cause of a slow one is ambiguous.
FEWEST_LINKS = 3
FEWEST_SWITCHES = 4
_PAIR_BANDWIDTH = "pair_bandwidth"
#: Links of healthy nodes differ by some per cent from the factory.
_HEALTHY_SPREAD = 1.05
#: Fewer units are too few to compare each of them with the rest.
_FEWEST_UNITS = 3


@dataclass(frozen=True, slots=True)
class DeviatingUnit:
    """A node, link or switch that is certainly worse than the rest.

    - `kind`: "switch" if a switch's nodes, or the links between these nodes, are worse; "uplink" if
      the links from the switch to other switches are worse.
    - `names`: the name of the switch or of the node, or the names of the two nodes of a link.
    - `ratio`: how many times worse the unit is. All intervals of the survey are valid together.
    """

    kind: Kind
    names: tuple[str, ...]
    measured: FleetMetric
    ratio: Estimate
    p: float
    n: int


@dataclass(frozen=True, slots=True)
class NodeMap:
    """How many times worse each node of a fleet is by one metric; NaN if unknown."""

    measured: FleetMetric
    ratios: FloatArray
    lo: FloatArray
    hi: FloatArray
    n: IntArray
    fence: float


@dataclass(frozen=True, slots=True)
class Survey:
    """The results for a fleet: units that are certainly worse, switches first, and maps."""

    fleet: NodeFleet
    deviating: tuple[DeviatingUnit, ...]
    maps: tuple[NodeMap, ...]
    tests: int
    launches: tuple[int, int]

    @property
    def bad_nodes(self) -> tuple[str, ...]:
        """The nodes that are certainly worse, not only because of their switch."""
        deviating = set()
        for unit in self.deviating:
            if unit.kind == "node":
                deviating.add(unit.names[0])
        return tuple(name for name in self.fleet.nodes if name in deviating)

    @property
    def nodes_of_bad_switches(self) -> set[str]:
        """The nodes of switches that are certainly worse, or whose uplinks are certainly worse."""
        nodes: set[str] = set()
        for unit in self.deviating:
            if unit.kind in ("switch", "uplink"):
                nodes_of_switch = self.fleet.switches.get(unit.names[0], ())
                nodes.update(nodes_of_switch)
        return nodes


@dataclass(frozen=True, slots=True)
class ServerNode:
    """The node with the best links, on which a file server for all nodes should run.

    - `ratio`: how many times worse the node's links are than usual; below 1 they are better.
    """

    name: str
    ratio: Estimate

    @property
    def is_better(self) -> bool:
        """Whether the links are certainly better than usual, by more than the normal spread."""
        if self.ratio.hi is None:
            return False
        return self.ratio.hi * _HEALTHY_SPREAD < 1


def server_node(survey: Survey) -> ServerNode | None:
    """Return the node with the best bandwidth to other nodes; None if no pairs were measured.

    A node is not chosen if the node or its switch is certainly worse than the rest.
    """
    maps = [node_map for node_map in survey.maps if node_map.measured.metric == _PAIR_BANDWIDTH]
    if not maps:
        return None
    bandwidth = maps[0]
    slow = survey.nodes_of_bad_switches | set(survey.bad_nodes)
    ratios: dict[int, float] = {}
    for number, name in enumerate(survey.fleet.nodes):
        times_worse = float(bandwidth.ratios[number])
        if name not in slow and math.isfinite(times_worse):
            ratios[number] = times_worse
    if not ratios:
        return None
    best = min(ratios, key=ratios.__getitem__)
    lo = float(bandwidth.lo[best])
    hi = float(bandwidth.hi[best])
    ratio = Estimate(ratios[best], lo, hi)
    return ServerNode(survey.fleet.nodes[best], ratio)


@dataclass(frozen=True, slots=True)
class _JudgedUnits:
    """Units of one kind that were judged by one metric, with the ratio of each unit."""

    kind: Kind
    names: Sequence[tuple[str, ...]]
    measured: FleetMetric
    deviations: Deviations


class _Judge:
    """Judges the units of a fleet, and keeps the results for each metric.

    - `groups`: the number of the switch of each node; below 0 if it is not known.
    - `margin`: a relative difference that does not matter, as a logarithm.
    """

    def __init__(self, fleet: NodeFleet, margin: float) -> None:
        self.fleet = fleet
        self.groups = fleet.groups
        self.node_names = [(name,) for name in fleet.nodes]
        self.switch_names = [(name,) for name in fleet.switches]
        self.margin = math.log1p(margin)
        # The number of tests of all metrics must be known before the first test.
        self.tests = sum(self._tests_of(metric) for metric in fleet.measured)
        self.judged: list[_JudgedUnits] = []
        self.maps: list[NodeMap] = []

    def _tests_of(self, metric: FleetMetric) -> int:
        """Return the number of units that are judged by a metric."""
        switches = len(self.switch_names)
        if metric.of_pairs:
            return len(metric.units) + len(self.node_names) + 2 * switches
        return len(metric.units) + switches

    def _judge(
        self,
        kind: Kind,
        names: Sequence[tuple[str, ...]],
        metric: FleetMetric,
        values: FloatArray,
    ) -> list[int]:
        """Judge units, each by its row of `values`; return the units that are certainly worse."""
        launches = (~np.isnan(values)).sum(axis=1)
        judged = np.flatnonzero(launches >= MIN_LAUNCHES)
        fewest = _FEWEST_UNITS
        if kind == "switch":
            fewest = 2
        if len(judged) < fewest:
            return []
        result = self._deviations(values[judged])
        names_of_judged = [names[number] for number in judged.tolist()]
        units = _JudgedUnits(kind, names_of_judged, metric, result)
        self.judged.append(units)
        is_certain = result.p <= ALPHA / self.tests
        certain: list[int] = judged[is_certain].tolist()
        return certain

    def _deviations(self, values: FloatArray) -> Deviations:
        return deviations(values, margin=self.margin, alpha=ALPHA, tests=self.tests)

    def judge_nodes(self, metric: FleetMetric) -> None:
        """Judge switches and nodes by a metric of single nodes."""
        shape = (len(self.node_names), metric.values.shape[1])
        values = np.full(shape, np.nan)
        values[metric.ends[:, 0]] = metric.values
        self._add_map(metric, values)
        switches = range(len(self.switch_names))
        nodes_of = [self.groups == switch for switch in switches]
        common = [_median(values[nodes]) for nodes in nodes_of]
        slow: list[int] = []
        if common:
            common_values = np.stack(common)
            slow = self._judge("switch", self.switch_names, metric, common_values)
        # The common loss of the nodes of a slow switch is the switch's.
        is_slow = np.isin(self.groups, slow)
        usual = _median(values[~is_slow])
        for switch in slow:
            deviation = usual - common[switch]
            values[nodes_of[switch]] += deviation
        self._judge("node", self.node_names, metric, values)

    def judge_links(self, metric: FleetMetric) -> None:
        """Judge switches, uplinks, nodes and links by a metric of pairs of nodes."""
        switches_of_ends = self.groups[metric.ends]
        within = switches_of_ends[:, 0] == switches_of_ends[:, 1]
        within |= (switches_of_ends < 0).any(axis=1)
        values = metric.values.copy()
        for links in (within, ~within):  # a way through more switches is not a fault
            values[links] -= _median(values[links])
        medians = self._medians_of_nodes(metric, values)
        self._add_map(metric, medians)

        explained = np.zeros_like(values)
        switches = range(len(self.switch_names))
        if len(switches) > 1:
            inside = [within & (switches_of_ends[:, 0] == switch) for switch in switches]
            self._judge_groups("switch", metric, values, inside, explained)
        if len(switches) >= FEWEST_SWITCHES:
            leaving = [~within & (switches_of_ends == switch).any(axis=1) for switch in switches]
            self._judge_groups("uplink", metric, values, leaving, explained)
        values -= explained

        of_nodes = self._medians_of_nodes(metric, values)
        for node in self._judge("node", self.node_names, metric, of_nodes):
            links_of_node = (metric.ends == node).any(axis=1)
            values[links_of_node] -= of_nodes[node]
        self._judge("link", metric.units, metric, values)

    def _judge_groups(
        self,
        kind: Kind,
        metric: FleetMetric,
        values: FloatArray,
        links_of: Sequence[BoolArray],
        explained: FloatArray,
    ) -> None:
        """Judge switches by the common loss of their links, and add this loss to `explained`.

        If a link joins two slow switches, the slower switch explains its loss.
        """
        medians_of_links = [_median(values[links]) for links in links_of]
        common = np.stack(medians_of_links)
        for switch in self._judge(kind, self.switch_names, metric, common):
            links = links_of[switch]
            explained[links] = np.fmax(explained[links], common[switch])

    def _add_map(self, metric: FleetMetric, values: FloatArray) -> None:
        """Store how many times worse each node is by a metric."""
        if len(values) < 2:
            return
        result = self._deviations(values)
        node_map = NodeMap(
            measured=metric,
            ratios=np.exp(result.shift),
            lo=np.exp(result.lo),
            hi=np.exp(result.hi),
            n=result.n.astype(np.int64),
            fence=math.exp(result.fence),
        )
        self.maps.append(node_map)

    def _medians_of_nodes(self, metric: FleetMetric, values: FloatArray) -> FloatArray:
        """Return the median over the links of each node; NaN for a node with too few links."""
        shape = (len(self.node_names), values.shape[1])
        medians = np.full(shape, np.nan)
        numbers_of_links = np.arange(len(values))
        links = np.tile(numbers_of_links, 2)
        nodes = metric.ends.T.ravel()
        order = np.argsort(nodes, kind="stable")
        numbers_of_nodes = np.arange(len(medians) + 1)
        starts = np.searchsorted(nodes[order], numbers_of_nodes)
        for node, (start, end) in enumerate(itertools.pairwise(starts)):
            if end - start >= FEWEST_LINKS:
                links_of_node = links[order[start:end]]
                medians[node] = _median(values[links_of_node])
        return medians


def survey(fleet: NodeFleet, margin: float) -> Survey:
    """Find the nodes, links and switches of a fleet that are certainly worse than the rest.

    - `margin`: the relative difference that does not matter.
    """
    judge = _Judge(fleet, margin)
    for metric in fleet.measured:
        if metric.of_pairs:
            judge.judge_links(metric)
        else:
            judge.judge_nodes(metric)
    launches = [metric.values.shape[1] for metric in fleet.measured]
    return Survey(
        fleet=fleet,
        deviating=_certain(judge.judged),
        maps=tuple(judge.maps),
        tests=judge.tests,
        launches=(min(launches), max(launches)),
    )


def _certain(judged: Sequence[_JudgedUnits]) -> tuple[DeviatingUnit, ...]:
    """Return the units that are certainly worse.

    P-values are corrected for the number of judged units.
    """
    p = np.concatenate([np.zeros(0), *(units.deviations.p for units in judged)])
    adjusted = iter(holm(p).tolist())
    certain = []
    for units in judged:
        result = units.deviations
        for number, name in enumerate(units.names):
            p_adjusted = next(adjusted)
            if p_adjusted > ALPHA:
                continue
            value = math.exp(result.shift[number])
            lo = math.exp(result.lo[number])
            hi = math.exp(result.hi[number])
            ratio = Estimate(
                value,
                lo,
                hi,
            )
            certain.append(
                DeviatingUnit(
                    kind=units.kind,
                    names=name,
                    measured=units.measured,
                    ratio=ratio,
                    p=p_adjusted,
                    n=int(result.n[number]),
                )
            )
    return tuple(sorted(certain, key=_switches_and_large_first))


def _switches_and_large_first(unit: DeviatingUnit) -> tuple[int, float]:
    return _KINDS.index(unit.kind), -unit.ratio.value


def _median(rows: FloatArray) -> FloatArray:
    """Return the median over rows in each launch; NaN for a launch without values."""
    medians = np.full(rows.shape[1], np.nan)
    if not len(rows):
        return medians
    measured = ~np.isnan(rows).all(axis=0)
    if measured.any():
        medians_of_measured = np.nanmedian(rows[:, measured], axis=0)
        medians[measured] = medians_of_measured
    return medians
