"""The caveats of decided rows: one list each, from both sides and from their comparison."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from bareline import stats
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.row import COMPARED
from bareline.analysis.numbers.summary import flag
from bareline.vocabulary.caveats import FAILED_TRIALS, OTHER_BUILD, OTHER_LAYOUT
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import DecisionRule, Verdict

#: Layers in which bareline's own programs measure the processor, by code of its compiler.
_COMPILED = tuple(layer.value for layer in (Layer.COMPUTE, Layer.MEMORY, Layer.MPI, Layer.NPB))
_BUILD = pl.format(f"{OTHER_BUILD}: {{}}", "unlike_build")


def _builds(pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    rows = [(pair.platform, pair.baseline, pair.unlike_build) for pair in pairs]
    columns = dict.fromkeys(("platform", "baseline", "unlike_build"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")


def with_caveats(table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    """Return decided rows with the doubts about each in "caveats", in a fixed order.

    They are those of both sides, and what only the comparison shows. "own" and "base" lose
    "dependent" where launches are paired.
    """
    # In common blocks it matters whether differences resemble each other, which the pair knows.
    paired, independent = pl.col("paired").fill_null(False), pl.element() != "dependent"
    sides = pl.col("own", "base")
    table = table.with_columns(
        pl.when(paired).then(sides.list.filter(independent)).otherwise(sides)
    )
    n_failed = pl.col("n_failed").fill_null(0) + pl.col("base_n_failed").fill_null(0)
    n_lost = pl.col("lost").fill_null(0) + pl.col("base_lost").fill_null(0)
    there = (pl.col("n") > 0) & (pl.col("n_baseline") > 0)
    lost_only = pl.col("by_loss").fill_null(0) != 0
    unpaired = ~pl.col("paired").fill_null(True) & ~pl.col("exact").fill_null(False)
    unlike = pl.format(f"{OTHER_LAYOUT}: {{}}", "unlike")
    table = table.join(
        _builds(pairs), on=["platform", "baseline"], how="left", maintain_order="left"
    )
    compiled = pl.col("layer").is_in(_COMPILED) & (pl.col("unlike_build") != "")
    lost = pl.format("{} launches lost to a time limit count as slower than all", n_lost)
    table = table.with_columns(
        pl.concat_list(
            sides.fill_null([]),
            flag(pl.col("dependent").fill_null(False), "dependent"),
            flag(pl.col("few_boots").fill_null(False) & (there | lost_only), "few-boots"),
            flag(unpaired & (pl.col("n") > 0), "unpaired"),
            flag((pl.col("unlike").fill_null("") != "") & there, unlike),
            flag(compiled.fill_null(False) & there, _BUILD),
            flag(pl.col("verdict") == Verdict.DOES_NOT_FIT.value, pl.col("left_out")),
            flag((n_failed > 0) & there, pl.format(f"{{}} {FAILED_TRIALS}", n_failed)),
            flag((n_lost > 0) & there, lost),
        )
        .list.unique(maintain_order=True)
        .alias("caveats")
    )
    within = flag(pl.col("rule") == DecisionRule.WITHIN_CONTROL.value, "within-control")
    table = table.drop("unlike_build")
    return _mark_lopsided(
        table.with_columns(pl.concat_list("caveats", within).alias("caveats")), pairs
    )


def _mark_lopsided(table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    """Mark differences that the shape of the noise alone may have made.

    Launches spread unequally and to one side there, so that a difference may be one of spread.
    docs/method/statistics.md, "Lopsided noise", has what it costs and how often it is noticed.
    """
    by_names = {(pair.platform, pair.baseline): pair for pair in pairs}
    compared = table.filter(pl.col("verdict").is_in([str(v) for v in COMPARED]))
    decided = pl.col("verdict").is_in([Verdict.SLOWER.value, Verdict.FASTER.value])
    found = []
    for key, group in compared.group_by("platform", "baseline", "layer", "headline"):
        pair = by_names[key[0], key[1]]
        rows = group.filter(decided)
        if rows.is_empty() or pair.exact:
            continue
        every = group.get_column("point_row").to_numpy()
        differences = stats.collapsed(pair.differences[every], pair.boots.groups)
        if not stats.lopsided_p(differences) <= stats.LOPSIDED_ALPHA:
            continue
        small = stats.within_spread(pair.values[every], pair.base[every])
        found.append(group.filter(pl.Series(small) & group.select(decided).to_series()))
    if not found:
        return table
    on = ["platform", "baseline", "point_row"]
    marks = pl.concat(found).select(on).with_columns(small=pl.lit(value=True))
    noisy = flag(pl.col("small").fill_null(value=False), "lopsided-noise")
    return (
        table.join(marks, on=on, how="left", maintain_order="left")
        .with_columns(caveats=pl.concat_list("caveats", noisy))
        .drop("small")
    )
