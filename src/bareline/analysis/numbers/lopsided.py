"""Where launches spread unequally and to one side, so that a difference may be one of spread.

docs/method/statistics.md, "Lopsided noise", has what it costs and how often it is noticed.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bareline import stats
from bareline.analysis.numbers.cell import COMPARED
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.summary import flag
from bareline.vocabulary.verdicts import Verdict

#: Rows that are looked at together: of one kind, on one platform.
_TOGETHER = ["platform", "baseline", "layer", "headline"]


def mark_lopsided(table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    """Mark differences that the shape of the noise alone may have made."""
    by_names = {(pair.platform, pair.baseline): pair for pair in pairs}
    compared = table.filter(pl.col("verdict").is_in([str(v) for v in COMPARED]))
    decided = pl.col("verdict").is_in([Verdict.SLOWER.value, Verdict.FASTER.value])
    found = []
    for key, group in compared.group_by(_TOGETHER):
        pair = by_names[key[0], key[1]]
        rows = group.filter(decided)
        if rows.is_empty() or pair.exact or not pair.paired:
            continue
        every = group.get_column("point_row").to_numpy()
        differences = stats.collapsed(pair.differences[every], pair.boots.groups)
        if not stats.lopsided_p(differences) <= stats.LOPSIDED_ALPHA:
            continue
        small = stats.within_spread(pair.values[every], pair.base[every])
        found.append(group.filter(pl.Series(small) & group.select(decided).to_series()))
    if not found:
        return table
    marks = pl.concat(found).select("platform", "baseline", "point_row", small=pl.lit(value=True))
    return (
        table.join(
            marks, on=["platform", "baseline", "point_row"], how="left", maintain_order="left"
        )
        .with_columns(
            pl.concat_list(
                "caveats", flag(pl.col("small").fill_null(value=False), "lopsided-noise")
            ).alias("caveats")
        )
        .drop("small")
    )
