"""The parts of the page: a section for each layer, and the platforms side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.parts import Sentence
from bareline.analysis.verdict import layer_line
from bareline.report.blocks.table import Table
from bareline.report.content.document import LAYER_NOTES, Document
from bareline.report.content.grid import by_loss
from bareline.report.content.strips import strip
from bareline.report.page.drawing import DrawnFigure
from bareline.vocabulary.model import Layer


@dataclass(frozen=True, slots=True)
class Section:
    """The figures of one layer: over all its probes, then by probe.

    `silent` probes gave no number anywhere. `line` says the layer in one sentence, `strip` shows it
    at a glance and chooses among its probes, `worst` at first; `told` are the sentences with their
    causes and caveats, opened on demand.
    """

    layer: str
    title: str
    whole: Sequence[DrawnFigure]
    probes: Mapping[str, Sequence[DrawnFigure]]
    silent: Sequence[str] = ()
    note: str = ""
    line: Sentence | None = None
    strip: Table | None = None
    worst: str = ""
    told: Sequence[Sentence] = ()


def layer_sections(document: Document, drawn: Sequence[DrawnFigure]) -> list[Section]:
    """Group figures by layer and, if they are of one, probe."""
    sections = []
    order = by_loss(document.findings, document.names[1:])
    for layer in Layer:
        own = [figure for figure in drawn if figure.figure.layer == layer]
        probes: dict[str, list[DrawnFigure]] = {}
        whole = [figure for figure in own if not figure.figure.probe]
        for figure in own:
            if figure.figure.probe:
                probes.setdefault(figure.figure.probe, []).append(figure)
        there = {cell.place.probe: False for cell in document.cells if cell.layer == layer}
        there |= {
            cell.place.probe: True
            for cell in document.cells
            if cell.layer == layer and cell.value is not None
        }
        silent = [probe for probe, measured in there.items() if not measured]
        if whole or probes or silent:
            note = LAYER_NOTES.get(layer, "")
            glance = document.glance
            line = layer_line(document.findings, glance.squares, layer) if glance else None
            sections.append(
                Section(
                    layer.value,
                    layer.words,
                    whole,
                    probes,
                    silent,
                    note,
                    line if line and line.parts else None,
                    strip(document.findings, layer, order),
                    _worst(document, layer, probes),
                    [told for told in document.statements if told.about is layer],
                )
            )
    return sections


def _worst(document: Document, layer: Layer, drawn: Iterable[str]) -> str:
    """Name the probe that loses most of those that are drawn; else the first."""
    lost = {
        finding.probe: finding.weight
        for finding in sorted(document.findings, key=lambda finding: finding.weight)
        if finding.layer is layer and finding.grade.told
    }
    return max(drawn, key=lambda probe: lost.get(probe, -1.0), default="")


def split_facts(document: Document) -> dict[str, list[tuple[str, str, Sequence[str]]]]:
    """Split the characteristics into different, different in detail, and equal ones.

    Values stand in the page's order of platforms.
    """
    given = [info.name for info in document.platforms]
    order = [given.index(name) for name in document.names]
    split: dict[str, list[tuple[str, str, Sequence[str]]]] = {
        name: [] for name in ("different", "details", "equal")
    }
    for fact in document.fact_rows:
        values = [fact.values[index] for index in order]
        place = "equal" if fact.equal else "details" if fact.detail else "different"
        split[place].append((fact.group, fact.label, values))
    return split
