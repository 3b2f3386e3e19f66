"""A metric over the runs of a study: its medians by date, its levels, and all changes of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from bareline.report.blocks import Field, Figure, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.wording import metric_name, sentence_case, verdict_tone
from bareline.report.exhibits.base import Exhibit, figure_of, meant
from bareline.report.exhibits.shared_axis import ALL_LARGE
from bareline.report.figures.marks import AxesStrip, dashes, line_mark, x_axis
from bareline.report.figures.scales import Scale, Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import colour, looks
from bareline.report.figures.vega import Channel, Chart, Datum, Drawing, Style, layer
from bareline.stats import MIN_RUNS
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, plain
from bareline.vocabulary.verdicts import Grade, Verdict

#: Most panels of a figure: those with steps come first, and the table has all series.
MOST_PANELS = 12

_Lines = Sequence[TrendSeries]
#: The panels of a figure: the series of each point, by the words of its parameters.
_Panels = Mapping[str, _Lines]


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Draw one figure per probe and metric; none of fewer than two runs."""
    history = document.history
    if len(history.runs) < 2:
        return
    chosen = []
    for series in history.series:
        if _is_of_metric(spec, series) and meant(spec, series.platform, series.place):
            chosen.append(series)
    groups = grouped_by(chosen, lambda series: series.place.series[:2])
    for group in groups.values():
        yield _figure(history, spec, group)


def _is_of_metric(spec: ExhibitSpec, series: TrendSeries) -> bool:
    """Return whether a series is asked for: of a metric, of all of a probe, or a headline."""
    if spec.metric:
        return series.place.metric == spec.metric
    return bool(spec.probe) or series.headline


def _figure(trend: Trend, spec: ExhibitSpec, series: _Lines) -> Figure:
    """Draw the series of one probe and metric."""
    place = series[0].place
    name = metric_name(place.metric)
    points = _points(series)
    drawn = dict(list(points.items())[:MOST_PANELS])
    axes = _Axes(trend, _together(drawn))
    panels = [axes.panel(title, panel) for title, panel in drawn.items()]
    large = 0 if len(drawn) > ALL_LARGE else None
    changes = "; ".join(_moves(trend, series)) or _no_change(trend)
    runs = count(len(trend.runs), "run")
    return figure_of(
        spec,
        title=f"{sentence_case(name)} of {place.probe} over runs",
        what=(place.probe, place.metric),
        notes=_notes(trend, series, left_out=len(points) - len(drawn)),
        probe=place.probe,
        layer=series[0].layer,
        drawing=Drawing(panels, drawn, large, wide=len(drawn) > 1),
        summary=f"{name} of {place.probe} over {runs}: {changes}.",
        table=_table(trend, series, axes.scale),
        data=_data(trend, series),
    )


def _points(series: _Lines) -> _Panels:
    """Group series by their point: those that moved first, else in the order of the runs."""
    names = varying(line.place for line in series)
    points = grouped_by(series, lambda line: line.place.words_of(names))
    moved: dict[str, _Lines] = {}
    still: dict[str, _Lines] = {}
    for title, lines in points.items():
        if any(line.changes for line in lines):
            moved[title] = lines
        else:
            still[title] = lines
    return moved | still


def _together(panels: _Panels) -> _Lines:
    """Return the series of all panels."""
    lines: list[TrendSeries] = []
    for panel in panels.values():
        lines += panel
    return lines


def _no_change(trend: Trend) -> str:
    if len(trend.runs) < MIN_RUNS:
        return f"no certain change, {MIN_RUNS} runs are needed to decide"
    return "no certain change"


def _notes(trend: Trend, series: _Lines, left_out: int) -> Iterator[str]:
    runs = count(len(trend.runs), "run")
    yield (
        f"{runs}: a mark is a run's median, the band its 95 % "
        "interval. Dashed: the levels on both sides of a change; pale: it was accepted, or is "
        "likely only."
    )
    if not any(_moves(trend, series)):
        yield f"{sentence_case(_no_change(trend))}."
    if left_out:
        yield f"{count(left_out, 'further point')} without a change in the table."
    yield undated_words(trend)
    for words in (*incomplete_words(trend), *trend.history.differences):
        yield f"{sentence_case(words)}."


def _data(trend: Trend, series: _Lines) -> Iterator[dict[str, Any]]:
    """Yield the rows of the figure's CSV file, one per run of a series."""
    for line in series:
        place = line.place
        for index, run in enumerate(trend.runs):
            yield {
                "platform": line.platform,
                "params": place.words,
                "metric": place.metric,
                "unit": line.unit,
                "run": run.name,
                "created": trend.dates[index].text,
                "value": line.medians[index],
                "lo": line.lo[index],
                "hi": line.hi[index],
            }


