"""The preview of a link to a page: a few words, and a picture if its address is known.

Programs that show previews, e.g. chats, fetch the picture from an absolute address. They do not
show a picture that is inside the page (a ``data:`` address). So the picture is a file next to the
page, and the page names it only if the page's own address is known.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit
from xml.sax.saxutils import escape

from bareline.analysis.words.verdict import MatrixCell, VerdictMatrix
from bareline.report.content.document import Document
from bareline.report.content.wording import sentence_case
from bareline.report.figures.svg import to_png
from bareline.report.figures.theme import FONT, colour
from bareline.vocabulary.model import Layer
from bareline.vocabulary.sanitize import cleaned
from bareline.vocabulary.verdicts import Verdict

#: The picture size for which programs lay out previews.
WIDTH_PX = 1200
HEIGHT_PX = 630
#: Longer descriptions would be cut by the programs that show previews.
_MOST_CHARACTERS = 300
#: The longest name of the picture's file, without its ending.
_MOST_NAME = 100
_LEFT_PX = 64
_BAR_PX = 620
_ROW_PX = 34


def description(document: Document) -> str:
    """Return the answer, shortened to the length for which a preview has room."""
    if document.glance:
        text = " ".join(clause.text for clause in document.glance.headline.clauses)
    else:
        text = document.study_description or document.subtitle
    return textwrap.shorten(sentence_case(cleaned(text)), _MOST_CHARACTERS, placeholder=" …")


def picture_address(page: str) -> str:
    """Return the address of the picture next to a page."""
    return urljoin(page, picture_name(page))


def picture_name(address: str) -> str:
    """Return the file name of the picture: the name of the page, reduced to ``A-Za-z0-9._-``.

    - `address`: the page's future address on the web; a part after ``?`` or ``#`` is ignored.
    """
    page = urlsplit(address).path.rpartition("/")[2].removesuffix(".html")
    name = re.sub(r"[^\w.-]+", "-", page, flags=re.ASCII).strip("-.")
    return f"{name[:_MOST_NAME] or 'index'}.png"


def picture(document: Document) -> bytes:
    """Return the picture as PNG: title, answer, and the largest difference of each layer."""
    body = "".join([*_words(document), *_bars(document)])
    drawing = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH_PX}" height="{HEIGHT_PX}" '
        f'font-family="{escape(FONT)}"><rect width="100%" height="100%" '
        f'fill="{colour("paper")}"/>{body}</svg>'
    )
    return to_png(drawing, scale=1)


def _words(document: Document) -> Iterator[str]:
    yield _text(document.about, _LEFT_PX, 74, 24, "soft")
    y = 100.0
    for line in textwrap.wrap(document.title, 46)[:2]:
        y += 44
        yield _text(line, _LEFT_PX, y, 40, "ink", 700)
    y += 20
    for line in textwrap.wrap(description(document), 86)[:4]:
        y += 32
        yield _text(line, _LEFT_PX, y, 24, "ink")


def _bars(document: Document) -> Iterator[str]:
    glance = document.glance
    if glance is None:
        return
    shares = _shares(glance)
    y = HEIGHT_PX - 26.0 - _ROW_PX * len(glance.layers)
    for layer in glance.layers:
        yield _text(layer.words, _LEFT_PX, y + 17, 20, "soft")
        places = [place for place in shares if place[0] is layer]
        if places:
            worst = max(places, key=lambda place: shares[place])
            yield from _bar(glance.squares[worst], worst[1], shares[worst], y)
        y += _ROW_PX


def _bar(square: MatrixCell, platform: str, share: float, y: float) -> Iterator[str]:
    """Yield the SVG of a loss or gain: a bar, then the ratio in words and the platform."""
    ink = "better" if square.mark is Verdict.FASTER else "worse"
    width_px = max(2.0, share * _BAR_PX)
    yield f'<rect x="330" y="{y}" width="{width_px:.1f}" height="20" fill="{colour(ink)}"/>'
    words = square.words.text.split(" [")[0]
    yield _text(f"{words}, {platform}", 342 + width_px, y + 17, 18, "ink")


def _text(text: str, x: float, y: float, size_px: int, ink: str, weight: int = 400) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size_px}" font-weight="{weight}" '
        f'fill="{colour(ink)}">{escape(cleaned(text))}</text>'
    )


#: The end of the scale is at least this many times: small changes are to look small.
_LEAST_END = 2.0


def _shares(glance: VerdictMatrix) -> dict[tuple[Layer, str], float]:
    """Return the logarithm of each ratio in the matrix, divided by the largest logarithm."""
    factors: dict[tuple[Layer, str], float] = {}
    for place, square in glance.squares.items():
        ratio = square.point.ratio if square.point else None
        if ratio and ratio.value > 0:
            factors[place] = abs(math.log(ratio.value))
    largest = max([math.log(_LEAST_END), *factors.values()])
    return {place: factor / largest for place, factor in factors.items()}
