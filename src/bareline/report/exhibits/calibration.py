"""What a simulated platform was calibrated with, and how far it lies from the measurements."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import altair as alt

from bareline.report.content.anchors import slug
from bareline.report.content.document import Document, PlatformInfo
from bareline.report.content.wording import axis_title
from bareline.report.exhibits.base import Exhibit
from bareline.report.exhibits.curve import parameter_axis
from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.marks import lines, marks, rows_axis, x_axis, y_axis
from bareline.report.figures.scales import Scale, Ticks, log_ticks, signed_ticks, unit_scale
from bareline.report.figures.theme import colour, looks
from bareline.store.header import CalibrationKeys
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.place import coordinate, parameter_value
from bareline.vocabulary.units import listing, plain

WIDTH_PX = 300
HEIGHT_PX = 200
LABELS_PX = 130
PITCH_PX = 22
_SIZE = "size_bytes"
_CURVE = "mpi.pingpong"
_MADE_OF = (_CURVE, "mpi.multi_pair", "mpi.bibandwidth")


@dataclass(frozen=True, slots=True)
class Check:
    """A measured value beside the simulated one; `error` is relative, 0.1 is 10 % too much."""

    probe: str
    ranks: int
    at: Mapping[str, Scalar]
    unit: str
    measured: float
    simulated: float

    @property
    def error(self) -> float:
        """Relative deviation of the simulation."""
        return self.simulated / self.measured - 1

    @property
    def told(self) -> str:
        """Say where: "CG, problem class W"."""
        return ", ".join(coordinate(name, value) for name, value in self.at.items())


class Calibration(Exhibit):
    """Curve and errors of every simulated platform that was calibrated; with `probe`, of those."""

    kind = "calibration"
    summary = "the curve that a simulated platform was calibrated with, and its errors"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure for each calibrated platform."""
        drawn = []
        for platform in document.platforms:
            calibration = platform.calibration
            if calibration is None:
                continue
            checks = [
                check
                for check in read_checks(calibration)
                if spec.probe is None or fnmatchcase(check.probe, spec.probe)
            ]
            if checks:
                drawn.append(_figure(document, spec, platform, calibration, checks))
        return drawn


def read_checks(calibration: CalibrationKeys) -> list[Check]:
    """Give the checks of a calibration that have a value to be held against."""
    return [
        Check(
            str(probe), int(ranks), parse_point(str(at)), str(unit), float(measured),
            float(simulated),
        )
        for probe, ranks, at, unit, measured, simulated in calibration.checks
        if float(measured) > 0
    ]  # fmt: skip


def _figure(
    document: Document,
    spec: ExhibitSpec,
    platform: PlatformInfo,
    calibration: CalibrationKeys,
    checks: Sequence[Check],
) -> Figure:
    groups: dict[tuple[str, int], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.probe, check.ranks), []).append(check)
    bound = (
        f" Simulated values of {platform.name} take an interval of {calibration.error:.0%}: the "
        "largest median of a probe that it is not made of."
        if calibration.error is not None
        else ""
    )
    return Figure(
        id=slug("calibration", platform.name, spec.title),
        title=spec.title or f"How far {platform.name} lies from what it was calibrated with",
        caption=(
            f"{calibration.source[:1].upper()}{calibration.source[1:]}. Left: measured times are "
            "joined, simulated ones hollow. Right: every point that both have, 0 is agreement, "
            f"the bar is the median of the points.{bound}"
        ),
        panels=(
            _curve_panel(document, platform.name, calibration, checks),
            _error_panel(document, platform.name, groups),
        ),
        wide=True,
        text_summary=_summary(platform.name, groups),
        data_table=_table(groups),
        data=tuple(
            {
                "platform": platform.name, "probe": check.probe, "ranks": check.ranks,
                "params": check.told, "unit": check.unit, "measured": check.measured,
                "simulated": check.simulated, "error": check.error,
            }
            for check in checks
        ),
    )  # fmt: skip


