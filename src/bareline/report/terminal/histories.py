"""Metrics over runs on a terminal: every change with its facts, then a line of blocks for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from bareline.analysis.judgements.present import ChangePoint
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.words.history import (
    COURSES,
    change_words,
    drift_words,
    incomplete_words,
    promise_words,
    undated_words,
)
from bareline.report.blocks import Block, Field, Remark, Rows, Table, Tone
from bareline.report.figures.scales import unit_scale
from bareline.stats import MIN_RUNS
from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import Grade

_LEVELS = "▁▂▃▄▅▆▇█"
_FACTS = 4
#: More runs would not fit a line of a terminal.
_MOST_BLOCKS = 60


def trend_blocks(trend: Trend, *, details: bool = False) -> Iterator[Block]:
    """Yield the changes of all series, and the series that changed or are headlines.

    With `details` every series has a row.
    """
    series = trend.series
    first, last = trend.dates[0].day, trend.dates[-1].day
    yield Remark(f"{count(len(trend.runs), 'run')} from {first} to {last}, {len(series)} series")
    if trend.dated_by_files:
        yield Remark(undated_words(trend), "muted")
    for line in (*incomplete_words(trend), *trend.history.differences):
        yield Remark(line, "muted")
    moved = [one for one in series if one.changes or one.slope]
    for one in moved:
        yield from _changes(trend, one)
    if not moved:
        short = len(trend.runs) < MIN_RUNS
        why = f": {MIN_RUNS} runs are needed to decide" if short else ""
        yield Remark(f"no certain change{why}")
    shown = series if details else [one for one in series if one.headline]
    yield _table(trend, shown)
    if len(shown) < len(series):
        yield Remark(f"{len(series) - len(shown)} more with --all", "muted")
    yield Remark(promise_words(trend), "muted")


def _changes(trend: Trend, series: TrendSeries) -> Iterator[Block]:
    name = f"{series.words} on {series.platform}"
    if series.slope:
        yield Remark(f"{name}: {drift_words(series)}", "bold", unbroken=True)
    for change in series.changes:
        style: Tone = "bold" if change.is_open else "muted"
        yield Remark(f"{name}: {change_words(trend, change)}", style, unbroken=True)
        yield from _facts(change)
    if len(series.changes) > 1 and series.certain and not series.present:
        yield Remark(f"{name}: all changes are accepted", "muted", unbroken=True)


def _facts(change: ChangePoint) -> Iterator[Block]:
    for name, before, after in change.changed[:_FACTS]:
        yield Remark(f"  {name}: {before} -> {after}", "muted", unbroken=True)
    if len(change.changed) > _FACTS:
        yield Remark(f"  and {len(change.changed) - _FACTS} more facts", "muted")


def _table(trend: Trend, series: Sequence[TrendSeries]) -> Table:
    def end(one: TrendSeries, at: int) -> str:
        return unit_scale(one.medians, one.unit).show(_known(one)[at])

    rows = Rows(series).text("series", lambda one: one.words)
    rows.text("platform", lambda one: one.platform)
    rows.figure("first", lambda one: end(one, 0)).figure("last", lambda one: end(one, -1))
    rows.text("unit", lambda one: unit_scale(one.medians, one.unit).unit)
    rows.text("state", lambda one: _state(trend, one), wrap=True)
    line = lambda one: Field(_line(one), tone="bold" if one.certain else "")  # noqa: E731
    return rows.column("over runs", line, "text").table(whole=True)


def _state(trend: Trend, one: TrendSeries) -> str:
    """Return the course of a series, and its p where nothing is certain."""
    if one.present is not None and one.present.verdict is not None:
        way = {"slower": "worse", "faster": "better"}[one.present.verdict.value]
        return f"{way} since {trend.runs[one.present.change.at].name}"
    if any(change.grade is Grade.LIKELY for change in one.changes):
        return "likely changed"
    words = COURSES[one.course]
    return f"{words}, p {one.p:.2g}" if words == "nothing found" else words


def _known(one: TrendSeries) -> list[float]:
    return [value for value in one.medians if value is not None]


def _line(one: TrendSeries) -> str:
    """Draw values as blocks, their height a tenth of the level at least; a gap is a dot.

    Of a long history several neighbours share a block: their median.
    """
    drawn = _condensed(one.medians)
    present = [value for value in drawn if value is not None]
    low, high = min(present), max(present)
    reach = max(high - low, 0.1 * abs(low))
    return "".join(
        "·" if value is None
        else _LEVELS[round((value - low) / reach * (len(_LEVELS) - 1)) if reach else 0]
        for value in drawn
    )  # fmt: skip


def _condensed(values: Sequence[float | None]) -> list[float | None]:
    """Return at most `_MOST_BLOCKS` values, each the median of as many neighbours."""
    width = math.ceil(len(values) / _MOST_BLOCKS)
    drawn: list[float | None] = []
    for begin in range(0, len(values), width):
        present = [value for value in values[begin : begin + width] if value is not None]
        drawn.append(median(present) if present else None)
    return drawn
