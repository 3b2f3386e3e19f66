"""Explain why a cause is named or not: the facts and probes that it needs, and their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bareline.analysis.judgements.causes.case import Facts, Rule
from bareline.analysis.judgements.causes.cause import Cause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import load_rules
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row, bounds
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict


@dataclass(frozen=True)
class _Row:
    cause: str
    platform: str
    baseline: str
    kind: str


@dataclass(frozen=True)
class NeededFact(_Row):
    """A row of ``explain --why-not`` for a needed fact; its value is null if it is not known."""

    kind: Literal["fact"]
    key: str
    value: Scalar | None
    value_baseline: Scalar | None
    needs_baseline: bool


@dataclass(frozen=True)
class NeededMeasurement(_Row):
    """A row of ``explain --why-not`` for a measurement that the cause needs.

    - `nodes`: null if the probe was not measured on both platforms.
    """

    kind: Literal["measurement"]
    probe: str
    nodes: int | None
    ratio: float | None
    lo: float | None
    hi: float | None
    verdict: Verdict | None


@dataclass(frozen=True)
class AnswerRow(_Row):
    """A row of ``explain --why-not`` for one loss that the cause may explain.

    - `word`: the relation of the cause to the loss, such as "may explain"; null if the cause is not
      named.
    - `reason`: why the cause is not named; if it is named, the words of the cause.
    - `figures`: the cause's share of the extra time, and the other causes with a known share; empty
      if the cause's share is not known.
    """

    kind: Literal["answer"]
    layer: Layer
    probe: str
    subject: str
    point: str
    word: str | None
    reason: str
    figures: str


WhyNotRow = NeededFact | NeededMeasurement | AnswerRow


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The reason why a cause is named, or not named, on a platform.

    - `measured`: each needed probe with its worst row; None if the probe was not measured.
    """

    rule: Rule
    platform: str
    baseline: str
    facts: list[NeededFact]
    measured: list[tuple[str, Row | None]]
    answers: list[AnswerRow]

    @property
    def concerns(self) -> str:
        """The losses that the cause may explain: layers (``Network and MPI``) or probes."""
        return listing(list(self.rule.only) or [layer.words for layer in self.rule.layers])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fact, each measurement and each loss."""
        measured = [self._measurement(probe, worst) for probe, worst in self.measured]
        rows = (*self.facts, *measured, *self.answers)
        return [dict(vars(row)) for row in rows]

    def _measurement(self, probe: str, worst: Row | None) -> NeededMeasurement:
        """Return the row of a needed probe, without numbers if the probe was not measured."""
        nodes = None
        ratio = None
        verdict = None
        if worst is not None:
            nodes = worst.place.ran_on
            ratio = worst.ratio
            verdict = worst.verdict
        return NeededMeasurement(
            self.rule.name,
            self.platform,
            self.baseline,
            "measurement",
            probe,
            nodes,
            **bounds(ratio),
            verdict=verdict,
        )


def rule_of(name: str) -> Rule:
    """Return the rule of a cause by its name; upper case and hyphens do not matter.

    Raises UsageError: no cause has this name; the error lists all names.
    """
    rules = {_plain(rule.name): rule for rule in load_rules()}
    plain = _plain(name)
    # A name may begin with the kind of the cause: an emulated NIC.
    rule = rules.get(plain) or rules.get(plain.rpartition(" ")[2])
    if rule is not None:
        return rule
    names = [rule.name for rule in load_rules()]
    close = did_you_mean(name, names, "")
    hint = ""
    if close:
        hint = f"{close} "
    known_names = ", ".join(names)
    raise UsageError(
        f"no cause is called '{name}'", hint=(f"{hint}the known causes are {known_names}")
    )


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ").strip()


@dataclass(frozen=True, slots=True)
class _Head:
    """The first columns of every row: the cause and both platforms."""

    cause: str
    platform: str
    baseline: str


def why_not(
    rule: Rule,
    platform: str,
    findings: Sequence[Finding],
    explanations: Sequence[Explanation],
    facts: Mapping[str, Facts],
    baseline: str,
) -> WhyNot:
    """Describe for one platform why a cause is named or not named."""
    head = _Head(rule.name, platform, baseline)
    answers = []
    for explanation in explanations:
        if explanation.finding.platform == platform and rule.concerns(
            explanation.finding.layer, explanation.finding.probe
        ):
            answers.append(_answer(head, explanation))
    facts_here = facts.get(platform, {})
    facts_there = facts.get(baseline, {})
    needed = _facts(head, rule, facts_here, facts_there)
    findings_here = [f for f in findings if f.platform == platform]
    measured = _measured(rule.probes, findings_here)
    return WhyNot(rule, platform, baseline, needed, measured, answers)


def _facts(head: _Head, rule: Rule, facts: Facts, baseline_facts: Facts) -> list[NeededFact]:
    """Return a row for each fact that the cause needs, with the values of both platforms."""
    keys = []
    for need in rule.needs:
        keys += need.split(" or ")
    needed = []
    for key in keys:
        fact = NeededFact(
            head.cause,
            head.platform,
            head.baseline,
            "fact",
            key=key,
            value=facts.get(key),
            value_baseline=baseline_facts.get(key),
            needs_baseline=rule.both,
        )
        needed.append(fact)
    return needed


def _measured(probes: Sequence[str], findings: Sequence[Finding]) -> list[tuple[str, Row | None]]:
    """Return each probe that measures the cause, with its worst row for each number of nodes."""
    measured: list[tuple[str, Row | None]] = []
    for probe in probes:
        cells = []
        for finding in findings:
            if finding.probe == probe and finding.worst:
                cells.append(finding.worst)
        by_nodes = grouped_by(cells, lambda cell: cell.place.ran_on)
        measured += [(probe, max(alike, key=_ratio)) for alike in by_nodes.values()]
        if not cells:
            measured.append((probe, None))
    return measured


def _ratio(cell: Row) -> float:
    if cell.ratio is not None:
        return cell.ratio.value
    return 0.0


def _answer(head: _Head, explanation: Explanation) -> AnswerRow:
    finding = explanation.finding
    cause = _cause_of(explanation, head.cause)
    word = None
    figures = ""
    if cause is not None:
        word = explanation.word_of(cause)
        figures = _figures(explanation, cause)
    return AnswerRow(
        head.cause,
        head.platform,
        head.baseline,
        "answer",
        layer=finding.layer,
        probe=finding.probe,
        subject=finding.subject,
        point=finding.label(explanation.point),
        word=word,
        reason=_reason(explanation, head.cause, cause),
        figures=figures,
    )


def _cause_of(explanation: Explanation, rule: str) -> Cause | None:
    """Return the cause that a rule found for a loss, or None."""
    for cause in explanation.causes:
        if cause.rule == rule:
            return cause
    return None


def _reason(explanation: Explanation, name: str, cause: Cause | None) -> str:
    """Return why a cause is absent or withdrawn; if it is neither, the words of the cause."""
    if cause is None:
        return explanation.absent.get(name, "")
    if cause.withdrawn:
        return f"withdrawn: {cause.withdrawn}"
    return cause.words


def _figures(explanation: Explanation, cause: Cause) -> str:
    """Return the cause's share of the extra time, and the other causes with a known share."""
    if cause.withdrawn or cause.share is None:
        return ""
    share = explanation.amount(cause.share)
    extra = explanation.amount(explanation.extra)
    figures = f"{share} of the extra time"
    if explanation.timed:
        figures = f"{share}; the extra time is {extra}"
    others = []
    for other in explanation.sized:
        if other is not cause:
            others.append(other.name)
    if others:
        return f"{figures}, also due to {listing(others)}"
    return figures
