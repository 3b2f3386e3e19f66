"""Predictions as figures: predicted against measured, and a loss as a waterfall."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import altair as alt

from bareline.predict.shares import Loss
from bareline.predict.validation import Trial, Validation
from bareline.report.figures.channels import inline, raw, tip
from bareline.report.figures.figure import Chart
from bareline.report.figures.scales import Ticks, log_ticks, unit_scale
from bareline.report.figures.svg import draw, for_file, to_png
from bareline.report.figures.theme import Look, colour, looks
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.units import format_value

_WIDTH, _HEIGHT, _ROW = 420, 420, 26


def write_validation(done: Validation, folder: Path) -> list[Path]:
    """Draw each model's predictions against what was measured, as SVG and PNG.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    charts = {
        f"predicted-{score.model}": predicted_chart(
            [trial for trial in done.trials if trial.model == score.model]
        )
        for score in done.scores
    }
    return _write(charts, folder)


def write_loss(loss: Loss, folder: Path) -> list[Path]:
    """Draw a loss as a waterfall, as SVG and PNG.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    return _write({f"loss-{loss.platform}": waterfall_chart(loss)}, folder)


def predicted_chart(trials: Sequence[Trial]) -> Chart:
    """Draw predicted times over measured ones, with their intervals and the line of equality."""
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    shown = looks(sorted({trial.platform for trial in trials}))
    rows = [
        {
            "x": trial.truth_s * scale.factor,
            "y": trial.time_s * scale.factor,
            "lo": (trial.lo_s if trial.lo_s == trial.lo_s else trial.time_s) * scale.factor,
            "hi": (trial.hi_s if trial.hi_s == trial.hi_s else trial.time_s) * scale.factor,
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


def waterfall_chart(loss: Loss) -> Chart:
    """Draw the time on A, what each share adds, and the time on B, each bar from where it begins.

    Whiskers are the 90 % intervals of the shares.
    """
    steps = _steps(loss)
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
        field="name", type="nominal", sort=names, title=None,
        axis=alt.Axis(labelLimit=260, ticks=False, domain=False),
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


def _steps(loss: Loss) -> list[dict[str, Any]]:
    """Give the bars in base units: each share begins where the one before it ended."""
    first = _middle(loss.measured_a)
    names = looks([loss.base, loss.platform])

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


def _write(charts: dict[str, Chart], folder: Path) -> list[Path]:
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, chart in charts.items():
            drawing = for_file(draw(chart), ())
            for suffix, content in (("svg", drawing.encode()), ("png", to_png(drawing))):
                file = folder / f"{name}.{suffix}"
                file.write_bytes(content)
                written.append(file)
    except OSError as error:
        raise StoreError(
            f"cannot be written: {error.strerror}", where=str(folder), hint="name another folder"
        ) from error
    return written
