"""The exhibit of a metric over the runs of a study: medians by date, levels, and changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
from bareline.report.exhibits.trend_panels import Lines, TrendAxes, measured_values
from bareline.report.figures.scales import Scale
from bareline.report.figures.vega import Drawing
from bareline.stats import MIN_RUNS
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count

#: Most panels of a figure: those with steps come first, and the table has all series.
MOST_PANELS = 12

#: The panels of a figure: the series of each point, by the words of its parameters.
_Panels = Mapping[str, Lines]


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    """Yield a figure per probe and metric; none if there are fewer than two runs."""
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
    """Whether a specification selects a series.

    If the specification names a metric, the series must have it. If it names neither a metric nor a
    probe, the series must have a headline metric.
    """
    if spec.metric:
        return series.place.metric == spec.metric
    return bool(spec.probe) or series.headline


def _figure(trend: Trend, spec: ExhibitSpec, series: Lines) -> Figure:
    """Return the figure of the series of one probe and metric."""
    place = series[0].place
    name = metric_name(place.metric)
    points = _points(series)
    drawn = dict(list(points.items())[:MOST_PANELS])
    axes = TrendAxes(trend, _together(drawn))
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


def _points(series: Lines) -> _Panels:
    """Return the series by measured case: first the cases with changes, then all other cases."""
    names = varying(line.place for line in series)
    points = grouped_by(series, lambda line: line.place.words_of(names))
    moved: dict[str, Lines] = {}
    still: dict[str, Lines] = {}
    for title, lines in points.items():
        if any(line.changes for line in lines):
            moved[title] = lines
        else:
            still[title] = lines
    return moved | still


def _together(panels: _Panels) -> Lines:
    """Return the series of all panels."""
    lines: list[TrendSeries] = []
    for panel in panels.values():
        lines += panel
    return lines


def _no_change(trend: Trend) -> str:
    if len(trend.runs) < MIN_RUNS:
        return f"no certain change, {MIN_RUNS} runs are needed to decide"
    return "no certain change"


def _notes(trend: Trend, series: Lines, left_out: int) -> Iterator[str]:
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


def _data(trend: Trend, series: Lines) -> Iterator[dict[str, Any]]:
    """Yield the rows of the figure's CSV file, one per series and run."""
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


def _moves(trend: Trend, series: Lines) -> Iterator[str]:
    """Yield a sentence for every change and every drift."""
    for line in series:
        name = f"{line.words} on {line.platform}"
        if line.slope:
            yield f"{name} {drift_words(line)}"
        for change in line.changes:
            yield f"{name} {change_words(trend, change)}"


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the table: a change of a series, or a series without a change."""

    series: TrendSeries
    change: ChangePoint | None = None

    @property
    def ratio(self) -> Estimate | None:
        if self.change is None:
            return None
        return self.change.ratio

    @property
    def facts(self) -> str:
        """The facts of the platform that changed at the same time, as text."""
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
        """Format the median of the first (0) or last (-1) run that has a median."""
        value = measured_values(self.series.medians)[index]
        return Field(scale.show(value), value)


def _table(trend: Trend, series: Lines, scale: Scale) -> Table:
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


EXHIBIT = Exhibit(
    "trend",
    "a metric over the runs of a study by date, its levels, and all changes of them",
    _figures,
)
