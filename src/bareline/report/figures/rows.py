"""Rows under each other on one axis of values: names at the left, bars, marks or trials on it.

Places across are px from the left of the plot, so that names stand at negative ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bareline.analysis.numbers.row import Estimate
from bareline.report.figures.grammar import MARK, Channel, Chart, Rows, Style, axis, layer, plot
from bareline.report.figures.marks import PALE, diamonds, dots, rows_axis
from bareline.report.figures.scales import Ticks, log_ticks
from bareline.report.figures.theme import PUBLISHED_SHAPE, MarkLook, colour

#: Height of a platform's row, and of the head of a group.
_PITCH_PX, _HEAD_PX = 18, 20
#: Rows of a chart's layers, by what is drawn of them.
_Laid = defaultdict[str, list[dict[str, Any]]]


def value_axis(ticks: Ticks, field: str = "x", *, log: bool = False, **how: Any) -> Channel:
    """Return the channel of the values."""
    return axis(field, ticks, log=log, **{"title": None, "labelOverlap": True, **how})


def written(
    rows: Rows, x: Channel | float, y: Channel | float, field: str = "text", **style: Any
) -> Chart:
    """Write a field of rows, beginning at a place."""
    place = {"align": "left", "baseline": "middle", **style}
    return layer("text", rows, x=x, y=y, text=field, **place)


def written_clear(rows: Rows, x: float, y: Channel, **style: Any) -> list[Chart]:
    """Write over a grid: the ground around the letters is cleared."""
    clear: Style = {"stroke": colour("paper"), "strokeWidth": 5}
    return [written(rows, x, y, **style, **clear), written(rows, x, y, **style)]


def absence(rows: Rows, x: float, y: Channel, **style: Any) -> Chart:
    """Write why a row has no mark."""
    soft: Style = {"fontStyle": "italic", "color": colour("soft"), **style}
    if any("tip" in row for row in rows):
        soft["description"] = {"field": "tip", "type": "nominal"}
    return written(rows, x, y, **soft)


def rule_at(value: float, x: Channel, width_px: float = 1.2) -> Chart:
    """Draw the line that values are seen against, from top to bottom."""
    return layer("rule", [{"x": value}], x=x, color=colour("baseline"), strokeWidth=width_px)


def boxes(rows: Rows, x: Channel, y: Channel, ink: str = "fill", **style: Any) -> Chart:
    """Fill from x to "end" and from y to "bottom"."""
    return layer("rect", rows, ink, x=x, x2="end", y=y, y2="bottom", **style)


def names_of(rows: Rows, x: float, y: Channel, size: float = 42) -> Chart:
    """Draw the platforms' marks before their names."""
    return layer("point", rows, MARK, x=x, y=y, size=size, strokeWidth=1.2, opacity=1)


@dataclass(frozen=True, slots=True)
class Bar:
    """A platform's row in a group, on the axis: its bar, or in `text` why there is none.

    - `dots`, `printed`: trials and published values with tips; these with where else they are of.
    - `parts`: what the bar is divided into from zero on, each with how strongly it is filled.
    """

    name: str
    text: str
    shown: Estimate | None = None
    tip: str = ""
    hollow: bool = False
    dots: Sequence[tuple[float, str]] = ()
    printed: Sequence[tuple[float, str, str]] = ()
    parts: Sequence[tuple[float, float]] = ()

    @property
    def ends(self) -> list[float]:
        """What the axis must have room for."""
        known = [*self.shown.known] if self.shown else []
        known += [value for value, _ in self.dots] + [value for value, *_ in self.printed]
        return [*known, sum(part for part, _ in self.parts)]


def bar_chart(
    groups: Mapping[str, Sequence[Bar]], title: str, ticks: Ticks, looks: Mapping[str, MarkLook],
    plot_px: float, labels_px: float,
) -> Chart:  # fmt: skip
    """Draw bars from zero in the platforms' colours, each with its interval and its number."""
    laid, height_px = _lay_out(groups, looks)
    x, up, top = value_axis(ticks), rows_axis(height_px), rows_axis(height_px, "top")
    (low, high), left = ticks.domain, -labels_px
    drawn, empty = laid["drawn"], laid["empty"]
    bold: Style = {"fontWeight": 600, "limit": labels_px + plot_px}
    reach: Style = {"x": value_axis(ticks, "lo"), "x2": "hi", "strokeWidth": 1.6}
    layers = [
        *([rule_at(0.0, x)] if low < 0 else ()),
        *_fills(laid["pieces"], x, top),
        dots(laid["trials"], x, up),
        layer("rule", drawn, **reach, y=up, color=colour("ink")),
        layer("rule", drawn, "stroke", x=x, y=top, y2="bottom", tips=True, strokeWidth=2),
        written(drawn, plot_px + 8, up),
        names_of([*drawn, *empty], left + 5, up, 38),
        written([*drawn, *empty], left + 14, up, "name", limit=labels_px - 20),
        *written_clear(laid["heads"], left, up, **bold),
        absence(empty, plot_px * -low / (high - low) + 5, up),
        *_printed(laid["published"], x, up, ticks, plot_px),
    ]
    return plot(layers, plot_px, height_px, title)


