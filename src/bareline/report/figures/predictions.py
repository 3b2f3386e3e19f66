"""Predictions as figures: against measurements, a loss, upgrades, sizes used, times over ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bareline.predict.curves.coverage import CurveCoverage
from bareline.predict.questions import UPGRADES, Upgrade
from bareline.predict.scaling.growth import Growth
from bareline.predict.shares import LossSplit
from bareline.predict.validation.scores import Trial
from bareline.report.figures.grammar import MARK, Channel, Chart, axis, layer, pixels, plot, raw
from bareline.report.figures.scales import Ticks, log_ticks, signed_ticks, size_ticks, unit_scale
from bareline.report.figures.theme import MarkLook, colour, line_looks
from bareline.vocabulary.units import format_size, format_value

#: The place of these figures: a section of their own, as figures of a layer have that layer's.
SECTION = "predictions"
_WIDTH, _ROW = 420, 26
#: Of a drawing for a phone, where names also have less room.
_NARROW_WIDTH = 190
_Rows = list[dict[str, Any]]


def predicted_chart(
    trials: Sequence[Trial], shown: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw predicted times over measured ones, with their intervals and the line of equality."""
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    rows: _Rows = [
        {
            "x": trial.truth_s * scale.factor,
            "y": trial.time_s * scale.factor,
            "lo": (trial.lo_s or trial.time_s) * scale.factor,
            "hi": (trial.hi_s or trial.time_s) * scale.factor,
            **shown[trial.platform].ink(hollow=False),
            "tip": f"{trial.application}, {trial.base} to {trial.platform}: predicted "
            f"{format_value(trial.time_s, 's')}, measured {format_value(trial.truth_s, 's')}",
        }
        for trial in trials
    ]
    ticks = log_ticks(row[key] for row in rows for key in ("x", "lo", "hi"))
    x = axis("x", ticks, log=True, title=f"measured ({scale.unit})")
    y, lo = (
        axis(field, ticks, log=True, title=f"predicted ({scale.unit})") for field in ("y", "lo")
    )
    there = {trial.platform for trial in trials}
    keys = [
        {"name": name, "y": 16 + 18 * index, **shown[name].ink(hollow=False)}
        for index, name in enumerate(name for name in shown if name in there)
    ]
    equal = [{"x": end, "y": end} for end in ticks.domain]
    corner, faint, side = pixels("y"), colour("faint"), 280 if narrow else _WIDTH
    layers = [
        layer("line", equal, x=x, y=y, strokeDash=[4, 3], color=faint),
        layer("rule", rows, "stroke", x=x, y=lo, y2="hi", opacity=0.45),
        layer("point", rows, "fill shape", x=x, y=y, tips=True, filled=True, size=52, opacity=0.9),
        # The corner that has no points has room for the platforms' names.
        layer("point", keys, "fill shape", x=16, y=corner, filled=True, size=52),
        layer("text", keys, x=28, y=corner, text="name", align="left", color=colour("ink")),
    ]
    return plot(layers, side, side)


def _names(field: str, names: Sequence[str], *, narrow: bool) -> Channel:
    """Return each name a row that fits the page's widest font: the drawing is made with another."""
    most = 120 if narrow else 240
    room = min(7 * max(map(len, names), default=0), most)
    axis = {"labelLimit": most, "minExtent": room, "ticks": False, "domain": False}
    return {"field": field, "type": "nominal", "sort": names, "title": None, "axis": axis}