def _moves(trend: Trend, series: _Lines) -> Iterator[str]:
    """Yield every change and every drift in words."""
    for line in series:
        name = f"{line.words} on {line.platform}"
        if line.slope:
            yield f"{name} {drift_words(line)}"
        for change in line.changes:
            yield f"{name} {change_words(trend, change)}"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the table: a change of a series, or a series without any."""

    series: TrendSeries
    change: ChangePoint | None = None

    @property
    def ratio(self) -> Estimate | None:
        if self.change is None:
            return None
        return self.change.ratio

    @property
    def facts(self) -> str:
        """The characteristics that changed with it."""
        if self.change is None:
            return ""
        changed = self.change.changed
        return "; ".join(f"{name}: {before} → {after}" for name, before, after in changed)

    @property
    def tone(self) -> Tone:
        if self.change is None or not self.change.is_open:
            return verdict_tone(None)
        return verdict_tone(self.change.verdict)

    @property
    def state(self) -> str:
        change = self.change
        if change is None:
            return COURSES[self.series.course]
        if change.accepted is not None:
            return f"accepted: {change.accepted.reason}"
        return change.grade.value

    def since(self, trend: Trend) -> str:
        if self.change is None:
            return "–"
        return run_words(trend, self.change.at)

    def end(self, scale: Scale, index: int) -> Field:
        """Format the median of the first run that has one, or with -1 of the last."""
        value = _known(self.series.medians)[index]
        return Field(scale.show(value), value)


def _known(values: Iterable[float | None]) -> list[float]:
    """Return the values of the runs that have one."""
    return [value for value in values if value is not None]


def _table(trend: Trend, series: _Lines, scale: Scale) -> Table:
    lines = []
    for line in series:
        changes = line.changes or (None,)
        lines += [_Line(line, change) for change in changes]
    names = varying(line.place for line in series)
    rows = Rows(lines, lambda line: line.series.place)
    if names:
        rows.text("point", lambda line: line.series.place.words_of(names), wrap=True)
    rows.platform(lambda line: line.series.platform)
    rows.estimate("ratio at the change", lambda line: line.ratio, tone=lambda line: line.tone)
    rows.text("since", lambda line: line.since(trend))
    rows.text("state", lambda line: line.state, wrap=True)
    rows.text("changed facts", lambda line: line.facts, wrap=True)
    rows.column(scale.titled("first run"), lambda line: line.end(scale, 0))
    rows.column(scale.titled("last run"), lambda line: line.end(scale, -1))
    return rows.table()


class _Axes:
    """The axes that all panels share, and the marks on them."""

    def __init__(self, trend: Trend, series: _Lines) -> None:
        self.trend = trend
        self.times = [date.moment.timestamp() for date in trend.dates]
        self.across = _dates(self.times)
        medians: list[float] = []
        ends: list[float] = []
        platforms = [trend.runs[-1].baseline]
        for line in series:
            medians += _known(line.medians)
            ends += _known([*line.lo, *line.hi])
            platforms.append(line.platform)
        self.scale = unit_scale(medians, series[0].unit)
        values = [value for value in (*medians, *ends) if value > 0]
        self.values = log_ticks(value * self.scale.factor for value in values)
        names = dict.fromkeys(platforms)
        self.looks = looks(list(names))

    def panel(self, title: str, series: _Lines) -> Chart:
        marks: list[Datum] = []
        stairs: list[Datum] = []
        labels: list[Datum] = []
        # No line crosses a change: nothing was measured where the level turns.
        places: dict[str, list[float]] = {line.platform: [*self.times] for line in series}
        for line in series:
            marks += self._marks(line)
            steps = self._steps(line)
            stairs += self._stairs(line, steps)
            for step in steps:
                places[line.platform].append(step.turn)
                labels.append(self._label(line, step))

        def over(across: Channel, up: Channel) -> Iterable[Chart]:
            yield from dashes(stairs)(across, up)
            style: Style = {"align": "center", "dy": -8, "fontSize": 11, "fontWeight": "bold"}
            yield layer("text", labels, "fill", x=across, y=up, text="text", **style)

        strip = AxesStrip(
            self._title(title, series[0].place.metric),
            marks,
            self.values,
            180,
            over=over,
            named=True,
            whiskers=True,
        )
        across = x_axis(self.across, "begun", labels=True, log=False)
        return strip.chart(across, places)

    def _title(self, title: str, metric: str) -> str:
        name = self.scale.titled(metric_name(metric))
        if title:
            name = f"{title}: {name}"
        return sentence_case(name)

    def _marks(self, line: TrendSeries) -> Iterator[Datum]:
        ink = self.looks[line.platform].ink(hollow=line.simulated)
        for index, value in enumerate(line.medians):
            if value is None or value <= 0:
                continue
            run = self.trend.runs[index].name
            day = self.trend.dates[index].day
            amount = f"{self.scale.show(value)} {self.scale.unit}"
            tip = f"{line.platform}, {run} ({day}): {amount}"
            estimate = Estimate(value, line.lo[index], line.hi[index])
            drawn = estimate.times(self.scale.factor)
            yield line_mark(self.times[index], drawn, line.platform, ink, tip)

    def _steps(self, line: TrendSeries) -> list[_Step]:
        """Return when the changes of a series were, each between two runs, and its levels."""
        if not line.changes:
            return []
        cuts = [change.at for change in line.changes]
        levels = []
        for begin, end in itertools.pairwise([0, *cuts, None]):
            levels.append(self._level(line.medians[begin:end]))
        steps = []
        for number, change in enumerate(line.changes):
            before = self.times[change.at - 1]
            after = self.times[change.at]
            turn = (before + after) / 2
            steps.append(_Step(change, turn, levels[number], levels[number + 1]))
        return steps

    def _level(self, values: Sequence[float | None]) -> float:
        return median(_known(values)) * self.scale.factor

    def _stairs(self, line: TrendSeries, steps: Sequence[_Step]) -> Iterator[Datum]:
        """Yield the ends of lines: a level up to its change, the change, and the next level."""
        colour = self.looks[line.platform].colour
        ends = [step.turn for step in steps[1:]]
        ends.append(self.times[-1])
        for number, step in enumerate(steps):
            segments = step.segments(ends[number])
            if number == 0:
                start = (self.times[0], step.before)
                segments.insert(0, (start, step.top))
            for part, segment in enumerate(segments):
                stretch = f"{line.platform} {number} {part}"
                for x, y in segment:
                    yield {"x": x, "y": y, "stretch": stretch, "colour": colour}

    def _label(self, line: TrendSeries, step: _Step) -> Datum:
        ink = colour("soft")
        if step.change.is_open:
            ink = self.looks[line.platform].colour
        height = max(step.before, step.after)
        return {"x": step.turn, "y": height, "text": _amount(step.change), "colour": ink}


#: A place on both axes, and a line between two of them.
_Place = tuple[float, float]
_Segment = tuple[_Place, _Place]


@dataclass(frozen=True, slots=True)
class _Step:
    """A change as it is drawn: when, and the levels on both sides."""

    change: ChangePoint
    turn: float
    before: float
    after: float

    @property
    def top(self) -> _Place:
        return (self.turn, self.before)

    def segments(self, end: float) -> list[_Segment]:
        """Return the line up or down at the change, and the line of the next level to its end."""
        bottom = (self.turn, self.after)
        return [(self.top, bottom), (bottom, (end, self.after))]


def _amount(change: ChangePoint) -> str:
    sure = "" if change.grade is Grade.CERTAIN else "? "
    accepted = " (accepted)" if change.accepted else ""
    ratio = change.ratio.value
    if change.verdict is Verdict.SLOWER:
        return f"{sure}{plain(ratio)}× worse{accepted}"
    return f"{sure}{plain(1 / ratio)}× better{accepted}"


#: An axis of 300 px has room for four dates.
_DATES = 4
_DAY_S = 86400


def _dates(times: Sequence[float]) -> Ticks:
    """Return an axis from the first run to the last, with dates or hours of a day at runs."""
    first = times[0]
    last = times[-1]
    length = last - first
    ticks = set()
    for step in range(_DATES):
        wanted = first + length * step / (_DATES - 1)
        ticks.add(_nearest(times, wanted))
    pad = max(0.04 * length, 1.0)
    shape = "%Y-%m-%d" if length >= 2 * _DAY_S else "%d %H:%M"

    def label(tick: float) -> str:
        date = datetime.fromtimestamp(tick, UTC)
        return date.strftime(shape)

    return Ticks.labelled((first - pad, last + pad), sorted(ticks), label)


def _nearest(times: Sequence[float], wanted: float) -> float:
    return min(times, key=lambda time: abs(time - wanted))


EXHIBIT = Exhibit(
    "trend",
    "a metric over the runs of a study by date, its levels, and all changes of them",
    _figures,
)
