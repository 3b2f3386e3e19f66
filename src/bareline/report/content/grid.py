"""Findings by probe and platform as a table, and a matrix of the worst finding of each layer."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.analysis.words.verdict import MatrixCell, VerdictMatrix
from bareline.report.blocks import Column, Field, Prose, Table, Tone
from bareline.report.content.wording import (
    distinct_parts,
    layer_anchor,
    outer_bound,
    sentence_case,
    verdict_word,
)
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import joined, percent, significant
from bareline.vocabulary.verdicts import Grade, Verdict

Findings = Sequence[Finding]
#: Names of platforms, in the order of display.
Platforms = Sequence[str]
#: A row of a table.
_Fields = tuple[Field, ...]

#: The sign before a ratio that is not certain, and in place of a ratio that is missing.
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
#: Verdicts of cases that did not fail: the plan left them out.
LEFT_OUT = (Verdict.DOES_NOT_FIT, Verdict.SKIPPED)
LEFT_OUT_MARK = "∅"


def layers_of(findings: Iterable[Finding]) -> list[Layer]:
    """Return the layers of the findings, sorted with applications first."""
    measured = {finding.layer for finding in findings}
    return [layer for layer in reversed(Layer) if layer in measured]


def by_loss(findings: Findings, platforms: Platforms) -> list[str]:
    """Sort platforms by their largest loss, the worst first.

    Platforms are compared by their largest loss of a program. If these are equal, the largest loss
    in any layer decides.
    """

    def loss(name: str) -> tuple[float, float]:
        most = 0.0
        most_of_programs = 0.0
        for finding in findings:
            if finding.platform != name or finding.verdict is not Verdict.SLOWER:
                continue
            most = max(most, finding.weight)
            if finding.layer in (Layer.APP, Layer.NPB):
                most_of_programs = max(most_of_programs, finding.weight)
        return most_of_programs, most

    return sorted(platforms, key=loss, reverse=True)


def legend(findings: Findings, baseline: str, margin: float) -> str:
    """Return the sentences that explain how to read the table."""
    likely = [finding for finding in findings if finding.grade is Grade.LIKELY]
    has_few_boots = any(finding.few_boots for finding in likely)
    boots = f"{_IN_THESE_BOOTS} means likely for these boots only. " if has_few_boots else ""
    undecided = [finding for finding in findings if finding.grade is Grade.OPEN]
    has_few_launches = any("(n = " in ratio_text(finding) for finding in undecided)
    text = (
        f"Each number shows how many times worse than {baseline} a platform is; below 1 it is "
        "better. A row shows its worst point, with the 95 % interval. "
        f"~ means likely, but not certain. {boots}? means undecided; the range covers all "
        "intervals of the row. Even a range above 1 can be chance among so many comparisons. "
        f"= means equal within {percent(margin)}."
    )
    if has_few_launches:
        text += " (n = 1) marks estimates of so few launches, which have no interval."
    return text


def mark_of(finding: Finding) -> str:
    """Return the sign of a finding's grade.

    A likely finding that is based on few boots of a platform has a special sign.
    """
    if finding.grade is Grade.LIKELY and finding.few_boots:
        return _IN_THESE_BOOTS
    return GRADE_MARKS[finding.grade]


def ratio_text(finding: Finding) -> str:
    """Format a finding in one column: ``1.48 [1.34, 1.68]``, ``? 0.93 to 1.25``, ``= equal``."""
    mark = mark_of(finding)
    if finding.grade.is_claim:
        return f"{mark} {_claimed_ratio(finding)}".lstrip()
    if finding.grade is Grade.EQUAL:
        return f"{mark} equal"
    if finding.grade is Grade.OPEN:
        return f"{mark} {open_span(finding)}"
    if finding.verdict in LEFT_OUT:
        mark = LEFT_OUT_MARK
    words = [mark, verdict_word(finding.verdict)]
    if finding.compared and finding.undelivered:
        words.insert(1, f"{len(finding.undelivered)} of {len(finding.points)}")
    return " ".join(words)


def _claimed_ratio(finding: Finding) -> str:
    """Format the ratio of a difference; if programs did not finish, the lower bound of the loss."""
    if finding.ratio:
        return with_interval(finding.ratio)
    lost = finding.worst.lost if finding.worst else None
    if lost is not None and lost.at_least is not None:
        return f"at least {significant(lost.at_least)}"
    return "worse"


def open_span(*findings: Finding) -> str:
    """Format the range of undecided ratios.

    If ratios have no interval, the smallest number of their trials follows.
    """
    span = span_of(findings)
    few = [finding.n for finding in findings if _has_bare_ratio(finding)]
    if few:
        return f"{span} (n = {min(few)})"
    return span


def _has_bare_ratio(finding: Finding) -> bool:
    return any(map(_is_bare, _ratios([finding])))


def _ratios(findings: Iterable[Finding]) -> list[Estimate]:
    """Return the ratios of all points of findings."""
    ratios: list[Estimate] = []
    for finding in findings:
        ratios += [point.ratio for point in finding.compared if point.ratio is not None]
    return ratios


def _is_bare(ratio: Estimate) -> bool:
    """Whether a ratio has no interval."""
    return ratio.lo is None and ratio.hi is None


def span_of(findings: Findings, digits: int = 3) -> str:
    """Format the range from the lowest to the highest ratio that the points' intervals allow."""
    ratios = _ratios(findings)
    if not ratios:
        return "no ratio"
    if any(map(_is_bare, ratios)):
        values = [ratio.value for ratio in ratios]
        return _span_text(min(values), max(values), digits)
    low = outer_bound(min, (ratio.lo for ratio in ratios))
    high = outer_bound(max, (ratio.hi for ratio in ratios))
    return _span_text(low, high, digits)


