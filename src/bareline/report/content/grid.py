"""Every finding against every platform, in words, as a matrix of layers and as heat strips.

Every platform has its part of each cell of a strip, beside that of the others: how many times worse
its worst point is, coloured by the logarithm; what is open shows its interval, what failed is
crossed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import with_interval
from bareline.analysis.words.amounts import ratio_words
from bareline.analysis.words.verdict import Glance, Square
from bareline.report.blocks import Column, Field, Prose, Table, Tone
from bareline.report.content.wording import (
    distinct_parts,
    layer_anchor,
    outermost,
    probe_anchor,
    sentence_case,
    verdict_word,
)
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import count, percent, significant
from bareline.vocabulary.verdicts import Grade, Verdict

#: What stands before a ratio that is not certain, and in place of one that is not there.
GRADE_MARKS = {
    Grade.CERTAIN: "",
    Grade.LIKELY: "~",
    Grade.OPEN: "?",
    Grade.EQUAL: "=",
    Grade.FAILED: "✗",
    Grade.MISSING: "–",
    Grade.NOT_COMPARABLE: "≁",
}
_IN_THESE_BOOTS = "◦"
#: No finding failed: the plan left it out.
_LEFT_OUT = (Verdict.DOES_NOT_FIT, Verdict.SKIPPED)


def layers_of(findings: Iterable[Finding]) -> list[Layer]:
    """Return the layers of findings, applications first."""
    known = {finding.layer for finding in findings}
    return [layer for layer in reversed(Layer) if layer in known]


def by_loss(findings: Sequence[Finding], platforms: Sequence[str]) -> list[str]:
    """Put platforms in the order of their losses, the largest first: of programs, then of all."""

    def loss(name: str) -> tuple[float, float]:
        own = [f for f in findings if f.platform == name and f.verdict is Verdict.SLOWER]
        programs = [f.weight for f in own if f.layer in (Layer.APP, Layer.NPB)]
        return max(programs, default=0.0), max((f.weight for f in own), default=0.0)

    return sorted(platforms, key=loss, reverse=True)


def legend(findings: Sequence[Finding], baseline: str, margin: float) -> str:
    """Describe how the table is read."""
    few = any(f.grade is Grade.OPEN and "(n = " in ratio_text(f) for f in findings)
    few_boots = any(f.few_boots and f.grade is Grade.LIKELY for f in findings)
    boots = f"{_IN_THESE_BOOTS} likely in these boots alone; " if few_boots else ""
    return (
        f"Times worse than {baseline}, below 1 better, with the 95 % interval of the worst point. "
        f"~ likely, not certain; {boots}? open: between these ends; "
        f"= equal within {percent(margin)}."
        + (" (n = 1): estimates of so few launches, which have no interval." if few else "")
    )


def mark_of(finding: Finding) -> str:
    """Return the sign of a finding's grade; what is likely in these boots alone has its own."""
    if finding.grade is Grade.LIKELY and finding.few_boots:
        return _IN_THESE_BOOTS
    return GRADE_MARKS[finding.grade]


def ratio_text(finding: Finding) -> str:
    """Write a finding in one column: ``1.48 [1.34, 1.68]``, ``? 0.93 to 1.25``, ``= equal``."""
    grade, verdict = finding.grade, finding.verdict
    mark = mark_of(finding)
    if grade.is_claim:
        ratio = finding.ratio
        text = with_interval(ratio) if ratio else "worse"
        lost = finding.worst.lost if finding.worst else None
        if ratio is None and lost is not None and lost.at_least is not None:
            text = f"at least {significant(lost.at_least)}"
        return f"{mark} {text}".lstrip()
    if grade is Grade.EQUAL:
        return f"{mark} equal"
    if grade is Grade.OPEN:
        return f"{mark} {open_span(finding)}"
    done = f"{len(finding.undelivered)} of {len(finding.points)} "
    partly = done if finding.compared and finding.undelivered else ""
    return f"{'∅' if verdict in _LEFT_OUT else mark} {partly}{verdict_word(verdict)}"


