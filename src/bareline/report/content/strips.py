"""A layer as a heat strip: every probe a row, nodes and sizes across.

Every platform has its part of each cell, next to the other platforms': how many times worse its
worst point is, coloured by the logarithm; open findings show their interval, failed ones a cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.amounts import ratio_words
from bareline.report.blocks import Column, Field, Table
from bareline.report.content.grid import (
    GRADE_MARKS,
    LEFT_OUT,
    LEFT_OUT_MARK,
    brief_sizes,
    mark_of,
    open_span,
    shade,
    span_of,
    titles_of,
)
from bareline.report.content.wording import probe_anchor, verdict_word
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, significant
from bareline.vocabulary.verdicts import Grade

#: A column of a strip: number of nodes, lower end and words of its class of sizes.
_Place = tuple[int, float, str]


def strip(findings: Sequence[Finding], layer: Layer, platforms: Sequence[str]) -> Table | None:
    """Return the strip of a layer; none where it would be a single row and column."""
    layer_findings = [finding for finding in findings if finding.layer is layer]
    measured = {finding.platform for finding in layer_findings}
    names = [name for name in platforms if name in measured]
    titles = titles_of(layer_findings)
    places = sorted({_place(finding) for finding in layer_findings})
    if len(titles) * len(places) < 2:
        return None
    probes: dict[str, str] = {}
    placed: dict[tuple[str, _Place, str], Finding] = {}
    for finding in layer_findings:
        probes.setdefault(finding.title, finding.probe)
        placed.setdefault((finding.title, _place(finding), finding.platform), finding)
    cells = list(product(places, names))
    rows = []
    for title, words in titles.items():
        parts = [_part(placed.get((title, place, name))) for place, name in cells]
        rows.append((Field(words, link=probe_anchor(probes[title])), *parts))
    return Table(
        (Column("times worse", "text"), *(Column("", "number", name) for _, name in cells)),
        tuple(rows),
        look="strip",
        groups=_groups(places, len(names)),
        label=f"{layer.words}: times worse on {', '.join(names)}",
    )


#: A row of heads over columns: the words, and the number of columns that they span.
_Heads = tuple[tuple[str, int], ...]


def _groups(places: Sequence[_Place], width: int) -> tuple[_Heads, ...]:
    """Return the heads over a strip: the nodes, and below them the sizes where there are any."""
    numbers = [number for number, _, _ in places]
    nodes = []
    for number in dict.fromkeys(numbers):
        words = count(number, "node") if number else "nodes unknown"
        nodes.append((words, width * numbers.count(number)))
    sizes = [words.replace(" KiB", "K").replace(" MiB", "M") for _, _, words in places]
    if not any(sizes):
        return (tuple(nodes),)
    return tuple(nodes), tuple((words, width) for words in sizes)


def _place(finding: Finding) -> _Place:
    nodes = finding.nodes or 0
    if finding.sizes is None:
        return nodes, -1.0, ""
    return nodes, finding.sizes.low, brief_sizes(finding.sizes.words)


def _part(finding: Finding | None) -> Field:
    """Format a cell of a strip: its ratio in a shade, an interval, or a sign, with a tip."""
    if finding is None:
        return Field("")
    grade = finding.grade
    tip = _tip(finding)
    if finding.ratio is not None and (grade.is_claim or grade is Grade.EQUAL):
        mark = mark_of(finding) if grade.is_claim else ""
        tip += f"{ratio_words(finding.ratio, finding.rate)}, n = {finding.n}"
        text = f"{mark}{significant(finding.ratio.value, 2)}"
        return Field(text, tip=tip, look=shade(finding))
    tip += verdict_word(finding.verdict)
    if finding.reason:
        tip += f" ({finding.reason})"
    if grade is Grade.OPEN:
        words = span_of([finding], 2).replace(" to ", "–")
        return Field(f"? {words}", tip=f"{tip}: {open_span(finding)}", look="open")
    mark = LEFT_OUT_MARK if finding.verdict in LEFT_OUT else GRADE_MARKS[grade]
    return Field(mark, tip=tip, look=finding.verdict.value)


def _tip(finding: Finding) -> str:
    """Begin the tip of a finding: its platform, its subject and its worst point."""
    parts = [finding.platform, finding.subject]
    if finding.worst:
        parts.append(finding.label(finding.worst))
    return f"{', '.join(filter(None, parts))}: {finding.sure_words(finding.verdict)}"
