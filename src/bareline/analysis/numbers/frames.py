"""The frames of one run, and the cases in it that are comparable with another run's cases.

Two ranks on one node talk through memory, on two nodes through a network: whatever differs
between them is not the cost of a platform. Nodes, ranks per node, threads per rank and their places
on a node must be equal, unless the study asks for another pairing (``layouts = "any"``); then a
caveat and the sentence report it. Each layout that a platform measured is a case of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import polars as pl

from bareline.analysis.numbers import parameters
from bareline.store.run import Run
from bareline.store.run_files import FIRST
from bareline.vocabulary.model import Case, Layout, Scalar, format_point, parse_point
from bareline.vocabulary.pinning import UNBOUND
from bareline.vocabulary.place import CASE, layout_words


class Frames(NamedTuple):
    """The frames of one run."""

    trials: pl.DataFrame
    values: pl.DataFrame
    left_out: pl.DataFrame
    planned: pl.DataFrame | None

    @property
    def said(self) -> list[parameters.Said]:
        """The texts of its cases; a case without parameters has an empty text."""
        frames = (self.trials, self.left_out, self.planned)
        return [
            row
            for frame in frames
            if frame is not None
            for row in frame.select("probe", "params").unique().iter_rows()
        ]

    def with_cases(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Frames:
        """Change all frames with the columns of a case in the same way."""
        return self._replace(
            trials=change(self.trials),
            left_out=change(self.left_out),
            planned=None if self.planned is None else change(self.planned),
        )


def read_frames(run: Run) -> Frames:
    """Read a run; cases are named as it names them itself."""
    trials, values = run.tables()
    machines = {number: session.machine for number, session in run.sessions().items()}
    trials = trials.with_columns(
        pl.col("nodes").fill_null(0),
        pl.col("profile").fill_null(False),
        pl.col("pinning").fill_null(""),
        machine=pl.col("session")
        .fill_null(FIRST)
        .replace_strict(machines, default=FIRST, return_dtype=pl.Int64),
    )
    if trials.get_column("machine").n_unique() > 1:
        # Blocks of several machines are kept apart as blocks of several runs, with a caveat.
        several = pl.col("machine").n_unique().over(CASE) > 1
        said = pl.col("caveats").list.concat(pl.lit(["two-machines"]))
        trials = trials.with_columns(
            pl.when(several).then(said).otherwise("caveats").alias("caveats"),
            pl.col("block") + (pl.col("machine") - 1) * (1 + pl.col("block").max()),
        )
    left_out, planned = run.left_out(), run.planned()
    reasons = pl.Series("reason", [row.reason for row in left_out], dtype=pl.String)
    return Frames(
        trials,
        values,
        _cases([(row.platform, row.case) for row in left_out]).with_columns(reasons),
        None if planned is None else _cases(planned),
    )


def _cases(rows: Sequence[tuple[str, Case]]) -> pl.DataFrame:
    schema = {
        "platform": pl.String, "probe": pl.String, "params": pl.String, "ranks": pl.Int64,
        "threads": pl.Int64, "nodes": pl.Int64, "profile": pl.Boolean, "pinning": pl.String,
    }  # fmt: skip
    cases = [
        {"platform": platform, **{name: getattr(case, name) for name in [*schema][1:]}}
        for platform, case in rows
    ]
    return pl.DataFrame(cases, schema=schema).with_columns(pl.col("nodes").fill_null(0))


#: The name of a case, by its probe and the text of its parameters.
Text = dict[tuple[str, str], str]


def name_cases(frame: pl.DataFrame, texts: Text) -> pl.DataFrame:
    """Name cases by their texts and pinning; profiled cases have the parameter ``profile=true``."""
    keys = {"probe": pl.String, "params": pl.String, "pinning": pl.String, "profile": pl.Boolean}
    names = [
        (*row, with_parameters(texts[row[:2]], row[2], profile=row[3]))
        for row in frame.select(*keys).unique().iter_rows()
    ]
    table = pl.DataFrame(names, schema={**keys, "text": pl.String}, orient="row")
    named = frame.join(table, on=list(keys), how="left", maintain_order="left")
    return named.with_columns(params="text").drop("text", "pinning")


def with_parameters(params: str, pinning: str, *, profile: bool = False) -> str:
    """Add distinctions other than the probe's parameters to the text of cases."""
    marks: dict[str, Scalar] = {"profile": True} if profile else {}
    if not (marks or pinning):
        return params
    return format_point({**parse_point(params), **parse_point(pinning), **marks})