def open_span(*findings: Finding) -> str:
    """Format between which ratios all points of open findings may lie, or of how few launches."""
    bare = [
        finding.n
        for finding in findings
        if any(p.ratio and p.ratio.lo is None and p.ratio.hi is None for p in finding.compared)
    ]
    return span_of(findings) + (f" (n = {min(bare)})" if bare else "")


def span_of(findings: Sequence[Finding], digits: int = 3) -> str:
    """Format between which ratios the points of findings may lie."""
    points = (point.ratio for finding in findings for point in finding.compared)
    ratios = [ratio for ratio in points if ratio is not None]
    if not ratios:
        return "no ratio"
    bare = any(ratio.lo is None and ratio.hi is None for ratio in ratios)
    low = outermost(min, (ratio.value if bare else ratio.lo for ratio in ratios))
    high = outermost(max, (ratio.value if bare else ratio.hi for ratio in ratios))
    if low is None or high is None or not math.isfinite(high):
        end, word = (high, "at most") if low is None else (low, "at least")
        return f"{word} {significant(end, digits)}" if end else "any ratio"
    low_text, high_text = significant(low, digits), significant(high, digits)
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def point_note(finding: Finding) -> str:
    """Describe which point its ratio is of, where it has several: ``at 32 KiB``."""
    if not finding.grade.is_claim or len(finding.points) < 2:
        return ""
    if finding.by_mean:
        return "mean"
    worst = finding.worst
    label = finding.label(worst) if worst else ""
    return f"at {label}" if label else ""


def subject_words(finding: Finding, titles: Mapping[str, str]) -> str:
    """Name a finding within its layer: ``MPI bandwidth, 8-256 KiB``, ``CG, 16 nodes``."""
    sizes = brief_sizes(finding.sizes.words) if finding.sizes else ""
    known = {"within a node": "1 node", "between two nodes": "2 nodes"}
    where = known.get(finding.where, finding.where.removeprefix("on "))
    return ", ".join(filter(None, [titles[finding.title], sizes, where]))


def brief_sizes(words: str) -> str:
    """Write a class of sizes as briefly as a head needs: ``< 8 KiB``, ``8-256 KiB``."""
    low, _, high = words.removeprefix("from ").partition(" to ")
    if words.startswith("below"):
        return f"< {words.removeprefix('below ')}"
    return f"{low}-{high}" if high else f"≥ {low}" if words else ""


def titles_of(findings: Sequence[Finding]) -> dict[str, str]:
    """Shorten the titles of a layer's probes to what tells them apart."""
    titles = list(dict.fromkeys(finding.title for finding in findings))
    return dict(zip(titles, map(sentence_case, distinct_parts(titles)), strict=True))


def lone_platforms(findings: Sequence[Finding], platforms: Sequence[str]) -> list[str]:
    """Return the platforms that measured a single layer, where others measured more."""
    layers = {name: {f.layer for f in findings if f.platform == name} for name in platforms}
    lone = [name for name in platforms if len(layers[name]) < 2]
    return lone if 1 < len(lone) < len(platforms) else []


def grid(findings: Sequence[Finding], platforms: Sequence[str]) -> list[Table | Prose]:
    """Lay out layers, probes and classes by platform; platforms of one layer share a line below."""
    lone = lone_platforms(findings, platforms)
    across = [name for name in platforms if name not in lone]
    rows: list[tuple[Field, ...]] = []
    starts, shared = set(), []
    for layer in layers_of(findings):
        own = [finding for finding in findings if finding.layer is layer]
        titles = titles_of(own)
        known = {(subject_words(f, titles), f.platform): f for f in reversed(own)}
        subjects = dict.fromkeys(subject_words(f, titles) for f in own)
        own_subjects = [s for s in subjects if any((s, name) in known for name in across)]
        if own_subjects:
            starts.add(len(rows))
            rows.append((Field(layer.words, tone="bold"), *(Field("") for _ in across)))
        for subject in own_subjects:
            fields = [_field(known.get((subject, name))) for name in across]
            rows.append((Field(f"  {subject}"), *fields))
        for subject in subjects:
            texts = [f"{name} {_field(known[subject, name]).plain}" for name in lone
                    if (subject, name) in known]  # fmt: skip
            shared += [f"{layer.words} only, {subject}: {', '.join(texts)}."] if texts else []
    heads = (Column("", "text"), *(Column(name, "whole", platform=name) for name in across))
    table = Table(heads, tuple(rows), frozenset(starts), look="glance")
    return [table, Prose(tuple(shared))] if shared else [table]


