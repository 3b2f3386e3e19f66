"""The charts of predictions: predicted times, the parts of a loss, upgrades, message sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bareline.predict.curves.coverage import CurveCoverage, SizeUsed
from bareline.predict.questions import UPGRADES, Upgrade
from bareline.predict.shares import LossSplit
from bareline.predict.validation.scores import Trial
from bareline.report.figures.scales import Ticks, log_ticks, signed_ticks, size_ticks, unit_scale
from bareline.report.figures.theme import MarkLook, colour
from bareline.report.figures.vega import (
    Channel,
    Chart,
    Datum,
    Style,
    axis,
    layer,
    pixels,
    plot,
    raw,
)
from bareline.vocabulary.units import format_size, format_value

#: The section of the page for these figures, in the place of a layer.
SECTION = "predictions"
_WIDTH = 420
_ROW = 26
#: Width of a drawing for a phone, where names also have less room.
_NARROW_WIDTH = 190
_Rows = list[Datum]


def predicted_chart(
    trials: Sequence[Trial], looks: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw predicted over measured times, with their intervals and the line of equality."""
    scale = unit_scale([trial.truth_s for trial in trials], "s")
    rows: _Rows = []
    for trial in trials:
        look = looks[trial.platform]
        rows.append(_trial_row(trial, scale.factor, look))
    ticks = _log_ticks_of(rows, ("x", "lo", "hi"))
    x = axis("x", ticks, log=True, title=f"measured ({scale.unit})")
    predicted_title = f"predicted ({scale.unit})"
    y = axis("y", ticks, log=True, title=predicted_title)
    lo = axis("lo", ticks, log=True, title=predicted_title)
    equality = [{"x": end, "y": end} for end in ticks.domain]
    keys = _platform_keys(trials, looks)
    corner = pixels("y")
    side = 280 if narrow else _WIDTH
    points: Style = {"filled": True, "size": 52}
    layers = [
        layer("line", equality, x=x, y=y, strokeDash=[4, 3], color=colour("faint")),
        layer("rule", rows, "stroke", x=x, y=lo, y2="hi", opacity=0.45),
        layer("point", rows, "fill shape", x=x, y=y, tips=True, **points, opacity=0.9),
        # The corner that has no points has room for the platforms' names.
        layer("point", keys, "fill shape", x=16, y=corner, **points),
        layer("text", keys, x=28, y=corner, text="name", align="left", color=colour("ink")),
    ]
    return plot(layers, side, side)


def _trial_row(trial: Trial, factor: float, look: MarkLook) -> Datum:
    """Return the mark of a trial, with its times in s multiplied by `factor`."""
    lowest_s = trial.lo_s or trial.time_s
    highest_s = trial.hi_s or trial.time_s
    names = f"{trial.application}, {trial.base} to {trial.platform}"
    predicted = format_value(trial.time_s, "s")
    measured = format_value(trial.truth_s, "s")
    return {
        "x": trial.truth_s * factor,
        "y": trial.time_s * factor,
        "lo": lowest_s * factor,
        "hi": highest_s * factor,
        **look.ink(hollow=False),
        "tip": f"{names}: predicted {predicted}, measured {measured}",
    }


def _platform_keys(trials: Sequence[Trial], looks: Mapping[str, MarkLook]) -> _Rows:
    """Return rows with the mark and the name of each platform that has a trial."""
    drawn = {trial.platform for trial in trials}
    names = [name for name in looks if name in drawn]
    keys: _Rows = []
    for index, name in enumerate(names):
        ink = looks[name].ink(hollow=False)
        keys.append({"name": name, "y": 16 + 18 * index, **ink})
    return keys


def _log_ticks_of(rows: _Rows, fields: Sequence[str]) -> Ticks:
    """Return the ticks of a logarithmic axis with room for the given fields of all rows."""
    values: list[float] = []
    for row in rows:
        values += [row[field] for field in fields]
    return log_ticks(values)


def _names(field: str, names: Sequence[str], *, narrow: bool) -> Channel:
    """Return the vertical channel of named rows, wide enough for the widest font of a page.

    A font that a page uses may be wider than the font with which drawings are measured.
    """
    limit = 120 if narrow else 240
    longest = max(map(len, names), default=0)
    room = min(7 * longest, limit)
    axis = {"labelLimit": limit, "minExtent": room, "ticks": False, "domain": False}
    return {"field": field, "type": "nominal", "sort": names, "title": None, "axis": axis}


def _quantity(field: str) -> Channel:
    return {"field": field, "type": "quantitative"}


def waterfall_chart(
    loss: LossSplit, looks: Mapping[str, MarkLook], *, narrow: bool = False
) -> Chart:
    """Draw a waterfall from the time on the base platform to the time on the other platform.

    Each part of the loss is a bar.
    """
    rows = _waterfall_rows(loss, looks)
    scale = unit_scale([row["to"] for row in rows], "s")
    for row in rows:
        for end in ("from", "to", "lo", "hi"):
            row[end] *= scale.factor
        row["end"] = max(row["to"], row["from"], row["hi"])
    y = _names("name", [row["name"] for row in rows], narrow=narrow)
    begin = _quantity("from")
    begin["title"] = f"time ({scale.unit})"
    lo = _quantity("lo")
    end_place = _quantity("end")
    ink = colour("ink")
    layers = [
        layer("bar", rows, "fill", x=begin, x2="to", y=y, tips=True, height=_ROW * 0.6),
        layer("rule", rows, x=lo, x2="hi", y=y, strokeWidth=1.4, color=ink),
        layer("text", rows, x=end_place, y=y, text="label", align="left", dx=6, color=ink),
    ]
    width = _NARROW_WIDTH if narrow else _WIDTH
    return plot(layers, width, _ROW * len(rows))


