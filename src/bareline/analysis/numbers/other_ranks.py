"""Cases that two platforms ran with different numbers of ranks, so that none can be compared."""

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
    """Return for each row why ranks keep both sides apart; empty where they do not."""
    own = _ranks_of(summary, pair.platform)
    base = _ranks_of(summary, pair.baseline)
    reasons = {}
    for same in own.keys() & base.keys():
        if own[same] != base[same]:
            reasons[same] = _reason(pair, own[same], base[same])
    if not reasons:
        return pl.Series("other_ranks", [""], dtype=pl.String).new_from_index(0, table.height)
    texts = []
    for *shared, n, n_baseline in table.select(*_SAME, "n", "n_baseline").iter_rows():
        compared = n and n_baseline
        texts.append("" if compared else reasons.get(tuple(shared), ""))
    return pl.Series("other_ranks", texts, dtype=pl.String)


def _ranks_of(summary: pl.DataFrame, platform: str) -> _Ranks:
    measured = summary.filter(pl.col("platform") == platform, pl.col("n") > 0)
    ranks = measured.group_by(*_SAME).agg(pl.col("ranks").unique().sort())
    return {tuple(same): tuple(numbers) for *same, numbers in ranks.iter_rows()}


def _reason(pair: PlatformPair, own: tuple[int, ...], base: tuple[int, ...]) -> str:
    if 0 in own and 0 not in base:
        return _unknown(pair.platform, pair.baseline, base)
    if 0 in base and 0 not in own:
        return _unknown(pair.baseline, pair.platform, own)
    return (
        f"not the same number of ranks: {pair.baseline} has {_numbers(base)}, "
        f"{pair.platform} has {_numbers(own)}"
    )


def _unknown(unknown: str, known: str, ranks: tuple[int, ...]) -> str:
    return (
        f"the number of ranks of {unknown} is not known, {known} has {_numbers(ranks)}; "
        "import with --ranks"
    )


def _numbers(ranks: tuple[int, ...]) -> str:
    return listing([str(number) if number else "an unknown number" for number in ranks])
