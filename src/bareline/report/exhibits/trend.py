"""A metric over the runs of a study: its medians by date, and the steps that are certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

from bareline.analysis.judgements.trend import ChangePoint, Trend, TrendSeries
from bareline.analysis.numbers.row import Estimate
from bareline.analysis.words.remarks import step_words, undated_words
from bareline.report.blocks import Field, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.wording import metric_name, sentence_case, verdict_tone
from bareline.report.exhibits.along import ALL_LARGE
from bareline.report.exhibits.base import Draft, ExhibitKind, grouped_by, meant
from bareline.report.figures.grammar import Channel, Chart, Drawing, Style, layer
from bareline.report.figures.marks import AxesStrip, dashes, line_mark, x_axis
from bareline.report.figures.scales import Scale, Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import looks
from bareline.stats import MIN_RUNS
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, plain
from bareline.vocabulary.verdicts import Verdict

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
    # The sort is stable: points that moved first, else as they stand in the runs.
    titles = sorted(points, key=lambda title: not any(one.step for one in points[title]))
    drawn = {title: points[title] for title in titles[:MOST_PANELS]}
    axes = _Axes(trend, [one for own in drawn.values() for one in own])
    moved = [
        f"{one.words} on {one.platform} {step_words(trend, one.step)}" for one in series if one.step
    ]
    lacking = f", {MIN_RUNS} runs are needed to decide" if len(trend.runs) < MIN_RUNS else ""
    said = "; ".join(moved) or f"no certain change{lacking}"
    more, runs = len(points) - len(drawn), count(len(trend.runs), "run")
    return Draft(
        title=f"{sentence_case(metric_name(metric))} of {probe} over runs",
        what=what,
        notes=[
            f"{runs}: a mark is a run's median, the band its 95 % "
            "interval. Dashed: the levels on both sides of a step that is certain over all "
            "metrics of the runs.",
            "" if moved else f"{sentence_case(said)}.",
            f"{count(more, 'further point')} without a step in the table." if more else "",
            undated_words(trend),
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
             "unit": one.unit, "run": run.path.name, "created": date.text,
             "value": value, "lo": lo, "hi": hi}
            for one in series
            for run, date, value, lo, hi in zip(
                trend.runs, trend.dates, one.medians, one.lo, one.hi, strict=True
            )
        ],
    )  # fmt: skip


def _table(trend: Trend, series: Sequence[TrendSeries], scale: Scale) -> Table:
    def ends(one: TrendSeries, at: int) -> Field:
        known = [value for value in one.medians if value is not None]
        return Field(scale.show(known[at]), known[at])

    def changed(one: TrendSeries) -> str:
        facts = one.step.changed if one.step else ()
        return "; ".join(f"{name}: {before} → {after}" for name, before, after in facts)

    def tone(one: TrendSeries) -> Tone:
        return verdict_tone(one.step.verdict if one.step else None)

    names = varying(one.place for one in series)
    rows = Rows(series, lambda one: one.place)
    if names:
        rows.text("point", lambda one: one.place.words_of(names), wrap=True)
    rows.platform(lambda one: one.platform)
    rows.estimate("ratio at the step", lambda one: one.step.ratio if one.step else None, tone=tone)
    rows.text("since", lambda one: trend.dates[one.step.at].day if one.step else "–")
    rows.text("what else changed then", changed, wrap=True)
    rows.column(scale.titled("first run"), lambda one: ends(one, 0))
    return rows.column(scale.titled("last run"), lambda one: ends(one, -1)).table()


class _Axes:
    def __init__(self, trend: Trend, series: Sequence[TrendSeries]) -> None:
        self.trend = trend
        self.times = [date.moment.timestamp() for date in trend.dates]
        self.across = _dates(self.times)
        known = [v for one in series for v in (*one.medians, *one.lo, *one.hi) if v]
        self.scale = unit_scale((v for one in series for v in one.medians), series[0].unit)
        self.values = log_ticks(value * self.scale.factor for value in known if value > 0)
        names = dict.fromkeys([trend.runs[-1].header.baseline, *(one.platform for one in series)])
        self.looks = looks(list(names))

    def panel(self, title: str, series: Sequence[TrendSeries]) -> Chart:
        name = self.scale.titled(metric_name(series[0].place.metric))
        stairs: list[dict[str, Any]] = []
        labels: list[dict[str, Any]] = []
        # No line crosses a step: nothing was measured where the level turns.
        places = {one.platform: [*self.times] for one in series}
        for one in series:
            if one.step is None:
                continue
            ink = {"colour": self.looks[one.platform].colour}
            turn, before, after = self._turn(one, one.step.at)
            places[one.platform].append(turn)
            first, last = self.times[0], self.times[-1]
            corners = (first, before), (turn, before), (turn, after), (last, after)
            for number, line in enumerate((corners[:2], corners[2:], corners[1:3])):
                stretch = {"stretch": f"{one.platform} {number}", **ink}
                stairs += [{"x": x, "y": y, **stretch} for x, y in line]
            labels.append({"x": turn, "y": max(before, after), "text": _amount(one.step), **ink})

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
                where = f"{one.platform}, {run.path.name} ({date.day})"
                tooltip = f"{where}: {self.scale.show(value)} {self.scale.unit}"
                yield line_mark(at, shown, one.platform, ink, tooltip)

    def _turn(self, one: TrendSeries, at: int) -> tuple[float, float, float]:
        """Give when a step was made, between two runs, and the medians before and after it."""
        before, after = (
            median(value for value in values if value is not None) * self.scale.factor
            for values in (one.medians[:at], one.medians[at:])
        )
        return (self.times[at - 1] + self.times[at]) / 2, before, after


def _amount(step: ChangePoint) -> str:
    if step.verdict is Verdict.SLOWER:
        return f"{plain(step.ratio.value)}× worse"
    return f"{plain(1 / step.ratio.value)}× better"


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
    "trend", "a metric over the runs of a study by date, and the steps that are certain", _shown
)
