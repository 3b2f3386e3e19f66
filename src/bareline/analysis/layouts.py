"""Like with like: which cases two platforms measured on equal layouts.

Two ranks on one node talk through memory, on two nodes through a network: whatever differs
between them is not what a platform costs. Nodes and ranks per node must be equal, unless the study
says that it wants another pairing (``layouts = "any"``); then a caveat and the sentence say so.
"""

from __future__ import annotations

import polars as pl

from bareline.vocabulary.model import Layout
from bareline.vocabulary.place import CASE

#: What a study says that wants unlike layouts compared.
ANY = "any"


def layouts(trials: pl.DataFrame) -> pl.DataFrame:
    """Give the layout of each case on each platform, where it is one and known.

    Returns
    -------
    polars.DataFrame
        platform, the columns of a case, layout, nodes_used.
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
    if own is None or base is None:
        return ""
    first, second = Layout.parse(own), Layout.parse(base)
    if (first.nodes, first.ranks_per_node) == (second.nodes, second.ranks_per_node):
        return ""
    return f"{_words(first)} against {_words(second)}"


def _words(layout: Layout) -> str:
    ranks = layout.ranks_per_node
    if ranks == 1:
        each = ""
    elif layout.nodes == 1:
        each = f" with {ranks} ranks, which share its memory"
    else:
        each = f" with {ranks} ranks each"
    return f"{_NUMBERS.get(layout.nodes, layout.nodes)} node{'s' if layout.nodes > 1 else ''}{each}"


_NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}
