"""Explain cases that are not compared because two platforms ran different numbers of ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from bareline.vocabulary.units import listing

if TYPE_CHECKING:
    from bareline.analysis.numbers.pairs import PlatformPair

#: The columns that are equal on two platforms where only their ranks differ.
_SAME = ("probe", "params", "metric")

#: The numbers of ranks by the columns of `_SAME`, in ascending order; 0 is an unknown number.
_Ranks = dict[tuple[str, ...], tuple[int, ...]]


def other_ranks_text(table: pl.DataFrame, summary: pl.DataFrame, pair: PlatformPair) -> pl.Series:
    """Return for each row how the numbers of ranks differ; empty if they do not differ."""
    ranks = _ranks_of(summary, pair.platform)
    base_ranks = _ranks_of(summary, pair.baseline)
    reasons = {}
    for same in ranks.keys() & base_ranks.keys():
        if ranks[same] != base_ranks[same]:
            reason = _reason(pair, ranks[same], base_ranks[same])
            reasons[same] = reason
    if not reasons:
        return pl.Series("other_ranks", [""], dtype=pl.String).new_from_index(0, table.height)
    texts = []
    cases = table.select(*_SAME, "n", "n_baseline")
    for *shared, n, n_baseline in cases.iter_rows():
        if n and n_baseline:
            texts.append("")
        else:
            texts.append(reasons.get(tuple(shared), ""))
    return pl.Series("other_ranks", texts, dtype=pl.String)


def _ranks_of(summary: pl.DataFrame, platform: str) -> _Ranks:
    measured = summary.filter(pl.col("platform") == platform, pl.col("n") > 0)
    different_ranks = pl.col("ranks").unique().sort()
    ranks = measured.group_by(*_SAME).agg(different_ranks)
    return {tuple(same): tuple(numbers) for *same, numbers in ranks.iter_rows()}


def _reason(pair: PlatformPair, ranks: tuple[int, ...], base_ranks: tuple[int, ...]) -> str:
    """Describe how the ranks of two platforms differ; a number of 0 is an unknown number."""
    if 0 in ranks and 0 not in base_ranks:
        return _unknown(pair.platform, pair.baseline, base_ranks)
    if 0 in base_ranks and 0 not in ranks:
        return _unknown(pair.baseline, pair.platform, ranks)
    numbers_there = _numbers(base_ranks)
    numbers_here = _numbers(ranks)
    return (
        f"not the same number of ranks: {pair.baseline} has {numbers_there}, "
        f"{pair.platform} has {numbers_here}"
    )


def _unknown(platform: str, other: str, ranks_of_other: tuple[int, ...]) -> str:
    numbers = _numbers(ranks_of_other)
    return (
        f"the number of ranks of {platform} is not known, {other} has "
        f"{numbers}; import with --ranks"
    )


def _numbers(ranks: tuple[int, ...]) -> str:
    words = [str(number or "an unknown number") for number in ranks]
    return listing(words)
