"""Heat strips: a layer at a glance, functions against size classes and nodes.

Every platform has its part of each cell, beside that of the others. A part is one finding: how many
times worse its worst point is, coloured by the logarithm; what is open shows its interval, what
failed is crossed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.amounts import ratio_words
from bareline.analysis.words.verdict import Glance, Square
from bareline.report.blocks.table import Column, Field, Table
from bareline.report.content.anchors import layer_anchor, probe_anchor
from bareline.report.content.grid import (
    GRADE_MARKS,
    brief_sizes,
    open_span,
    point_note,
    ratio_text,
    span_of,
    titles_of,
)
from bareline.report.content.wording import sentence_case, verdict_word
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, significant
from bareline.vocabulary.verdicts import Grade, Verdict

#: Shades of a colour: one more for each factor of about 2, from 10 % on.
_SHADES = (math.log(1.1), math.log(1.5), math.log(3), math.log(10))
_LEFT_OUT = (Verdict.DOES_NOT_FIT, Verdict.SKIPPED)
#: What two nodes and a class of sizes are told apart by.
_Column = tuple[int, float, str]


def strip(findings: Sequence[Finding], layer: Layer, platforms: Sequence[str]) -> Table | None:
    """Give the strip of a layer; none where it would be a single row and column."""
    own = [finding for finding in findings if finding.layer is layer]
    there = [name for name in platforms if any(finding.platform == name for finding in own)]
    titles = titles_of(own)
    columns = sorted({_column(finding) for finding in own})
    if len(titles) * len(columns) < 2:
        return None
    placed = {(f.title, _column(f), f.platform): f for f in reversed(own)}
    rows = []
    for title, words in titles.items():
        probe = next(finding.probe for finding in own if finding.title == title)
        parts = [_part(placed.get((title, at, name))) for at in columns for name in there]
        rows.append((Field(words, link=probe_anchor(probe)), *parts))
    heads = (
        Column("times worse", "text"),
        *(Column("", platform=n) for _ in columns for n in there),
    )
    return Table(
        heads,
        tuple(rows),
        look="strip",
        groups=_groups(columns, len(there)),
        label=f"{layer.words}: times worse on {', '.join(there)}",
    )


def _groups(columns: Sequence[_Column], width: int) -> tuple[tuple[tuple[str, int], ...], ...]:
    """Give the rows of heads: nodes, and below them classes of sizes where there are any."""
    nodes = [number for number, _, _ in columns]
    upper = tuple(
        (count(number, "node") if number else "nodes unknown", width * nodes.count(number))
        for number in dict.fromkeys(nodes)
    )
    lower = tuple(
        (words.replace(" KiB", "K").replace(" MiB", "M"), width) for _, _, words in columns
    )
    return (upper, lower) if any(words for words, _ in lower) else (upper,)


def _column(finding: Finding) -> _Column:
    sizes = finding.sizes
    low, words = (sizes.low, brief_sizes(sizes.words)) if sizes else (-1.0, "")
    return (finding.nodes or 0, low, words)


def _part(finding: Finding | None) -> Field:
    if finding is None:
        return Field("")
    grade, verdict, worst = finding.grade, finding.verdict, finding.worst
    point = ", ".join(filter(None, [finding.subject, finding.label(worst) if worst else ""]))
    tip = f"{finding.platform}, {point}: {'likely ' if grade is Grade.LIKELY else ''}"
    ratio = finding.ratio
    if ratio is not None and (grade.told or grade is Grade.EQUAL):
        text = f"{GRADE_MARKS[grade] if grade.told else ''}{significant(ratio.value, 2)}"
        tip += f"{ratio_words(ratio, finding.rate)}, n = {finding.n}"
        return Field(text, tip=tip, look=shade(finding))
    tip += verdict_word(verdict) + (f" ({finding.reason})" if finding.reason else "")
    if grade is Grade.OPEN:
        words = span_of([finding], 2).replace(" to ", "–")
        return Field(f"? {words}", tip=f"{tip}: {open_span(finding)}", look="open")
    mark = "∅" if verdict in _LEFT_OUT else GRADE_MARKS[grade]
    return Field(mark, tip=tip, look=verdict.value)


def shade(finding: Finding) -> str:
    """Name the shade of what a finding says, ``worse-0`` to ``worse-4``."""
    grade = finding.grade
    if not grade.told:
        return "open" if grade is Grade.OPEN else str(grade.value)
    ratio = finding.ratio
    size = abs(math.log(ratio.value)) if ratio else _SHADES[-1]
    side = "better" if finding.verdict is Verdict.FASTER else "worse"
    return f"{side}-{sum(size >= end for end in _SHADES)}"


def matrix(glance: Glance, findings: Sequence[Finding], platforms: Sequence[str]) -> Table:
    """Lay out the worst of each layer, applications first, on each platform."""
    rows = []
    for layer in reversed(glance.layers):
        parts = []
        for name in platforms:
            own = [f for f in findings if f.layer is layer and f.platform == name]
            square = glance.squares.get((layer, name))
            parts.append(_square(square, own) if square else Field("", note="not measured"))
        rows.append((Field(layer.words, link=layer_anchor(layer)), *parts))
    heads = (Column("times worse", "text"), *(Column(n, "text", platform=n) for n in platforms))
    return Table(heads, tuple(rows), look="glance", label="Worst by layer and platform")


def _square(square: Square, findings: Sequence[Finding]) -> Field:
    """Write the worst of a layer as the grid does, and below it of what it is."""
    told = [finding for finding in findings if finding.grade.told]
    losses = [finding for finding in told if finding.verdict is not Verdict.FASTER]
    if told:
        worst = max(losses or told, key=lambda f: (f.grade is Grade.CERTAIN, f.weight))
        more = f"and {len(told) - 1} more" if len(told) > 1 else ""
        notes = [f"{sentence_case(worst.subject)} {point_note(worst)}".rstrip(), more, square.note]
        return Field(
            ratio_text(worst), note=", ".join(filter(None, notes)), look=shade(worst),
            link=square.anchor,
        )  # fmt: skip
    undecided = [finding for finding in findings if finding.grade is Grade.OPEN]
    if len(undecided) == len(findings) == 1:
        (one,) = undecided
        return Field(ratio_text(one), note=square.note, look="open", link=square.anchor)
    mark = GRADE_MARKS[square.grade]
    words = square.words.text
    if undecided and square.grade is Grade.OPEN:
        words = open_span(*undecided)
    return Field(f"{mark} {words}", note=square.note, look=str(square.grade), link=square.anchor)