def waterfall_chart(
    loss: LossSplit, shown: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw the times on A and B and each share between, with its interval."""
    rows = _steps(loss, shown)
    scale = unit_scale([row["to"] for row in rows], "s")
    for row in rows:
        row.update({end: row[end] * scale.factor for end in ("from", "to", "lo", "hi")})
        row["end"] = max(row["to"], row["from"], row["hi"])
    y = _names("name", [row["name"] for row in rows], narrow=narrow)
    at, lo, end = ({"field": name, "type": "quantitative"} for name in ("from", "lo", "end"))
    at["title"], ink = f"time ({scale.unit})", colour("ink")
    layers = [
        layer("bar", rows, "fill", x=at, x2="to", y=y, tips=True, height=_ROW * 0.6),
        layer("rule", rows, x=lo, x2="hi", y=y, strokeWidth=1.4, color=ink),
        layer("text", rows, x=end, y=y, text="label", align="left", dx=6, color=ink),
    ]
    return plot(layers, _NARROW_WIDTH if narrow else _WIDTH, _ROW * len(rows))


def _steps(loss: LossSplit, names: Mapping[str, MarkLook]) -> _Rows:
    at, last = loss.a_s, loss.a_s + loss.loss_s

    def step(
        name: str, begin: float, end: float, ink: str, label: str, width: float = 0.0
    ) -> dict[str, Any]:
        return {"name": name, "from": begin, "to": end, "lo": end - width, "hi": end + width,
                "colour": ink, "label": label, "tip": f"{name}: {label}"}  # fmt: skip

    rows = [step(loss.base, 0.0, at, names[loss.base].colour, format_value(at, "s"))]
    own = names[loss.platform].colour
    for share in loss.shares:
        if abs(share.share) < 0.005:
            continue
        ink = colour("faint") if share.input == "residual" else own
        label = f"{format_value(share.time_s, 's')}, {share.share:.0%}"
        width = (share.hi_s - share.lo_s) / 2
        rows.append(step(share.title, at, at + share.time_s, ink, label, width))
        at += share.time_s
    return [*rows, step(loss.platform, 0.0, last, own, format_value(last, "s"))]


def upgrades_chart(
    upgrades: Sequence[Upgrade], changes: Sequence[str], shown: Mapping[str, MarkLook], *,
    narrow: bool = False,
) -> Chart:  # fmt: skip
    """Draw the share of time that each change would save: a row for each, a mark for each case."""
    rows: _Rows = [
        {
            "change": UPGRADES[one.change],
            "x": 100 * one.saved,
            **shown[one.platform].ink(hollow=False),
            "tip": f"{one.application} on {one.platform}, {one.title}: "
            f"{format_value(one.base_s, 's')} to {format_value(one.time_s, 's')}",
        }
        for one in upgrades
    ]
    x = axis("x", signed_ticks(row["x"] for row in rows), title="time saved (%)")
    y = _names("change", [*UPGRADES.values()], narrow=narrow)
    y["sort"] = [UPGRADES[change] for change in changes]
    chart = layer(
        "point", rows, "fill shape", x=x, y=y, tips=True, filled=True, size=46, opacity=0.75
    )
    width = _NARROW_WIDTH if narrow else _WIDTH
    return chart | {"width": width, "height": _ROW * max(2, len(changes))}


def coverage_chart(strips: Sequence[CurveCoverage], *, narrow: bool = False) -> Chart:
    """Draw a strip for each function: a bar over the measured sizes, a dot for each size used."""

    def name(strip: CurveCoverage) -> str:
        what = "messages" if strip.probe == "mpi.pingpong" else strip.probe.removeprefix("mpi.")
        return f"{what}, {strip.ranks} ranks"

    bars: _Rows = []
    marks: _Rows = []
    dots: _Rows = []
    for strip in strips:
        row = {"name": name(strip)}
        bars.append({**row, "x": max(1.0, strip.least), "end": max(1.0, strip.most)})
        marks += [{**row, "x": max(1.0, size)} for size in strip.measured]
        for one in strip.used:
            ink = {"colour": colour("worse" if one.size_bytes > strip.most else "ink")}
            place = {"x": max(1.0, one.size_bytes), "area": 16 + 300 * min(1.0, one.share)}
            calls = f"{one.calls:.0f} calls of a rank, {one.share:.1%} of the time"
            tip = f"{strip.probe}, {format_size(one.size_bytes)}: {calls}"
            dots.append({**row, **place, **ink, "tip": tip})
    ticks = size_ticks([1.0, *(bar["end"] for bar in bars), *(dot["x"] for dot in dots)])
    x = axis("x", ticks, log=True, base=2, title="message size")
    y = _names("name", [*map(name, strips)], narrow=narrow)
    area = raw("area", "quantitative")
    layers = [
        layer("bar", bars, x=x, x2="end", y=y, height=10, color=colour("band")),
        layer("tick", marks, x=x, y=y, thickness=1, size=10, color=colour("faint")),
        layer("circle", dots, "fill", x=x, y=y, tips=True, opacity=0.7, size=area),
    ]
    return plot(layers, _NARROW_WIDTH if narrow else 360, 24 * max(2, len(strips)))


_GROWTH_PX = 300


def growth_chart(every: Sequence[Growth]) -> Chart:
    """Draw a period's time over ranks, with bands, the law of computing and the ideal line.

    Ideal is the speed-up from the quickest platform's smallest count. Dots are times of profiles
    whose ranks had a core each. Simulated times are hollow.
    """
    first, law = every[0].points, every[0].computing
    ranks, off = [point.ranks for point in first], law.error or 0.0
    best = min(done.points[0].period_s for done in every) * ranks[0]
    rule = {n: (law.at(n), law.at(n) * max(0.01, 1 - off), law.at(n) * (1 + off)) for n in ranks}
    computing = _times("computing, as profiled", rule)
    ideal = _times("ideal", {n: (best / n,) * 3 for n in ranks})
    took = {one.ranks: one.period_measured_s for one in first if one.period_measured_s is not None}
    measured = _times("measured", {n: (value,) * 3 for n, value in took.items()})
    shown = line_looks([done.target.name for done in every])
    lines = []
    for done in every:
        times = {one.ranks: (one.period_s, one.period_lo_s, one.period_hi_s) for one in done.points}
        ink = shown[done.target.name].ink(hollow=done.target.simulated)
        lines.append([{**row, **ink} for row in _times(done.target.name, times)])
    whole = [computing, ideal, measured, *lines]
    scale = unit_scale([row["y"] for rows in whole for row in rows], "s")
    for row in (row for rows in whole for row in rows):
        row.update({key: row[key] * scale.factor for key in ("y", "lo", "hi")})
    return _drawn(computing, ideal, measured, lines, scale.unit)


def _times(what: str, times: Mapping[int, tuple[float, float, float]]) -> _Rows:
    return [
        {"x": n, "y": at, "lo": low, "hi": high, "name": what,
         "tip": f"{what}, {n} ranks: {format_value(at, 's')}"}
        for n, (at, low, high) in times.items()
    ]  # fmt: skip


def _drawn(
    computing: _Rows, ideal: _Rows, measured: _Rows, lines: Sequence[_Rows], unit: str
) -> Chart:
    every = [computing, ideal, measured, *lines]
    ranks = [row["x"] for row in computing]
    ends = (ranks[0] / 1.1, ranks[-1] * 1.1)
    across = Ticks(ends, tuple(map(float, ranks)), tuple(map(str, ranks)))
    up = log_ticks(row[key] for rows in every for row in rows for key in ("lo", "hi"))
    x = axis("x", across, log=True, base=2, title="ranks")
    y, lo = (axis(name, up, log=True, title=f"a period ({unit})") for name in ("y", "lo"))
    ink, names = colour("ink"), _apart([rows[-1] for rows in every if rows], up)
    layers = [
        layer("area", computing, x=x, y=lo, y2="hi", color=colour("band")),
        layer("line", computing, x=x, y=y, strokeDash=[2, 3], color=colour("soft")),
        layer("line", ideal, x=x, y=y, strokeDash=[6, 4], color=colour("faint")),
    ]
    for rows in lines:
        own = rows[0]["colour"]
        layers += [
            layer("area", rows, x=x, y=lo, y2="hi", color=own, opacity=0.15),
            layer("line", rows, x=x, y=y, color=own),
            layer("point", rows, MARK, x=x, y=y, tips=True, size=52),
        ]
    layers += [
        layer("point", measured, x=x, y=y, tips=True, filled=True, size=52, color=ink),
        layer("text", names, x=x, y=pixels("px"), text="name", align="left", dx=10, color=ink),
    ]
    return plot(layers, _WIDTH, _GROWTH_PX)


def _apart(named: _Rows, up: Ticks) -> _Rows:
    """Put names next to the ends of their lines, none over another."""
    low, high = up.domain
    rows = [
        {**one, "px": _GROWTH_PX * math.log(high / one["y"]) / math.log(high / low)}
        for one in named
    ]
    rows.sort(key=lambda one: one["px"])
    for above, below in pairwise(rows):
        below["px"] = max(below["px"], above["px"] + 14)
    return rows
