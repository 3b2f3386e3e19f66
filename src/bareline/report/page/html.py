"""The page of a report: one self-contained HTML file that opens offline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from bareline.analysis.words.parts import Link, Sentence
from bareline.report.blocks import Figure, Section
from bareline.report.content.claim_axis import Axis
from bareline.report.content.claims import claims_of
from bareline.report.content.document import Document, glosses
from bareline.report.content.glossary import TERMS
from bareline.report.content.grid import by_loss, lone_platforms, matrix
from bareline.report.content.waterfall import Waterfall, waterfalls
from bareline.report.exhibits.page_figures import draw_figures
from bareline.report.figures.theme import COLOURS, looks
from bareline.report.page.drawing import DrawnFigure, draw_figure, embed_numbers
from bareline.report.page.preview import description, picture_address
from bareline.report.page.sections import sections, sources
from bareline.report.page.templates import link_terms, render
from bareline.vocabulary.sanitize import cleaned


def render_page(document: Document, address: str = "") -> str:
    """Return the HTML of the page; `address` is its future address on the web, if known."""
    figures, empty = draw_figures(document)
    parts = sections(document, figures, empty)
    numbers = {anchor: number for number, anchor in enumerate(sources(document), 1)}
    drawn: dict[str, DrawnFigure] = {}
    for figure in (*figures, *_profile_figures(parts)):
        drawn[figure.id] = draw_figure(figure, explained=True, numbers=numbers)
    anchors = _anchors(figures, parts)
    claims = claims_of(document.comparison)
    raw, too_large = embed_numbers(document)
    page = render(
        "page.html.j2",
        ["page.js", "files.js"],
        document=document,
        looks=looks(document.names),
        other=_other_sentences(document, anchors),
        why=_waterfalls(document),
        claims=claims,
        claims_axis=Axis.of([*claims.open, *claims.measured_ratios]),
        sections=parts,
        drawn=drawn,
        raw=raw,
        too_large=too_large,
        colours=json.dumps({token: pair[0] for token, pair in COLOURS.items()}),
        terms=TERMS,
        anchors=anchors,
        description=description(document),
        address=address,
        picture=picture_address(address) if address else "",
        glosses=glosses(document),
        **_matrix(document),
    )
    return cleaned(link_terms(page))


def _profile_figures(parts: Sequence[Section]) -> Iterator[Figure]:
    """Yield the table of profiles, which is in a section and not in the list of figures."""
    for part in parts:
        for block in part.blocks:
            if isinstance(block, Figure) and block.id == "profiles":
                yield block


def _anchors(figures: Sequence[Figure], parts: Sequence[Section]) -> set[str]:
    """Return the ids of figures, sections and their parts, to which sentences may link."""
    anchors = {figure.id for figure in figures}
    for part in parts:
        anchors.add(part.anchor)
        for block in part.blocks:
            if isinstance(block, Section):
                anchors.add(block.anchor)
    return anchors


def _other_sentences(document: Document, anchors: set[str]) -> list[tuple[Sentence, Link]]:
    """Return the sentences that are about no layer, each with its link."""
    others = [sentence for sentence in document.statements if not sentence.about]
    return [(sentence, _evidence(sentence, anchors)) for sentence in others]


def _waterfalls(document: Document) -> list[Waterfall]:
    if document.comparison.alone:
        return []
    return waterfalls(document.comparison.breakdowns)


def _matrix(document: Document) -> dict[str, object]:
    """Return the matrix of verdicts, and texts on the platforms that measured only one layer."""
    glance = document.glance
    if glance is None or not glance.squares:
        return {"matrix": None, "shared": ()}
    order = by_loss(document.findings, glance.platforms)
    lone = lone_platforms(document.findings, order)
    across = [name for name in order if name not in lone]
    lines: list[str] = []
    for layer, *fields in matrix(glance, document.findings, lone).rows:
        verdicts = [
            f"{name} {field.plain}" for name, field in zip(lone, fields, strict=True) if field.plain
        ]
        if verdicts:
            lines.append(f"{layer.plain} only: {', '.join(verdicts)}")
    return {"matrix": matrix(glance, document.findings, across), "shared": lines}


def _evidence(sentence: Sentence, anchors: set[str]) -> Link:
    """Return the link of a sentence; if the page has no such target, a link to the overview."""
    evidence = sentence.evidence
    if evidence is None:
        return Link("overview", None)
    if evidence.anchor not in anchors:
        return Link("overview", evidence.n)
    return evidence
