"""What figures of ratios and values along a parameter are drawn with: axes, bands, lines, marks.

Rows are mappings with x, y, lo, hi, series, stretch (see `stretches`), colour, fill, shape and tip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from bareline.report.figures.channels import inline, raw, tip
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import Ticks, dodge
from bareline.report.figures.theme import PUBLISHED_SHAPE, colour

LABEL_GAP_PX = 13
#: Room for ticks at the left, the same in all strips of a panel: five digits in the widest font.
_TICKS_PX = 46
#: Room for a letter of a name at the end of a line: a reader's font may be wider than the one that
#: drawings are measured with.
_LETTER_PX = 7.2
#: How strongly a published value is drawn that was measured elsewhere.
PALE = 0.45


def x_axis(ticks: Ticks, title: str, *, labels: bool, log: bool = True) -> alt.X:
    """Give the axis of a parameter; without labels where another panel has them."""
    kind = {"type": "log", "base": 2} if log else {"type": "linear"}
    return alt.X(
        field="x",
        type="quantitative",
        scale=alt.Scale(**kind, domain=list(ticks.domain), nice=False),
        axis=alt.Axis(
            values=list(ticks.values),
            labelExpr=ticks.label_expression,
            title=title if labels else None,
            labels=labels,
            labelFlush=False,
            labelOverlap="greedy",
        ),
    )


def y_axis(ticks: Ticks) -> alt.Y:
    """Give the logarithmic axis of values or ratios."""
    return alt.Y(
        field="y",
        type="quantitative",
        scale=alt.Scale(type="log", domain=list(ticks.domain), nice=False),
        axis=alt.Axis(
            values=list(ticks.values),
            labelExpr=ticks.label_expression,
            title=None,
            labelOverlap=False,
            minExtent=_TICKS_PX,
            maxExtent=_TICKS_PX,
        ),
    )


def rows_axis(height_px: float, field: str = "y") -> alt.Y:
    """Give the channel of rows of bars or dots under each other: px from the top, no axis."""
    return alt.Y(
        field=field,
        type="quantitative",
        scale=alt.Scale(domain=[0, height_px], reverse=True, nice=False),
        axis=None,
    )


#: Where on an axis something was to be measured: alike for all lines, or by line.
Places = Iterable[float] | Mapping[str, Iterable[float]]


def stretches(rows: Sequence[Mapping[str, Any]], places: Places) -> list[dict[str, Any]]:
    """Divide each line's values where one is missing, so that no line crosses a gap.

    Simulated and measured values are never joined either.

    Parameters
    ----------
    places
        Every place of the axis at which something was to be measured.
    """
    if isinstance(places, Mapping):
        return [
            row
            for series, own in places.items()
            for row in stretches([row for row in rows if row["series"] == series], own)
        ]
    order = sorted({*places, *(row["x"] for row in rows)})
    index = {place: number for number, place in enumerate(order)}
    found: list[dict[str, Any]] = []
    last: dict[str, tuple[int, Any, int]] = {}
    for row in sorted(rows, key=lambda row: row["x"]):
        place, filled, stretch = last.get(row["series"], (-1, None, 0))
        hollow = row["fill"] != row["colour"]
        if filled is not None and (index[row["x"]] > place + 1 or hollow != filled):
            stretch += 1
        last[row["series"]] = (index[row["x"]], hollow, stretch)
        found.append({**row, "stretch": f"{row['series']} {stretch}"})
    return found


def intervals(rows: Sequence[Mapping[str, Any]], y: alt.Y) -> list[dict[str, Any]]:
    """Give the intervals from "y" to "hi"; one that is open above reaches to the axis's end."""
    told: Any = y.to_dict(validate=False)
    top = told["scale"]["domain"][1]
    return [
        {**row, "y": row["lo"], "hi": top if row["hi"] is None else row["hi"]}
        for row in rows
        if row["lo"] is not None
    ]


