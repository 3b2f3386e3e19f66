"""Predictions as figures: against measurements, a loss as a waterfall, upgrades, sizes used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from bareline.predict.coverage import Strip
from bareline.predict.questions import UPGRADES, Upgrade
from bareline.predict.shares import Loss
from bareline.predict.validation import Trial
from bareline.report.figures.channels import inline, raw, tip
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import (
    Ticks,
    log_ticks,
    signed_ticks,
    size_ticks,
    unit_scale,
)
from bareline.report.figures.theme import Look, colour
from bareline.vocabulary.units import format_size, format_value

#: Where these figures stand: in a section of their own, as figures of a layer do in that layer's.
SECTION = "predictions"
_WIDTH, _HEIGHT, _ROW = 420, 420, 26
_STRIP, _NARROW = 360, 24
_LABEL_LIMIT_PX, _LABEL_CHARACTER_PX = 240, 7


def predicted_chart(trials: Sequence[Trial], shown: Mapping[str, Look]) -> Chart:
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
            "platform": trial.platform,
            "tip": f"{trial.application}, {trial.base} to {trial.platform}: predicted "
            f"{format_value(trial.time_s, 's')}, measured {format_value(trial.truth_s, 's')}",
        }
        for trial in trials
    ]
    ticks = log_ticks([row[key] for row in rows for key in ("x", "lo", "hi")])  # type: ignore[misc]
    inks = alt.Scale(domain=list(shown), range=[look.colour for look in shown.values()])
    marks = alt.Scale(domain=list(shown), range=[look.shape for look in shown.values()])
    channel: dict[str, Any] = {"field": "platform", "type": "nominal"}
    base = alt.Chart(inline(rows)).encode(x=_log(alt.X, "x", ticks, f"measured ({scale.unit})"))
    intervals = base.mark_rule(opacity=0.45).encode(
        y=_log(alt.Y, "lo", ticks, f"predicted ({scale.unit})"),
        y2=alt.Y2(field="hi"),
        stroke=alt.Stroke(scale=inks, legend=None, **channel),
    )
    points = base.mark_point(filled=True, size=52, opacity=0.9).encode(
        y=_log(alt.Y, "y", ticks, f"predicted ({scale.unit})"),
        fill=alt.Fill(scale=inks, legend=None, **channel),
        shape=alt.Shape(scale=marks, legend=None, **channel),
        description=tip(),
    )
    low, high = ticks.domain
    equal = (
        alt.Chart(inline([{"x": low, "y": low}, {"x": high, "y": high}]))
        .mark_line(strokeDash=[4, 3], color=colour("faint"))
        .encode(
            x=_log(alt.X, "x", ticks, f"measured ({scale.unit})"),
            y=_log(alt.Y, "y", ticks, f"predicted ({scale.unit})"),
        )
    )
    keys = [_key(index, name, look) for index, (name, look) in enumerate(shown.items())]
    return alt.layer(equal, intervals, points, *chain.from_iterable(keys)).properties(
        width=_WIDTH, height=_HEIGHT
    )


def _key(index: int, name: str, look: Look) -> tuple[alt.Chart, alt.Chart]:
    """Give a platform's mark and name for the corner that has no points."""
    y = alt.value(16 + 18 * index)
    base = alt.Chart(inline([{"name": name}]))
    mark = base.mark_point(filled=True, size=52, color=look.colour, shape=look.shape)
    text = base.mark_text(align="left", color=colour("ink"))
    return (
        mark.encode(x=alt.value(16), y=y),
        text.encode(x=alt.value(28), y=y, text=alt.Text(field="name", type="nominal")),
    )


def _log(axis: type[Any], field: str, ticks: Ticks, title: str) -> Any:
    return axis(
        field=field,
        type="quantitative",
        scale=alt.Scale(type="log", domain=list(ticks.domain), nice=False),
        axis=alt.Axis(values=list(ticks.values), labelExpr=ticks.label_expression, title=title),
    )


def _names_axis(names: Sequence[str]) -> alt.Axis:
    """Give an axis of names with room for them in the widest of the page's fonts.

    The drawing is made with another font than the page shows it in.
    """
    room = _LABEL_CHARACTER_PX * max(map(len, names), default=0)
    return alt.Axis(
        labelLimit=_LABEL_LIMIT_PX, minExtent=min(room, _LABEL_LIMIT_PX), ticks=False, domain=False
    )


