"""Cases that two platforms ran with different numbers of ranks, so that none can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from bareline.vocabulary.units import listing

if TYPE_CHECKING:
    from bareline.analysis.numbers.pairs import PlatformPair

#: What two platforms share where only their ranks differ.
_SAME = ("probe", "params", "metric")


def other_ranks_text(table: pl.DataFrame, summary: pl.DataFrame, pair: PlatformPair) -> pl.Series:
    """Return for each row why ranks keep both sides apart; empty where they do not."""
    own, base = (_ranks_of(summary, name) for name in (pair.platform, pair.baseline))
    apart = {
        same: _text(pair, own[same], base[same])
        for same in own.keys() & base.keys()
        if own[same] != base[same]
    }
    texts = [
        "" if n and n_baseline else apart.get(tuple(same), "")
        for *same, n, n_baseline in table.select(*_SAME, "n", "n_baseline").iter_rows()
    ]
    return pl.Series("other_ranks", texts, dtype=pl.String)


def _ranks_of(summary: pl.DataFrame, platform: str) -> dict[tuple[str, ...], tuple[int, ...]]:
    measured = summary.filter(pl.col("platform") == platform, pl.col("n") > 0)
    ranks = measured.group_by(*_SAME).agg(pl.col("ranks").unique().sort())
    return {tuple(same): tuple(numbers) for *same, numbers in ranks.iter_rows()}


def _text(pair: PlatformPair, own: tuple[int, ...], base: tuple[int, ...]) -> str:
    unknown = [name for name, ranks in ((pair.baseline, base), (pair.platform, own)) if 0 in ranks]
    if len(unknown) == 1:
        known = own if unknown[0] == pair.baseline else base
        other = pair.platform if unknown[0] == pair.baseline else pair.baseline
        return (
            f"the number of ranks of {unknown[0]} is not known, {other} has {_numbers(known)}; "
            "import with --ranks"
        )
    return (
        f"not the same number of ranks: {pair.baseline} has {_numbers(base)}, "
        f"{pair.platform} has {_numbers(own)}"
    )


def _numbers(ranks: tuple[int, ...]) -> str:
    return listing([str(number) if number else "an unknown number" for number in ranks])
