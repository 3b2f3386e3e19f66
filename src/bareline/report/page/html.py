"""The page: one self-contained HTML file that opens offline, and the figures as files."""

from __future__ import annotations

import json

from bareline.analysis.words.parts import Evidence, Sentence
from bareline.report.blocks import Figure, Section
from bareline.report.content.claim_axis import Axis
from bareline.report.content.claims import claims_of
from bareline.report.content.document import Document, glosses
from bareline.report.content.glossary import TERMS
from bareline.report.content.grid import by_loss, lone_platforms, matrix
from bareline.report.content.why import waterfalls
from bareline.report.exhibits.base import draw_figures
from bareline.report.figures.theme import COLOURS, looks
from bareline.report.page.drawing import draw_figure, embed_numbers
from bareline.report.page.preview import description, picture_address
from bareline.report.page.sections import sections, sources
from bareline.report.page.templates import link_terms, render
from bareline.vocabulary.texts import cleaned


def render_page(document: Document, address: str = "") -> str:
    """Return the page's HTML, for an address on the web if that is known."""
    figures, empty = draw_figures(document)
    parts = sections(document, figures, empty)
    numbers = {anchor: number for number, anchor in enumerate(sources(document), 1)}
    shown = [*figures, *(block for part in parts for block in part.blocks
                         if isinstance(block, Figure) and block.id == "profiles")]  # fmt: skip
    anchors = {figure.id for figure in figures} | {part.anchor for part in parts}
    anchors |= {one.anchor for part in parts for one in part.blocks if isinstance(one, Section)}
    claims, (raw, too_large) = claims_of(document.comparison), embed_numbers(document)
    page = render(
        "page.html.j2",
        ["page.js", "files.js"],
        document=document,
        looks=looks(document.names),
        other=[(one, _evidence(one, anchors)) for one in document.statements if not one.about],
        why=[] if document.comparison.alone else waterfalls(document.comparison.breakdowns),
        claims=claims,
        claims_axis=Axis.of([*claims.open, *claims.measured_ratios]),
        sections=parts,
        drawn={figure.id: draw_figure(figure, explained=True, numbers=numbers) for figure in shown},
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


def _matrix(document: Document) -> dict[str, object]:
    glance = document.glance
    if glance is None or not glance.squares:
        return {"matrix": None, "shared": ()}
    order = by_loss(document.findings, glance.platforms)
    lone = lone_platforms(document.findings, order)
    across = [name for name in order if name not in lone]
    lines = []
    for layer, *parts in matrix(glance, document.findings, lone).rows:
        own = [f"{name} {one.plain}" for name, one in zip(lone, parts, strict=True) if one.plain]
        lines += [f"{layer.plain} only: {', '.join(own)}"] if own else []
    return {"matrix": matrix(glance, document.findings, across), "shared": lines}


def _evidence(sentence: Sentence, known: set[str]) -> Evidence:
    found = sentence.evidence
    if found is None or found.anchor not in known:
        return Evidence("overview", found.n if found else None)
    return found