def _field(finding: Finding | None) -> Field:
    if finding is None:
        return Field("not measured", tone="muted")
    # Red and green are for what is claimed.
    tone: Tone = "better" if finding.verdict is Verdict.FASTER else "worse"
    tone = tone if finding.grade.is_claim else "muted"
    return Field(ratio_text(finding), tone=tone, note=point_note(finding))


#: Shades of a colour: one more for each factor of about 2, from 10 % on.
_SHADES = (math.log(1.1), math.log(1.5), math.log(3), math.log(10))
#: What two nodes and a class of sizes are told apart by.
_Place = tuple[int, float, str]


def strip(findings: Sequence[Finding], layer: Layer, platforms: Sequence[str]) -> Table | None:
    """Return the strip of a layer; none where it would be a single row and column."""
    own = [finding for finding in findings if finding.layer is layer]
    there = [name for name in platforms if any(finding.platform == name for finding in own)]
    titles = titles_of(own)
    columns = sorted({_place(finding) for finding in own})
    if len(titles) * len(columns) < 2:
        return None
    placed = {(f.title, _place(f), f.platform): f for f in reversed(own)}
    rows = []
    for title, words in titles.items():
        probe = next(finding.probe for finding in own if finding.title == title)
        own_parts = (_part(placed.get((title, at, name))) for at in columns for name in there)
        rows.append((Field(words, link=probe_anchor(probe)), *own_parts))
    parts = (Column("", "number", name) for _ in columns for name in there)
    return Table(
        (Column("times worse", "text"), *parts),
        tuple(rows),
        look="strip",
        groups=_groups(columns, len(there)),
        label=f"{layer.words}: times worse on {', '.join(there)}",
    )


def _groups(columns: Sequence[_Place], width: int) -> tuple[tuple[tuple[str, int], ...], ...]:
    nodes = [number for number, _, _ in columns]
    upper = tuple(
        (count(number, "node") if number else "nodes unknown", width * nodes.count(number))
        for number in dict.fromkeys(nodes)
    )
    sizes = [words.replace(" KiB", "K").replace(" MiB", "M") for _, _, words in columns]
    return (upper, tuple((words, width) for words in sizes)) if any(sizes) else (upper,)


def _place(finding: Finding) -> _Place:
    sizes = finding.sizes
    low, words = (sizes.low, brief_sizes(sizes.words)) if sizes else (-1.0, "")
    return (finding.nodes or 0, low, words)


def _part(finding: Finding | None) -> Field:
    if finding is None:
        return Field("")
    grade, verdict, worst = finding.grade, finding.verdict, finding.worst
    point = ", ".join(filter(None, [finding.subject, finding.label(worst) if worst else ""]))
    tip = f"{finding.platform}, {point}: {finding.sure_words(verdict)}"
    ratio = finding.ratio
    if ratio is not None and (grade.is_claim or grade is Grade.EQUAL):
        text = f"{mark_of(finding) if grade.is_claim else ''}{significant(ratio.value, 2)}"
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
    if not grade.is_claim:
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
    claims = [finding for finding in findings if finding.grade.is_claim]
    losses = [finding for finding in claims if finding.verdict is not Verdict.FASTER]
    if claims:
        worst = max(losses or claims, key=lambda f: (f.grade is Grade.CERTAIN, f.weight))
        more = f"and {len(claims) - 1} more" if len(claims) > 1 else ""
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