def waterfall_chart(loss: Loss, shown: Mapping[str, Look]) -> Chart:
    """Draw the time on A, what each share adds, and the time on B, each bar from where it begins.

    Whiskers are the 90 % intervals of the shares.
    """
    steps = _steps(loss, shown)
    scale = unit_scale([step["to"] for step in steps], "s")
    rows = [
        {
            **step,
            "from": step["from"] * scale.factor,
            "to": step["to"] * scale.factor,
            "lo": step["lo"] * scale.factor,
            "hi": step["hi"] * scale.factor,
            "end": max(step["to"], step["from"], step["hi"]) * scale.factor,
        }
        for step in steps
    ]
    names = [row["name"] for row in rows]
    y = alt.Y(
        field="name", type="nominal", sort=names, title=None, axis=_names_axis(names)
    )  # fmt: skip
    x = alt.X(field="from", type="quantitative", title=f"time ({scale.unit})")
    base = alt.Chart(inline(rows)).encode(y=y)
    bars = base.mark_bar(height=_ROW * 0.6).encode(
        x=x, x2=alt.X2(field="to"), fill=raw(alt.Fill, "colour"), description=tip()
    )
    whiskers = base.mark_rule(strokeWidth=1.4, color=colour("ink")).encode(
        x=alt.X(field="lo", type="quantitative"), x2=alt.X2(field="hi")
    )
    labels = base.mark_text(align="left", dx=6, color=colour("ink")).encode(
        x=alt.X(field="end", type="quantitative"), text=alt.Text(field="label", type="nominal")
    )
    return alt.layer(bars, whiskers, labels).properties(width=_WIDTH, height=_ROW * len(rows))


def _steps(loss: Loss, names: Mapping[str, Look]) -> list[dict[str, Any]]:
    """Give the bars in base units: each share begins where the one before it ended."""
    first = _middle(loss.measured_a)

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


def _middle(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def upgrades_chart(
    upgrades: Sequence[Upgrade], changes: Sequence[str], shown: Mapping[str, Look]
) -> Chart:
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
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=46, opacity=0.75)
        .encode(
            x=alt.X(
                field="x",
                type="quantitative",
                scale=alt.Scale(domain=list(ticks.domain), nice=False),
                axis=alt.Axis(
                    values=list(ticks.values),
                    labelExpr=ticks.label_expression,
                    title="time saved (%)",
                ),
            ),
            y=alt.Y(
                field="change",
                type="nominal",
                sort=[UPGRADES[change] for change in changes],
                title=None,
                axis=_names_axis(list(UPGRADES.values())),
            ),
            fill=raw(alt.Fill, "colour"),
            shape=raw(alt.Shape, "shape"),
            description=tip(),
        )
    )
    return chart.properties(width=_WIDTH, height=_ROW * max(2, len(changes)))


def coverage_chart(strips: Sequence[Strip]) -> Chart:
    """Draw a strip for each function: a bar over what was measured, a dot for each size used."""
    ticks = size_ticks([1.0, *(one for strip in strips for one in _ends(strip))])
    names = [_name(strip) for strip in strips]
    y = alt.Y(
        field="name", type="nominal", sort=names, title=None, axis=_names_axis(names)
    )  # fmt: skip
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
    return alt.layer(
        alt.Chart(inline(bars))
        .mark_bar(height=10, color=colour("band"), aria=False)
        .encode(x=_sizes(ticks), x2=alt.X2(field="end"), y=y),
        alt.Chart(inline(marks))
        .mark_tick(thickness=1, size=10, color=colour("faint"), aria=False)
        .encode(x=_sizes(ticks), y=y),
        alt.Chart(inline(dots))
        .mark_circle(opacity=0.7)
        .encode(
            x=_sizes(ticks),
            y=y,
            size=alt.Size(field="area", type="quantitative", scale=None, legend=None),
            fill=raw(alt.Fill, "colour"),
            description=tip(),
        ),
    ).properties(width=_STRIP, height=_NARROW * max(2, len(strips)))


def _name(strip: Strip) -> str:
    what = "messages" if strip.probe == "mpi.pingpong" else strip.probe.removeprefix("mpi.")
    return f"{what}, {strip.ranks} ranks"


def _ends(strip: Strip) -> list[float]:
    return [max(1.0, size) for size in (strip.most, *(one.size_bytes for one in strip.used))]


def _sizes(ticks: Ticks) -> alt.X:
    return alt.X(
        field="x",
        type="quantitative",
        scale=alt.Scale(type="log", base=2, domain=list(ticks.domain), nice=False),
        axis=alt.Axis(
            values=list(ticks.values), labelExpr=ticks.label_expression, title="message size"
        ),
    )
