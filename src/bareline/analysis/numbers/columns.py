"""Summaries and comparisons as plain rows for ``--json``: columns of the table, parameters in one.

The table has a column for each part of a case and point; the row has `params`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import polars as pl

from bareline.vocabulary.model import Better, Layer, parse_point
from bareline.vocabulary.place import CASE, KEY
from bareline.vocabulary.rows import Params

#: Columns of the table behind those of the row.
_PARTS = {"params": CASE[1:], "metric": KEY[len(CASE) :], "control": ()}


@dataclass(frozen=True)
class MetricRow:
    """A metric of one case on one platform.

    - `params`: parameters of case and point, and its ranks, threads and nodes.
    - `detail`: it explains others, and tables show it only when asked.
    - `headline`: it is what its probe is judged by.
    - `n`: launches that delivered it.
    """

    platform: str
    probe: str
    params: Params
    metric: str
    layer: Layer
    unit: str
    better: Better
    detail: bool
    headline: bool
    n: int


def table_columns(row: type) -> list[str]:
    """Give the columns of the table that has the rows of a type, in order."""
    names = [one.name for one in fields(row)]
    first = [name for name in ("platform", "baseline") if name in names]
    ordered = dict.fromkeys((*first, *names))
    return [part for name in ordered for part in _PARTS.get(name, (name,))]


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give the rows of a summary or comparison."""
    rows = []
    for row in table.iter_rows(named=True):
        params: dict[str, Any] = {
            "ranks": row.pop("ranks"),
            "threads": row.pop("threads"),
            **parse_point(row.pop("params")),
            **parse_point(row.pop("point", "")),
        }
        nodes = row.pop("nodes")
        if nodes:
            params["nodes"] = nodes
        first = [key for key in ("platform", "baseline", "probe") if key in row]
        rows.append({key: row.pop(key) for key in first} | {"params": params} | row)
    return rows