@dataclass(frozen=True, slots=True)
class _Step:
    """A bar of the waterfall: its begin, its end, and half the width of its interval."""

    name: str
    begin_s: float
    end_s: float
    colour: str
    label: str
    half_width_s: float = 0.0

    def row(self) -> Datum:
        return {
            "name": self.name,
            "from": self.begin_s,
            "to": self.end_s,
            "lo": self.end_s - self.half_width_s,
            "hi": self.end_s + self.half_width_s,
            "colour": self.colour,
            "label": self.label,
            "tip": f"{self.name}: {self.label}",
        }


def _waterfall_rows(loss: LossSplit, looks: Mapping[str, MarkLook]) -> _Rows:
    """Return the bars of a waterfall: the time on the base platform, then each share of the loss.

    Shares below 0.5 % are left out. The last bar is the time on the other platform.
    """
    base_colour = looks[loss.base].colour
    platform_colour = looks[loss.platform].colour
    steps = [_Step(loss.base, 0.0, loss.a_s, base_colour, format_value(loss.a_s, "s"))]
    begin_s = loss.a_s
    for share in loss.shares:
        if abs(share.share) < 0.005:
            continue
        ink = platform_colour
        if share.input == "residual":
            ink = colour("faint")
        label = f"{format_value(share.time_s, 's')}, {share.share:.0%}"
        half_width_s = (share.hi_s - share.lo_s) / 2
        end_s = begin_s + share.time_s
        steps.append(_Step(share.title, begin_s, end_s, ink, label, half_width_s))
        begin_s = end_s
    total_s = loss.a_s + loss.loss_s
    total_label = format_value(total_s, "s")
    steps.append(_Step(loss.platform, 0.0, total_s, platform_colour, total_label))
    return [step.row() for step in steps]


def upgrades_chart(
    upgrades: Sequence[Upgrade], changes: Sequence[str], looks: Mapping[str, MarkLook], *,
    narrow: bool = False,
) -> Chart:  # fmt: skip
    """Draw the share of time that each change saves: a row per change, a mark per prediction."""
    rows: _Rows = []
    for upgrade in upgrades:
        look = looks[upgrade.platform]
        rows.append(_upgrade_row(upgrade, look))
    x = axis("x", signed_ticks(row["x"] for row in rows), title="time saved (%)")
    y = _names("change", [*UPGRADES.values()], narrow=narrow)
    y["sort"] = [UPGRADES[change] for change in changes]
    chart = layer(
        "point", rows, "fill shape", x=x, y=y, tips=True, filled=True, size=46, opacity=0.75
    )
    width = _NARROW_WIDTH if narrow else _WIDTH
    return chart | {"width": width, "height": _ROW * max(2, len(changes))}


def _upgrade_row(upgrade: Upgrade, look: MarkLook) -> Datum:
    """Return the mark of a change: the share of time that the change would save, in per cent."""
    subject = f"{upgrade.application} on {upgrade.platform}, {upgrade.title}"
    before = format_value(upgrade.base_s, "s")
    after = format_value(upgrade.time_s, "s")
    return {
        "change": UPGRADES[upgrade.change],
        "x": 100 * upgrade.saved,
        **look.ink(hollow=False),
        "tip": f"{subject}: {before} to {after}",
    }


def coverage_chart(strips: Sequence[CurveCoverage], *, narrow: bool = False) -> Chart:
    """Draw a row for each MPI function: a bar for the measured sizes, a dot for each used size."""
    names = [_strip_name(strip) for strip in strips]
    bars: _Rows = []
    marks: _Rows = []
    dots: _Rows = []
    for strip, name in zip(strips, names, strict=True):
        bars.append({"name": name, "x": _place(strip.least), "end": _place(strip.most)})
        marks += [{"name": name, "x": _place(size)} for size in strip.measured]
        dots += [_use_row(name, strip, use) for use in strip.used]
    ends = [bar["end"] for bar in bars]
    used_sizes = [dot["x"] for dot in dots]
    ticks = size_ticks([1.0, *ends, *used_sizes])
    x = axis("x", ticks, log=True, base=2, title="message size")
    y = _names("name", names, narrow=narrow)
    area = raw("area", "quantitative")
    layers = [
        layer("bar", bars, x=x, x2="end", y=y, height=10, color=colour("band")),
        layer("tick", marks, x=x, y=y, thickness=1, size=10, color=colour("faint")),
        layer("circle", dots, "fill", x=x, y=y, tips=True, opacity=0.7, size=area),
    ]
    width = _NARROW_WIDTH if narrow else 360
    return plot(layers, width, 24 * max(2, len(strips)))


def _place(size_bytes: float) -> float:
    """Return the position of a size on a logarithmic axis, also for 0 B."""
    return max(1.0, size_bytes)


def _strip_name(strip: CurveCoverage) -> str:
    if strip.probe == "mpi.pingpong":
        return f"messages, {strip.ranks} ranks"
    function = strip.probe.removeprefix("mpi.")
    return f"{function}, {strip.ranks} ranks"


def _use_row(name: str, strip: CurveCoverage, use: SizeUsed) -> Datum:
    """Return the dot of a used size.

    The area of the dot is the share of time; a size outside of the measured range is red.
    """
    ink = "worse" if use.size_bytes > strip.most else "ink"
    calls = f"{use.calls:.0f} calls of a rank, {use.share:.1%} of the time"
    return {
        "name": name,
        "x": _place(use.size_bytes),
        "area": 16 + 300 * min(1.0, use.share),
        "colour": colour(ink),
        "tip": f"{strip.probe}, {format_size(use.size_bytes)}: {calls}",
    }
