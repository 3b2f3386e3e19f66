"""Findings, causes, conclusions, suitability and controls as plain rows for ``--json``."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from bareline.analysis.judgements.causes.cause import Cause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.judgements.conclusions import Conclusion
from bareline.analysis.judgements.control import Control
from bareline.analysis.judgements.evidence import Evidence
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.judgements.suitability import Judgement
from bareline.analysis.numbers.row import Row, bounds, finite
from bareline.analysis.words.conclusions import conclusion_sentence
from bareline.analysis.words.error_rates import control_text
from bareline.analysis.words.suitability import figure_words, reason_of
from bareline.analysis.words.sums import sum_sentences
from bareline.vocabulary.model import Layer
from bareline.vocabulary.rows import Bounds, row_of
from bareline.vocabulary.verdicts import Grade, Verdict


class PointRow(TypedDict):
    """One point of a finding, such as a message size."""

    label: str
    ratio: float | None
    lo: float | None
    hi: float | None
    difference: float | None
    difference_lo: float | None
    difference_hi: float | None
    value_baseline: float | None
    unit: str
    n: int
    verdict: Verdict | None
    grade: Grade | None
    exact: bool


class MeanOfPoints(Bounds):
    """The mean ratio of the points of a finding, and its verdict."""

    verdict: Verdict


class FindingRow(TypedDict):
    """A probe, or a class of its sizes, compared on one platform.

    - `rate`: a higher value is better, so that worse means lower.
    - `verdict`: the verdict of all points; mixed if some are slower and some faster.
    - `grade`: the grade of the most certain point with the verdict; for a mixed finding, the grade
      of the most certain loss.
    - `worst`: the worst point. `ratio`, `lo`, `hi` and `n` are the values of this point.
    """

    kind: Literal["finding"]
    layer: Layer
    probe: str
    platform: str
    baseline: str
    title: str
    subject: str
    nodes: int | None
    rate: bool
    verdict: Verdict
    grade: Grade
    worst: str | None
    ratio: float | None
    lo: float | None
    hi: float | None
    mean: MeanOfPoints | None
    by_mean: bool
    n: int | None
    reason: str
    caveats: list[str]
    points: list[PointRow]


def finding_row(finding: Finding) -> FindingRow:
    """Return a finding with all points, and with the values of its worst point."""
    worst = None
    if finding.worst is not None:
        worst = finding.label(finding.worst)
    mean: MeanOfPoints | None = None
    if finding.mean is not None:
        mean = {**bounds(finding.mean.ratio), "verdict": finding.mean.verdict}
    return row_of(
        FindingRow,
        finding,
        kind="finding",
        worst=worst,
        **bounds(finding.ratio),
        mean=mean,
        caveats=[str(caveat) for caveat in finding.caveats],
        points=[_point_row(finding, point) for point in finding.points],
    )


def _point_row(finding: Finding, point: Row) -> PointRow:
    difference = bounds(point.difference)
    base = None
    if point.base is not None:
        base = point.base.value
    return row_of(
        PointRow,
        point,
        label=finding.label(point),
        **bounds(point.ratio),
        difference=difference["ratio"],
        difference_lo=difference["lo"],
        difference_hi=difference["hi"],
        value_baseline=base,
        unit=point.metric.unit,
        n=point.n_both,
    )


class ShareRow(TypedDict):
    """An extra time as a share of the baseline's time: 0.5 is 50 % more; null bounds are open."""

    value: float
    lo: float | None
    hi: float | None


class NamedCause(TypedDict):
    """A fact that differs, and the extra time that the fact explains; null if this time is unknown.

    - `terms`: the terms of the cost model that the fact changes.
    - `withdrawn`: the reason if the fact is not a cause after all.
    """

    name: str
    word: str | None
    words: str
    terms: list[str]
    share: ShareRow | None
    withdrawn: str


class TermRow(TypedDict):
    """A term of the sum: its share, the probe that measured it, and the names of its causes."""

    term: str
    share: ShareRow
    probe: str
    causes: list[str]


class CauseRow(TypedDict):
    """The worst loss of a finding, as the sum of an explained part and a rest.

    - `extra`: the extra time as a share of the baseline's time; it is the sum of `explained` and
      `left`.
    - `word`: explains, may explain, contributes or differs; null without a known cause.
    - `terms`: the parts of `explained`.
    - `missing`: the probes that would measure further terms.
    - `causes`: the facts that differ, the largest share first; then the facts that are not a cause
      after all, because a measurement contradicts them (`withdrawn` contains the reason).
    """

    kind: Literal["cause"]
    layer: Layer
    probe: str
    platform: str
    baseline: str
    subject: str
    point: str
    known: bool
    measured: Bounds
    extra: ShareRow
    explained: ShareRow
    left: ShareRow
    word: str | None
    terms: list[TermRow]
    missing: list[str]
    causes: list[NamedCause]
    text: str


