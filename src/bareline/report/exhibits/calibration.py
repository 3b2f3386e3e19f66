"""What a simulated platform was calibrated with, and how far it lies from the measurements."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from bareline.report.blocks import Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.wording import axis_title
from bareline.report.exhibits.along import parameter_axis
from bareline.report.exhibits.base import Kind, Shown, grouped_by
from bareline.report.figures.grammar import Chart, Drawing, Style, layer, plot
from bareline.report.figures.marks import lines, marks, rows_axis, x_axis, y_axis
from bareline.report.figures.rows import rule_at, value_axis, written
from bareline.report.figures.scales import log_ticks, signed_ticks, unit_scale
from bareline.report.figures.theme import Look, colour, looks
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
    def size_bytes(self) -> float | None:
        """Size of its messages; None where it has none."""
        size = self.at.get(_SIZE)
        return float(size) if isinstance(size, int | float) else None

    @property
    def words(self) -> str:
        """Say where: "CG, problem class W"."""
        return ", ".join(coordinate(name, value) for name, value in self.at.items())


@dataclass(frozen=True, slots=True)
class Group:
    """The checks of one probe on so many ranks."""

    probe: str
    ranks: int
    checks: Sequence[Check]

    @property
    def median(self) -> float:
        """Median of the sizes of the errors."""
        return statistics.median(abs(check.error) for check in self.checks)

    @property
    def worst(self) -> Check:
        """The check that is furthest off."""
        return max(self.checks, key=lambda check: abs(check.error))


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Draw one figure for each calibrated platform; with `probe`, of those."""
    for platform in document.platforms:
        calibration = platform.calibration
        checks = [
            check
            for check in (read_checks(calibration) if calibration else ())
            if spec.probe is None or fnmatchcase(check.probe, spec.probe)
        ]
        if calibration and checks:
            look = looks(document.names)[platform.name]
            yield _figure(platform.name, look, calibration, checks)


def _figure(name: str, look: Look, calibration: CalibrationKeys, checks: Sequence[Check]) -> Shown:
    by_probe = grouped_by(checks, lambda check: (check.probe, check.ranks))
    groups = [Group(probe, ranks, own) for (probe, ranks), own in by_probe.items()]
    told = [
        f"{group.probe} on {group.ranks} ranks {plain(100 * group.median)} %, at worst "
        f"{plain(100 * abs(group.worst.error))} %"
        for group in groups
    ]
    return Shown(
        title=f"How far {name} lies from its calibration",
        what=(name,),
        notes=[
            f"{calibration.source[:1].upper()}{calibration.source[1:]}. Left: measured times "
            "are joined, simulated ones hollow. Right: every point that both have, 0 is "
            "agreement, the bar is the median of the points.",
            f"Simulated values of {name} take an interval of {calibration.error:.0%}: the "
            "largest median of a probe that it is not made of."
            if calibration.error is not None
            else "",
        ],
        layer="",
        drawing=Drawing(
            [_curve_panel(look, calibration, checks), _error_panel(look, groups)]
        ),
        summary=f"Median error of {name} against the measurements: {listing(told)}.",
        table=_table(groups),
        data=[
            {
                "platform": name, "probe": check.probe, "ranks": check.ranks,
                "params": check.words, "unit": check.unit, "measured": check.measured,
                "simulated": check.simulated, "error": check.error,
            }
            for check in checks
        ],
    )  # fmt: skip


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


def _curve_panel(look: Look, calibration: CalibrationKeys, checks: Sequence[Check]) -> Chart:
    """Draw the curve of one-way times, and the simulated ones beside it."""
    curve = [(float(size), seconds) for size, seconds in calibration.curve]
    sizes = {size for size, _ in curve}
    simulated = [
        (size, check.simulated)
        for check in checks
        if check.probe == _CURVE and (size := check.size_bytes) in sizes
    ]
    scale = unit_scale((seconds for _, seconds in curve), "s")
    across, zero = parameter_axis(_SIZE, sizes)
    ticks = log_ticks(scale.factor * seconds for _, seconds in [*curve, *simulated])

    def row(size: float, seconds: float, what: str, fill: str) -> dict[str, Any]:
        told = f"{what}, {parameter_value(_SIZE, int(size))}: {scale.show(seconds)} {scale.unit}"
        return {
            "x": size or zero, "y": seconds * scale.factor, "colour": look.colour, "fill": fill,
            "shape": look.shape, "stretch": what, "tip": told,
        }  # fmt: skip

    measured = [row(size, seconds, "measured", look.colour) for size, seconds in curve]
    hollow = [row(size, seconds, "simulated", colour("paper")) for size, seconds in simulated]
    x, y = x_axis(across, axis_title(_SIZE), labels=True), y_axis(ticks)
    layers = (lines(measured, x, y), marks(hollow, x, y))
    return plot(layers, WIDTH_PX, HEIGHT_PX, f"One-way time ({scale.unit})")


def _error_panel(look: Look, groups: Sequence[Group]) -> Chart:
    dots: list[dict[str, Any]] = []
    bars: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    for place, group in enumerate(groups):
        y = (place + 0.5) * PITCH_PX
        names.append({"y": y, "text": f"{group.probe}, {group.ranks} ranks"})
        median = 100 * statistics.median(check.error for check in group.checks)
        bars.append({"x": median, "y": y - 7, "end": y + 7, "tip": f"median {median:+.1f} %"})
        for check in group.checks:
            error = 100 * check.error
            told = f"{check.words}: {error:+.1f} %"
            dots.append({"x": error, "y": y, "colour": look.colour, "tip": told})
    height = PITCH_PX * len(groups)
    x, up = value_axis(signed_ticks(row["x"] for row in dots)), rows_axis(height)
    point: Style = {"size": 26, "strokeWidth": 1.1, "opacity": 0.8, "fill": colour("paper")}
    bar: Style = {"strokeWidth": 2.4, "color": colour("ink")}
    layers = (
        rule_at(0.0, x),
        layer("point", dots, "stroke", x=x, y=up, tips=True, **point),
        layer("rule", bars, x=x, y=up, y2="end", tips=True, **bar),
        written(names, -LABELS_PX, up, limit=LABELS_PX - 6),
    )
    return plot(layers, WIDTH_PX, height, "Simulated over measured, less 1 (%)")


def _table(groups: Sequence[Group]) -> Table:
    return (
        Rows(groups)
        .text("probe", lambda group: group.probe)
        .number("ranks", lambda group: group.ranks)
        .number("points", lambda group: len(group.checks))
        .number("median error (%)", lambda group: 100 * group.median, "{:.1f}".format)
        .number("worst (%)", lambda group: 100 * group.worst.error, "{:+.1f}".format)
        .text("worst at", lambda group: group.worst.words)
        .text("made of it", lambda group: "yes" if group.probe in _MADE_OF else "no")
        .table()
    )


EXHIBIT = Kind(
    "calibration", "the curve that a simulated platform was calibrated with, and its errors", _shown
)
