"""Measurements of every node and every pair of nodes of a fleet, as arrays.

The points of a fleet probe's samples name a node, or a node and its peer. Values are stored as
logarithms. A larger value is worse for every metric, so that a difference of two values is the
logarithm of a factor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline.analysis.numbers.cube import laid_out
from bareline.analysis.numbers.records import Records
from bareline.stats.launch_array import FloatArray, IntArray
from bareline.vocabulary.facts import NODES_EXCLUDED, NODES_SWITCHES
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.nodeset import unfold


@dataclass(frozen=True, slots=True)
class FleetMetric:
    """One metric of a probe over a fleet.

    - `units`: the name of the node, or the names of the two nodes, of each row.
    - `ends`: the nodes in `units` as indices, shape (rows, 1 or 2).
    - `values`: logarithms of shape (rows, launches), larger is worse; NaN if a launch has no value.
    """

    probe: str
    metric: str
    params: str
    unit: str
    better: str
    units: tuple[tuple[str, ...], ...]
    ends: IntArray
    values: FloatArray

    @property
    def of_pairs(self) -> bool:
        """Whether the metric is measured for pairs of nodes."""
        return bool(self.ends.shape[1] == 2)


@dataclass(frozen=True, slots=True)
class NodeFleet:
    """The nodes of a platform, their switches if known, and their measurements."""

    platform: str
    nodes: tuple[str, ...]
    switches: Mapping[str, tuple[str, ...]]
    excluded: str
    measured: tuple[FleetMetric, ...]

    @property
    def groups(self) -> IntArray:
        """The number of each node's switch; -1 for a node whose switch is not known."""
        numbers: dict[str, int] = {}
        for number, names in enumerate(self.switches.values()):
            numbers.update(dict.fromkeys(names, number))
        switches = [numbers.get(name, -1) for name in self.nodes]
        return np.array(switches, dtype=np.int64)


def fleets(records: Records) -> list[NodeFleet]:
    """Return the fleet of each platform whose nodes were measured individually."""
    different_points = records.values.get_column("point").unique()
    points = different_points.cast(pl.String)
    of_nodes = points.filter(points.str.starts_with("node="))
    if of_nodes.is_empty():
        return []
    trials = records.trials.select("row", "platform", "probe", "params")
    as_text = pl.col("metric", "point").cast(pl.String)
    is_of_nodes = pl.col("point").is_in(of_nodes.implode())
    samples = (
        records.values.with_columns(as_text)
        .filter(is_of_nodes)
        .join(trials, on="row", how="inner")
        .join(records.declarations, on=["probe", "metric"], how="left")
    )
    platforms = []
    for name in records.platforms:
        rows = samples.filter(platform=name)
        if len(rows):
            facts = records.facts.get(name, {})
            platforms.append(_fleet(name, rows, facts))
    return platforms


def _fleet(platform: str, rows: pl.DataFrame, facts: Mapping[str, Scalar]) -> NodeFleet:
    units = {}
    names: set[str] = set()
    for text in rows.get_column("point").unique(maintain_order=True):
        point = parse_point(text)
        ends = [str(point[key]) for key in ("node", "peer") if key in point]
        units[text] = tuple(ends)
        names.update(ends)
    nodes = sorted(names, key=_natural)
    numbers = {name: number for number, name in enumerate(nodes)}
    metrics = rows.partition_by("probe", "params", "metric", maintain_order=True)
    switches = str(facts.get(NODES_SWITCHES, ""))
    measured = tuple(_measured(metric, units, numbers) for metric in metrics)
    return NodeFleet(
        platform=platform,
        nodes=tuple(nodes),
        switches=read_switches(switches, numbers),
        excluded=str(facts.get(NODES_EXCLUDED, "")),
        measured=measured,
    )


def _natural(name: str) -> list[tuple[str, int]]:
    """Return a sort key that orders numbers in names by value: n2 comes before n10."""
    parts = []
    for word, digits in re.findall(r"(\D*)(\d+|$)", f"{name} "):
        parts.append((word, int(digits or -1)))
    return parts


def _measured(
    rows: pl.DataFrame, units: Mapping[str, tuple[str, ...]], numbers: Mapping[str, int]
) -> FleetMetric:
    """Return one metric of a fleet as an array.

    - `units`: the node or nodes of each point.
    - `numbers`: the number of each node.
    """
    first = rows.row(0, named=True)
    sign = 1.0
    if first["better"] == "higher":
        sign = -1.0
    texts = rows.get_column("point").unique(maintain_order=True).to_list()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = rows.get_column("value").to_numpy()
        logs = sign * np.log(values)
    rows_of_texts = list(range(len(texts)))
    is_finite = np.isfinite(logs)
    number_of_point = pl.col("point").replace_strict(texts, rows_of_texts, return_dtype=pl.Int64)
    number_of_launch = pl.col("row").rank("dense").cast(pl.Int64)
    placed = rows.with_columns(
        at=number_of_point,
        launch=number_of_launch - 1,
        log=pl.Series(np.where(is_finite, logs, np.nan)),
    )
    launches = rows.get_column("row").n_unique()
    shape = (len(texts), launches)
    ends = []
    for text in texts:
        ends.append([numbers[name] for name in units[text]])
    return FleetMetric(
        probe=first["probe"],
        metric=first["metric"],
        params=first["params"],
        unit=first["unit"],
        better=first["better"],
        units=tuple(units[text] for text in texts),
        ends=np.array(ends, dtype=np.int64),
        values=laid_out(placed, "log", shape, "at", "launch"),
    )


def read_switches(text: str, measured: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Return the measured nodes of each switch; `text` is ``leaf1: n[1-16]; leaf2: n[17-32]``."""
    switches = {}
    for part in text.split(";"):
        name, colon, nodes = part.partition(":")
        if not colon:
            continue
        try:
            unfolded = unfold(nodes.strip())
        except ValueError:
            continue
        nodes_of_switch = tuple(node for node in unfolded if node in measured)
        if nodes_of_switch:
            switches[name.strip()] = nodes_of_switch
    return switches