def _span_text(low: float | None, high: float | None, digits: int) -> str:
    if low is None:
        return f"at most {significant(high, digits)}" if high else "any ratio"
    if high is None or not math.isfinite(high):
        return f"at least {significant(low, digits)}" if low else "any ratio"
    low_text = significant(low, digits)
    high_text = significant(high, digits)
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def point_note(finding: Finding) -> str:
    """Name the point of a finding's ratio, e.g. ``at 32 KiB``; "" for a single point."""
    if not finding.grade.is_claim or len(finding.points) < 2:
        return ""
    if finding.by_mean:
        return "mean"
    worst = finding.worst
    label = finding.label(worst) if worst else ""
    return f"at {label}" if label else ""


#: Brief names of places.
_PLACES = {"within a node": "1 node", "between two nodes": "2 nodes"}


def subject_words(finding: Finding, titles: Mapping[str, str]) -> str:
    """Name a finding within its layer: ``MPI bandwidth, 8-256 KiB``, ``CG, 16 nodes``."""
    sizes = brief_sizes(finding.sizes.words) if finding.sizes else ""
    where = _PLACES.get(finding.where, finding.where.removeprefix("on "))
    return joined(titles[finding.title], sizes, where)


def brief_sizes(words: str) -> str:
    """Shorten the words of a class of sizes for a column head: ``< 8 KiB``, ``8-256 KiB``."""
    if not words:
        return ""
    if words.startswith("below"):
        return f"< {words.removeprefix('below ')}"
    low, _, high = words.removeprefix("from ").partition(" to ")
    if high:
        return f"{low}-{high}"
    return f"≥ {low}"


def titles_of(findings: Findings) -> dict[str, str]:
    """Return short titles of a layer's probes, without the words with which all titles begin."""
    titles = list(dict.fromkeys(finding.title for finding in findings))
    return dict(zip(titles, map(sentence_case, distinct_parts(titles)), strict=True))


def lone_platforms(findings: Findings, platforms: Platforms) -> list[str]:
    """Return the platforms that measured only one layer, if other platforms measured several."""
    measured = {(finding.platform, finding.layer) for finding in findings}
    layers = Counter(platform for platform, _ in measured)
    lone = [name for name in platforms if layers[name] < 2]
    if 1 < len(lone) < len(platforms):
        return lone
    return []


def grid(findings: Findings, platforms: Platforms) -> list[Table | Prose]:
    """Return the table of findings, with a column for each platform.

    A row is about a probe, a class of message sizes and a layout. Platforms that measured only one
    layer have no column; sentences below the table describe them.
    """
    lone = lone_platforms(findings, platforms)
    across = [name for name in platforms if name not in lone]
    blanks = [Field("")] * len(across)
    rows: list[_Fields] = []
    starts = set()
    shared: list[str] = []
    for layer in layers_of(findings):
        subjects = _subjects_of([finding for finding in findings if finding.layer is layer])
        layer_rows = [subject.row(across) for subject in subjects if subject.is_measured_on(across)]
        if layer_rows:
            starts.add(len(rows))
            rows.append((Field(layer.words, tone="bold"), *blanks))
            rows += layer_rows
        shared += [f"{layer.words} only, {line}." for line in _lines(subjects, lone)]
    columns = [Column("", "text")]
    columns += [Column(name, "whole", platform=name) for name in across]
    table = Table(tuple(columns), tuple(rows), frozenset(starts), look="glance")
    if not shared:
        return [table]
    return [table, Prose(tuple(shared))]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A row of findings: a probe with its class of sizes and its layout, e.g. "CG, 16 nodes".

    - `findings`: the finding on each platform that measured the probe with these sizes and layout.
    """

    words: str
    findings: Mapping[str, Finding]

    def is_measured_on(self, platforms: Platforms) -> bool:
        """Whether at least one of the platforms measured the subject."""
        return any(name in self.findings for name in platforms)

    def row(self, platforms: Platforms) -> _Fields:
        """Return the subject's row of a table with a column for each platform."""
        fields = [_field(self.findings.get(name)) for name in platforms]
        return (Field(f"  {self.words}"), *fields)

    def line(self, platforms: Platforms) -> str:
        """Return the subject's findings on some platforms as one line of text."""
        texts: list[str] = []
        for name in platforms:
            finding = self.findings.get(name)
            if finding is not None:
                texts.append(f"{name} {ratio_text(finding)}")
        return f"{self.words}: {', '.join(texts)}"


