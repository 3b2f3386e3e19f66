"""The heat strip of a layer: a row for each probe, a column for each number of nodes and size.

Each cell has a part for each platform. The part shows how many times worse the platform's worst
point is; its colour depends on the logarithm of this ratio. An undecided finding shows its
interval, and a failed finding a cross.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, joined, significant
from bareline.vocabulary.verdicts import Grade


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """A column of a heat strip: a number of nodes and a class of message sizes.

    - `nodes`: 0 if the number is unknown.
    - `low`: the least size of the class; -1 for a column without sizes.
    - `words`: the class in words, e.g. ``8-256 KiB``; "" for a column without sizes.
    """

    nodes: int
    low: float
    words: str

    @classmethod
    def of(cls, finding: Finding) -> _Place:
        """Return the column of a finding."""
        nodes = finding.nodes or 0
        if finding.sizes is None:
            return cls(nodes, -1.0, "")
        return cls(nodes, finding.sizes.low, brief_sizes(finding.sizes.words))


def strip(findings: Sequence[Finding], layer: Layer, platforms: Sequence[str]) -> Table | None:
    """Return the heat strip of a layer; None if it would have a single row and column."""
    layer_findings = [finding for finding in findings if finding.layer is layer]
    measured = {finding.platform for finding in layer_findings}
    names = [name for name in platforms if name in measured]
    places = sorted(set(map(_Place.of, layer_findings)))
    cells = list(product(places, names))
    columns = [Column("times worse", "text")]
    columns += [Column("", "number", name) for _, name in cells]
    titles = titles_of(layer_findings)
    if len(titles) * len(places) < 2:
        return None
    rows = []
    by_title = grouped_by(layer_findings, lambda finding: finding.title)
    for title, title_findings in by_title.items():
        head = Field(titles[title], link=probe_anchor(title_findings[0].probe))
        rows.append((head, *_parts(title_findings, cells)))
    return Table(
        tuple(columns),
        tuple(rows),
        look="strip",
        groups=_groups(places, len(names)),
        label=f"{layer.words}: times worse on {', '.join(names)}",
    )


def _parts(findings: Sequence[Finding], cells: Sequence[tuple[_Place, str]]) -> Iterator[Field]:
    """Yield a field for each of `cells`, which are pairs of a column and a platform.

    The field shows the first finding of the pair. It is blank if there is none.
    """
    fields: dict[tuple[_Place, str], Field] = {}
    for finding in findings:
        cell = (_Place.of(finding), finding.platform)
        if cell not in fields:
            fields[cell] = _part(finding)
    blank = Field("")
    for cell in cells:
        yield fields.get(cell, blank)


#: A row of heads over columns: the words, and the number of columns that they span.
_Heads = tuple[tuple[str, int], ...]


def _groups(places: Sequence[_Place], width: int) -> tuple[_Heads, ...]:
    """Return the heads over a strip: the nodes, and below them the sizes if there are any."""
    nodes: list[tuple[str, int]] = []
    sizes: list[tuple[str, int]] = []
    columns = Counter(place.nodes for place in places)
    for number, columns_of_number in columns.items():
        words = count(number, "node") if number else "nodes unknown"
        nodes.append((words, width * columns_of_number))
    for place in places:
        words = place.words.replace(" KiB", "K").replace(" MiB", "M")
        sizes.append((words, width))
    if any(place.words for place in places):
        return (tuple(nodes), tuple(sizes))
    return (tuple(nodes),)


def _part(finding: Finding) -> Field:
    """Format a finding as a part of a cell: a shaded ratio, an interval or a sign."""
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
    """Return the start of a finding's tooltip: its platform, its subject and its worst point."""
    point = finding.label(finding.worst) if finding.worst else ""
    place = joined(finding.platform, finding.subject, point)
    return f"{place}: {finding.sure_words(finding.verdict)}"
