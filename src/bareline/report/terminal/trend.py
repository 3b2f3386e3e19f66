"""A trend on the terminal: the runs, what changed certainly, then each series as a line."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from bareline.analysis.judgements.trend import ChangePoint, Trend, TrendSeries
from bareline.analysis.words.remarks import step_words
from bareline.report.blocks import Column
from bareline.report.figures.scales import unit_scale
from bareline.report.writers.columns import print_table
from bareline.report.writers.console import clean
from bareline.stats import MIN_RUNS
from bareline.vocabulary.units import count

_LEVELS = "▁▂▃▄▅▆▇█"
_FACTS = 4


def print_trend(trend: Trend, console: Console, *, details: bool = False) -> None:
    """Print which series made a certain step, and every one with `details`."""
    series = trend.series
    moved = [one for one in series if one.step is not None]
    first, last = trend.runs[0].header.created[:10], trend.runs[-1].header.created[:10]
    console.print(
        Text(f"{count(len(trend.runs), 'run')} from {first} to {last}, {len(series)} series")
    )
    for one in moved:
        told = f"{one.words} on {one.platform}: {step_words(trend, _step(one))}"
        console.print(Text(clean(told), "bold"), soft_wrap=True)
        for name, before, after in _step(one).changed[:_FACTS]:
            console.print(Text(clean(f"  {name}: {before} -> {after}"), "dim"), soft_wrap=True)
        if len(_step(one).changed) > _FACTS:
            console.print(Text(f"  and {len(_step(one).changed) - _FACTS} more facts", "dim"))
    if not moved:
        short = len(trend.runs) < MIN_RUNS
        why = f": {MIN_RUNS} runs are needed to decide" if short else ""
        console.print(Text(f"no certain change{why}"))
    shown = series if details else [one for one in series if one.headline]
    _print_series(shown, console)
    if len(shown) < len(series):
        console.print(Text(f"{len(series) - len(shown)} more with --all", "dim"))


def _step(one: TrendSeries) -> ChangePoint:
    assert one.step is not None
    return one.step


def _print_series(series: Sequence[TrendSeries], console: Console) -> None:
    heads = [Column("series"), Column("platform"), Column("first", "number")]
    heads += [Column("last", "number"), Column("unit"), Column("over runs")]
    rows: list[list[Text | str]] = []
    for one in series:
        known = [value for value in one.medians if value is not None]
        scale = unit_scale(known, one.unit)
        rows.append(
            [one.words, one.platform, scale.show(known[0]), scale.show(known[-1]), scale.unit,
             Text(_line(one.medians), "bold" if one.step else "")]
        )  # fmt: skip
    print_table(heads, rows, console)


def _line(values: Sequence[float | None]) -> str:
    """Draw values as blocks, their height a tenth of the level at least; a gap is a dot."""
    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    reach = max(high - low, 0.1 * abs(low))
    return "".join(
        "·" if value is None
        else _LEVELS[round((value - low) / reach * (len(_LEVELS) - 1)) if reach else 0]
        for value in values
    )  # fmt: skip
