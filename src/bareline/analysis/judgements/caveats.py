"""Add to each decided row the caveats of both platforms and of the comparison."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, IntCube
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.row import COMPARED
from bareline.analysis.numbers.summary import flag
from bareline.vocabulary.caveats import FAILED_TRIALS, OTHER_BUILD, OTHER_LAYOUT
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import DecisionRule, Verdict

#: Layers whose programs measure the processor and are compiled by bareline.
_COMPILED = (Layer.COMPUTE.value, Layer.MEMORY.value, Layer.MPI.value, Layer.NPB.value)
_DIFFERENT = (Verdict.SLOWER.value, Verdict.FASTER.value)
_COMPARED = tuple(verdict.value for verdict in COMPARED)
_PAIR = ("platform", "baseline")


def with_caveats(table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    """Return decided rows with a column "caveats", in a fixed order.

    The column contains the caveats of both platforms and of the comparison itself. If launches are
    paired, "dependent" is removed from the caveats of the platforms ("own" and "base").
    """
    # In common blocks only a dependence between differences matters, and the pair records it.
    sides = pl.col("own", "base")
    without = sides.list.filter(pl.element() != "dependent")
    of_sides = pl.when("paired").then(without).otherwise(sides)
    table = table.with_columns(of_sides)
    lopsided = _is_lopsided_noise(table, pairs)
    table = table.with_columns(lopsided=pl.Series(lopsided))
    builds = _builds(pairs)
    table = table.join(builds, on=_PAIR, how="left", maintain_order="left")
    caveats = pl.concat_list(sides.fill_null([]), *_of_comparison())
    table = table.with_columns(caveats=caveats.list.unique(maintain_order=True))
    return table.drop("lopsided", "unlike_build")


def _builds(pairs: Sequence[PlatformPair]) -> pl.DataFrame:
    rows = [(pair.platform, pair.baseline, pair.unlike_build) for pair in pairs]
    columns = dict.fromkeys((*_PAIR, "unlike_build"), pl.String)
    return pl.DataFrame(rows, schema=columns, orient="row")


def _of_comparison() -> list[pl.Expr]:
    """Return expressions for the caveats of the comparison itself; null means no caveat."""
    here = pl.col("n") > 0
    there = here & (pl.col("n_baseline") > 0)
    decided_by_loss = pl.col("by_loss") != 0
    in_few_boots = pl.col("few_boots") & (there | decided_by_loss)
    unpaired = ~pl.col("paired") & ~pl.col("exact") & here
    differs_in_layout = pl.col("unlike") != ""
    other_layout = there & differs_in_layout
    layout_words = pl.format(f"{OTHER_LAYOUT}: {{}}", "unlike")
    compiled = pl.col("layer").is_in(_COMPILED)
    differs_in_build = pl.col("unlike_build") != ""
    other_build = there & compiled & differs_in_build
    build_words = pl.format(f"{OTHER_BUILD}: {{}}", "unlike_build")
    does_not_fit = pl.col("verdict") == Verdict.DOES_NOT_FIT.value
    failed = pl.sum_horizontal("n_failed", "base_n_failed")
    failed_words = pl.format(f"{{}} {FAILED_TRIALS}", failed)
    lost = pl.sum_horizontal("lost", "base_lost")
    lost_words = pl.format("{} launches lost to a time limit count as slower than all", lost)
    within_control = pl.col("rule") == DecisionRule.WITHIN_CONTROL.value
    return [
        flag(pl.col("dependent"), "dependent"),
        flag(in_few_boots, "few-boots"),
        flag(unpaired, "unpaired"),
        flag(other_layout, layout_words),
        flag(other_build, build_words),
        flag(does_not_fit, pl.col("left_out")),
        flag(there & (failed > 0), failed_words),
        flag(there & (lost > 0), lost_words),
        flag(within_control, "within-control"),
        flag(pl.col("lopsided"), "lopsided-noise"),
    ]


def _is_lopsided_noise(table: pl.DataFrame, pairs: Sequence[PlatformPair]) -> BoolCube:
    """Return which rows have a difference that asymmetric noise alone may have caused.

    The values of these rows spread differently on the two platforms, and mostly to one side. Such a
    spread may look like a difference. docs/method/statistics.md, "Lopsided noise", describes the
    cost of this caveat, and how often such noise is noticed.
    """
    lopsided = np.zeros(table.height, dtype=np.bool_)
    is_compared = pl.col("verdict").is_in(_COMPARED)
    rows = table.with_row_index("number").filter(is_compared)
    for pair in pairs:
        if pair.exact:
            continue
        pair_rows = rows.filter(platform=pair.platform, baseline=pair.baseline)
        for layer in pair_rows.partition_by("layer", "headline"):
            differs = layer.get_column("verdict").is_in(_DIFFERENT)
            different = differs.to_numpy()
            points = layer.get_column("point_row").to_numpy()
            if different.any() and _has_tail(pair, points):
                small = stats.within_spread(pair.here.values[points], pair.there.values[points])
                numbers = layer.get_column("number").to_numpy()
                lopsided[numbers[different & small]] = True
    return lopsided


def _has_tail(pair: PlatformPair, points: IntCube) -> bool:
    """Whether the differences of some points together have a tail to one side."""
    differences = stats.collapsed(pair.differences[points], pair.boots.groups)
    p = stats.asymmetry_p(differences)
    return bool(p <= stats.ASYMMETRY_ALPHA)
