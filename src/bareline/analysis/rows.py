"""Summaries and comparisons as plain rows for ``--json``."""

from __future__ import annotations

from typing import Any

import polars as pl

from bareline.vocabulary.model import parse_point


def as_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Give a summary or comparison as plain rows for ``--json``.

    The parameters of case and point stand together in `params`.
    """
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
