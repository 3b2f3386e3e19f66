"""The history of metrics in the terminal: every change with its facts, then a line per series."""

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
from bareline.report.figures.scales import Scale, unit_scale
from bareline.stats import MIN_RUNS
from bareline.vocabulary.units import count
from bareline.vocabulary.verdicts import Grade

_LEVELS = "▁▂▃▄▅▆▇█"
_FACTS = 4
#: The largest number of block characters that fit into a line of a terminal.
_MOST_BLOCKS = 60


def trend_blocks(trend: Trend, *, details: bool = False) -> Iterator[Block]:
    """Yield the changes of all series, then a table of the series with a headline metric.

    If `details` is true, the table has all series. A series is a metric of one case on one platform
    over the runs.
    """
    series = trend.series
    first = trend.dates[0].day
    last = trend.dates[-1].day
    yield Remark(f"{count(len(trend.runs), 'run')} from {first} to {last}, {len(series)} series")
    if trend.dated_by_files:
        yield Remark(undated_words(trend), "muted")
    for text in (*incomplete_words(trend), *trend.history.differences):
        yield Remark(text, "muted")
    changed = [line for line in series if line.changes or line.slope]
    for line in changed:
        yield from _changes(trend, line)
    if not changed:
        short = len(trend.runs) < MIN_RUNS
        why = f": {MIN_RUNS} runs are needed to decide" if short else ""
        yield Remark(f"no certain change{why}")
    listed = series
    if not details:
        listed = [line for line in series if line.headline]
    yield _table(trend, listed)
    if len(listed) < len(series):
        yield Remark(f"{len(series) - len(listed)} more with --all", "muted")
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
    """Return a row for each series: first and last value, state, chart of block characters."""
    rows = Rows(series).text("series", lambda line: line.words)
    rows.text("platform", lambda line: line.platform)
    rows.figure("first", lambda line: _scale_of(line).show(_present(line.medians)[0]))
    rows.figure("last", lambda line: _scale_of(line).show(_present(line.medians)[-1]))
    rows.text("unit", lambda line: _scale_of(line).unit)
    rows.text("state", lambda line: _state(trend, line), wrap=True)
    rows.column("over runs", _blocks_field, "text")
    return rows.table(whole=True)


def _scale_of(series: TrendSeries) -> Scale:
    return unit_scale(series.medians, series.unit)


def _blocks_field(series: TrendSeries) -> Field:
    tone: Tone = "bold" if series.certain else ""
    return Field(_blocks(series.medians), tone=tone)


def _state(trend: Trend, series: TrendSeries) -> str:
    """Describe the course of a series; if no change was found, with the p-value."""
    present = series.present
    if present is not None and present.verdict is not None:
        way = {"slower": "worse", "faster": "better"}[present.verdict.value]
        return f"{way} since {trend.runs[present.change.at].name}"
    if any(change.grade is Grade.LIKELY for change in series.changes):
        return "likely changed"
    words = COURSES[series.course]
    if words == "nothing found":
        return f"{words}, p {series.p:.2g}"
    return words


def _present(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _blocks(values: Sequence[float | None]) -> str:
    """Draw values as block characters; a missing value is a dot.

    The full height is the range of the values, at least a tenth of the least value. In a long
    history several neighbours share a character, which shows their median.
    """
    drawn = _condensed(values)
    low = min(_present(drawn))
    high = max(_present(drawn))
    reach = max(high - low, 0.1 * abs(low))
    blocks: list[str] = []
    for value in drawn:
        if value is None:
            blocks.append("·")
            continue
        height = (value - low) / reach if reach else 0.0
        level = round(height * (len(_LEVELS) - 1))
        blocks.append(_LEVELS[level])
    return "".join(blocks)


def _condensed(values: Sequence[float | None]) -> list[float | None]:
    """Return at most `_MOST_BLOCKS` values, each the median of equally many neighbours."""
    width = math.ceil(len(values) / _MOST_BLOCKS)
    drawn: list[float | None] = []
    for begin in range(0, len(values), width):
        present = _present(values[begin : begin + width])
        middle = median(present) if present else None
        drawn.append(middle)
    return drawn
