"""Predictions as figures: against measurements, a loss as a waterfall, upgrades, sizes used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bareline.predict.coverage import CurveCoverage
from bareline.predict.questions import UPGRADES, Upgrade
from bareline.predict.shares import LossSplit
from bareline.predict.validation import Trial
from bareline.report.figures.grammar import Chart, Style, alt, axis, layer
from bareline.report.figures.scales import (
    log_ticks,
    signed_ticks,
    size_ticks,
    unit_scale,
)
from bareline.report.figures.theme import MarkLook, colour
from bareline.vocabulary.units import format_size, format_value

#: Where these figures stand: in a section of their own, as figures of a layer do in that layer's.
SECTION = "predictions"
_WIDTH, _ROW, _STRIP, _PITCH = 420, 26, 360, 24
#: Of a drawing for a phone, where names have less room, too.
_NARROW_WIDTH = 190
_LABELS_PX, _NARROW_LABELS_PX, _LABEL_CHARACTER_PX = 240, 120, 7


def predicted_chart(
    trials: Sequence[Trial], shown: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw predicted times over measured ones, with their intervals and the line of equality."""
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    there = {trial.platform for trial in trials}
    shown = {name: look for name, look in shown.items() if name in there}
    rows = [
        {
            "x": trial.truth_s * scale.factor,
            "y": trial.time_s * scale.factor,
            "lo": (trial.lo_s or trial.time_s) * scale.factor,
            "hi": (trial.hi_s or trial.time_s) * scale.factor,
            "colour": shown[trial.platform].colour,
            "shape": shown[trial.platform].shape,
            "tip": f"{trial.application}, {trial.base} to {trial.platform}: predicted "
            f"{format_value(trial.time_s, 's')}, measured {format_value(trial.truth_s, 's')}",
        }
        for trial in trials
    ]
    ticks = log_ticks([row[key] for row in rows for key in ("x", "lo", "hi")])  # type: ignore[misc]
    x = axis(alt.X, "x", ticks, log=True, title=f"measured ({scale.unit})")
    y, lo = (
        axis(alt.Y, field, ticks, log=True, title=f"predicted ({scale.unit})")
        for field in ("y", "lo")
    )
    keys = [
        {"name": name, "y": 16 + 18 * index, "colour": look.colour, "shape": look.shape}
        for index, (name, look) in enumerate(shown.items())
    ]
    side = 280 if narrow else _WIDTH
    spots: Style = {"filled": True, "size": 52}
    equal: Style = {"strokeDash": [4, 3], "color": colour("faint")}
    corner = alt.Y(field="y", type="quantitative", scale=None, axis=None)
    return alt.layer(
        layer("line", [{"x": end, "y": end} for end in ticks.domain], x=x, y=y, **equal),
        layer("rule", rows, "stroke", x=x, y=lo, y2="hi", opacity=0.45),
        layer("point", rows, "fill shape", x=x, y=y, tips=True, **spots, opacity=0.9),
        # The corner that has no points has room for the platforms' names.
        layer("point", keys, "fill shape", x=16, y=corner, **spots),
        layer("text", keys, x=28, y=corner, text="name", align="left", color=colour("ink")),
    ).properties(width=side, height=side)


def _names_axis(names: Sequence[str], *, narrow: bool) -> alt.Axis:
    """Give an axis of names with room for them in the widest of the page's fonts.

    The drawing is made with another font than the page shows it in.
    """
    most = _NARROW_LABELS_PX if narrow else _LABELS_PX
    room = _LABEL_CHARACTER_PX * max(map(len, names), default=0)
    return alt.Axis(labelLimit=most, minExtent=min(room, most), ticks=False, domain=False)


