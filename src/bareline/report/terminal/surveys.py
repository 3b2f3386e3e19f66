"""A cluster's nodes and a metric's runs on the terminal: what deviates or changed, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.judgements.survey import Survey
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.words.remarks import step_words, survey_gaps, undated_words
from bareline.report.blocks import Block, Field, Remark, Rows, Table
from bareline.report.content.fleet import method_words, remedy, rows_of_nodes, survey_lines
from bareline.report.content.wording import capital
from bareline.report.figures.scales import unit_scale
from bareline.stats import MIN_RUNS
from bareline.vocabulary.units import count

_PER_ROW = 64
_FINE, _BAD, _OF_SWITCH = "·", "#", "+"


def survey_blocks(found: Survey) -> Iterator[Block]:
    """Give the list, the map and how certain it is."""
    head, *lines = survey_lines(found)
    yield Remark(head, "bold")
    for line in lines:
        yield Remark(f"  {line}", unbroken=True)
    yield from _map(found)
    for line in survey_gaps(found):
        yield Remark(f"{capital(line)}.", "muted")
    yield Remark(f"{method_words(found)}.", "muted")
    if remedy(found):
        yield Remark(remedy(found), unbroken=True)


def _map(found: Survey) -> Iterator[Block]:
    fleet, bad = found.fleet, set(found.bad_nodes)
    slow = {one.names[0] for one in found.deviating if one.kind in ("switch", "uplink")}
    of_switch = {name for at in slow for name in fleet.switches.get(at, ())}
    if not bad and not of_switch:
        return
    healthy, drawn = 0, []
    for title, nodes in rows_of_nodes(fleet, _PER_ROW):
        names = [fleet.nodes[node] for node in nodes]
        signs = "".join(
            _BAD if name in bad else _OF_SWITCH if name in of_switch else _FINE for name in names
        )
        if set(signs) == {_FINE}:
            healthy += 1
        else:
            drawn.append((title, signs))
    width = max(len(title) for title, _ in drawn)
    for title, signs in drawn:
        yield Remark(f"  {title:{width}}  {signs}", unbroken=True)
    rest = f"; {count(healthy, 'row')} without either" if healthy else ""
    yield Remark(f"  {_BAD} the node deviates, {_OF_SWITCH} its switch does{rest}", "muted")


_LEVELS = "▁▂▃▄▅▆▇█"
_FACTS = 4


def trend_blocks(trend: Trend, *, details: bool = False) -> Iterator[Block]:
    """Give the series that made a certain step, and every one with `details`."""
    series = trend.series
    first, last = trend.dates[0].day, trend.dates[-1].day
    yield Remark(f"{count(len(trend.runs), 'run')} from {first} to {last}, {len(series)} series")
    if trend.dated_by_files:
        yield Remark(undated_words(trend), "muted")
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
        return unit_scale(one.medians, one.unit).show(_known(one)[at])

    rows = Rows(series).text("series", lambda one: one.words)
    rows.text("platform", lambda one: one.platform)
    rows.figure("first", lambda one: end(one, 0)).figure("last", lambda one: end(one, -1))
    rows.text("unit", lambda one: unit_scale(one.medians, one.unit).unit)
    line = lambda one: Field(_line(one), tone="bold" if one.step else "")  # noqa: E731
    return rows.column("over runs", line, "text").table(whole=True)


def _known(one: TrendSeries) -> list[float]:
    return [value for value in one.medians if value is not None]


def _line(one: TrendSeries) -> str:
    """Draw values as blocks, their height a tenth of the level at least; a gap is a dot."""
    low, high = min(_known(one)), max(_known(one))
    reach = max(high - low, 0.1 * abs(low))
    return "".join(
        "·" if value is None
        else _LEVELS[round((value - low) / reach * (len(_LEVELS) - 1)) if reach else 0]
        for value in one.medians
    )  # fmt: skip