ANY = "any"


def layouts(trials: pl.DataFrame) -> pl.DataFrame:
    """Return platform, case, layout and nodes_used of each case whose layout is one and known."""
    every = trials.drop_nulls("layout").select("platform", *CASE, "layout").unique()
    known = every.filter(pl.len().over("platform", *CASE) == 1)
    nodes = {text: Layout.parse(text).nodes for text in known.get_column("layout").unique()}
    used = pl.col("layout").replace_strict(nodes, return_dtype=pl.Int64)
    return known.with_columns(nodes_used=used)


@cache
def unlike_text(own: str | None, base: str | None) -> str:
    """Describe how two layouts differ; nothing where they do not, or one is unknown."""
    if own is None or base is None or own == base:
        return ""
    both = [Layout.parse(text) for text in (own, base)]
    words = [layout_words(one.nodes, one.ranks_per_node, one.threads_per_rank) for one in both]
    if both[0].pinning != both[1].pinning:
        words = [f"{text}, {one.pinning.words}" for text, one in zip(words, both, strict=True)]
    return " against ".join(words)


def split_trials(trials: pl.DataFrame, split: pl.DataFrame) -> pl.DataFrame:
    """Return trials whose cases have the nodes and threads that the trials ran on.

    A study may give the nodes of a case: launches with given nodes are more blocks of the case.
    """
    if split.is_empty():
        return trials
    moved = split_cases(trials, split, "layout")
    nth = pl.int_range(pl.len()).over("run", "platform", *CASE, "block")
    return moved.with_columns(pl.col("block") + nth * (1 + pl.col("block").max()))


def split_cases(frame: pl.DataFrame, split: pl.DataFrame, *more: str) -> pl.DataFrame:
    """Return the rows of cases, once for each layout of a case."""
    joined = frame.join(split, on=[*CASE, *more], how="left", maintain_order="left")
    return joined.with_columns(
        pl.coalesce("layout_nodes", "nodes").alias("nodes"),
        pl.coalesce("layout_threads", "threads").alias("threads"),
        pl.coalesce("layout_params", "params").alias("params"),
    ).drop("layout_nodes", "layout_threads", "layout_params")


def split_of(trials: pl.DataFrame) -> pl.DataFrame:
    """Return the cases whose layout changed on a platform, e.g. as a run continued on other nodes.

    They are split on every platform, so that equal layouts are still compared. The result has the
    columns of a case, each layout that it had anywhere, and the nodes, threads and parameters (with
    the pinning) of that layout.
    """
    known = trials.drop_nulls("layout")
    several = known.filter(pl.col("layout").n_unique().over("platform", *CASE) > 1)
    found = known.join(several.select(*CASE), on=CASE, how="semi").select(*CASE, "layout").unique()
    read = [Layout.parse(text) for text in found.get_column("layout")]
    params = [
        with_parameters(text, "" if one.pinning == UNBOUND else str(one.pinning))
        for text, one in zip(found.get_column("params"), read, strict=True)
    ]
    return found.with_columns(
        pl.Series("layout_nodes", [one.nodes for one in read], dtype=pl.Int64),
        pl.Series("layout_threads", [one.threads_per_rank for one in read], dtype=pl.Int64),
        pl.Series("layout_params", params, dtype=pl.String),
    )
