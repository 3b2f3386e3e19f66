"""Like with like: which cases two platforms measured on equal layouts.

Two ranks on one node talk through memory, on two nodes through a network: whatever differs
between them is not what a platform costs. Nodes, ranks per node, threads per rank and where on a
node they were must be equal, unless the study says that it wants another pairing
(``layouts = "any"``); then a caveat and the sentence say so. Of a case that a platform measured on
several layouts each is a case of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from bareline.analysis.numbers.frames import with_parameters
from bareline.vocabulary.model import Layout
from bareline.vocabulary.pinning import UNBOUND
from bareline.vocabulary.place import CASE, layout_words

#: What a study says that wants unlike layouts compared.
ANY = "any"


def layouts(trials: pl.DataFrame) -> pl.DataFrame:
    """Give the layout of each case on each platform, where it is one and known.

    Gives platform, the columns of a case, layout, nodes_used.
    """
    known = (
        trials.filter(pl.col("layout").is_not_null())
        .group_by("platform", *CASE)
        .agg(pl.col("layout").unique())
        .filter(pl.col("layout").list.len() == 1)
        .with_columns(pl.col("layout").list.first())
    )
    texts = known.get_column("layout").unique().to_list()
    nodes = {text: Layout.parse(text).nodes for text in texts}
    return known.with_columns(
        pl.col("layout").replace_strict(nodes, return_dtype=pl.Int64).alias("nodes_used")
    )


def unlike_text(own: str | None, base: str | None) -> str:
    """Say how two layouts differ; nothing where they do not, or one is unknown."""
    if own is None or base is None or own == base:
        return ""
    first, second = Layout.parse(own), Layout.parse(base)
    placed = first.pinning != second.pinning
    return f"{_words(first, placed)} against {_words(second, placed)}"


def _words(layout: Layout, placed: bool) -> str:
    words = layout_words(layout.nodes, layout.ranks_per_node, layout.threads_per_rank)
    return f"{words}, {layout.pinning.words}" if placed else words


@dataclass(frozen=True, slots=True)
class Split:
    """Cases that a platform measured on several layouts: each layout is a case of its own.

    - `layouts`: the columns of a case, one of the layouts that it had anywhere, its nodes and
      threads, and the case's parameters with where on a node its ranks were.
    """

    layouts: pl.DataFrame

    def trials(self, trials: pl.DataFrame) -> pl.DataFrame:
        """Give trials with the nodes and threads that theirs ran on as those of the case.

        A study may ask for the same with its nodes said: such launches are more blocks of one case.
        """
        if self.layouts.is_empty():
            return trials
        moved = self._moved(trials, "layout")
        nth = pl.int_range(pl.len()).over("run", "platform", *CASE, "block")
        return moved.with_columns(pl.col("block") + nth * (1 + pl.col("block").max()))

    def others(self, cases: pl.DataFrame) -> pl.DataFrame:
        """Give what speaks of cases, once for each layout of a case."""
        return self._moved(cases).drop("layout")

    def _moved(self, frame: pl.DataFrame, *more: str) -> pl.DataFrame:
        joined = frame.join(self.layouts, on=[*CASE, *more], how="left", maintain_order="left")
        return joined.with_columns(
            pl.coalesce("layout_nodes", "nodes").alias("nodes"),
            pl.coalesce("layout_threads", "threads").alias("threads"),
            pl.coalesce("layout_params", "params").alias("params"),
        ).drop("layout_nodes", "layout_threads", "layout_params")


def split_of(trials: pl.DataFrame) -> Split:
    """Find the cases whose layout changed on a platform, e.g. since a run went on on other nodes.

    They are split on every platform, so that like still meets like.
    """
    known = trials.filter(pl.col("layout").is_not_null())
    several = (
        known.group_by("platform", *CASE)
        .agg(pl.col("layout").n_unique())
        .filter(pl.col("layout") > 1)
        .select(*CASE)
    )
    found = known.join(several, on=list(CASE), how="semi").select(*CASE, "layout").unique()
    read = [Layout.parse(text) for text in found.get_column("layout")]
    params = [
        with_parameters(text, "" if one.pinning == UNBOUND else str(one.pinning))
        for text, one in zip(found.get_column("params"), read, strict=True)
    ]
    return Split(
        found.with_columns(
            pl.Series("layout_nodes", [one.nodes for one in read], dtype=pl.Int64),
            pl.Series("layout_threads", [one.threads_per_rank for one in read], dtype=pl.Int64),
            pl.Series("layout_params", params, dtype=pl.String),
        )
    )
