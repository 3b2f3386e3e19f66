"""Heat strips: a layer at a glance, functions against size classes and nodes.

One strip is one platform. A cell is one finding: how many times worse its worst point is, coloured
by the logarithm; what cannot be told is hatched, what failed is crossed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bareline.analysis.amounts import ratio_words
from bareline.analysis.findings import Finding
from bareline.analysis.sizes import SizeClass
from bareline.report.content.wording import sentence_case, verdict_word
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant
from bareline.vocabulary.verdicts import Verdict

#: Shades of a colour: one more for each factor of about 2, from 10 % on.
_SHADES = (math.log(1.1), math.log(1.5), math.log(3), math.log(10))
#: What stands in a cell without a figure.
_MARKS = {
    Verdict.FAILED: "✗",
    Verdict.INCONCLUSIVE: "?",
    Verdict.MISSING: "–",
    Verdict.NOT_COMPARABLE: "≁",
    Verdict.DOES_NOT_FIT: "∅",
    Verdict.SKIPPED: "∅",
}


@dataclass(frozen=True, slots=True)
class StripCell:
    """One finding: what stands there, its look, and all of it in words."""

    text: str
    look: str
    tip: str


@dataclass(frozen=True, slots=True)
class Strip:
    """A layer on one platform.

    Attributes
    ----------
    heads
        How many columns each group of them has, with its nodes in words.
    columns
        Size classes in words, below their heads; empty where there is only one.
    rows
        What was measured, and a cell for each column; None where nothing was planned.
    """

    platform: str
    heads: tuple[tuple[str, int], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[StripCell | None, ...]], ...]


_Column = tuple[int, str, float]


def strips(findings: Sequence[Finding], layer: Layer, platforms: Iterable[str]) -> list[Strip]:
    """Give the strip of every platform on which a layer was measured; none for a single cell."""
    made = []
    for platform in platforms:
        own = [f for f in findings if f.layer is layer and f.platform == platform]
        if len(own) > 1:
            made.append(_strip(platform, own))
    return made


def _strip(platform: str, findings: Sequence[Finding]) -> Strip:
    columns = sorted({_column(finding) for finding in findings}, key=lambda c: (c[0], c[2]))
    groups = [nodes for nodes, _, _ in columns]
    titles = list(dict.fromkeys(finding.title for finding in findings))
    placed: dict[tuple[str, _Column], Finding] = {}
    for finding in findings:
        placed.setdefault((finding.title, _column(finding)), finding)
    rows = tuple(
        (
            sentence_case(title),
            tuple(_cell(placed.get((title, column))) for column in columns),
        )
        for title in titles
    )
    heads = tuple((_nodes(n), groups.count(n)) for n in dict.fromkeys(groups))
    sizes = tuple(_size(words) for _, words, _ in columns)
    return Strip(platform, heads, sizes if any(sizes) else (), rows)


def _column(finding: Finding) -> _Column:
    sizes: SizeClass | None = finding.sizes
    return (finding.nodes or 0, sizes.words if sizes else "", sizes.low if sizes else -1.0)


def _nodes(nodes: int) -> str:
    if not nodes:
        return "nodes unknown"
    return "1 node" if nodes == 1 else f"{nodes} nodes"


def _size(words: str) -> str:
    """Write a class of sizes as briefly as a column's head needs: ``< 8K``, ``8-256K``."""
    low, _, high = words.removeprefix("from ").partition(" to ")
    brief = (high or low).removeprefix("below ").replace(" KiB", "K").replace(" MiB", "M")
    if words.startswith("below"):
        return f"< {brief}"
    return f"{low}-{brief}" if high else f"≥ {brief}" if words else ""


def _cell(finding: Finding | None) -> StripCell | None:
    if finding is None:
        return None
    verdict, worst = finding.verdict, finding.worst
    point = ", ".join(filter(None, [finding.subject, finding.label(worst) if worst else ""]))
    tip = f"{point}: {verdict_word(verdict)}"
    if worst is not None and worst.ratio is not None and verdict not in _MARKS:
        tip = f"{point}: {ratio_words(worst.ratio, finding.rate)}, n = {worst.n_both}"
        return StripCell(significant(worst.ratio.value, 2), _look(worst.ratio.value, verdict), tip)
    if finding.reason:
        tip += f" ({finding.reason})"
    return StripCell(_MARKS.get(verdict, ""), verdict.value, tip)


def _look(ratio: float, verdict: Verdict) -> str:
    """Name the shade of a ratio."""
    if verdict is Verdict.EQUIVALENT:
        return "equivalent"
    size = abs(math.log(ratio))
    shade = sum(size >= end for end in _SHADES)
    return f"{'worse' if ratio > 1 else 'better'}-{shade}"
