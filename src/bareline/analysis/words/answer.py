"""The answer: one clause per platform, the study's question first, then every other loss.

Platforms are in order of loss. The study's question comes first; then the other layers that are
worse, gains, launches that did not end, and open rows with their own interval. Without
a question each layer's worst is named. "Equal" is written only where every planned point is equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.breakdown import Breakdown
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import Predicted, application_of
from bareline.analysis.numbers.row import Estimate, Row
from bareline.analysis.words.amounts import (
    Form,
    amount_pieces,
    at_most,
    mean_pieces,
    outlook_words,
    reach,
)
from bareline.analysis.words.parts import (
    Amount,
    Break,
    Interval,
    Piece,
    Platform,
    Sentence,
    joined,
    platforms_named,
    sentence,
)
from bareline.analysis.words.remarks import (
    disturbances,
    failed_cases,
    incomparable,
    launches_words,
    layer_name,
    one_machine,
    seen_range,
    simulations,
    undecided_yet,
)
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import nodes_words
from bareline.vocabulary.units import format_value, listing, percent, significant
from bareline.vocabulary.verdicts import MIN_LAUNCHES, DecisionRule, Grade, Verdict

#: The most losses with figures where nothing was asked, and the most names of lost cases.
_MOST_LOSSES = 3
_MOST_NAMES = 4
#: With more platforms than these a clause has figures only: the matrix below has the rest.
_MOST_PLATFORMS = 3
_NAMES = {Layer.APP: "applications", Layer.NPB: "NAS benchmarks"}
#: A piece of the extra time below this share of the baseline's is not named.
_TOLD_FROM = 0.01

_Clause = list[Piece]


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """The basis of an answer: findings, cells that the question names, and their explanations."""

    findings: Sequence[Finding]
    cells: Sequence[Row]
    margin: float
    breakdowns: Sequence[Breakdown] = ()
    predicted: Predicted | None = None
    with_nodes: bool = False  #: Names need the nodes: not all ran on as many.

    def of(self, platform: str) -> AnswerScope:
        """Return the part of one platform."""
        return replace(
            self,
            findings=[finding for finding in self.findings if finding.platform == platform],
            cells=[cell for cell in self.cells if cell.platform == platform],
            breakdowns=[one for one in self.breakdowns if one.cell.platform == platform],
            with_nodes=len({finding.nodes for finding in self.findings if finding.compared}) > 1,
        )

    @property
    def means(self) -> list[Finding]:
        """The findings that were asked about and differ in the mean only."""
        asked = {(cell.platform, cell.place) for cell in self.cells}
        return [
            finding
            for finding in self.findings
            if finding.by_mean and any((p.platform, p.place) in asked for p in finding.points)
        ]

    def where(self, finding: Finding) -> str:
        """Name a finding, with its nodes where not all ran on as many."""
        where = "" if finding.where or not self.with_nodes else nodes_words(finding.nodes)
        return f"{finding.subject} {where}".rstrip()

    def name(self, cell: Row) -> str:
        """Name a cell by its probe, metric and point, and its nodes if findings differ in them."""
        own = [f for f in self.findings if f.probe == cell.place.probe]
        if not own:
            return cell.place.probe
        exactly = (f for f in own if any(p.place == cell.place for p in f.points))
        finding = next(exactly, own[0])
        several = len({f.nodes for f in own}) > 1
        where = nodes_words(finding.nodes) if several and not finding.where else ""
        metric = "" if cell.headline else cell.place.metric.replace("_", " ")
        return " ".join(filter(None, [finding.title, metric, finding.label(cell), where]))

    @property
    def size(self) -> tuple[float, float]:
        """The largest loss among the asked cells, and among all points, for ordering platforms."""
        asked = (cell.size for cell in self.cells if cell.verdict is Verdict.SLOWER)
        every = (p.size for f in self.findings for p in f.points if p.verdict is Verdict.SLOWER)
        return max(asked, default=0.0), max(every, default=0.0)


def answer(asked: AnswerScope, platforms: Sequence[str], baseline: str) -> Sentence:
    """Answer the question for each platform, the platforms with the largest losses first."""
    brief = len(platforms) > _MOST_PLATFORMS
    alike: dict[Sentence, list[str]] = {}
    measured = {finding.platform for finding in asked.findings}
    own = {name: asked.of(name) for name in platforms}
    for name in sorted(platforms, key=lambda name: own[name].size, reverse=True):
        if name in measured:  # a platform with any finding is never left out
            words = _of_platform(own[name], brief=brief) or ["nothing could be compared"]
            alike.setdefault(sentence(*words), []).append(name)
    clauses: list[_Clause] = [
        ["on ", *platforms_named(names), ": ", *words.parts] for words, names in alike.items()
    ]
    body = joined(clauses or [["nothing could be compared"]], between=Break(), last=Break())
    noise = "".join(f"; {text}" for text in disturbances(asked.findings))
    against: _Clause = ["compared with ", Platform(baseline)]
    failed = failed_cases(asked.findings, baseline=True)
    against.append(f", where {failed[0]} of {failed[1]} cases failed" if failed[0] else "")
    against += simulations(asked.findings, platforms, baseline)
    return sentence(*body, Break(), *against, f"{noise}{one_machine(asked.findings)}.")


def _of_platform(own: AnswerScope, *, brief: bool) -> _Clause:
    losses = [cell for cell in own.cells if cell.verdict is Verdict.SLOWER]
    gains = [cell for cell in own.cells if cell.verdict is Verdict.FASTER]
    parts = _programs(own, losses, worse=True, brief=brief)
    parts += [_change(own, finding, finding.verdict) for finding in own.means]
    parts += _open(own)
    asked = {(cell.layer, cell.place.probe) for cell in (*losses, *gains)}
    asked |= {(finding.layer, finding.probe) for finding in own.means}
    also = bool(losses) or any(f.verdict is Verdict.SLOWER for f in own.means)
    parts += _layers(own, Verdict.SLOWER, asked, also=also)
    parts += _programs(own, gains, worse=False, brief=brief)
    also = bool(gains) or any(f.verdict is Verdict.FASTER for f in own.means)
    parts += _layers(own, Verdict.FASTER, asked, also=also)
    parts += _undelivered(own)
    parts += _crashes(own)
    parts += _rest(own, whole=not parts)
    parts += [
        [f"{listing(list(dict.fromkeys(layers)))} not comparable ({reason})"]
        for reason, layers in incomparable(own.findings).items()
    ]
    if skipped := dict.fromkeys(f.title for f in own.findings if f.verdict is Verdict.SKIPPED):
        parts.append([f"skipped: {listing(list(skipped))}"])
    return joined(parts, between="; ", last="; ")


def _programs(own: AnswerScope, cells: Sequence[Row], *, worse: bool, brief: bool) -> list[_Clause]:
    parts = []
    ended = [c for c in cells if c.ratio is not None and not (c.lost and c.lost.by_loss)]
    for layer in dict.fromkeys(cell.layer for cell in ended):
        group = [cell for cell in ended if cell.layer is layer]
        group.sort(key=lambda cell: (cell.grade is not Grade.CERTAIN, -cell.size))
        worst = max(group, key=lambda cell: cell.size)
        because = _because(own, worst) if worse and not brief else ""
        parts.append([*_figures(own, layer, group, worst), because])
    lost = [cell for cell in cells if cell not in ended]
    if len(lost) == 1:
        program = f"{own.name(lost[0])} is {lost[0].sure_words}"
        parts.append([program, *amount_pieces(lost, lost[0].rate)])
    elif lost:
        names = list(dict.fromkeys(own.name(cell) for cell in lost))
        every = len({cell.place for cell in own.cells})
        where = "" if worse else " on the baseline"
        listed = f" ({listing(names)})" if len(names) <= _MOST_NAMES else ""
        parts.append([Amount(f"{len(lost)} of {every} did not finish"), where, listed])
    return parts


def _figures(own: AnswerScope, layer: Layer, group: Sequence[Row], worst: Row) -> _Clause:
    assert worst.ratio is not None
    every = [cell for cell in own.cells if cell.layer is layer]
    likely = sum(cell.grade is Grade.LIKELY for cell in group)
    sure = worst.sure_words if likely == len(group) else ""
    # The ratio is of pairs: the quotient of two medians would be another number.
    base = ""
    if worst.base is not None:
        base = f" ({worst.baseline} {format_value(worst.base.value, worst.metric.unit)})"
    if len(group) == 1:
        some = "" if len(every) == 1 else f"1 of {len(every)}: "
        return [f"{some}{own.name(worst)} ", *_takes(worst.ratio, worst.rate, sure), base]
    noun = _NAMES.get(layer, "points")
    some = "all" if len(group) == len(every) else f"{len(group)} of {len(every)}"
    aside = f", {likely} of them likely" if 0 < likely < len(group) else ""
    clause = [f"{some} {noun} are {sure}", *amount_pieces(group, worst.rate), aside]
    return [*clause, f", {own.name(worst)} the most{base}"]


def _takes(ratio: Estimate, rate: bool, sure: str) -> _Clause:
    """Describe a ratio of a time as people do: ``takes 1.48 times as long [1.34, 1.68]``."""
    form = Form.of(ratio.value, rate)
    if rate or not form.unit.startswith("times") or ratio.value < 1:
        return [f"is {sure}", Amount(form.text(ratio.value)), *form.bounds(ratio, ratio.value > 1)]
    amount = Amount(f"takes {significant(ratio.value)} times as long")
    bounds = [end and significant(end) for end in (ratio.lo, ratio.hi)]
    return [sure, amount, " ", Interval(bounds[0] or "-", bounds[1] or "unlimited")]


def _because(own: AnswerScope, worst: Row) -> str:
    one = next((one for one in own.breakdowns if one.cell.place == worst.place), None)
    reason = ""
    if one is not None and one.largest is not None and one.largest.extra >= _TOLD_FROM:
        reason = f", most of it {one.largest.call or one.largest.name}"
    predicted = (own.predicted or {}).get((worst.platform, application_of(worst.place)))
    return reason + ("" if predicted is None else f", predicted {format_value(predicted, 's')}")


def _layers(
    own: AnswerScope, verdict: Verdict, asked: set[tuple[Layer, str]], *, also: bool
) -> list[_Clause]:
    """Describe which other layers differ; `also`: the asked rows have differed in the same way."""
    largest = _largest_changes(own, verdict, asked)
    how = "worse" if verdict is Verdict.SLOWER else "better"
    if not own.cells:
        if verdict is Verdict.FASTER:
            largest = [finding for finding in largest if not _is_described_as_mixed(own, finding)]
        clauses = [_change(own, finding, verdict) for finding in largest[:_MOST_LOSSES]]
        if rest := largest[_MOST_LOSSES:]:
            noun = "layer" if len(rest) == 1 else "layers"
            names = listing([layer_name(finding.layer) for finding in rest])
            clauses.append([f"{len(rest)} more {noun} {how} ({names})"])
        return clauses
    if not largest:
        return []
    pieces: list[_Clause] = [
        [f"{layer_name(finding.layer)} ", *_amount(finding, verdict, direction=False)]
        for finding in largest
    ]
    head = f"also {how}" if also else how
    return [[f"{head}: ", *joined(pieces, last=", ")]]


def _largest_changes(
    own: AnswerScope, verdict: Verdict, asked: set[tuple[Layer, str]]
) -> list[Finding]:
    """Return the finding of each layer that changes most in a direction, certain ones first."""

    def rank(finding: Finding) -> tuple[bool, float]:
        return finding.grade_toward(verdict) is Grade.CERTAIN, finding.weight

    by_layer: dict[Layer, list[Finding]] = {}
    for finding in own.findings:
        differs = finding.of(verdict) or (finding.by_mean and finding.verdict is verdict)
        if differs and (finding.layer, finding.probe) not in asked:
            by_layer.setdefault(finding.layer, []).append(finding)
    return sorted((max(group, key=rank) for group in by_layer.values()), key=rank, reverse=True)


def _is_described_as_mixed(own: AnswerScope, finding: Finding) -> bool:
    """Whether the clause of its loss also describes its gain."""
    if finding.verdict is not Verdict.MIXED:
        return False
    losses = _largest_changes(own, Verdict.SLOWER, set())[:_MOST_LOSSES]
    return any(loss is finding for loss in losses)


def _amount(finding: Finding, verdict: Verdict, *, direction: bool = True) -> _Clause:
    sure = finding.sure_words(verdict)
    if finding.by_mean:
        return [sure, *mean_pieces(finding, bounded=False)]
    several, first = len(finding.points) > 1, finding.of(verdict)[0]
    return [sure, *at_most(first, finding.rate, of_several=several, direction=direction)]


def _change(own: AnswerScope, finding: Finding, verdict: Verdict) -> _Clause:
    """Describe the largest change of a finding; the gain as well where it has both."""
    name = f"{own.where(finding)} "
    if verdict is not Verdict.SLOWER or finding.verdict is not Verdict.MIXED:
        return [name, *_amount(finding, verdict)]
    sides = (Verdict.SLOWER, Verdict.FASTER)
    return [name, *joined([_change_at_some_points(finding, side) for side in sides])]


def _change_at_some_points(finding: Finding, verdict: Verdict) -> _Clause:
    """Describe one direction of a mixed finding: ``up to 1.30 times slower at 2 of 5 points``."""
    points = finding.of(verdict)
    label = finding.label(points[0]) if len(points) == 1 else ""
    place = label or f"{len(points)} of {len(finding.compared)} points"
    amount = at_most(points[0], finding.rate, of_several=len(points) > 1, direction=True)
    return [finding.sure_words(verdict), *amount, f" at {place}"]


def _undelivered(own: AnswerScope) -> list[_Clause]:
    parts: list[_Clause] = []
    failed, every = failed_cases(own.findings)
    if failed:
        points = [(f.title, p) for f in own.findings for p in f.points]
        lost = (title for title, p in points if p.verdict is Verdict.FAILED and not p.n)
        names = list(dict.fromkeys(lost))
        listed = f" ({listing(names)})" if len(names) <= _MOST_NAMES and failed < every else ""
        parts.append([f"{failed} of {every} cases failed{listed}"])
    missing = [p for f in own.findings for p in f.points if p.verdict is Verdict.MISSING]
    if missing:
        total = sum(len(finding.points) for finding in own.findings)
        reasons = {point.reason for point in missing}
        # One reason for all is the answer: other ranks, or ranks that are not known.
        why = f" ({reasons.pop()})" if len(reasons) == 1 and missing[0].other_ranks else ""
        parts.append([f"{len(missing)} of {total} points missing{why}"])
    return parts


def _crashes(own: AnswerScope) -> list[_Clause]:
    """Describe how many launches lost a part of the compared results: all, or some sizes."""
    found: dict[tuple[str, bool], tuple[int, int]] = {}
    for finding in own.findings:
        for point in finding.compared:
            lost = point.lost
            if lost is not None and not lost.by_loss:
                some, every = lost.ended_badly(worse=True)
                key = finding.title, lost.by_points and not lost.crashed
                if some > found.get(key, (0, 0))[0]:
                    found[key] = (some, every)
    parts: list[_Clause] = []
    for cut, verb in ((False, "did not finish"), (True, "left out sizes for lack of time")):
        names = [
            f"{some} of {every} launches of {name}"
            for (name, of), (some, every) in found.items()
            if of is cut
        ]
        if len(names) > _MOST_NAMES:
            parts.append([f"launches of {len(names)} probes {verb}"])
        elif names:
            parts.append([Amount(f"{listing(names)} {verb}")])
    return parts


def _rest(own: AnswerScope, *, whole: bool) -> list[_Clause]:
    compared = [finding for finding in own.findings if finding.compared]
    few = [finding for finding in compared if undecided_yet(finding)]
    if few and len(few) == len(compared):  # described, the farthest first
        every = sorted(few, key=lambda finding: finding.weight, reverse=True)
        ranges = [text for finding in every[:2] if (text := seen_range(finding))]
        more = f"; {len(every) - 2} more" if len(every) > 2 else ""
        seen = f": {'; '.join(ranges)}{more}" if ranges else ""
        return [[f"{launches_words(few)}, not judged", seen]]
    cells = [cell for cell in own.cells if cell.compared]
    equal = [cell for cell in cells if cell.grade is Grade.EQUAL]
    points = [point for finding in compared for point in finding.points]
    grades = Counter(point.grade for point in points)
    alike = f"equal within {percent(own.margin)}"
    if whole and points and grades[Grade.EQUAL] == len(points):
        return [[Amount(f"no difference above {percent(own.margin)}")]]
    if equal:
        name = own.name(equal[0]) if len(equal) == 1 else f"{len(equal)} of {len(cells)}"
        return [[f"{name} ", Amount(alike)]]
    if not whole:
        return []
    shown, same = grades[Grade.OPEN], grades[Grade.EQUAL]
    counts = [f"no difference shown at {shown} of {len(points)} points"] if shown else []
    counts += [f"{same} {alike}"] if same else []
    return [[", ".join(counts)]] if counts else []


def _open(own: AnswerScope) -> list[_Clause]:
    by_mean = {point.place for finding in own.means for point in finding.points}
    cells = [
        cell
        for cell in own.cells
        if cell.grade is Grade.OPEN and cell.place not in by_mean
        if cell.n_both >= MIN_LAUNCHES or cell.exact
    ]
    if not cells:
        return []
    widest = max(cells, key=lambda cell: (cell.ratio.hi or 0.0) if cell.ratio else 0.0)
    why = outlook_words([widest], own.margin)
    if widest.rule is DecisionRule.WITHIN_CONTROL:
        why = "as small as the baseline's difference from itself"
    name = own.name(widest) if len(own.cells) > 1 or len(cells) > 1 else ""
    of = f" of {len(cells)}, most {name}" if len(cells) > 1 else f" of {name}" if name else ""
    beyond = widest.ratio is not None and (widest.ratio.lo or 0.0) > 1
    head = "not certain" if beyond else "no loss shown"
    text = f"{head}{of}: {reach(widest, widest.rate, own.margin)}"
    return [[text, f", {why}" if why else ""]]