def bands(rows: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    """Draw the intervals."""
    held = intervals(rows, y)
    chart: alt.Chart = (
        alt.Chart(inline(held))
        .mark_area(opacity=0.18, aria=False)
        .encode(x=x, y=y, y2=alt.Y2(field="hi"), fill=raw(alt.Fill, "colour"), detail="stretch:N")
    )
    return chart


def lines(rows: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    """Join the values of a platform."""
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_line(strokeWidth=1.4, aria=False, strokeJoin="round")
        .encode(x=x, y=y, stroke=raw(alt.Stroke, "colour"), detail="stretch:N")
    )
    return chart


def marks(rows: Sequence[dict[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    """Draw the values in their platforms' marks."""
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_point(size=24, strokeWidth=1.2, opacity=1)
        .encode(
            x=x,
            y=y,
            stroke=raw(alt.Stroke, "colour"),
            fill=raw(alt.Fill, "fill"),
            shape=raw(alt.Shape, "shape"),
            description=tip(),
        )
    )
    return chart


def dots(rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y) -> alt.Chart:
    """Draw single trials, faintly: x, y, colour and tip."""
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_point(filled=True, shape="circle", size=11, opacity=0.38)
        .encode(x=x, y=y, fill=raw(alt.Fill, "colour"), description=tip())
    )
    return chart


def diamonds(
    rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, *, opacity: float = 1
) -> alt.Chart:
    """Draw published values: x, y, colour and tip."""
    chart: alt.Chart = (
        alt.Chart(inline(rows))
        .mark_point(
            shape=PUBLISHED_SHAPE,
            size=60,
            fill=colour("paper"),
            strokeWidth=1.3,
            opacity=opacity,
        )
        .encode(x=x, y=y, stroke=raw(alt.Stroke, "colour"), description=tip())
    )
    return chart


def spans(
    rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, *, opacity: float = 1
) -> alt.Chart:
    """Draw the range of each published value as an upright line from lo to hi."""
    chart: alt.Chart = (
        alt.Chart(inline([{**row, "y": row["lo"]} for row in rows]))
        .mark_rule(strokeWidth=1, opacity=opacity, aria=False)
        .encode(x=x, y=y, y2=alt.Y2(field="hi"), stroke=raw(alt.Stroke, "colour"))
    )
    return chart


def printed_marks(
    rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, turn: float
) -> list[alt.Chart]:
    """Draw published values with the range of x that they are told for.

    Parameters
    ----------
    rows
        As of `spans` and `diamonds`; "x" to "end" is the range of x, "middle" its middle. "pale"
        is what was measured elsewhere, "beside" says where.
    turn
        Where on the axis words stand left of their mark, not right of it.
    """
    drawn: list[alt.Chart] = []
    for pale in (True, False):
        own = [row for row in rows if row["pale"] is pale]
        if not own:
            continue
        middles, opacity = [{**row, "x": row["middle"]} for row in own], PALE if pale else 1.0
        drawn += [
            alt.Chart(inline(own))
            .mark_rule(strokeWidth=1, strokeDash=[3, 2], opacity=opacity, aria=False)
            .encode(x=x, x2=alt.X2(field="end"), y=y, stroke=raw(alt.Stroke, "colour")),
            spans(middles, x, y, opacity=opacity),
            diamonds(middles, x, y, opacity=opacity),
            *_places(middles, x, y, turn),
        ]
    return drawn


def _places(
    rows: Sequence[Mapping[str, Any]], x: alt.X, y: alt.Y, turn: float
) -> Iterator[alt.Chart]:
    """Write where pale values were measured, beside their marks."""
    told = [{name: row[name] for name in ("x", "y", "beside")} for row in rows if row.get("beside")]
    sides: tuple[tuple[bool, Literal["left", "right"], float], ...]
    sides = ((False, "left", 7.0), (True, "right", -7.0))
    for beyond, align, dx in sides:
        own = [row for row in told if (row["x"] > turn) is beyond]
        if own:
            chart: alt.Chart = alt.Chart(inline(own)).mark_text(
                align=align, dx=dx, dy=-7, fontSize=10, color=colour("soft"), aria=False
            )
            yield chart.encode(x=x, y=y, text=alt.Text(field="beside", type="nominal"))


def labels(
    rows: Sequence[dict[str, Any]], ticks: Ticks, width_px: float, height_px: float
) -> list[alt.Chart]:
    """Write each platform's name at the end of its line, moved apart where they collide."""
    last = {row["series"]: row for row in rows}
    low, high = (math.log(bound) for bound in ticks.domain)
    wanted = {
        name: (high - math.log(row["y"])) / (high - low) * height_px for name, row in last.items()
    }
    placed = [
        {
            "y": math.exp(high - place / height_px * (high - low)),
            "text": name,
            "colour": last[name]["colour"],
            "fill": last[name]["fill"],
            "shape": last[name]["shape"],
        }
        for name, place in dodge(wanted, LABEL_GAP_PX, 2, height_px - 2).items()
    ]
    base = alt.Chart(inline(placed)).encode(y=y_axis(ticks))
    return [
        base.mark_point(size=42, strokeWidth=1.2, opacity=1, aria=False).encode(
            x=alt.value(width_px + 10),
            stroke=raw(alt.Stroke, "colour"),
            fill=raw(alt.Fill, "fill"),
            shape=raw(alt.Shape, "shape"),
        ),
        base.mark_text(align="left", baseline="middle", aria=False).encode(
            x=alt.value(width_px + 18),
            text=alt.Text(field="text", type="nominal"),
        ),
        base.mark_point(size=1, opacity=0, aria=False).encode(
            x=alt.value(width_px + 18 + _LETTER_PX * max(map(len, wanted), default=0))
        ),
    ]


def reference(margin: float, ticks: Ticks, width_px: float) -> list[alt.Chart]:
    """Draw the equivalence band and the line at 1."""
    row = [{"y": max(1 / (1 + margin), ticks.domain[0]), "hi": min(1 + margin, ticks.domain[1])}]
    return [
        alt.Chart(inline(row))
        .mark_rect(color=colour("band"), aria=False)
        .encode(y=y_axis(ticks), y2=alt.Y2(field="hi"), x=alt.value(0), x2=alt.value(width_px)),
        alt.Chart(inline([{"y": 1}]))
        .mark_rule(color=colour("baseline"), strokeWidth=1.2, aria=False)
        .encode(y=y_axis(ticks)),
    ]
