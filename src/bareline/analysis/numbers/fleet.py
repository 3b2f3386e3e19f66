"""Measurements of every node and every pair of nodes of a fleet, as arrays.

A probe of a fleet gives samples whose point names a node, or a node and its peer. Values are
logarithms, larger is worse, so that a difference is a factor whatever the metric's direction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline.analysis.numbers.cube import laid_out
from bareline.analysis.numbers.records import Records
from bareline.stats.stack import FloatArray, IntArray
from bareline.vocabulary.facts import NODES_EXCLUDED, NODES_SWITCHES
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.nodeset import unfold


@dataclass(frozen=True, slots=True)
class FleetMetric:
    """One metric of a probe over a fleet.

    - `units`, `ends`: of each row the node, or both; indices have the shape (rows, 1 or 2).
    - `values`: of shape (rows, launches), logarithms, larger is worse; NaN where a launch has none.
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
        """Whether it is of pairs of nodes."""
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
        """Number of each node's switch; -1 where it has none."""
        place = {name: at for at, names in enumerate(self.switches.values()) for name in names}
        return np.array([place.get(name, -1) for name in self.nodes], dtype=np.int64)


def fleets(records: Records) -> list[NodeFleet]:
    """Return the fleet of every platform of which nodes were measured one by one."""
    points = records.values.get_column("point").unique().cast(pl.String)
    ours = points.filter(points.str.starts_with("node="))
    if ours.is_empty():
        return []
    samples = records.values.with_columns(pl.col("metric", "point").cast(pl.String)).filter(
        pl.col("point").is_in(ours.implode())
    )
    rows = samples.join(
        records.trials.select("row", "platform", "probe", "params"), on="row", how="inner"
    ).join(records.declarations, on=["probe", "metric"], how="left")
    owned = ((name, rows.filter(platform=name)) for name in records.platforms)
    return [_fleet(name, own, records.facts.get(name, {})) for name, own in owned if len(own)]


def _fleet(platform: str, rows: pl.DataFrame, facts: Mapping[str, Scalar]) -> NodeFleet:
    units = {}
    for text in rows.get_column("point").unique(maintain_order=True):
        point = parse_point(text)
        units[text] = tuple(str(point[key]) for key in ("node", "peer") if key in point)
    names = sorted({name for unit in units.values() for name in unit}, key=_natural)
    place = {name: at for at, name in enumerate(names)}
    measured = tuple(
        _measured(part, units, place)
        for part in rows.partition_by("probe", "params", "metric", maintain_order=True)
    )
    switches = read_switches(str(facts.get(NODES_SWITCHES, "")), place)
    return NodeFleet(platform, tuple(names), switches, str(facts.get(NODES_EXCLUDED, "")), measured)


def _natural(name: str) -> list[tuple[str, int]]:
    """Order n2 before n10."""
    return [(word, int(digits or -1)) for word, digits in re.findall(r"(\D*)(\d+|$)", f"{name} ")]


def _measured(
    rows: pl.DataFrame, units: Mapping[str, tuple[str, ...]], place: Mapping[str, int]
) -> FleetMetric:
    first = rows.row(0, named=True)
    sign = -1.0 if first["better"] == "higher" else 1.0
    texts = rows.get_column("point").unique(maintain_order=True).to_list()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = sign * np.log(rows.get_column("value").to_numpy())
    placed = rows.with_columns(
        at=pl.col("point").replace_strict(texts, list(range(len(texts))), return_dtype=pl.Int64),
        launch=pl.col("row").rank("dense").cast(pl.Int64) - 1,
        log=pl.Series(np.where(np.isfinite(logs), logs, np.nan)),
    )
    shape = (len(texts), rows.get_column("row").n_unique())
    own = tuple(units[text] for text in texts)
    return FleetMetric(
        **{name: first[name] for name in ("probe", "metric", "params", "unit", "better")},
        units=own,
        ends=np.array([[place[name] for name in unit] for unit in own], dtype=np.int64),
        values=laid_out(placed, "log", shape, "at", "launch"),
    )


def read_switches(text: str, known: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Read which of the known nodes hang on which switch: ``leaf1: n[1-16]; leaf2: n[17-32]``."""
    found = {}
    for part in text.split(";"):
        name, colon, nodes = part.partition(":")
        if not colon:
            continue
        try:
            own = tuple(node for node in unfold(nodes.strip()) if node in known)
        except ValueError:
            continue
        if own:
            found[name.strip()] = own
    return found