def _lay_out(
    groups: Mapping[str, Sequence[Bar]], looks: Mapping[str, MarkLook]
) -> tuple[_Laid, float]:
    """Lay a panel of bars out from the top: rows of its layers, and its height."""
    laid, height = _Laid(list), 0.0
    for head, bars in groups.items():
        if head:
            laid["heads"].append({"y": height + _HEAD_PX / 2 + 2, "text": head})
            height += _HEAD_PX
        for bar in bars:
            y, height = height + _PITCH_PX / 2, height + _PITCH_PX
            ink = {"colour": looks[bar.name].colour}
            row, pieces = _row(bar, y, looks[bar.name])
            laid["drawn" if "x" in row else "empty"].append(row)
            laid["pieces"] += pieces
            # The golden ratio spreads neighbours without any pattern or chance.
            laid["trials"] += [
                {"x": x, "y": y + ((index * 0.618034) % 1 - 0.5) * 9, **ink, "tip": tip}
                for index, (x, tip) in enumerate(bar.dots)
            ]
            laid["published"] += [
                {"x": x, "y": y, **ink, "tip": tip, "beside": there, "bar": row.get("x")}
                for x, tip, there in bar.printed
            ]
    return laid, height


def _row(bar: Bar, y: float, look: MarkLook) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    row = {"y": y, "name": bar.name, **look.ink(hollow=bar.hollow), "text": bar.text}
    if bar.shown is None:
        return row, []
    ends = {"lo": min(bar.shown.known), "hi": max(bar.shown.known)}
    row |= {"top": y - 5, "bottom": y + 5, "x": bar.shown.value, **ends}
    pieces, start = [], 0.0
    for part, strength in bar.parts or [(bar.shown.value, 0.2)]:
        piece = {"x": start, "end": start + part, "strength": strength, "hollow": bar.hollow}
        pieces.append({**row, **piece, "divided": bool(bar.parts)})
        start += part
    return {**row, "tip": bar.tip}, pieces


def _fills(pieces: Rows, x: Channel, y: Channel) -> Iterator[Chart]:
    """Fill the bars, part by part; simulated ones are outlined only."""
    for strength, hollow in dict.fromkeys((p["strength"], p["hollow"]) for p in pieces):
        rows = [p for p in pieces if (p["strength"], p["hollow"]) == (strength, hollow)]
        style: Style = {"fillOpacity": 0 if hollow else strength, "strokeOpacity": 0.7}
        if hollow:
            yield boxes(rows, x, y, "fill stroke", strokeDash=[3, 2], **style)
        else:
            edge = {"stroke": colour("paper")} if rows[0]["divided"] else {}
            yield boxes(rows, x, y, **edge, **style)


def _printed(rows: Rows, x: Channel, y: Channel, ticks: Ticks, plot_px: float) -> Iterator[Chart]:
    if full := [row for row in rows if not row["beside"]]:
        yield diamonds(full, x, y)
    if pale := [row for row in rows if row["beside"]]:
        yield diamonds(pale, x, y, opacity=PALE)
    px = plot_px / (ticks.domain[1] - ticks.domain[0])
    # Said once in a panel, most are of one place: where no bar ends under the words, which stand
    # left of their mark if the numbers begin before their end.
    for words in dict.fromkeys(row["beside"] for row in pale):
        own, long = [row for row in pale if row["beside"] == words], 6.2 * len(words) + 7
        left = (own[0]["x"] - ticks.domain[0]) * px + long > plot_px
        low, high = (-long / px, 0.0) if left else (0.0, long / px)
        free = [r for r in own if r["bar"] is None or not low <= r["bar"] - r["x"] <= high]
        side: Style = {"align": "right", "dx": -7} if left else {"dx": 7}
        yield written([*free, *own][:1], x, y, "beside", color=colour("soft"), **side)


#: A trial: its value, and what hovering says.
Mark = tuple[float, str]


@dataclass(frozen=True, slots=True)
class StripRow:
    """A platform: its trials, and those that are printed for it."""

    name: str
    ink: dict[str, str]
    own: Sequence[Mark]
    printed: Sequence[Mark]


def strip_plot(rows: Sequence[StripRow], title: str, *, narrow: bool = False) -> Chart:
    """Draw the rows with their medians; `narrow` writes names above them, not at their left."""
    ticks = log_ticks(value for row in rows for value, _ in (*row.own, *row.printed))
    pitch, width_px, labels_px = 48.0, 300.0, 0.0
    if not narrow:
        longest = max((len(row.name) for row in rows), default=0)
        pitch, width_px, labels_px = 34.0, 560.0, 7.2 * longest + 24
    height_px, laid = pitch * len(rows), _Laid(list)
    for place, row in enumerate(rows):
        middle = (place + 0.5) * pitch + (8 if narrow else 0)
        laid["names"].append({"y": middle - 20 if narrow else middle, "text": row.name, **row.ink})
        for name, marks, y in (("own", row.own, middle + 7), ("printed", row.printed, middle - 7)):
            laid[name] += [{"x": value, "y": y, "tip": tip, **row.ink} for value, tip in marks]
            if marks and (x := median(value for value, _ in marks)):
                laid["medians"].append({"x": x, "top": y - 6, "bottom": y + 6, **row.ink})
    up, across = rows_axis(height_px), value_axis(ticks, log=True)
    small: Style = {"x": across, "y": up, "tips": True, "strokeWidth": 1.2, "opacity": 0.75}
    there: Style = {"shape": PUBLISHED_SHAPE, "size": 44, "fill": colour("paper")}
    upright: Style = {"y": rows_axis(height_px, "top"), "y2": "bottom", "strokeWidth": 1.6}
    lines: Style = {"color": colour("line"), "strokeWidth": 0.7, "x": -labels_px, "x2": width_px}
    layers = [
        layer("rule", [{"y": place * pitch} for place in range(1, len(rows))], y=up, **lines),
        layer("rule", laid["medians"], "stroke", x=across, **upright),
        layer("point", laid["printed"], "stroke", **small, **there),
        layer("point", laid["own"], MARK, **small, size=30),
        names_of(laid["names"], 5 - labels_px, up),
        written(laid["names"], 15 - labels_px, up),
    ]
    return plot(layers, width_px, height_px, title)
