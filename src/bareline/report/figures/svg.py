"""From a chart to a drawing: SVG that follows the page's colours, SVG for files, PNG."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bareline.report.figures.grammar import Chart
from bareline.report.figures.obstacles import refuse_undrawn
from bareline.report.figures.theme import COLOURS, FONT, colour, config
from bareline.vocabulary.texts import cleaned, cleaned_all

#: Of the notes under a drawing; a character on average, in the widest of the fonts.
_NOTE_PX, _NOTE_LINE_PX, _NOTE_INDENT_PX, _NOTE_CHARACTER_PX = 10.5, 14.0, 3.0, 5.3
_NAMESPACE = "{http://www.w3.org/2000/svg}"
#: Classes of the groups in which Vega draws titles of axes and of panels.
_TITLE_ROLES = frozenset({"role-axis-title", "role-title-text"})
_GROUP, _PATH, _TEXT = (f"{_NAMESPACE}{name}" for name in ("g", "path", "text"))
_CIRCLE = re.compile(r"M([\d.]+),0A\1,\1,0,1,1,-\1,0A\1,\1,0,1,1,\1,0(?:Z)?")
_PLACE = re.compile(r"translate\(([-\d.e]+),([-\d.e]+)\)")
_NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
_STROKE = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_DROPPED = ("role", "aria-roledescription", "aria-hidden", "class", "stroke-miterlimit")
#: The attributes of an element itself: place, outline and words. A group can have all of the rest.
_OWN = frozenset(
    {
        "clip-path", "cx", "cy", "d", "data-term", "data-tip", "height", "id", "opacity", "r",
        "transform", "width", "x", "x2", "y", "y2",
    }
)  # fmt: skip
_DEFAULTS: Mapping[str, str] = {"opacity": "1", "pointer-events": "none", "font-family": FONT}

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")


def specification(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, with the theme in it."""
    return {**cleaned_all(chart), "config": config()}


def draw(chart: Chart) -> str:
    """Draw a chart in the light colours. Raises ReportError: nothing can be drawn here."""
    refuse_undrawn()
    import vl_convert

    # As one text, which the engine takes in less time than a dictionary.
    return str(vl_convert.vegalite_to_svg(json.dumps(specification(chart)), vl_version="6.1"))


def for_page(
    drawing: str, *, label: str, prefix: str, term: Callable[[str], str] | None = None
) -> str:
    """Make a drawing part of a page.

    Light colours become CSS variables, the size follows the page, attributes that only Vega needs
    are dropped, and the text of every mark moves to ``data-tip``, from which the page makes
    tooltips: screen readers get the figure's summary and its table instead of a thousand dots.
    Attributes that marks have in common are written once for all of them.

    - `prefix`: makes the ids of clip paths unique on the page.
    - `term`: returns the id of the explanation of an axis' title, which the title's ``data-term``
      then names.
    """
    root = ElementTree.fromstring(drawing)
    groups = list(root.iter(_GROUP))
    classes = {group: frozenset((group.get("class") or "").split()) for group in groups}
    for group in (group for group in groups if classes[group] & _TITLE_ROLES):
        for text in group.iter(_TEXT):
            if term and (explained := term("".join(text.itertext()))):
                text.set("data-term", explained)
    for parent in list(root.iter()):
        for child in parent.findall(_PATH):
            invisible = child.get("display") == "none" or child.get("d") in ("", "M0,0h0v0h0Z")
            if invisible or (child.get("class") == "background" and child.get("fill") is None):
                parent.remove(child)
    # Vega counts its clip paths over all drawings of a process.
    clips = (element.get("id", "") for element in root.iter(f"{_NAMESPACE}clipPath"))
    ids = {old: f"{prefix}clip{number}" for number, old in enumerate(clips)}
    variables = {light: f"var(--{token})" for token, (light, _) in COLOURS.items()}
    for element in root.iter():
        _reduce(element, variables, ids)
    for group in groups:
        _share(group, any_order="mark-symbol" in classes[group])
    # Drawn a little larger than made, for wide screens; the page's style shrinks it to fit.
    root.set("width", f"{float(root.attrib['width']) * 1.12:.0f}")
    for name in ("height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")


def for_file(drawing: str, notes: Sequence[str] = ()) -> str:
    """Make a drawing a file of its own, on white paper, with notes in small type under it."""
    root = ElementTree.fromstring(drawing)
    left, top, width, height = map(float, root.get("viewBox", "0 0 0 0").split())
    fitting = max(40, int((width - 2 * _NOTE_INDENT_PX) / _NOTE_CHARACTER_PX))
    written = [line for note in notes for line in textwrap.wrap(cleaned(note), fitting)]
    for number, line in enumerate(written, 1):
        place = {"x": f"{_NOTE_INDENT_PX:g}", "y": f"{height + number * _NOTE_LINE_PX:g}"}
        ink = {"font-family": FONT, "font-size": f"{_NOTE_PX:g}px", "fill": colour("soft")}
        ElementTree.SubElement(root, _TEXT, {**place, **ink}).text = line
    if written:
        height += (len(written) + 1) * _NOTE_LINE_PX
    root.set("viewBox", f"{left:g} {top:g} {width:g} {height:g}")
    root.set("height", f"{height:g}")
    paper = {"width": f"{width:g}", "height": f"{height:g}", "fill": colour("paper")}
    root.insert(0, Element(f"{_NAMESPACE}rect", paper))
    return ElementTree.tostring(root, encoding="unicode")


