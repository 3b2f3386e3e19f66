"""Colours, marks and fonts of the figures: a platform has the same look in every figure.

A figure is drawn with the light colours. On the page every colour is replaced by a CSS variable, so
that figures follow the reader's light or dark setting. Files keep the light colours.

References
----------
M. Okabe and K. Ito, Color Universal Design (2008): the platforms' palette. Its yellow is darkened
for white paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"

#: Least size of letters: the widest drawing, shrunk to a phone's 358 px, still has 9 px.
LABEL_PX = 11.5

#: Token: (light, dark). Each light colour is unique, because it represents its token in figures.
COLOURS: Mapping[str, tuple[str, str]] = {
    "paper": ("#fefefe", "#16181b"),
    "ink": ("#1d2126", "#e6e7e9"),
    "soft": ("#5b626b", "#a3aab3"),
    "faint": ("#8c939c", "#7b828b"),
    "line": ("#dfe2e6", "#33383e"),
    "band": ("#e6eaef", "#2a3037"),
    "worse": ("#a63a00", "#ff9a62"),
    "better": ("#00684b", "#4fd1a5"),
    "baseline": ("#50555c", "#c3c7cc"),
    "p1": ("#0072b2", "#4aa8e0"),
    "p2": ("#d55e00", "#ff8a3d"),
    "p3": ("#009e73", "#2cc79b"),
    "p4": ("#cc79a7", "#e39bc4"),
    "p5": ("#e69f00", "#f2b632"),
    "p6": ("#56b4e9", "#8fd0f7"),
    "p7": ("#b3a400", "#f0e442"),
}
_PLATFORM_TOKENS = ("p1", "p2", "p3", "p4", "p5", "p6", "p7")

_STAR = (
    "M0,-1.2L0.282,-0.388L1.141,-0.371L0.457,0.148L0.705,0.971L0,0.48L-0.705,0.971"
    "L-0.457,0.148L-1.141,-0.371L-0.282,-0.388Z"
)
#: Marks of the platforms other than the baseline, a circle; the diamond means "published".
_SHAPES = (
    "square",
    "triangle-up",
    "triangle-down",
    "cross",
    "triangle-right",
    _STAR,
    "triangle-left",
    "M-1,-0.35L1,-0.35L1,0.35L-1,0.35Z",
)
PUBLISHED_SHAPE = "diamond"

#: Outlines for the page's own legend, in a box from -1 to 1.
_OUTLINES: Mapping[str, str] = {
    "circle": "M-.9,0A.9,.9,0,1,1,.9,0A.9,.9,0,1,1,-.9,0Z",
    "square": "M-.8,-.8H.8V.8H-.8Z",
    "triangle-up": "M0,-.85L1,.85H-1Z",
    "triangle-down": "M0,.85L1,-.85H-1Z",
    "triangle-right": "M.85,0L-.85,1V-1Z",
    "triangle-left": "M-.85,0L.85,1V-1Z",
    "cross": "M-1,-.4H-.4V-1H.4V-.4H1V.4H.4V1H-.4V.4H-1Z",
    "diamond": "M0,-1.05L.8,0L0,1.05L-.8,0Z",
}


@dataclass(frozen=True, slots=True)
class MarkLook:
    """The colour and mark of a platform."""

    token: str
    shape: str

    @property
    def colour(self) -> str:
        """The colour in the light theme, in which figures are drawn."""
        return COLOURS[self.token][0]

    def ink(self, *, hollow: bool) -> dict[str, str]:
        """Return the look of a mark as fields of a chart's row; simulated values are hollow."""
        fill = colour("paper") if hollow else self.colour
        return {"colour": self.colour, "fill": fill, "shape": self.shape}

    @property
    def id(self) -> str:
        """The name of the look, which is unique among the platforms of a page."""
        place = str(_SHAPES.index(self.shape)) if self.shape in _SHAPES else "o"
        return f"{self.token}-{place}"

    @property
    def outline(self) -> str:
        """The mark as an SVG path for the page's legend."""
        return _OUTLINES.get(self.shape, self.shape)


def looks(names: Sequence[str]) -> dict[str, MarkLook]:
    """Return a colour and a mark for each platform, the baseline first; they repeat after 56."""
    baseline = {name: MarkLook("baseline", "circle") for name in names[:1]}
    return baseline | _cycled(names[1:], _PLATFORM_TOKENS, _SHAPES)


def line_looks(names: Sequence[str]) -> dict[str, MarkLook]:
    """Return a colour and a mark for each line of one platform, e.g. for each program."""
    return _cycled(names, (*_PLATFORM_TOKENS, "ink"), ("circle", *_SHAPES))


def _cycled(
    names: Sequence[str], tokens: Sequence[str], shapes: Sequence[str]
) -> dict[str, MarkLook]:
    return dict(zip(names, map(MarkLook, cycle(tokens), cycle(shapes)), strict=False))


def colour(token: str) -> str:
    """Return the light colour of a token."""
    return COLOURS[token][0]


def config() -> dict[str, Any]:
    """Return the Vega-Lite configuration for every figure."""
    ink = colour("ink")
    soft = colour("soft")
    line = colour("line")
    grid = {"domain": False, "grid": True, "gridColor": line, "gridWidth": 0.7, "ticks": False}
    room = {"labelPadding": 5, "labelSeparation": 4, "titlePadding": 6, "titleFontSize": 11.5}
    label = {"labelColor": soft, "labelFontSize": LABEL_PX}
    title = {"titleColor": ink, "titleFontWeight": "normal"}
    head = {"anchor": "start", "color": ink, "fontSize": 12, "fontWeight": 600, "offset": 8}
    under = {"subtitleColor": soft, "subtitleFontSize": LABEL_PX}
    keys = {"labelColor": ink, "labelFontSize": 11.5, "symbolSize": 60, "orient": "top"}
    return {
        "font": FONT,
        "background": None,
        "padding": {"left": 2, "right": 6, "top": 4, "bottom": 4},
        "view": {"stroke": None},
        "axis": {"aria": False, **grid, **room, **label, **title},
        "title": {"aria": False, **head, **under},
        "legend": {"aria": False, **keys, "offset": 4},
        "text": {"fontSize": LABEL_PX, "color": ink},
    }


def css_variables() -> tuple[str, str]:
    """Return the CSS variables of the light and of the dark theme."""
    light = [f"--{name}:{light_colour};" for name, (light_colour, _) in COLOURS.items()]
    dark = [f"--{name}:{dark_colour};" for name, (_, dark_colour) in COLOURS.items()]
    return "".join(light), "".join(dark)
