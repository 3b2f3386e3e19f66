"""A program's time by its number of ranks: measured, predicted on each platform, and ideal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from bareline.predict.growth import Growth
from bareline.report.figures.grammar import MARK, Chart, alt, axis, layer
from bareline.report.figures.scales import Ticks, log_ticks, unit_scale
from bareline.report.figures.theme import colour, line_looks
from bareline.vocabulary.units import format_value

_WIDTH, _HEIGHT, _APART = 420, 300, 14
_Rows = list[dict[str, Any]]


def growth_chart(every: Sequence[Growth]) -> Chart:
    """Draw a period's time over ranks, with bands, the law of computing and the ideal line.

    Ideal is the speed-up from the quickest platform's smallest count. Dots are what profiles took
    whose ranks had a core each. Simulated times are hollow.
    """
    first, law = every[0].points, every[0].computing
    ranks, off = [point.ranks for point in first], law.error or 0.0
    best = min(done.points[0].period_s for done in every) * ranks[0]
    rule = {n: (law.at(n), law.at(n) * max(0.01, 1 - off), law.at(n) * (1 + off)) for n in ranks}
    computing = _rows("computing, as profiled", rule)
    ideal = _rows("ideal", {n: (best / n,) * 3 for n in ranks})
    took = {one.ranks: one.period_measured_s for one in first if one.period_measured_s is not None}
    measured = _rows("measured", {n: (value,) * 3 for n, value in took.items()})
    shown = line_looks([done.target.name for done in every])
    lines = []
    for done in every:
        times = {one.ranks: (one.period_s, one.period_lo_s, one.period_hi_s) for one in done.points}
        ink = shown[done.target.name].ink(hollow=done.target.simulated)
        lines.append([{**row, **ink} for row in _rows(done.target.name, times)])
    whole = [computing, ideal, measured, *lines]
    scale = unit_scale([row["y"] for rows in whole for row in rows], "s")
    for row in (row for rows in whole for row in rows):
        row.update({key: row[key] * scale.factor for key in ("y", "lo", "hi")})
    return _drawn(computing, ideal, measured, lines, scale.unit)


def _rows(what: str, times: Mapping[int, tuple[float, float, float]]) -> _Rows:
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
    up = log_ticks([row[key] for rows in every for row in rows for key in ("lo", "hi")])
    x = axis(alt.X, "x", across, log=True, base=2, title="ranks")
    y, lo = (axis(alt.Y, name, up, log=True, title=f"a period ({unit})") for name in ("y", "lo"))
    soft, faint, ink = (colour(name) for name in ("soft", "faint", "ink"))
    beside = alt.Y(field="px", type="quantitative", scale=None, axis=None)
    names = _apart([rows[-1] for rows in every if rows], up)
    return alt.layer(
        layer("area", computing, x=x, y=lo, y2="hi", color=colour("band")),
        layer("line", computing, x=x, y=y, strokeDash=[2, 3], color=soft),
        layer("line", ideal, x=x, y=y, strokeDash=[6, 4], color=faint),
        *(
            part
            for rows in lines
            for part in (
                layer("area", rows, x=x, y=lo, y2="hi", color=rows[0]["colour"], opacity=0.15),
                layer("line", rows, x=x, y=y, color=rows[0]["colour"]),
                layer("point", rows, MARK, x=x, y=y, tips=True, size=52),
            )
        ),
        layer("point", measured, x=x, y=y, tips=True, filled=True, size=52, color=ink),
        layer("text", names, x=x, y=beside, text="name", align="left", dx=10, color=ink),
    ).properties(width=_WIDTH, height=_HEIGHT)


def _apart(named: _Rows, up: Ticks) -> _Rows:
    """Put names beside the ends of their lines, none over another."""
    low, high = up.domain
    rows = [
        {**one, "px": _HEIGHT * math.log(high / one["y"]) / math.log(high / low)} for one in named
    ]
    rows.sort(key=lambda one: one["px"])
    for above, below in pairwise(rows):
        below["px"] = max(below["px"], above["px"] + _APART)
    return rows
