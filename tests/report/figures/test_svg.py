from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from bareline.report.figures.svg import for_page
from bareline.report.figures.theme import colour

SVG = "{http://www.w3.org/2000/svg}"


def drawing(*marks: str) -> str:
    """Return a drawing as Vega makes it, with some marks in one group."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 90" width="90" height="90">'
        '<g fill="none" stroke-miterlimit="10"><g class="mark-symbol role-mark marks">'
        f"{''.join(marks)}</g></g></svg>"
    )


def mark(x: float, outline: str, token: str, tip: str = "", more: str = "") -> str:
    ink = colour(token)
    return (
        f'<path aria-label="{tip}" transform="translate({x},20.123456)" d="{outline}" '
        f'fill="{ink}" stroke="{ink}" stroke-width="1.2" {more}/>'
    )


def for_reading(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(for_page(text, label="what it shows", prefix="x"))


def corners(outline: str) -> list[tuple[float, float]]:
    """Return where an outline of straight lines turns."""
    x = y = 0.0
    found = []
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", outline):
        numbers = [float(text) for text in re.findall(r"-?[\d.]+", rest)]
        match command:
            case "M" | "L":
                x, y = numbers
            case "l":
                x, y = x + numbers[0], y + numbers[1]
            case "H":
                x = numbers[0]
            case "h":
                x += numbers[0]
            case "V":
                y = numbers[0]
            case "v":
                y += numbers[0]
        if command not in "Zz":
            found.append((x, y))
    return found


@pytest.mark.parametrize(
    "outline",
    [
        "M-2.449,-2.449h4.899v4.899h-4.899Z",
        "M0,-2.121L-2.121,2.121L2.121,2.121Z",
        "M-2.5,-0.8V0.8H-0.8V2.5H0.8Z",
        "M0,-1.2L0.282,-0.388L1.141,-0.371L0.457,0.148L0.705,0.971L0,0.48L-0.705,0.971Z",
    ],
)
def test_outlines_stand_where_they_were_put(outline: str) -> None:
    path = for_reading(drawing(mark(11.5, outline, "p1"))).find(f".//{SVG}path")
    assert path is not None and path.get("transform") is None
    wanted = [(x + 11.5, y + 20.123456) for x, y in corners(outline)]
    for there, here in zip(wanted, corners(path.get("d", "")), strict=True):
        assert here == pytest.approx(there, abs=0.03)
    assert path.get("d", "").endswith("z")


def test_curved_outlines_keep_their_place() -> None:
    path = for_reading(drawing(mark(11.5, "M0,0C1,1,2,2,3,3Z", "p1"))).find(f".//{SVG}path")
    assert path is not None
    assert (path.get("transform"), path.get("d")) == ("translate(11.5,20.12)", "M0,0C1,1,2,2,3,3Z")


def test_marks_that_look_alike_say_so_once() -> None:
    square = "M-2,-2h4v4h-4Z"
    root = for_reading(drawing(*(mark(x, square, f"p{1 + x % 2}", f"value {x}") for x in range(6))))
    tips = [path.get("data-tip") for path in root.iter(f"{SVG}path")]
    assert tips == [f"value {x}" for x in (0, 2, 4, 1, 3, 5)]
    assert all(set(path.attrib) == {"d", "data-tip"} for path in root.iter(f"{SVG}path"))
    looks = [group.attrib for group in root.iter(f"{SVG}g") if "stroke-width" in group.attrib]
    assert looks == [
        {"fill": f"var(--{ink})", "stroke": f"var(--{ink})", "stroke-width": "1.2"}
        for ink in ("p1", "p2")
    ]


def test_dots_that_lie_over_each_other_stay_visible() -> None:
    """The opacity of a group would be that of all its dots together."""
    circle = "M1.5,0A1.5,1.5,0,1,1,-1.5,0A1.5,1.5,0,1,1,1.5,0"
    dots = (
        f'<path transform="translate({x},5)" d="{circle}" fill="{colour("p3")}" opacity="0.35"/>'
        for x in range(3)
    )
    root = for_reading(drawing(*dots))
    (group,) = (group for group in root.iter(f"{SVG}g") if group.get("fill") == "var(--p3)")
    assert group.attrib == {"fill": "var(--p3)", "fill-opacity": "0.35"}
    assert [circle.attrib for circle in group] == [
        {"cx": str(x), "cy": "5", "r": "1.5"} for x in range(3)
    ]
    both = for_reading(drawing(*(mark(x, circle, "p1", more='opacity="0.5"') for x in range(2))))
    assert [circle.get("opacity") for circle in both.iter(f"{SVG}circle")] == ["0.5", "0.5"]
