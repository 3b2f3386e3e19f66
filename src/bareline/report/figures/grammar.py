"""The grammar that charts are written in, and the smallest pieces that they are made of.

Altair belongs to the extra ``figures``. Without it an exhibit is put together as always, its titles
and tables with it, and what would be drawn stays blank: `why_undrawn` says so before anybody draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bareline.report.figures.scales import Ticks
from bareline.vocabulary.texts import cleaned_all


class Blank:
    """Stands for every name and every chart of the grammar; what is made of it is blank, too."""

    def __getattr__(self, name: str) -> Blank:
        """Give any name of the grammar."""
        if name.startswith("__"):  # protocols of Python are not for a blank to fulfil
            raise AttributeError(name)
        return self

    def __call__(self, *_given: Any, **_named: Any) -> Blank:
        """Make any chart."""
        return self

    def __getitem__(self, _key: Any) -> Blank:
        return self

    def __add__(self, _other: Any) -> Blank:
        return self

    def __or__(self, _other: Any) -> Blank:
        return self


if TYPE_CHECKING:
    import altair as alt
else:
    try:
        import altair as alt
    except ModuleNotFoundError:
        alt = Blank()

__all__ = ["Blank", "alt"]


Channel = TypeVar("Channel", alt.Fill, alt.Stroke, alt.Shape)
Rows = Sequence[Mapping[str, Any]]
Style = dict[str, Any]

#: What a mark takes from its row: the row's colour, or the fill and shape of a platform.
_INKS: Mapping[str, tuple[Any, str]] = {
    "stroke": (alt.Stroke, "colour"),
    "fill": (alt.Fill, "colour"),
    "hollow": (alt.Fill, "fill"),
    "shape": (alt.Shape, "shape"),
}
#: A platform's mark, filled or hollow.
MARK = "stroke hollow shape"


def inline(rows: Rows) -> alt.InlineData:
    """Hand rows to a chart as one text, which it neither copies nor checks value by value.

    Cleaned here: in that text a control character is an escape sequence, which nobody sees.
    """
    if isinstance(alt, Blank):
        return alt.InlineData()
    text = json.dumps(cleaned_all(list(rows)))
    return alt.InlineData(values=text, format=alt.JsonDataFormat(type="json"))


def raw(channel: type[Channel], field: str) -> Channel:
    """Take a field's value as the colour or shape itself, without scale or legend."""
    return channel(field=field, type="nominal", scale=None, legend=None)


def tip() -> alt.Description:
    """Take the text of the field "tip" as what the page's tooltip says."""
    return alt.Description(field="tip", type="nominal")


def layer(mark: str, rows: Rows, ink: str = "", *, tips: bool = False, **how: Any) -> alt.Chart:
    """Draw a layer: one mark for each row.

    - `ink`: what the rows colour, of `_INKS`.
    - `tips`: whether hovering says each row's "tip"; a mark without one is silent.
    - `how`: ``x`` and ``y`` as channels or px, ``x2``, ``y2``, ``text`` and ``detail`` as names of
      fields; the rest is the mark's style.
    """
    channels = {name: _channel(name, how.pop(name)) for name in _CHANNELS if name in how}
    for one in ink.split():
        kind, field = _INKS[one]
        channels["fill" if one == "hollow" else one] = raw(kind, field)
    if tips:
        channels["description"] = tip()
    style = how if tips else {"aria": False, **how}
    chart: alt.Chart = getattr(alt.Chart(inline(rows)), f"mark_{mark}")(**style)
    return chart.encode(**channels)


_CHANNELS = ("x", "y", "x2", "y2", "text", "detail")


def _channel(name: str, given: Any) -> Any:
    if isinstance(given, int | float):
        return alt.value(given)
    if not isinstance(given, str):
        return given
    if name in ("x2", "y2"):
        return (alt.X2 if name == "x2" else alt.Y2)(field=given)
    return (alt.Text if name == "text" else alt.Detail)(field=given, type="nominal")


def axis(
    channel: type[Any], field: str, ticks: Ticks, *, log: bool = False, base: int | None = None,
    **how: Any,
) -> Any:  # fmt: skip
    """Give a channel of numbers with its own ticks; `how` is said to Vega's axis."""
    kind: dict[str, Any] = {"type": "log" if log else "linear"} | ({"base": base} if base else {})
    return channel(
        field=field,
        type="quantitative",
        scale=alt.Scale(**kind, domain=list(ticks.domain), nice=False),
        axis=alt.Axis(values=list(ticks.values), labelExpr=ticks.label_expression, **how),
    )


def heading(text: str, width_px: float) -> alt.Title:
    """Write what the vertical axis shows above it, where it can be read without turning."""
    return alt.Title(text, fontWeight="normal", fontSize=11.5, limit=width_px, offset=6)


Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart | alt.ConcatChart


@dataclass(frozen=True, slots=True)
class Drawing:
    """The drawing of a figure, in the fields of `Figure` of the same names."""

    panels: Iterable[Chart] = ()
    names: Iterable[str] = ()
    large: int | None = None
    narrow: Iterable[Chart] = ()
    wide: bool = True


NO_DRAWING = Drawing()


def both_widths(draw: Callable[..., Chart], *shown: Any, wide: bool = True) -> Drawing:
    """Draw for wide screens, and for phones."""
    return Drawing([draw(*shown, narrow=False)], narrow=[draw(*shown, narrow=True)], wide=wide)


def plot(layers: Iterable[Chart], width_px: float, height_px: float, title: str = "") -> Chart:
    """Put layers on each other."""
    sized = {"width": width_px, "height": height_px}
    chart: Chart = alt.layer(*layers).properties(
        **sized, **({"title": heading(title, width_px)} if title else {})
    )
    return chart