def waterfall_chart(
    loss: LossSplit, shown: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw the time on A, what each share adds, and the time on B, each bar from where it begins.

    Whiskers are the 90 % intervals of the shares.
    """
    steps = _steps(loss, shown)
    scale = unit_scale([step["to"] for step in steps], "s")
    ends = ("from", "to", "lo", "hi")
    rows = [{**step, **{end: step[end] * scale.factor for end in ends}} for step in steps]
    rows = [{**row, "end": max(row["to"], row["from"], row["hi"])} for row in rows]
    names = [row["name"] for row in rows]
    y = alt.Y(
        field="name", type="nominal", sort=names, title=None, axis=_names_axis(names, narrow=narrow)
    )
    at, lo, end = (alt.X(field=field, type="quantitative") for field in ("from", "lo", "end"))
    at = at.title(f"time ({scale.unit})")
    ink: Style = {"color": colour("ink")}
    return alt.layer(
        layer("bar", rows, "fill", x=at, x2="to", y=y, tips=True, height=_ROW * 0.6),
        layer("rule", rows, x=lo, x2="hi", y=y, strokeWidth=1.4, **ink),
        layer("text", rows, x=end, y=y, text="label", align="left", dx=6, **ink),
    ).properties(width=_NARROW_WIDTH if narrow else _WIDTH, height=_ROW * len(rows))


def _steps(loss: LossSplit, names: Mapping[str, MarkLook]) -> list[dict[str, Any]]:
    """Give the bars in base units: each share begins where the one before it ended."""
    first = loss.a_s

    def step(
        name: str, begin: float, end: float, width: float, ink: str, label: str
    ) -> dict[str, Any]:
        return {"name": name, "from": begin, "to": end, "lo": end - width, "hi": end + width,
                "colour": ink, "label": label, "tip": f"{name}: {label}"}  # fmt: skip

    rows = [step(loss.base, 0.0, first, 0.0, names[loss.base].colour, format_value(first, "s"))]
    at = first
    for share in loss.shares:
        if abs(share.share) < 0.005:
            continue
        ink = colour("faint") if share.input == "residual" else names[loss.platform].colour
        label = f"{format_value(share.time_s, 's')}, {share.share:.0%}"
        width = (share.hi_s - share.lo_s) / 2
        rows.append(step(share.title, at, at + share.time_s, width, ink, label))
        at += share.time_s
    last = first + loss.loss_s
    rows.append(
        step(loss.platform, 0.0, last, 0.0, names[loss.platform].colour, format_value(last, "s"))
    )
    return rows


def upgrades_chart(
    upgrades: Sequence[Upgrade], changes: Sequence[str], shown: Mapping[str, MarkLook], *,
    narrow: bool = False,
) -> Chart:  # fmt: skip
    """Draw what each change would save of the time: a row for each, a mark for each case."""
    rows = [
        {
            "change": UPGRADES[one.change],
            "x": 100 * one.saved,
            "colour": shown[one.platform].colour,
            "shape": shown[one.platform].shape,
            "tip": f"{one.application} on {one.platform}, {one.title}: "
            f"{format_value(one.base_s, 's')} to {format_value(one.time_s, 's')}",
        }
        for one in upgrades
    ]
    ticks = signed_ticks([row["x"] for row in rows])  # type: ignore[misc]
    order, names = (
        [UPGRADES[change] for change in changes],
        _names_axis([*UPGRADES.values()], narrow=narrow),
    )
    y = alt.Y(field="change", type="nominal", sort=order, title=None, axis=names)
    x = axis(alt.X, "x", ticks, title="time saved (%)")
    style: Style = {"filled": True, "size": 46, "opacity": 0.75}
    chart = layer("point", rows, "fill shape", x=x, y=y, tips=True, **style)
    return chart.properties(
        width=_NARROW_WIDTH if narrow else _WIDTH, height=_ROW * max(2, len(changes))
    )


def coverage_chart(strips: Sequence[CurveCoverage], *, narrow: bool = False) -> Chart:
    """Draw a strip for each function: a bar over what was measured, a dot for each size used."""
    ticks = size_ticks([1.0, *(one for strip in strips for one in _ends(strip))])
    names = [_name(strip) for strip in strips]
    y = alt.Y(
        field="name", type="nominal", sort=names, title=None, axis=_names_axis(names, narrow=narrow)
    )
    x = axis(alt.X, "x", ticks, log=True, base=2, title="message size")
    bars = [
        {"name": _name(strip), "x": max(1.0, strip.least), "end": max(1.0, strip.most)}
        for strip in strips
    ]
    marks = [
        {"name": _name(strip), "x": max(1.0, size)} for strip in strips for size in strip.measured
    ]
    dots = [
        {
            "name": _name(strip),
            "x": max(1.0, one.size_bytes),
            "area": 16 + 300 * min(1.0, one.share),
            "colour": colour("worse" if one.size_bytes > strip.most else "ink"),
            "tip": f"{strip.probe}, {format_size(one.size_bytes)}: {one.calls:.0f} calls of a "
            f"rank, {one.share:.1%} of the time",
        }
        for strip in strips
        for one in strip.used
    ]
    area = alt.Size(field="area", type="quantitative", scale=None, legend=None)
    ticked: Style = {"thickness": 1, "size": 10, "color": colour("faint")}
    return alt.layer(
        layer("bar", bars, x=x, x2="end", y=y, height=10, color=colour("band")),
        layer("tick", marks, x=x, y=y, **ticked),
        layer("circle", dots, "fill", x=x, y=y, tips=True, opacity=0.7).encode(size=area),
    ).properties(width=_NARROW_WIDTH if narrow else _STRIP, height=_PITCH * max(2, len(strips)))


def _name(strip: CurveCoverage) -> str:
    what = "messages" if strip.probe == "mpi.pingpong" else strip.probe.removeprefix("mpi.")
    return f"{what}, {strip.ranks} ranks"


def _ends(strip: CurveCoverage) -> list[float]:
    return [max(1.0, size) for size in (strip.most, *(one.size_bytes for one in strip.used))]
