"""The chart of a program's time over ranks: predicted, measured, ideal, and computing only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bareline.predict.scaling.prediction import ScalingPrediction
from bareline.report.figures.scales import Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import colour, line_looks
from bareline.report.figures.vega import MARK, Chart, Datum, axis, layer, pixels, plot
from bareline.vocabulary.units import format_value

_Rows = list[Datum]
_WIDTH_PX = 420
_HEIGHT_PX = 300


@dataclass(frozen=True, slots=True)
class _Time:
    """A time with its interval, in seconds."""

    value_s: float
    lo_s: float
    hi_s: float

    @classmethod
    def exact(cls, value_s: float) -> _Time:
        return cls(value_s, value_s, value_s)


@dataclass(frozen=True, slots=True)
class _GrowthLines:
    """The rows of a chart over ranks, by line; `predicted` has a line for each platform."""

    computing: _Rows
    ideal: _Rows
    measured: _Rows
    predicted: Sequence[_Rows]

    @property
    def all(self) -> list[_Rows]:
        return [self.computing, self.ideal, self.measured, *self.predicted]

    def in_readable_unit(self) -> str:
        """Convert the times of all rows to the most readable unit, and return the unit."""
        values: list[float] = []
        for rows in self.all:
            values += [row["y"] for row in rows]
        scale = unit_scale(values, "s")
        for rows in self.all:
            for row in rows:
                for field in ("y", "lo", "hi"):
                    row[field] *= scale.factor
        return scale.unit


def growth_chart(predictions: Sequence[ScalingPrediction]) -> Chart:
    """Draw the time of a period over ranks, with bands, computing times and the ideal line.

    A period is the sequence of calls that the program repeats. The ideal line is the perfect
    speed-up from the time of the quickest platform on the smallest number of ranks. Dots are times
    from profiles in which each rank had its own core. Simulated times are hollow.
    """
    lines = _GrowthLines(
        computing=_computing_rows(predictions[0]),
        ideal=_ideal_rows(predictions),
        measured=_measured_rows(predictions[0]),
        predicted=_predicted_rows(predictions),
    )
    unit = lines.in_readable_unit()
    return _draw_growth(lines, unit)


def _computing_rows(prediction: ScalingPrediction) -> _Rows:
    """Return the computing times from the fitted law, with the law's error as their interval."""
    law = prediction.computing
    error = law.error or 0.0
    times: dict[int, _Time] = {}
    for point in prediction.points:
        time_s = law.at(point.ranks)
        lo_s = time_s * max(0.01, 1 - error)
        hi_s = time_s * (1 + error)
        times[point.ranks] = _Time(time_s, lo_s, hi_s)
    return _time_rows("computing, as profiled", times)


def _ideal_rows(predictions: Sequence[ScalingPrediction]) -> _Rows:
    """Return the ideal times: perfect speed-up from the quickest time on the fewest ranks."""
    points = predictions[0].points
    quickest_s = min(prediction.points[0].period_s for prediction in predictions)
    work_s = quickest_s * points[0].ranks
    times = {point.ranks: _Time.exact(work_s / point.ranks) for point in points}
    return _time_rows("ideal", times)


def _measured_rows(prediction: ScalingPrediction) -> _Rows:
    times: dict[int, _Time] = {}
    for point in prediction.points:
        if point.period_measured_s is not None:
            times[point.ranks] = _Time.exact(point.period_measured_s)
    return _time_rows("measured", times)


def _predicted_rows(predictions: Sequence[ScalingPrediction]) -> list[_Rows]:
    """Return the rows of predicted times: one list per platform, in the platform's colour."""
    looks = line_looks([prediction.target.name for prediction in predictions])
    lines: list[_Rows] = []
    for prediction in predictions:
        target = prediction.target
        times: dict[int, _Time] = {}
        for point in prediction.points:
            times[point.ranks] = _Time(point.period_s, point.period_lo_s, point.period_hi_s)
        ink = looks[target.name].ink(hollow=target.simulated)
        rows = _time_rows(target.name, times)
        lines.append([{**row, **ink} for row in rows])
    return lines


def _time_rows(name: str, times: Mapping[int, _Time]) -> _Rows:
    """Return the points of a line from its time on each number of ranks."""
    rows: _Rows = []
    for ranks, time in times.items():
        tip = f"{name}, {ranks} ranks: {format_value(time.value_s, 's')}"
        row = {"x": ranks, "y": time.value_s, "lo": time.lo_s, "hi": time.hi_s}
        rows.append({**row, "name": name, "tip": tip})
    return rows


def _rank_ticks(counts: Sequence[int]) -> Ticks:
    """Return an axis with a tick at each number of ranks."""
    domain = (counts[0] / 1.1, counts[-1] * 1.1)
    return Ticks.labelled(domain, map(float, counts), "{:.0f}".format)


def _draw_growth(lines: _GrowthLines, unit: str) -> Chart:
    """Draw the lines with their bands and with names at their ends."""
    ranks = _rank_ticks([row["x"] for row in lines.computing])
    ends_s: list[float] = []
    for rows in lines.all:
        for row in rows:
            ends_s += [row["lo"], row["hi"]]
    times = log_ticks(ends_s)
    title = f"a period ({unit})"
    x = axis("x", ranks, log=True, base=2, title="ranks")
    y = axis("y", times, log=True, title=title)
    lo = axis("lo", times, log=True, title=title)
    ink = colour("ink")
    layers = [
        layer("area", lines.computing, x=x, y=lo, y2="hi", color=colour("band")),
        layer("line", lines.computing, x=x, y=y, strokeDash=[2, 3], color=colour("soft")),
        layer("line", lines.ideal, x=x, y=y, strokeDash=[6, 4], color=colour("faint")),
    ]
    for rows in lines.predicted:
        line_colour = rows[0]["colour"]
        layers += [
            layer("area", rows, x=x, y=lo, y2="hi", color=line_colour, opacity=0.15),
            layer("line", rows, x=x, y=y, color=line_colour),
            layer("point", rows, MARK, x=x, y=y, tips=True, size=52),
        ]
    last_points = [rows[-1] for rows in lines.all if rows]
    names = _apart(last_points, times)
    place = pixels("px")
    layers += [
        layer("point", lines.measured, x=x, y=y, tips=True, filled=True, size=52, color=ink),
        layer("text", names, x=x, y=place, text="name", align="left", dx=10, color=ink),
    ]
    return plot(layers, _WIDTH_PX, _HEIGHT_PX)


def _apart(named: _Rows, ticks: Ticks) -> _Rows:
    """Return the names at the ends of their lines, moved so that they do not overlap."""
    low, high = ticks.domain
    rows: _Rows = []
    for point in named:
        below_top = math.log(high / point["y"]) / math.log(high / low)
        rows.append({**point, "px": _HEIGHT_PX * below_top})
    rows.sort(key=lambda row: row["px"])
    for above, below in pairwise(rows):
        below["px"] = max(below["px"], above["px"] + 14)
    return rows
