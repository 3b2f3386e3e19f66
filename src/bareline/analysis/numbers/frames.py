"""The tables (frames) of a run, with cases that can be compared with cases of another run.

Two ranks on one node communicate through memory, and on two nodes through a network. This
difference is not the cost of a platform. So nodes, ranks per node, threads per rank and pinning
(the layout) must be equal, unless the study permits different layouts (``layouts = "any"``). A
caveat, and the sentence about the result, then report the difference. Each layout that a platform
measured is a separate case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import polars as pl

from bareline.analysis.numbers import parameters
from bareline.store.run import Run
from bareline.store.run_files import FIRST
from bareline.vocabulary.model import Case, Layout, format_point, parse_point
from bareline.vocabulary.pinning import UNBOUND
from bareline.vocabulary.place import CASE, layout_words


class Frames(NamedTuple):
    """The tables of one run, as data frames."""

    trials: pl.DataFrame
    values: pl.DataFrame
    left_out: pl.DataFrame
    planned: pl.DataFrame | None

    @property
    def case_texts(self) -> list[parameters.CaseText]:
        """The texts of the run's cases; a case without parameters has an empty text."""
        texts: list[parameters.CaseText] = []
        for frame in (self.trials, self.left_out, self.planned):
            if frame is not None:
                texts += frame.select("probe", "params").unique().iter_rows()
        return texts

    def with_cases(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Frames:
        """Return the frames, with `change` applied to every frame that has columns of a case."""
        planned = self.planned
        if planned is not None:
            planned = change(planned)
        return self._replace(
            trials=change(self.trials), left_out=change(self.left_out), planned=planned
        )


def read_frames(run: Run) -> Frames:
    """Read the tables of a run; the cases have the names that the run gave them."""
    trials, values = run.tables()
    sessions = run.sessions().items()
    machines = {number: session.machine for number, session in sessions}
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
        machines_of_case = pl.col("machine").n_unique()
        several = machines_of_case.over(CASE) > 1
        caveat = pl.lit(["two-machines"])
        with_caveat = pl.col("caveats").list.concat(caveat)
        caveats = pl.when(several).then(with_caveat).otherwise("caveats")
        earlier_machines = pl.col("machine") - 1
        blocks_of_machine = 1 + pl.col("block").max()
        trials = trials.with_columns(
            pl.col("block") + earlier_machines * blocks_of_machine, caveats=caveats
        )
    planned = run.planned()
    planned_cases = None
    if planned is not None:
        planned_cases = _cases(planned)
    return Frames(trials, values, _left_out(run), planned_cases)


def _left_out(run: Run) -> pl.DataFrame:
    """Return the cases that were excluded when the run was planned, with the reasons."""
    left_out = run.left_out()
    places = [(row.platform, row.case) for row in left_out]
    cases = _cases(places)
    return cases.with_columns(
        pl.Series("reason", [row.reason for row in left_out], dtype=pl.String)
    )


def _cases(rows: Sequence[tuple[str, Case]]) -> pl.DataFrame:
    schema = {
        "platform": pl.String, "probe": pl.String, "params": pl.String, "ranks": pl.Int64,
        "threads": pl.Int64, "nodes": pl.Int64, "profile": pl.Boolean, "pinning": pl.String,
    }  # fmt: skip
    cases = []
    for platform, case in rows:
        cases.append(
            {
                "platform": platform,
                "probe": case.probe,
                "params": case.params,
                "ranks": case.ranks,
                "threads": case.threads,
                "nodes": case.nodes,
                "profile": case.profile,
                "pinning": case.pinning,
            }
        )
    table = pl.DataFrame(cases, schema=schema)
    return table.with_columns(pl.col("nodes").fill_null(0))


#: The name of a case, by its probe and the text of its parameters.
Text = dict[tuple[str, str], str]


def name_cases(frame: pl.DataFrame, texts: Text) -> pl.DataFrame:
    """Name cases by their parameters and pinning.

    Profiled cases have the parameter ``profile=true``.
    """
    keys = {"probe": pl.String, "params": pl.String, "pinning": pl.String, "profile": pl.Boolean}
    names = []
    different = frame.select(*keys).unique()
    for probe, params, pinning, profile in different.iter_rows():
        text = with_parameters(texts[probe, params], pinning, profile=profile)
        names.append((probe, params, pinning, profile, text))
    table = pl.DataFrame(names, schema={**keys, "text": pl.String}, orient="row")
    named = frame.join(table, on=list(keys), how="left", maintain_order="left")
    return named.with_columns(params="text").drop("text", "pinning")


def with_parameters(params: str, pinning: str, *, profile: bool = False) -> str:
    """Return the text of a case with its pinning, and with ``profile=true`` for a profiled case."""
    if not profile and not pinning:
        return params
    marked = {**parse_point(params), **parse_point(pinning)}
    if profile:
        marked["profile"] = True
    return format_point(marked)


ANY = "any"


def layouts(trials: pl.DataFrame) -> pl.DataFrame:
    """Return platform, case, layout and nodes_used of each case with exactly one known layout."""
    with_known = trials.drop_nulls("layout").select("platform", *CASE, "layout")
    with_layout = with_known.unique()
    layouts_of_case = pl.len().over("platform", *CASE)
    unique = with_layout.filter(layouts_of_case == 1)
    texts = unique.get_column("layout").unique()
    nodes = {text: Layout.parse(text).nodes for text in texts}
    used = pl.col("layout").replace_strict(nodes, return_dtype=pl.Int64)
    return unique.with_columns(nodes_used=used)


@cache
def unlike_text(layout: str | None, base_layout: str | None) -> str:
    """Describe how two layouts differ; empty if they are equal or if one is unknown."""
    if layout is None:
        return ""
    if base_layout is None:
        return ""
    if layout == base_layout:
        return ""
    here = Layout.parse(layout)
    there = Layout.parse(base_layout)
    with_pinning = here.pinning != there.pinning
    words = _layout_words(here, with_pinning=with_pinning)
    base_words = _layout_words(there, with_pinning=with_pinning)
    return f"{words} against {base_words}"


def _layout_words(layout: Layout, *, with_pinning: bool) -> str:
    words = layout_words(layout.nodes, layout.ranks_per_node, layout.threads_per_rank)
    if with_pinning:
        return f"{words}, {layout.pinning.words}"
    return words


def split_trials(trials: pl.DataFrame, split: pl.DataFrame) -> pl.DataFrame:
    """Return trials in which each case has the nodes and threads of the layout that was used.

    If a study names the nodes for a case, a block may contain several launches of the case. These
    launches become additional blocks.

    - `split`: the cases with several layouts, from `split_of`.
    """
    if split.is_empty():
        return trials
    moved = split_cases(trials, split, "layout")
    number = pl.int_range(pl.len())
    nth = number.over("run", "platform", *CASE, "block")
    next_block = 1 + pl.col("block").max()
    return moved.with_columns(pl.col("block") + nth * next_block)


def split_cases(frame: pl.DataFrame, split: pl.DataFrame, *more: str) -> pl.DataFrame:
    """Return a frame in which each row of a split case appears once for each of its layouts.

    - `more`: additional columns, after the columns of a case, by which rows are joined with
      `split`.
    """
    joined = frame.join(split, on=[*CASE, *more], how="left", maintain_order="left")
    return joined.with_columns(
        nodes=pl.coalesce("layout_nodes", "nodes"),
        threads=pl.coalesce("layout_threads", "threads"),
        params=pl.coalesce("layout_params", "params"),
    ).drop("layout_nodes", "layout_threads", "layout_params")


def split_of(trials: pl.DataFrame) -> pl.DataFrame:
    """Return the cases that one platform ran in several layouts.

    The layout changes, for example, if a run is continued on a different number of nodes. Each of
    these cases is split on every platform, so that equal layouts are still compared. The result has
    the columns of a case, each layout of the case on any platform, and the nodes, threads and
    parameters (with the pinning) of that layout.
    """
    with_layout = trials.drop_nulls("layout")
    layouts_count = pl.col("layout").n_unique()
    layouts_of_case = layouts_count.over("platform", *CASE)
    several = with_layout.filter(layouts_of_case > 1)
    cases = several.select(*CASE)
    of_cases = with_layout.join(cases, on=CASE, how="semi")
    split = of_cases.select(*CASE, "layout").unique()
    parsed = [Layout.parse(text) for text in split.get_column("layout")]
    params = []
    texts = split.get_column("params")
    for text, layout in zip(texts, parsed, strict=True):
        pinning = ""
        if layout.pinning != UNBOUND:
            pinning = str(layout.pinning)
        params.append(with_parameters(text, pinning))
    nodes = [layout.nodes for layout in parsed]
    threads = [layout.threads_per_rank for layout in parsed]
    return split.with_columns(
        pl.Series("layout_nodes", nodes, dtype=pl.Int64),
        pl.Series("layout_threads", threads, dtype=pl.Int64),
        pl.Series("layout_params", params, dtype=pl.String),
    )