def explanation_row(explanation: Explanation) -> CauseRow:
    """Return the explanation of a loss: a sum of terms with their causes."""
    withdrawn = [cause for cause in explanation.causes if cause.withdrawn]
    all_causes = (*explanation.standing, *withdrawn)
    causes = [_cause_row(explanation, cause) for cause in all_causes]
    text = ""
    if explanation.terms:
        text = sum_sentences(explanation)
    return row_of(
        CauseRow,
        explanation.finding,
        kind="cause",
        point=explanation.finding.label(explanation.point),
        known=explanation.known,
        measured=bounds(explanation.point.ratio),
        extra=_share_row(explanation.extra),
        explained=_share_row(explanation.explained),
        left=_share_row(explanation.left),
        word=explanation.word,
        terms=_term_rows(explanation),
        missing=list(explanation.probes_to_run),
        causes=causes,
        text=text,
    )


def _term_rows(explanation: Explanation) -> list[TermRow]:
    names = {cause.rule: cause.name for cause in explanation.causes}
    rows = []
    for term in explanation.terms:
        causes = [names[rule] for rule in term.rules]
        share = _share_row(term.share)
        rows.append(row_of(TermRow, term, share=share, causes=causes))
    return rows


def _cause_row(explanation: Explanation, cause: Cause) -> NamedCause:
    share = None
    if cause.share is not None:
        share = _share_row(cause.share)
    terms = [term.value for term in cause.terms]
    word = explanation.word_of(cause)
    return row_of(NamedCause, cause, word=word, terms=terms, share=share)


def _share_row(share: Share) -> ShareRow:
    lo = finite(share.lo)
    hi = finite(share.hi)
    return {"value": share.value, "lo": lo, "hi": hi}


class ConclusionRow(TypedDict):
    """The meaning of several values together, in a sentence.

    - `value`, `lo`, `hi`: the largest of the platforms' values, and its bounds.
    - `platform`: the platform that has this value.
    """

    kind: Literal["conclusion"]
    layer: Layer
    platform: str
    text: str
    value: float | None
    lo: float | None
    hi: float | None
    n: int | None


def conclusion_row(conclusion: Conclusion) -> ConclusionRow:
    """Return a conclusion, with the platform on which its value is largest."""
    worst = conclusion.worst
    return row_of(
        ConclusionRow,
        conclusion,
        kind="conclusion",
        platform=worst.platform,
        text=conclusion_sentence(conclusion).text,
        value=worst.value.value,
        lo=worst.value.lo,
        hi=worst.value.hi,
    )


class ControlRow(TypedDict):
    """The result of comparing the baseline with itself.

    - `platform`: the platform that was measured twice.
    - `again`: the platform's second name.
    - `tested`: the number of tested rows.
    - `differ`: the number of rows that differ.
    - `equal`: the number of rows that are equal.
    - `claims`: the number of differences with the grade certain. Each of them is a false claim.
    - `floors`: for each layer in which rows differ, the largest difference as a ratio above 1; null
      if it is infinite.
    - `floor`: rows with a ratio up to `floor` remain undecided, in every layer; 1 if no row
      differs.
    """

    kind: Literal["control"]
    platform: str
    again: str
    of_baseline: bool
    tested: int
    differ: int
    equal: int
    claims: int
    floors: dict[str, float | None]
    margin: float
    floor: float
    text: str


def control_row(control: Control) -> ControlRow:
    """Return the result of comparing the baseline with itself."""
    return row_of(ControlRow, control, kind="control", text=control_text(control))


class GroundRow(TypedDict):
    """A value on which an answer about suitability is based."""

    subject: str
    lo: float | None
    hi: float | None
    text: str
    n: int
    caveats: list[str]
    source: str
    probe: str


# "class" is a word of Python, so that this type cannot be written as a class.
SuitabilityRow = TypedDict(
    "SuitabilityRow",
    {
        "kind": Literal["suitability"],
        "class": str,
        "title": str,
        "platform": str,
        "baseline": str,
        "answer": str,
        "certainty": str,
        "reason": str,
        "caveats": list[str],
        "grounds": list[GroundRow],
        "voided": list[GroundRow],
    },
)
SuitabilityRow.__doc__ = """The suitability of a platform for a class of applications."""


def judgement_row(judgement: Judgement) -> SuitabilityRow:
    """Return the suitability of a platform for a class of applications."""
    application_class = judgement.application_class
    return row_of(
        SuitabilityRow,
        judgement,
        kind="suitability",
        **{"class": application_class.name},
        title=application_class.title,
        answer=judgement.answer.value,
        certainty=judgement.certainty.value,
        reason=reason_of(judgement),
        caveats=[str(caveat) for caveat in judgement.caveats],
        grounds=[_ground_row(ground) for ground in judgement.grounds],
        voided=[_ground_row(ground) for ground in judgement.voided],
    )


def _ground_row(ground: Evidence) -> GroundRow:
    caveats = [str(caveat) for caveat in ground.caveats]
    return row_of(GroundRow, ground, text=figure_words(ground), caveats=caveats)


ExplainRow = FindingRow | CauseRow | ConclusionRow | SuitabilityRow | ControlRow