def _curve_panel(
    document: Document, name: str, calibration: CalibrationKeys, checks: Sequence[Check]
) -> Chart:
    simulated = [(c.at[_SIZE], c.simulated) for c in checks if c.probe == _CURVE and _SIZE in c.at]
    sizes = {float(size) for size, _ in calibration.curve}
    scale: Scale = unit_scale((seconds for _, seconds in calibration.curve), "s")
    across, zero = parameter_axis(_SIZE, sizes)
    times = [seconds for _, seconds in calibration.curve] + [time for _, time in simulated]
    ticks: Ticks = log_ticks(scale.factor * time for time in times)
    look = looks(document.names)[name]

    def row(size: float, seconds: float, what: str, fill: str) -> dict[str, Any]:
        told = f"{what}, {parameter_value(_SIZE, int(size))}: {scale.show(seconds)} {scale.unit}"
        return {
            "x": size or zero, "y": seconds * scale.factor, "colour": look.colour, "fill": fill,
            "shape": look.shape, "stretch": what, "tip": told,
        }  # fmt: skip

    measured = [row(size, time, "measured", look.colour) for size, time in calibration.curve]
    hollow = [
        row(float(size), time, "simulated", colour("paper"))
        for size, time in simulated
        if float(size) in sizes
    ]
    x, y = x_axis(across, axis_title(_SIZE), labels=True), y_axis(ticks)
    return alt.layer(lines(measured, x, y), marks(hollow, x, y)).properties(
        width=WIDTH_PX,
        height=HEIGHT_PX,
        title=heading(f"One-way time ({scale.unit})", WIDTH_PX),
    )


def _error_panel(
    document: Document, name: str, groups: Mapping[tuple[str, int], Sequence[Check]]
) -> Chart:
    look = looks(document.names)[name]
    dots: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for place, ((probe, ranks), checks) in enumerate(groups.items()):
        y = (place + 0.5) * PITCH_PX
        names.append({"y": y, "text": f"{probe}, {ranks} ranks"})
        median = 100 * statistics.median(check.error for check in checks)
        bars.append({"x": median, "y": y - 7, "end": y + 7, "tip": f"median {median:+.1f} %"})
        dots += [
            {
                "x": 100 * check.error, "y": y, "colour": look.colour,
                "tip": f"{check.told}: {100 * check.error:+.1f} %",
            }
            for check in checks
        ]  # fmt: skip
    height = PITCH_PX * len(groups)
    up = rows_axis(height)
    ticks = signed_ticks(row["x"] for row in dots)
    x = alt.X(
        field="x",
        type="quantitative",
        scale=alt.Scale(domain=list(ticks.domain), nice=False),
        axis=alt.Axis(values=list(ticks.values), labelExpr=ticks.label_expression, title=None),
    )
    return alt.layer(
        alt.Chart(inline([{"x": 0}]))
        .mark_rule(color=colour("baseline"), strokeWidth=1.2, aria=False)
        .encode(x=x),
        alt.Chart(inline(dots))
        .mark_point(size=26, strokeWidth=1.1, opacity=0.8, fill=colour("paper"))
        .encode(x=x, y=up, stroke=raw(alt.Stroke, "colour"), description=tip()),
        alt.Chart(inline(bars))
        .mark_rule(strokeWidth=2.4, color=colour("ink"))
        .encode(x=x, y=up, y2=alt.Y2(field="end"), description=tip()),
        alt.Chart(inline(names))
        .mark_text(align="left", baseline="middle", limit=LABELS_PX - 6, aria=False)
        .encode(
            x=alt.value(-LABELS_PX), y=up, text=alt.Text(field="text", type="nominal")
        ),
    ).properties(
        width=WIDTH_PX,
        height=height,
        title=heading("Simulated over measured, less 1 (%)", WIDTH_PX),
    )  # fmt: skip


def _worst(checks: Sequence[Check]) -> Check:
    return max(checks, key=lambda check: abs(check.error))


def _median(checks: Sequence[Check]) -> float:
    return statistics.median(abs(check.error) for check in checks)


def _table(groups: Mapping[tuple[str, int], Sequence[Check]]) -> DataTable:
    rows = []
    for (probe, ranks), checks in groups.items():
        worst = _worst(checks)
        rows.append(
            (
                Field(probe),
                Field(str(ranks), ranks),
                Field(str(len(checks)), len(checks)),
                Field(f"{100 * _median(checks):.1f}", _median(checks)),
                Field(f"{100 * worst.error:+.1f}", abs(worst.error)),
                Field(worst.told),
                Field("yes" if probe in _MADE_OF else "no"),
            )
        )
    columns = (
        Column("probe", "text"),
        Column("ranks"),
        Column("points"),
        Column("median error (%)"),
        Column("worst (%)"),
        Column("worst at", "text"),
        Column("made of it", "text"),
    )
    return DataTable(columns, tuple(rows))


def _summary(name: str, groups: Mapping[tuple[str, int], Sequence[Check]]) -> str:
    told = [
        f"{probe} on {ranks} ranks {plain(100 * _median(checks))} %, at worst "
        f"{plain(100 * abs(_worst(checks).error))} %"
        for (probe, ranks), checks in groups.items()
    ]
    return f"Median error of {name} against the measurements: {listing(told)}."


EXHIBIT = Calibration()