def _lines(subjects: Iterable[_Subject], platforms: Platforms) -> list[str]:
    """Return a line of text for each subject (probe, sizes, layout) that `platforms` measured."""
    return [subject.line(platforms) for subject in subjects if subject.is_measured_on(platforms)]


def _subjects_of(findings: Findings) -> list[_Subject]:
    """Return the subjects of one layer's findings, in the order of the findings."""
    titles = titles_of(findings)
    subjects: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        platforms = subjects.setdefault(subject_words(finding, titles), {})
        platforms.setdefault(finding.platform, finding)
    return [_Subject(words, platforms) for words, platforms in subjects.items()]


def _field(finding: Finding | None) -> Field:
    if finding is None:
        return Field("not measured", tone="muted")
    # Only certain and likely differences are red or green.
    tone: Tone = "muted"
    if finding.grade.is_claim:
        tone = "better" if finding.verdict is Verdict.FASTER else "worse"
    return Field(ratio_text(finding), tone=tone, note=point_note(finding))


#: Shades of a colour: one more for each factor of about 2, from 10 % on.
_SHADES = (math.log(1.1), math.log(1.5), math.log(3), math.log(10))


def shade(finding: Finding) -> str:
    """Return the CSS name of a finding's shade, e.g. ``worse-0`` to ``worse-4`` for a loss."""
    grade = finding.grade
    if not grade.is_claim:
        return "open" if grade is Grade.OPEN else str(grade.value)
    side = "better" if finding.verdict is Verdict.FASTER else "worse"
    size = _SHADES[-1]
    if finding.ratio:
        size = abs(math.log(finding.ratio.value))
    level = bisect_right(_SHADES, size)
    return f"{side}-{level}"


def matrix(glance: VerdictMatrix, findings: Findings, platforms: Platforms) -> Table:
    """Return the matrix of the worst finding of each layer on each platform, applications first."""
    by_place = grouped_by(findings, lambda finding: (finding.layer, finding.platform))
    rows: list[_Fields] = []
    for layer in reversed(glance.layers):
        fields = [Field(layer.words, link=layer_anchor(layer))]
        for name in platforms:
            place = (layer, name)
            square = glance.squares.get(place)
            field = Field("", note="not measured")
            if square:
                field = _square(square, by_place.get(place, []))
            fields.append(field)
        rows.append(tuple(fields))
    columns = [Column("times worse", "text")]
    columns += [Column(name, "text", platform=name) for name in platforms]
    label = "Worst by layer and platform"
    return Table(tuple(columns), tuple(rows), look="glance", label=label)


def _square(square: MatrixCell, findings: Findings) -> Field:
    """Format a cell of the matrix: its worst difference, else its undecided ratios or its grade."""
    claims = [finding for finding in findings if finding.grade.is_claim]
    if claims:
        return _claimed_square(square, claims)
    undecided = [finding for finding in findings if finding.grade is Grade.OPEN]
    if len(findings) == 1 and undecided:
        text = ratio_text(undecided[0])
        return Field(text, note=square.note, look="open", link=square.anchor)
    words = square.words.text
    if undecided and square.grade is Grade.OPEN:
        words = open_span(*undecided)
    text = f"{GRADE_MARKS[square.grade]} {words}"
    return Field(text, note=square.note, look=str(square.grade), link=square.anchor)


def _claimed_square(square: MatrixCell, claims: Findings) -> Field:
    losses = [finding for finding in claims if finding.verdict is not Verdict.FASTER]
    worst = max(losses or claims, key=_certain_then_weight)
    subject = f"{sentence_case(worst.subject)} {point_note(worst)}".rstrip()
    more = len(claims) - 1
    others = f"and {more} more" if more else ""
    note = joined(subject, others, square.note)
    return Field(ratio_text(worst), note=note, look=shade(worst), link=square.anchor)


def _certain_then_weight(finding: Finding) -> tuple[bool, Any]:
    return finding.grade is Grade.CERTAIN, finding.weight
