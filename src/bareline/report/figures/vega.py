"""The grammar of the charts, and the smallest pieces of a chart.

A chart is a Vega-Lite specification in the form of a dictionary, which Vega-Lite's manual
describes. The dictionary is not copied or checked while it is made. Only drawing needs the packages
of the extra ``figures``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.report.blocks import Chart
from bareline.report.figures.scales import Ticks

__all__ = ["Chart"]

#: The values that a mark takes from its row along one axis, or as one of its properties.
Channel = dict[str, Any]
Style = dict[str, Any]
#: A row of a layer's data, from which one mark is drawn.
Datum = dict[str, Any]
Rows = Sequence[Mapping[str, Any]]

#: The `ink` of `layer` for a platform's mark, which is filled or hollow.
MARK = "stroke hollow shape"
#: Channels that `layer` accepts in px or as the name of a field, with the type of the field.
_CHANNELS: Mapping[str, Channel] = {
    "x": {}, "y": {}, "x2": {}, "y2": {}, "text": {"type": "nominal"}, "detail": {"type": "nominal"}
}  # fmt: skip


def raw(field: str, kind: str = "nominal") -> Channel:
    """Return a channel that uses a field's value directly, without scale or legend."""
    return {"field": field, "type": kind, "scale": None, "legend": None}


#: The ink that a mark takes from its row: the row's colour, or the fill and shape of a platform.
_INKS: Mapping[str, tuple[str, Channel]] = {
    "stroke": ("stroke", raw("colour")),
    "fill": ("fill", raw("colour")),
    "hollow": ("fill", raw("fill")),
    "shape": ("shape", raw("shape")),
}


def layer(mark: str, rows: Rows, ink: str = "", *, tips: bool = False, **properties: Any) -> Chart:
    """Return a layer with one mark for each row.

    - `ink`: the properties that come from the rows, e.g. the colour: keys of `_INKS`, with spaces
      between them.
    - `tips`: whether a mark shows its row's "tip" when the pointer is on it.
    - `properties`: a channel with a field, a position in px, the name of a field (for ``x2``,
      ``y2``, ``text`` and ``detail``), or a property of the mark's style.
    """
    encoding = dict(_INKS[name] for name in ink.split())
    style: Style = {}
    if tips:
        encoding["description"] = {"field": "tip", "type": "nominal"}
    else:
        style["aria"] = False
    for name, given in properties.items():
        if isinstance(given, dict) and "field" in given:
            encoding[name] = given
        elif name in _CHANNELS:
            encoding[name] = _encoded(name, given)
        else:
            style[name] = given
    return {"data": {"values": rows}, "mark": {"type": mark, **style}, "encoding": encoding}


def _encoded(name: str, given: Any) -> Channel:
    """Return the channel for `given`: a field's name (a text) or a position in px (a number)."""
    if isinstance(given, str):
        return {"field": given, **_CHANNELS[name]}
    return {"value": given}


def axis(
    field: str, ticks: Ticks, *, log: bool = False, base: int | None = None, **options: Any
) -> Channel:
    """Return a channel of numbers whose axis has `ticks`; `options` are passed to Vega's axis."""
    kind = "log" if log else "linear"
    scale: dict[str, Any] = {"type": kind, "domain": ticks.domain, "nice": False}
    if base:
        scale["base"] = base
    return {
        "field": field,
        "type": "quantitative",
        "scale": scale,
        "axis": {"values": ticks.values, "labelExpr": ticks.label_expression, **options},
    }


def pixels(field: str) -> Channel:
    """Return a channel for a field with px from the left or the top, without an axis."""
    return {"field": field, "type": "quantitative", "scale": None, "axis": None}


def heading(text: str, width_px: float) -> dict[str, Any]:
    """Return the name of the vertical axis, written horizontally above the axis."""
    return {"text": text, "fontWeight": "normal", "fontSize": 11.5, "limit": width_px, "offset": 6}


@dataclass(frozen=True, slots=True)
class Drawing:
    """The charts of a figure; `Figure` has the same fields and describes them."""

    panels: Iterable[Chart] = ()
    names: Iterable[str] = ()
    large: int | None = None
    narrow: Iterable[Chart] = ()
    wide: bool = True


NO_DRAWING = Drawing()


def both_widths(draw: Callable[..., Chart], *content: Any, wide: bool = True) -> Drawing:
    """Return the drawing for wide screens and for phones.

    - `draw`: a function that draws the content; called with `narrow` false and true.
    """
    on_screen = draw(*content, narrow=False)
    on_phone = draw(*content, narrow=True)
    return Drawing([on_screen], narrow=[on_phone], wide=wide)


def plot(layers: Iterable[Chart], width_px: float, height_px: float, title: str = "") -> Chart:
    """Return the chart of layers on top of each other, with a heading within their width."""
    named = {"title": heading(title, width_px)} if title else {}
    return {"layer": [*layers], "width": width_px, "height": height_px, **named}
