"""The drawing of a chart: SVG in the colours of the page, SVG for files, and PNG."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from bareline.report.figures.drawing_available import refuse_undrawn
from bareline.report.figures.theme import COLOURS, FONT, colour, config
from bareline.report.figures.vega import Chart
from bareline.vocabulary.sanitize import cleaned, cleaned_all

#: Sizes of the notes under a drawing; the last is a character's mean width in the widest font.
_NOTE_PX = 10.5
_NOTE_LINE_PX = 14.0
_NOTE_INDENT_PX = 3.0
_NOTE_CHARACTER_PX = 5.3
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
#: Attributes that only an element can have: place, outline and words. All others fit a group.
_OWN = frozenset(
    {
        "clip-path", "cx", "cy", "d", "data-term", "data-tip", "height", "id", "opacity", "r",
        "transform", "width", "x", "x2", "y", "y2",
    }
)  # fmt: skip
_DEFAULTS: Mapping[str, str] = {"opacity": "1", "pointer-events": "none", "font-family": FONT}
#: Attributes of an element, sorted by name.
_Look = tuple[tuple[str, str], ...]

ElementTree.register_namespace("", "http://www.w3.org/2000/svg")


def specification(chart: Chart) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, including the theme."""
    return {**cleaned_all(chart), "config": config()}


def draw(chart: Chart) -> str:
    """Return the SVG drawing of a chart in light colours.

    Raises ReportError: drawing is not possible on this machine.
    """
    refuse_undrawn()
    import vl_convert

    # As one text, which the engine takes in less time than a dictionary.
    return str(vl_convert.vegalite_to_svg(json.dumps(specification(chart)), vl_version="6.1"))


