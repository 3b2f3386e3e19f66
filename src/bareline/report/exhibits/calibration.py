"""The exhibit on a simulated platform's calibration, with its errors against measurements."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

from bareline.analysis.words.parts import capital
from bareline.report.blocks import Figure
from bareline.report.content.calibration import (
    CURVE,
    SIZE,
    CalibrationPoint,
    CalibrationPoints,
    by_probe,
    points_table,
    read_points,
)
from bareline.report.content.document import Document
from bareline.report.content.wording import axis_title
from bareline.report.exhibits.base import Exhibit, figure_of
from bareline.report.exhibits.shared_axis import parameter_axis
from bareline.report.figures.marks import lines, marks, rows_axis, x_axis, y_axis
from bareline.report.figures.rows import rule_at, value_axis, written
from bareline.report.figures.scales import log_ticks, signed_ticks, unit_scale
from bareline.report.figures.theme import MarkLook, colour, looks
from bareline.report.figures.vega import Chart, Drawing, Style, layer, plot
from bareline.store.header import CalibrationKeys
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import parameter_value
from bareline.vocabulary.units import listing, plain

#: Width of the names, and height of a row of errors.
LABELS_PX = 130
PITCH_PX = 22


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    pattern = spec.probe or "*"
    platform_looks = looks(document.names)
    for platform in document.platforms:
        calibration = platform.calibration
        if calibration is None:
            continue
        points = read_points(calibration)
        checks = [point for point in points if fnmatchcase(point.probe, pattern)]
        if checks:
            look = platform_looks[platform.name]
            yield _figure(spec, platform.name, look, calibration, checks)


def _figure(
    spec: ExhibitSpec,
    name: str,
    look: MarkLook,
    calibration: CalibrationKeys,
    checks: Sequence[CalibrationPoint],
) -> Figure:
    groups = by_probe(checks)
    errors: list[str] = []
    for group in groups:
        median = plain(100 * group.median)
        worst = plain(100 * abs(group.worst.error))
        subject = f"{group.probe} on {group.ranks} ranks"
        errors.append(f"{subject} {median} %, at worst {worst} %")
    interval = ""
    if calibration.error is not None:
        interval = (
            f"Simulated values of {name} take an interval of {calibration.error:.0%}: the "
            "largest median of a probe that it is not made of."
        )
    return figure_of(
        spec,
        title=f"How far {name} is from its calibration",
        what=(name,),
        notes=[
            f"{capital(calibration.source)}. Left: measured times "
            "are joined, simulated ones hollow. Right: every point that both have, 0 is "
            "agreement, the bar is the median of the points.",
            interval,
        ],
        layer="",
        drawing=Drawing([_curves(look, calibration, checks), _errors(look, groups)]),
        summary=f"Median error of {name} against the measurements: {listing(errors)}.",
        table=points_table(checks),
        data=[_data(name, check) for check in checks],
    )


def _data(platform: str, check: CalibrationPoint) -> dict[str, Any]:
    return {
        "platform": platform,
        "probe": check.probe,
        "ranks": check.ranks,
        "params": check.words,
        "unit": check.unit,
        "measured": check.measured,
        "simulated": check.simulated,
        "error": check.error,
    }


def _curves(
    look: MarkLook, calibration: CalibrationKeys, checks: Sequence[CalibrationPoint]
) -> Chart:
    curve = [(float(size), seconds) for size, seconds in calibration.curve]
    sizes = {size for size, _ in curve}
    simulated: list[tuple[float, float]] = []
    for check in checks:
        size = check.size_bytes
        if check.probe == CURVE and size is not None and size in sizes:
            simulated.append((size, check.simulated))
    scale = unit_scale((seconds for _, seconds in curve), "s")
    across, zero = parameter_axis(SIZE, sizes)
    ticks = log_ticks(scale.factor * seconds for _, seconds in [*curve, *simulated])

    def row(size: float, seconds: float, kind: str, *, hollow: bool) -> dict[str, Any]:
        time = f"{scale.show(seconds)} {scale.unit}"
        return {
            "x": size or zero,
            "y": seconds * scale.factor,
            "stretch": kind,
            "tip": f"{kind}, {parameter_value(SIZE, int(size))}: {time}",
            **look.ink(hollow=hollow),
        }

    measured = [row(size, seconds, "measured", hollow=False) for size, seconds in curve]
    hollow = [row(size, seconds, "simulated", hollow=True) for size, seconds in simulated]
    x = x_axis(across, axis_title(SIZE), labels=True)
    y = y_axis(ticks)
    layers = (lines(measured, x, y), marks(hollow, x, y))
    return plot(layers, 300, 200, f"One-way time ({scale.unit})")


def _errors(look: MarkLook, groups: Sequence[CalibrationPoints]) -> Chart:
    dots: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for place, group in enumerate(groups):
        y = (place + 0.5) * PITCH_PX
        names.append({"y": y, "text": f"{group.probe}, {group.ranks} ranks"})
        median = 100 * statistics.median(check.error for check in group.points)
        bars.append({"x": median, "y": y - 7, "end": y + 7, "tip": f"median {median:+.1f} %"})
        for check in group.points:
            error = 100 * check.error
            tooltip = f"{check.words}: {error:+.1f} %"
            dots.append({"x": error, "y": y, "colour": look.colour, "tip": tooltip})
    height = PITCH_PX * len(groups)
    x = value_axis(signed_ticks(row["x"] for row in dots))
    up = rows_axis(height)
    point: Style = {"size": 26, "strokeWidth": 1.1, "opacity": 0.8, "fill": colour("paper")}
    layers = (
        rule_at(0.0, x),
        layer("point", dots, "stroke", x=x, y=up, tips=True, **point),
        layer("rule", bars, x=x, y=up, y2="end", tips=True, strokeWidth=2.4, color=colour("ink")),
        written(names, -LABELS_PX, up, limit=LABELS_PX - 6),
    )
    return plot(layers, 300, height, "Simulated over measured, less 1 (%)")


EXHIBIT = Exhibit(
    "calibration",
    "the curve that a simulated platform was calibrated with, and its errors",
    _figures,
)
