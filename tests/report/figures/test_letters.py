"""Letters of figures: large enough on a phone, and never on each other."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from bareline.analysis.numbers.row import Estimate
from bareline.report.content.document import Document
from bareline.report.exhibits.base import load_exhibits
from bareline.report.figures.rows import Bar, PrintedMark, bar_chart
from bareline.report.figures.scales import signed_ticks
from bareline.report.figures.svg import draw
from bareline.report.figures.theme import line_looks, looks
from bareline.vocabulary.exhibit import ExhibitSpec

#: What a page leaves of a phone of 390 px, and how a drawing is enlarged where it has room.
PHONE_PX, ENLARGED = 358, 1.12
SVG = "{http://www.w3.org/2000/svg}"


def letters_px(drawing: str) -> float:
    """Return the size of the smallest letters of a drawing on a phone."""
    width = float(re.search(r'viewBox="\S+ \S+ (\S+)', drawing)[1])  # type: ignore[index]
    sizes = re.findall(r'font-size="([\d.]+)px"', drawing)
    return min(ENLARGED, PHONE_PX / width) * min(map(float, sizes))


@pytest.mark.parametrize(
    "kind", ["overview", "curve", "bars", "pairs", "degradation", "relative", "scaling", "stacked",
             "relative-performance", "trials", "against-published"],
)  # fmt: skip
def test_letters_have_nine_pixels_on_a_phone(in_roles: Document, kind: str) -> None:
    figures = load_exhibits()[kind].figures(in_roles, ExhibitSpec(kind=kind))
    assert figures
    for figure in figures[:3]:
        assert letters_px(draw((*figure.narrow, *figure.panels)[0])) >= 9, figure.id


def test_eight_lines_of_a_platform_differ_in_colour_and_shape() -> None:
    found = line_looks(["bt", "cg", "ep", "ft", "is", "lu", "mg", "sp"]).values()
    assert len({look.colour for look in found}) == len({look.shape for look in found}) == 8
    assert "diamond" not in {look.shape for look in found}, "the diamond means published"


def test_where_a_published_value_was_measured_is_not_written_on_the_numbers() -> None:
    elsewhere = "ranks not printed"
    bars = [
        Bar("b", f"{value}", Estimate(value), printed=[PrintedMark(33.0, "published", elsewhere)])
        for value in (16.5, 28.7, 44.4)
    ]
    axis = signed_ticks(end for bar in bars for end in bar.ends)
    drawing = draw(bar_chart({"": bars}, "lost", axis, looks(["a", "b"]), 236, 76))
    texts = [
        (text, "".join(text.itertext()))
        for text in ElementTree.fromstring(drawing).iter(f"{SVG}text")
    ]
    (words,) = [text for text, told in texts if told == elsewhere]
    assert words.get("text-anchor") == "end", "it ends before the mark: the numbers stand behind it"
    rows = [text for text, told in texts if told == "b"]
    assert words.get("transform").split(",")[1] == rows[2].get("transform").split(",")[1], (  # type: ignore[union-attr]
        "beside the bar that does not end under it"
    )