def for_page(
    drawing: str, *, label: str, prefix: str, term: Callable[[str], str] | None = None
) -> str:
    """Return a drawing as a part of a page.

    Light colours become CSS variables, and the size follows the page. Attributes that only Vega
    needs are dropped. The text of every mark moves to ``data-tip``, from which the page makes
    tooltips. Screen readers then read the figure's summary and table instead of a thousand dots.
    Attributes that several marks share are written once.

    - `prefix`: a prefix that makes the ids of clip paths unique on the page.
    - `term`: a function that returns the id of the explanation of an axis title; the title gets
      this id as ``data-term``.
    """
    root = ElementTree.fromstring(drawing)
    groups = list(root.iter(_GROUP))
    classes = {group: frozenset((group.get("class") or "").split()) for group in groups}
    if term:
        for group in groups:
            if classes[group] & _TITLE_ROLES:
                _link_terms(group, term)
    _remove_invisible(root)
    # Vega counts its clip paths over all drawings of a process.
    clips = [element.get("id", "") for element in root.iter(f"{_NAMESPACE}clipPath")]
    ids = {clip: f"{prefix}clip{number}" for number, clip in enumerate(clips)}
    variables = {light: f"var(--{token})" for token, (light, _) in COLOURS.items()}
    for element in root.iter():
        _reduce(element, variables, ids)
    for group in groups:
        _share(group, any_order="mark-symbol" in classes[group])
    # The drawing is enlarged a little for wide screens; the page's style shrinks it to fit.
    width_px = float(root.attrib["width"]) * 1.12
    root.set("width", f"{width_px:.0f}")
    for name in ("height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return ElementTree.tostring(root, encoding="unicode")


def _link_terms(group: Element, term: Callable[[str], str]) -> None:
    """Add to each title in a group the id of its explanation, if it has one."""
    for text in group.iter(_TEXT):
        words = "".join(text.itertext())
        explanation = term(words)
        if explanation:
            text.set("data-term", explanation)


def _remove_invisible(root: Element) -> None:
    for parent in list(root.iter()):
        for child in parent.findall(_PATH):
            if _is_invisible(child):
                parent.remove(child)


def _is_invisible(path: Element) -> bool:
    if path.get("display") == "none" or path.get("d") in ("", "M0,0h0v0h0Z"):
        return True
    return path.get("class") == "background" and path.get("fill") is None


def for_file(drawing: str, notes: Sequence[str] = ()) -> str:
    """Return a drawing as a separate file: on white, with notes in small type below."""
    root = ElementTree.fromstring(drawing)
    left, top, width, height = map(float, root.get("viewBox", "0 0 0 0").split())
    lines = _note_lines(notes, width)
    for number, line in enumerate(lines, 1):
        text = ElementTree.SubElement(root, _TEXT)
        text.set("x", f"{_NOTE_INDENT_PX:g}")
        text.set("y", f"{height + number * _NOTE_LINE_PX:g}")
        text.set("font-family", FONT)
        text.set("font-size", f"{_NOTE_PX:g}px")
        text.set("fill", colour("soft"))
        text.text = line
    if lines:
        height += (len(lines) + 1) * _NOTE_LINE_PX
    root.set("viewBox", f"{left:g} {top:g} {width:g} {height:g}")
    root.set("height", f"{height:g}")
    paper = {"width": f"{width:g}", "height": f"{height:g}", "fill": colour("paper")}
    root.insert(0, Element(f"{_NAMESPACE}rect", paper))
    return ElementTree.tostring(root, encoding="unicode")


def _note_lines(notes: Sequence[str], width_px: float) -> list[str]:
    """Return the notes as lines, broken at the width of a drawing."""
    room_px = width_px - 2 * _NOTE_INDENT_PX
    characters = max(40, int(room_px / _NOTE_CHARACTER_PX))
    lines: list[str] = []
    for note in notes:
        lines += textwrap.wrap(cleaned(note), characters)
    return lines


def to_png(drawing: str, scale: float = 2) -> bytes:
    """Return an SVG drawing as PNG, at `scale` times its size."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(drawing, scale=scale))


def _reduce(element: Element, variables: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Drop attributes without effect, and write colours, tips and ids in the page's form."""
    attributes = element.attrib
    _drop_attributes(element)
    for name in ("fill", "stroke", "stop-color"):
        if attributes.get(name) in variables:
            attributes[name] = variables[attributes[name]]
    if "stroke" not in attributes and element.tag == _PATH:
        attributes.pop("stroke-width", None)
    _pass_opacity_to_paint(element)
    _shorten(element)
    tip = attributes.pop("aria-label", None)
    if tip:
        attributes["data-tip"] = tip
    if attributes.get("id") in ids:
        attributes["id"] = ids[attributes["id"]]
    clip = attributes.get("clip-path", "")[5:-1]
    if clip in ids:
        attributes["clip-path"] = f"url(#{ids[clip]})"


def _drop_attributes(element: Element) -> None:
    """Drop attributes that only Vega needs, and attributes with their default value."""
    for name, value in list(element.attrib.items()):
        if name in _DROPPED or _DEFAULTS.get(name) == value:
            del element.attrib[name]


def _pass_opacity_to_paint(element: Element) -> None:
    """Replace the opacity of an element by the opacity of its fill or stroke.

    This is done only if the element has either a fill or a stroke, and not both. Elements can
    inherit the opacity of a fill or stroke from their group, but not ``opacity``.
    """
    attributes = element.attrib
    painted = [name for name in ("fill", "stroke") if attributes.get(name, "none") != "none"]
    if len(painted) != 1 or len(element) or "opacity" not in attributes:
        return
    paint = f"{painted[0]}-opacity"
    if paint not in attributes:
        attributes[paint] = attributes.pop("opacity")


def _shorten(element: Element) -> None:
    """Round coordinates to a hundredth of a pixel; add an outline's translation to them."""
    attributes = element.attrib
    for name in ("d", "transform", "x", "y", "x2", "y2", "width", "height"):
        if name in attributes:
            attributes[name] = _LONG_NUMBER.sub(_short_number, attributes[name])
    place = _PLACE.fullmatch(attributes.get("transform", ""))
    if place is None or element.tag != _PATH:
        return
    outline = attributes.get("d", "")
    circle = _CIRCLE.fullmatch(outline)
    if circle:
        del attributes["d"]
        del attributes["transform"]
        element.tag = f"{_NAMESPACE}circle"
        attributes["cx"] = place[1]
        attributes["cy"] = place[2]
        attributes["r"] = circle[1]
        return
    moved = _moved(outline, float(place[1]), float(place[2]))
    if moved:
        del attributes["transform"]
        attributes["d"] = moved


def _short_number(match: re.Match[str]) -> str:
    return _short(float(match[0]))


def _short(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _moved(outline: str, x: float, y: float) -> str:
    """Return an outline of straight lines, moved and in relative steps; "" if it has curves."""
    commands: list[str] = []
    pen_x = 0.0
    pen_y = 0.0
    for command, rest in _STROKE.findall(outline):
        numbers = [float(number) for number in _NUMBER.findall(rest)]
        if command in ("Z", "z") and not numbers:
            commands.append("z")
        elif command == "M" and len(numbers) == 2 and not commands:
            pen_x, pen_y = numbers
            commands.append(f"M{_short(x + pen_x)},{_short(y + pen_y)}")
        else:
            step = _step(command, numbers, pen_x, pen_y)
            if step is None:
                return ""
            pen_x += step[0]
            pen_y += step[1]
            commands.append(_step_command(*step))
    return "".join(commands)


def _step(
    command: str, numbers: Sequence[float], pen_x: float, pen_y: float
) -> tuple[float, float] | None:
    """Return the step of a straight line from the pen; None if the command draws no such line."""
    match command, numbers:
        case "L", [to_x, to_y]:
            return to_x - pen_x, to_y - pen_y
        case "H", [to_x]:
            return to_x - pen_x, 0.0
        case "h", [step_x]:
            return step_x, 0.0
        case "V", [to_y]:
            return 0.0, to_y - pen_y
        case "v", [step_y]:
            return 0.0, step_y
    return None


def _step_command(step_x: float, step_y: float) -> str:
    """Return the SVG command of a straight line by the given step."""
    if step_y == 0:
        return f"h{_short(step_x)}"
    if step_x == 0:
        return f"v{_short(step_y)}"
    return f"l{_short(step_x)},{_short(step_y)}"


def _share(group: Element, *, any_order: bool) -> None:
    """Move attributes that neighbours share to a group around them.

    - `any_order`: whether the neighbours may be reordered.
    """
    children = list(group)
    if any_order:
        first: dict[_Look, int] = {}
        for place, child in enumerate(children):
            first.setdefault(_look(child), place)
        children.sort(key=lambda child: first[_look(child)])
    shared: list[Element] = []
    for look, run in groupby(children, key=_look):
        neighbours = list(run)
        if look and len(neighbours) > 1:
            shared.append(_wrapped(neighbours, look))
        else:
            shared += neighbours
    group[:] = shared


def _wrapped(elements: Sequence[Element], look: _Look) -> Element:
    """Return a group of elements, to which the common attributes of the elements were moved."""
    wrapper = Element(_GROUP, dict(look))
    for element in elements:
        for name, _ in look:
            del element.attrib[name]
        wrapper.append(element)
    return wrapper


def _look(element: Element) -> _Look:
    """Return the attributes of an element that may be moved to a group around it."""
    if len(element):
        return ()
    return tuple(sorted(item for item in element.attrib.items() if item[0] not in _OWN))
