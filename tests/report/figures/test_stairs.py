"""The staircase: its names have room whatever they are."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from bareline.report.exhibits.steps import Tread, staircase
from bareline.report.figures.svg import draw


def row(value: float) -> dict[str, object]:
    ink = {"colour": "#0072b2", "fill": "#0072b2", "shape": "square"}
    return {"y": value, "lo": value, "hi": value, "text": str(value), "tip": str(value), **ink}


@pytest.mark.parametrize("narrow", [False, True])
def test_a_step_without_a_value_has_its_name_and_breaks_the_line(narrow: bool) -> None:
    treads = [
        Tread("vm-virtio-jumbo-frames", row(1.0), row(2.0)),
        Tread("failed", None, None),
        Tread("bare", row(9.0), None),
    ]
    drawing = ElementTree.fromstring(draw(staircase(treads, "Rate (Gb/s)", narrow=narrow)))
    texts = ["".join(text.itertext()) for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert {"vm-virtio-jumbo-frames", "failed", "bare"} <= {*texts}
    lines = [
        path.get("d", "")
        for path in drawing.iter("{http://www.w3.org/2000/svg}path")
        if path.get("stroke-width") == "1.3" and re.fullmatch(r"M.+L.+", path.get("d", ""))
    ]
    assert len(lines) == 3, "two treads of what was measured, one of what is printed"
