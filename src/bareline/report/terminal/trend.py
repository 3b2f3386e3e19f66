"""A trend on the terminal: the runs, what changed certainly, then each series as a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.words.remarks import step_words
from bareline.report.blocks import Block, Field, Remark, Rows, Table
from bareline.report.figures.scales import Scale, unit_scale
from bareline.stats import MIN_RUNS
from bareline.vocabulary.units import count

_LEVELS = "▁▂▃▄▅▆▇█"
_FACTS = 4


def trend_blocks(trend: Trend, *, details: bool = False) -> Iterator[Block]:
    """Give the series that made a certain step, and every one with `details`."""
    series = trend.series
    first, last = trend.runs[0].header.created[:10], trend.runs[-1].header.created[:10]
    yield Remark(f"{count(len(trend.runs), 'run')} from {first} to {last}, {len(series)} series")
    steps = [(one, one.step) for one in series if one.step is not None]
    for one, step in steps:
        yield Remark(
            f"{one.words} on {one.platform}: {step_words(trend, step)}", "bold", unbroken=True
        )
        for name, before, after in step.changed[:_FACTS]:
            yield Remark(f"  {name}: {before} -> {after}", "muted", unbroken=True)
        if len(step.changed) > _FACTS:
            yield Remark(f"  and {len(step.changed) - _FACTS} more facts", "muted")
    if not steps:
        short = len(trend.runs) < MIN_RUNS
        why = f": {MIN_RUNS} runs are needed to decide" if short else ""
        yield Remark(f"no certain change{why}")
    shown = series if details else [one for one in series if one.headline]
    yield _table(shown)
    if len(shown) < len(series):
        yield Remark(f"{len(series) - len(shown)} more with --all", "muted")


def _table(series: Sequence[TrendSeries]) -> Table:
    def end(one: TrendSeries, at: int) -> str:
        return _scale(one).show(_known(one.medians)[at])

    return (
        Rows(series)
        .text("series", lambda one: one.words)
        .text("platform", lambda one: one.platform)
        .figure("first", lambda one: end(one, 0))
        .figure("last", lambda one: end(one, -1))
        .text("unit", lambda one: _scale(one).unit)
        .column(
            "over runs",
            lambda one: Field(_line(one.medians), tone="bold" if one.step else ""),
            "text",
        )
        .table(whole=True)
    )


def _scale(one: TrendSeries) -> Scale:
    return unit_scale(one.medians, one.unit)


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _line(values: Sequence[float | None]) -> str:
    """Draw values as blocks, their height a tenth of the level at least; a gap is a dot."""
    low, high = min(_known(values)), max(_known(values))
    reach = max(high - low, 0.1 * abs(low))
    return "".join(
        "·" if value is None
        else _LEVELS[round((value - low) / reach * (len(_LEVELS) - 1)) if reach else 0]
        for value in values
    )  # fmt: skip
