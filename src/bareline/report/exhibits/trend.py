"""A metric over the runs of a study: its medians by date, its levels, and all changes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bareline.analysis.judgements.present import ChangePoint
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.history import (
    COURSES,
    change_words,
    drift_words,
    incomplete_words,
    run_words,
    undated_words,
)
from bareline.report.blocks import Field, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.wording import metric_name, sentence_case, verdict_tone
from bareline.report.exhibits.along import ALL_LARGE
from bareline.report.exhibits.base import Draft, ExhibitKind, grouped_by, meant
from bareline.report.figures.grammar import Channel, Chart, Drawing, Style, layer
from bareline.report.figures.marks import AxesStrip, dashes, line_mark, x_axis
from bareline.report.figures.scales import Scale, Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import colour, looks
from bareline.stats import MIN_RUNS
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, plain
from bareline.vocabulary.verdicts import Grade, Verdict

#: Most panels of a figure: those with steps come first, the table has the others, too.
MOST_PANELS = 12


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Draft]:
    """Draw one figure per probe and metric; none of fewer than two runs."""
    if len(document.history.runs) < 2:
        return
    chosen = [
        one
        for one in document.history.series
        if (one.place.metric == spec.metric if spec.metric else spec.probe or one.headline)
        and meant(spec, one.platform, one.place)
    ]
    for what, series in grouped_by(chosen, lambda one: one.place.series[:2]).items():
        yield _figure(document.history, what, series)


def _figure(trend: Trend, what: tuple[str, str], series: Sequence[TrendSeries]) -> Draft:
    probe, metric = what
    names = varying(one.place for one in series)
    points = grouped_by(series, lambda one: one.place.words_of(names))
    # The sort is stable: points that moved first, else in the order of the runs.
    titles = sorted(points, key=lambda title: not any(one.changes for one in points[title]))
    drawn = {title: points[title] for title in titles[:MOST_PANELS]}
    axes = _Axes(trend, [one for own in drawn.values() for one in own])
    moved = list(_moves(trend, series))
    lacking = f", {MIN_RUNS} runs are needed to decide" if len(trend.runs) < MIN_RUNS else ""
    said = "; ".join(moved) or f"no certain change{lacking}"
    more, runs = len(points) - len(drawn), count(len(trend.runs), "run")
    return Draft(
        title=f"{sentence_case(metric_name(metric))} of {probe} over runs",
        what=what,
        notes=[
            f"{runs}: a mark is a run's median, the band its 95 % "
            "interval. Dashed: the levels on both sides of a change; pale: it was accepted, or is "
            "likely only.",
            "" if moved else f"{sentence_case(said)}.",
            f"{count(more, 'further point')} without a change in the table." if more else "",
            undated_words(trend),
            *(f"{sentence_case(words)}." for words in incomplete_words(trend)),
            *(f"{sentence_case(words)}." for words in trend.history.differences),
        ],
        probe=probe,
        layer=series[0].layer,
        drawing=Drawing(
            [axes.panel(title, own) for title, own in drawn.items()],
            drawn,
            0 if len(drawn) > ALL_LARGE else None,
            wide=len(drawn) > 1,
        ),
        summary=f"{metric_name(metric)} of {probe} over {runs}: {said}.",
        table=_table(trend, series, axes.scale),
        data=[
            {"platform": one.platform, "params": one.place.words, "metric": metric,
             "unit": one.unit, "run": run.name, "created": date.text,
             "value": value, "lo": lo, "hi": hi}
            for one in series
            for run, date, value, lo, hi in zip(
                trend.runs, trend.dates, one.medians, one.lo, one.hi, strict=True
            )
        ],
    )  # fmt: skip


def _moves(trend: Trend, series: Sequence[TrendSeries]) -> Iterator[str]:
    """Yield every change and every drift in words."""
    for one in series:
        name = f"{one.words} on {one.platform}"
        if one.slope:
            yield f"{name} {drift_words(one)}"
        for change in one.changes:
            yield f"{name} {change_words(trend, change)}"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table: a change of a series, or a series without any."""

    series: TrendSeries
    change: ChangePoint | None = None


def _table(trend: Trend, series: Sequence[TrendSeries], scale: Scale) -> Table:
    def ends(line: _Line, at: int) -> Field:
        known = [value for value in line.series.medians if value is not None]
        return Field(scale.show(known[at]), known[at])

    def facts(line: _Line) -> str:
        changed = line.change.changed if line.change else ()
        return "; ".join(f"{name}: {before} → {after}" for name, before, after in changed)

    def tone(line: _Line) -> Tone:
        is_open = line.change is not None and line.change.is_open
        return verdict_tone(line.change.verdict if line.change and is_open else None)

    def state(line: _Line) -> str:
        if line.change is None:
            return COURSES[line.series.course]
        if line.change.accepted is not None:
            return f"accepted: {line.change.accepted.reason}"
        return line.change.grade.value

    lines = [_Line(one, change) for one in series for change in (one.changes or (None,))]
    names = varying(one.place for one in series)
    rows = Rows(lines, lambda line: line.series.place)
    if names:
        rows.text("point", lambda line: line.series.place.words_of(names), wrap=True)
    rows.platform(lambda line: line.series.platform)
    rows.estimate(
        "ratio at the change", lambda line: line.change.ratio if line.change else None, tone=tone
    )
    rows.text("since", lambda line: run_words(trend, line.change.at) if line.change else "–")
    rows.text("state", state, wrap=True)
    rows.text("changed facts", facts, wrap=True)
    rows.column(scale.titled("first run"), lambda line: ends(line, 0))
    return rows.column(scale.titled("last run"), lambda line: ends(line, -1)).table()


