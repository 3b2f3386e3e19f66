"""The verdict in words: for each layer, how much worse, how sure, and for which reasons.

Certain changes come first, the largest first; then findings that are equal, undecided, not measured
and not comparable, each by name: nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import (
    amount_pieces,
    lost_words,
    mean_pieces,
    outlook_words,
    reach,
    span,
    width,
    worst_pieces,
)
from bareline.analysis.words.parts import (
    Amount,
    Break,
    Evidence,
    Lead,
    Piece,
    Sentence,
    joined,
    platforms_named,
    sentence,
)
from bareline.analysis.words.reasons import reasons_of, said_as_causes
from bareline.analysis.words.remarks import launches_words, seen_range, undecided_yet
from bareline.vocabulary.caveats import briefs
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, listing, percent
from bareline.vocabulary.verdicts import DecisionRule, Grade, Verdict

_Clause = list[Piece]
#: The most findings that are described where launches are too few to judge them.
_MOST_SEEN = 3


def statements(
    findings: Sequence[Finding], explanations: Sequence[Explanation], *, margin: float
) -> list[Sentence]:
    """Put the verdict into words: one sentence per layer, layers with a certain change first."""
    ranked: list[tuple[int, Sentence]] = []
    for layer in Layer:
        group = [finding for finding in findings if finding.layer is layer]
        if group:
            own = [found for found in explanations if found.finding.layer is layer]
            reasons = [(Break(" "), *reason) for reason in reasons_of(own, _Names(group).of)]
            said = clauses_of(group, margin, causes=said_as_causes(own))
            clauses = joined(said, between=Break(), last=Break())
            whole = sentence(Lead(layer.words), clauses, ".", *reasons, evidence(group))
            decided = any(finding.verdict.decided for finding in group)
            apart = all(finding.verdict is Verdict.NOT_COMPARABLE for finding in group)
            ranked.append((0 if decided else 2 if apart else 1, whole))
    return [whole for _, whole in sorted(ranked, key=lambda one: one[0])]


def evidence(group: Sequence[Finding]) -> Evidence:
    """Return a link to the figures of findings, with the launches behind the sentence."""
    shown = [finding for finding in group if finding.verdict.decided] or group
    counts = [point.n_both for finding in shown for point in finding.compared if point.n_both]
    anchor = max(shown, key=lambda finding: finding.weight).anchor
    return Evidence(anchor, min(counts), max(counts)) if counts else Evidence(anchor)


def clauses_of(
    findings: Sequence[Finding],
    margin: float,
    *,
    with_platforms: bool = True,
    causes: Set[tuple[str, str]] = frozenset(),
) -> list[_Clause]:
    """Describe findings, with a clause for each kind of verdict and each changed subject.

    Platforms are named unless the lead names them. `causes` are the platforms and codes of caveats
    that causes already cover, which are not repeated.
    """

    def on(found: Iterable[Finding]) -> list[Piece]:
        return [" on ", *platforms_named(part.platform for part in found)] if with_platforms else []

    def of(verdict: Verdict) -> list[Finding]:
        return [finding for finding in findings if finding.verdict is verdict]

    name = _Names(findings)
    clauses = _decided([part for part in findings if part.verdict.decided], margin, on)
    for part in (*of(Verdict.FAILED), *of(Verdict.MISSING)):
        if part.compared:  # its compared points prove nothing of the rest
            lost, every = len(part.undelivered), len(part.points)
            how = "failed" if part.of(Verdict.FAILED) else "are missing"
            rest = joined(_rest(part, margin), last=", ")
            text = f"{lost} of {every} points of {part.subject} {how}"
            clauses.append([text, *on([part]), " (", *rest, ")"])
    clauses += _equal(of(Verdict.EQUIVALENT), margin, on, name)
    clauses += _open(of(Verdict.INCONCLUSIVE), margin, on, name)
    for head, verdict in _LACKING.items():
        clauses += _alike(head, [part for part in of(verdict) if not part.compared], on, name)
    return clauses + _doubts(findings, on, causes)


_LACKING = {
    "failed": Verdict.FAILED,
    "skipped": Verdict.SKIPPED,
    "not measured on both": Verdict.MISSING,
    "not comparable": Verdict.NOT_COMPARABLE,
    "left out": Verdict.DOES_NOT_FIT,
}
_On = Callable[[Iterable[Finding]], list[Piece]]


class _Names:
    def __init__(self, findings: Sequence[Finding]) -> None:
        self._titles = {finding.subject: finding.title for finding in findings}
        self._layouts = {finding.subject: finding.where for finding in findings}

    def of(self, subjects: Sequence[str]) -> str:
        """List subjects: ``the DGEMM rate and MPI ping-pong (below 8 KiB, from 256 KiB)``."""
        by_title: dict[str, list[str]] = {}
        for subject in dict.fromkeys(subjects):
            by_title.setdefault(self._titles[subject], []).append(subject)
        return listing([self._named(title, own) for title, own in by_title.items()])

    def _named(self, title: str, subjects: Sequence[str]) -> str:
        if len(subjects) == 1:
            return subjects[0]
        every = [other for other, own in self._titles.items() if own == title]
        if set(every) <= set(subjects):
            return title
        layouts = dict.fromkeys(self._layouts[subject] for subject in subjects)
        classes = []
        for where in layouts:
            here = [subject for subject in subjects if self._layouts[subject] == where]
            whole = [subject for subject in every if self._layouts[subject] == where]
            if len(here) > 1 and len(here) == len(whole):
                classes.append(where)
            else:
                classes += [subject.removeprefix(title).strip() for subject in here]
        if len(classes) == 1:
            return f"{title} {classes[0]}".strip()
        return f"{title} ({', '.join(own.strip() or 'layout unknown' for own in classes)})"


def _decided(findings: Sequence[Finding], margin: float, on: _On) -> list[_Clause]:
    by_subject: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.weight, reverse=True):
        by_subject.setdefault(finding.subject, []).append(finding)
    clauses = []
    for subject, group in by_subject.items():
        by_change: dict[Sentence, list[Finding]] = {}
        for finding in group:
            by_change.setdefault(sentence(_change(finding, margin, on)), []).append(finding)
        clauses.append([f"{subject} is ", *joined([[*words.parts] for words in by_change])])
    return clauses


def _change(finding: Finding, margin: float, on: _On) -> _Clause:
    pieces: list[Piece] = []
    aside: list[list[Piece]] = []
    if finding.by_mean:  # alone, with the range of its points
        ratios = sorted(point.ratio.value for point in finding.compared if point.ratio)
        aside = [["no point is certain by itself"]]
        aside += [[f"estimates {span(ratios[0], ratios[-1], finding.rate)}"]] if ratios else []
        aside += _rest(finding, margin)
        return [*mean_pieces(finding), *on([finding]), " (", *joined(aside, last=", "), ")"]
    slower, faster = finding.of(Verdict.SLOWER), finding.of(Verdict.FASTER)
    compared = len(finding.compared)
    for points in filter(None, (slower, faster)):
        if pieces:
            pieces.append(" and ")
        likely = sum(point.grade is Grade.LIKELY for point in points)
        sure = points[0].sure_words if likely == len(points) else ""
        pieces += [sure, *amount_pieces(points, finding.rate)]
        if 0 < likely < len(points):
            aside.append([f"{likely} of them likely"])
        if len(points) < compared:
            label = finding.label(points[0])
            single = len(points) == 1 and label
            pieces.append(f" at {label}" if single else f" at {len(points)} of {compared} points")
        if naming := worst_pieces(finding, points):
            aside.append(naming)
        base, unit = points[0].base, points[0].metric.unit
        aside.append([f"{finding.baseline} {format_value(base.value if base else None, unit)}"])
        # Among points with a ratio, points without one are named with their lost launches.
        apart = [point for point in points if point.ratio is None]
        if 0 < len(apart) < len(points):
            lost = f"{finding.label(apart[0])} {lost_words(apart[0])}" if apart[0].lost else ""
            aside.append([lost or f"no ratio at {len(apart)} more"])
    aside += _rest(finding, margin)
    return [*pieces, *on([finding]), " (", *joined(aside, last=", "), ")"]


def _rest(finding: Finding, margin: float) -> list[list[Piece]]:
    verdicts = {
        f"equal within {percent(margin)} at": Verdict.EQUIVALENT,
        "undecided at": Verdict.INCONCLUSIVE,
        "failed at": Verdict.FAILED,
        "missing at": Verdict.MISSING,
    }
    counts = {words: len(finding.of(verdict)) for words, verdict in verdicts.items()}
    return [[f"{words} {count}"] for words, count in counts.items() if count]


def _equal(findings: Sequence[Finding], margin: float, on: _On, name: _Names) -> list[_Clause]:
    if not findings:
        return []
    farthest = max(findings, key=lambda finding: finding.weight)
    worst = farthest.worst
    shown: list[Piece] = []
    if worst is not None and worst.ratio is not None and worst.ratio.bounded:
        shown = [f" (farthest: {_at(farthest, worst)}"]
        reaches = span(worst.ratio.lo, worst.ratio.hi, farthest.rate)
        shown += [*on([farthest]), f", {reaches})"]
    equal = Amount(f"equal within {percent(margin)}")
    return [[equal, ": ", *_by_platforms(findings, on, name), *shown]]


def _at(finding: Finding, point: Row) -> str:
    return ", ".join(filter(None, [finding.subject, finding.label(point)]))


def _by_platforms(findings: Sequence[Finding], on: _On, name: _Names) -> list[Piece]:
    by_platforms: dict[Sentence, list[str]] = {}
    for subject in dict.fromkeys(finding.subject for finding in findings):
        group = [finding for finding in findings if finding.subject == subject]
        by_platforms.setdefault(sentence(*on(group)), []).append(subject)
    return joined([[name.of(subjects), *where.parts] for where, subjects in by_platforms.items()])


def _open(findings: Sequence[Finding], margin: float, on: _On, name: _Names) -> list[_Clause]:
    kinds: dict[tuple[str, bool, bool], list[Finding]] = {}
    for finding in findings:
        key = (finding.platform, undecided_yet(finding), finding.exact)
        kinds.setdefault(key, []).append(finding)
    by_words: dict[tuple[str, Sentence], list[Finding]] = {}
    for group in kinds.values():
        subjects = name.of([finding.subject for finding in group])
        by_words.setdefault((subjects, sentence(*_why_open(group, margin))), []).append(group[0])
    parts: list[_Clause] = [
        [subjects, *on(where), " (", *why.parts, ")"] for (subjects, why), where in by_words.items()
    ]
    return [["cannot tell: ", *joined(parts)]] if parts else []


def _why_open(group: Sequence[Finding], margin: float) -> _Clause:
    if undecided_yet(group[0]):
        seen = [text for finding in group[:_MOST_SEEN] if (text := seen_range(finding))]
        ranges = f": {'; '.join(seen)}" if seen else ""
        return [f"{launches_words(group)}, not judged{ranges}"]
    every = [(part, point) for part in group for point in part.of(Verdict.INCONCLUSIVE)]
    finding, point = max(every, key=lambda one: width(one[1]))
    label = finding.label(point) if len(finding.points) > 1 else ""
    pieces: _Clause = []
    if len(every) > 1:
        among = sum(len(part.compared) for part in group)
        rest = f" of {among} points, the others equal within {percent(margin)}"
        count = f"{len(every)}{rest if len(every) < among else ' points'}"
        at = _at(finding, point) if len(group) > 1 else label
        pieces = [f"{count}; widest: {at}, " if at else f"{count}; widest: "]
    elif label:
        pieces = [f"at {label} "]
    pieces.append(reach(point, finding.rate, margin))
    if point.rule is DecisionRule.WITHIN_CONTROL:
        return [*pieces, "; as small as the baseline's difference from itself"]
    needed = outlook_words([one for _, one in every], margin)
    return [*pieces, f"; {needed}" if needed else ""]


def _alike(head: str, findings: Sequence[Finding], on: _On, name: _Names) -> list[_Clause]:
    if not findings:
        return []
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        by_reason.setdefault(finding.reason, []).append(finding)
    parts: list[_Clause] = [
        [*_by_platforms(group, on, name), f" ({reason})" if reason else ""]
        for reason, group in by_reason.items()
    ]
    return [[f"{head}: ", *joined(parts)]]


def _doubts(findings: Sequence[Finding], on: _On, causes: Set[tuple[str, str]]) -> list[_Clause]:
    compared = [finding for finding in findings if finding.compared]
    by_text: dict[str, list[Finding]] = {}
    for brief, alike in briefs(c for part in compared for c in part.caveats).items():
        every = [part for part in compared if not alike.isdisjoint(part.caveats)]
        said = {
            part.platform for part in every if any((part.platform, c.code) in causes for c in alike)
        }
        if doubted := [part for part in every if part.platform not in said]:
            by_text[brief] = doubted
    for finding in compared:
        lacking = len(finding.points) - len(finding.compared) - len(finding.undelivered)
        if lacking:
            text = f"{lacking} of {len(finding.points)} points of {finding.subject} not compared"
            by_text.setdefault(text, []).append(finding)
    if not by_text:
        return []
    parts: list[_Clause] = [[brief, *on(group)] for brief, group in by_text.items()]
    return [["caveats: ", *joined(parts)]]


def step_sentence(before: str, name: str, findings: Sequence[Finding], margin: float) -> Sentence:
    """Describe the changes by a step of a ladder in one sentence."""
    clauses = joined(
        clauses_of(findings, margin, with_platforms=False), between=Break(), last=Break()
    )
    lead = Lead(f"From {before} to {name}")
    return sentence(lead, clauses, ".", evidence(findings))