def to_png(drawing: str, scale: float = 2) -> bytes:
    """Draw an SVG file as pixels, at twice its size unless another scale is given."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(drawing, scale=scale))


def _reduce(element: Element, variables: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Drop attributes without effect; write colours, places, tips and ids as the page has them."""
    own = element.attrib
    for name in [name for name in own if name in _DROPPED or _DEFAULTS.get(name) == own[name]]:
        del own[name]
    for name in ("fill", "stroke", "stop-color"):
        if own.get(name) in variables:
            own[name] = variables[own[name]]
    if "stroke" not in own and element.tag == _PATH:
        own.pop("stroke-width", None)
    # A group can pass on the opacity of a paint, but not that of an element.
    painted = [name for name in ("fill", "stroke") if own.get(name, "none") != "none"]
    if len(painted) == 1 and not len(element) and "opacity" in own:
        paint = f"{painted[0]}-opacity"
        if paint not in own:
            own[paint] = own.pop("opacity")
    _shorten(element)
    if tip := own.pop("aria-label", None):
        own["data-tip"] = tip
    if own.get("id") in ids:
        own["id"] = ids[own["id"]]
    clip = own.get("clip-path", "")[5:-1]
    if clip in ids:
        own["clip-path"] = f"url(#{ids[clip]})"


def _shorten(element: Element) -> None:
    """Round coordinates to a hundredth of a pixel; a mark's outline begins at its place."""
    own = element.attrib
    for name in ("d", "transform", "x", "y", "x2", "y2", "width", "height"):
        if name in own:
            own[name] = _LONG_NUMBER.sub(lambda match: _short(float(match[0])), own[name])
    place = _PLACE.fullmatch(own.get("transform", ""))
    if place is None or element.tag != _PATH:
        return
    outline = own.get("d", "")
    if circle := _CIRCLE.fullmatch(outline):
        del own["d"], own["transform"]
        element.tag = f"{_NAMESPACE}circle"
        own |= {"cx": place[1], "cy": place[2], "r": circle[1]}
    elif moved := _moved(outline, float(place[1]), float(place[2])):
        del own["transform"]
        own["d"] = moved


def _short(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _moved(outline: str, x: float, y: float) -> str:
    """Move an outline of straight lines, relative from its first point; "" for any other one."""
    written: list[str] = []
    at_x = at_y = 0.0
    for command, rest in _STROKE.findall(outline):
        numbers = [float(number) for number in _NUMBER.findall(rest)]
        match command, numbers:
            case "M", [to_x, to_y] if not written:
                written.append(f"M{_short(x + to_x)},{_short(y + to_y)}")
                at_x, at_y = to_x, to_y
                continue
            case "L", [to_x, to_y]:
                step_x, step_y = to_x - at_x, to_y - at_y
            case "H" | "h", [to_x]:
                step_x, step_y = to_x - at_x * (command == "H"), 0.0
            case "V" | "v", [to_y]:
                step_x, step_y = 0.0, to_y - at_y * (command == "V")
            case "Z" | "z", []:
                written.append("z")
                continue
            case _:
                return ""
        at_x, at_y = at_x + step_x, at_y + step_y
        if step_y == 0:
            written.append(f"h{_short(step_x)}")
        elif step_x == 0:
            written.append(f"v{_short(step_y)}")
        else:
            written.append(f"l{_short(step_x)},{_short(step_y)}")
    return "".join(written)


def _share(group: Element, *, any_order: bool) -> None:
    """Move neighbours' common look to a group around them; `any_order`: they may be reordered."""
    children = list(group)
    if any_order:
        first = {look: place for place, look in reversed([*enumerate(map(_look, children))])}
        children.sort(key=lambda child: first[_look(child)])
    shared: list[Element] = []
    for look, run in groupby(children, key=_look):
        alike = list(run)
        if not look or len(alike) < 2:
            shared += alike
            continue
        wrapper = Element(_GROUP, dict(look))
        for child in alike:
            for name, _ in look:
                del child.attrib[name]
            wrapper.append(child)
        shared.append(wrapper)
    group[:] = shared


def _look(element: Element) -> tuple[tuple[str, str], ...]:
    """Return the attributes that an element could take over from a group around it."""
    if len(element):
        return ()
    return tuple(sorted(item for item in element.attrib.items() if item[0] not in _OWN))