class _Axes:
    def __init__(self, trend: Trend, series: Sequence[TrendSeries]) -> None:
        self.trend = trend
        self.times = [date.moment.timestamp() for date in trend.dates]
        self.across = _dates(self.times)
        known = [v for one in series for v in (*one.medians, *one.lo, *one.hi) if v]
        self.scale = unit_scale((v for one in series for v in one.medians), series[0].unit)
        self.values = log_ticks(value * self.scale.factor for value in known if value > 0)
        names = dict.fromkeys([trend.runs[-1].baseline, *(one.platform for one in series)])
        self.looks = looks(list(names))

    def panel(self, title: str, series: Sequence[TrendSeries]) -> Chart:
        name = self.scale.titled(metric_name(series[0].place.metric))
        stairs: list[dict[str, Any]] = []
        labels: list[dict[str, Any]] = []
        # No line crosses a change: nothing was measured where the level turns.
        places = {one.platform: [*self.times] for one in series}
        for one in series:
            if not one.changes:
                continue
            steps = self._steps(one)
            places[one.platform] += [step.turn for step in steps]
            stairs += self._stairs(one, steps)
            labels += [self._label(one, step) for step in steps]

        def over(across: Channel, up: Channel) -> Iterable[Chart]:
            yield from dashes(stairs)(across, up)
            style: Style = {"align": "center", "dy": -8, "fontSize": 11, "fontWeight": "bold"}
            yield layer("text", labels, "fill", x=across, y=up, text="text", **style)

        strip = AxesStrip(
            sentence_case(f"{title}: {name}" if title else name),
            [row for one in series for row in self._marks(one)],
            self.values,
            180,
            over=over,
            named=True,
            whiskers=True,
        )
        return strip.chart(x_axis(self.across, "begun", labels=True, log=False), places)

    def _marks(self, one: TrendSeries) -> Iterator[dict[str, Any]]:
        dated = zip(self.trend.runs, self.trend.dates, strict=True)
        every = zip(dated, self.times, one.medians, one.lo, one.hi, strict=True)
        ink = self.looks[one.platform].ink(hollow=one.simulated)
        for (run, date), at, value, lo, hi in every:
            if value is not None and value > 0:
                shown = Estimate(value, lo, hi).times(self.scale.factor)
                where = f"{one.platform}, {run.name} ({date.day})"
                tooltip = f"{where}: {self.scale.show(value)} {self.scale.unit}"
                yield line_mark(at, shown, one.platform, ink, tooltip)

    def _steps(self, one: TrendSeries) -> list[_Step]:
        """Return when the changes of a series were, each between two runs, and its levels."""
        cuts = [0, *(change.at for change in one.changes), len(one.medians)]
        stretches = itertools.pairwise(cuts)
        levels = [self._level(one.medians[begin:end]) for begin, end in stretches]
        return [
            _Step(
                change,
                (self.times[change.at - 1] + self.times[change.at]) / 2,
                levels[number],
                levels[number + 1],
            )
            for number, change in enumerate(one.changes)
        ]

    def _level(self, values: Sequence[float | None]) -> float:
        return median(value for value in values if value is not None) * self.scale.factor

    def _stairs(self, one: TrendSeries, steps: Sequence[_Step]) -> Iterator[dict[str, Any]]:
        """Yield the ends of lines: a level up to its change, the change, and the next level."""
        ink = {"colour": self.looks[one.platform].colour}
        begin = self.times[0]
        for number, step in enumerate(steps):
            end = steps[number + 1].turn if number + 1 < len(steps) else self.times[-1]
            lines = [
                ((begin, step.before), (step.turn, step.before)),
                ((step.turn, step.before), (step.turn, step.after)),
                ((step.turn, step.after), (end, step.after)),
            ]
            for part, line in enumerate(lines[0 if number == 0 else 1 :]):
                stretch = {"stretch": f"{one.platform} {number} {part}", **ink}
                yield from ({"x": x, "y": y, **stretch} for x, y in line)

    def _label(self, one: TrendSeries, step: _Step) -> dict[str, Any]:
        ink = self.looks[one.platform].colour if step.change.is_open else colour("soft")
        height = max(step.before, step.after)
        return {"x": step.turn, "y": height, "text": _amount(step.change), "colour": ink}


@dataclass(frozen=True, slots=True)
class _Step:
    """A change as it is drawn: when, and the levels on both sides."""

    change: ChangePoint
    turn: float
    before: float
    after: float


def _amount(change: ChangePoint) -> str:
    sure = "" if change.grade is Grade.CERTAIN else "? "
    accepted = " (accepted)" if change.accepted else ""
    if change.verdict is Verdict.SLOWER:
        return f"{sure}{plain(change.ratio.value)}× worse{accepted}"
    return f"{sure}{plain(1 / change.ratio.value)}× better{accepted}"


def _dates(times: Sequence[float]) -> Ticks:
    """Lay out an axis from the first run to the last; dates, or hours of a day, where runs are."""
    first, last = times[0], times[-1]
    pad = max(0.04 * (last - first), 1.0)
    shape = "%Y-%m-%d" if last - first >= 2 * 86400 else "%d %H:%M"
    # An axis of 300 px has room for four dates.
    wanted = [first + (last - first) * step / 3 for step in range(4)]
    ticks = sorted({min(times, key=lambda time: abs(time - one)) for one in wanted})
    labels = [f"{datetime.fromtimestamp(tick, UTC):{shape}}" for tick in ticks]
    return Ticks((first - pad, last + pad), tuple(ticks), tuple(labels))


EXHIBIT = ExhibitKind(
    "trend",
    "a metric over the runs of a study by date, its levels, and all changes of them",
    _shown,
)
