"""The report as Markdown: the answer first, then the sections of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bareline.report.blocks import Block, Note, Prose, Section
from bareline.report.content.claims import claims_of, claims_table
from bareline.report.content.document import Document
from bareline.report.content.grid import by_loss, grid, legend
from bareline.report.exhibits.base import draw_figures
from bareline.report.page.sections import sections
from bareline.report.writers.markdown import escaped, markdown
from bareline.vocabulary.texts import cleaned


def render_markdown(document: Document, figures: Path | None = None) -> str:
    """Give the report's text."""
    about = (document.study_title, document.subtitle, document.study_description)
    head = [f"# {escaped(document.title)}", "  \n".join(map(escaped, filter(None, about)))]
    blocks = [*_verdict(document), *_claims(document), *sections(document, *draw_figures(document))]
    return cleaned("\n\n".join([*head, *markdown(blocks, figures)])) + "\n"


def _verdict(document: Document) -> Iterator[Block]:
    glance = document.glance
    blocks: list[Block] = []
    if glance is not None:
        blocks.append(Prose(tuple(glance.headline.clauses)))
        blocks += grid(document.findings, by_loss(document.findings, glance.platforms))
        how = legend(document.findings, document.baseline, document.margin)
        blocks.append(Note(f"{how} {glance.promise}"))
    told = [sentence for sentence in document.statements if not sentence.about]
    blocks += [Prose(tuple(told), "list")] if told else []
    if blocks:
        yield Section("Verdict", tuple(blocks))


def _claims(document: Document) -> Iterator[Block]:
    if rows := claims_of(document.comparison).rows:
        yield Section("Printed and measured", (claims_table(rows, sources=True),))
