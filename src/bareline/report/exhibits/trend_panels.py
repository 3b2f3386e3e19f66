"""The panels of a metric over runs: medians by date, and the levels before and after a change."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from bareline.analysis.judgements.present import ChangePoint
from bareline.analysis.judgements.trend import Trend, TrendSeries
from bareline.analysis.numbers.row import Estimate
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.figures.marks import AxesStrip, dashes, line_mark, x_axis
from bareline.report.figures.scales import Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import colour, looks
from bareline.report.figures.vega import Channel, Chart, Datum, Style, layer
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Grade, Verdict

#: Series of one metric, drawn or listed together.
Lines = Sequence[TrendSeries]


def measured_values(values: Iterable[float | None]) -> list[float]:
    """Return the values that are not None."""
    return [value for value in values if value is not None]


class TrendAxes:
    """The common axes of all panels of a figure, and the marks on these axes."""

    def __init__(self, trend: Trend, series: Lines) -> None:
        self.trend = trend
        self.times = [date.moment.timestamp() for date in trend.dates]
        self.across = _dates(self.times)
        medians: list[float] = []
        values: list[float] = []
        platforms = [trend.runs[-1].baseline]
        for line in series:
            medians += measured_values(line.medians)
            for of_runs in (line.medians, line.lo, line.hi):
                values += [value for value in measured_values(of_runs) if value > 0]
            platforms.append(line.platform)
        self.scale = unit_scale(medians, series[0].unit)
        self.values = log_ticks(value * self.scale.factor for value in values)
        names = dict.fromkeys(platforms)
        self.looks = looks(list(names))

    def panel(self, title: str, series: Lines) -> Chart:
        """Return the panel of one case, with a line per series and the levels between changes."""
        marks: list[Datum] = []
        stairs: list[Datum] = []
        labels: list[Datum] = []
        # No line crosses a change, because nothing was measured at the date of the step.
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
        """Return a series' changes with their levels, each dated in the middle between two runs."""
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
        return median(measured_values(values)) * self.scale.factor

    def _stairs(self, line: TrendSeries, steps: Sequence[_Step]) -> Iterator[Datum]:
        """Yield the line ends of a staircase: a line per level, and a vertical line per change."""
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
    """A change to be drawn: its date, and the levels before and after the date."""

    change: ChangePoint
    turn: float
    before: float
    after: float

    @property
    def top(self) -> _Place:
        return (self.turn, self.before)

    def segments(self, end: float) -> list[_Segment]:
        """Return the vertical line of the change, and the line of the next level up to `end`."""
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
    """Return an axis from the first run to the last, with a date or time at each labelled run."""
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
