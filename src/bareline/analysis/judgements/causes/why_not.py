"""Why a cause is named or not: the facts and probes that it needs, and what there was of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bareline.analysis.judgements.causes.case import Facts, Rule
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import load_rules
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.row import Row, bounds
from bareline.vocabulary.errors import UsageError, did_you_mean
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
    """``explain --why-not``: a fact that the cause needs; null where it is not known."""

    kind: Literal["fact"]
    key: str
    value: Scalar | None
    value_baseline: Scalar | None
    needs_baseline: bool


@dataclass(frozen=True)
class NeededMeasurement(_Row):
    """``explain --why-not``: a measurement that the cause needs.

    - `nodes`: null where it was not measured on both.
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
    """``explain --why-not``: the result of the cause for a loss.

    - `word`: null where it does not cause the loss.
    - `reason`: why it does not, or the sentence of the cause.
    - `figures`: its share of the extra time, and the causes that have another one; empty where it
      has none.
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
    """Why a cause is, or is not, named on a platform, with the worst cell of each probe, if any."""

    rule: Rule
    platform: str
    baseline: str
    facts: list[NeededFact]
    measured: list[tuple[str, Row | None]]
    answers: list[AnswerRow]

    @property
    def concerns(self) -> str:
        """Describe which losses it may explain: ``Network and MPI``, or some probes."""
        return listing(list(self.rule.only) or [layer.words for layer in self.rule.layers])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each fact, measurement and loss."""
        measured = [
            NeededMeasurement(
                self.rule.name,
                self.platform,
                self.baseline,
                "measurement",
                probe,
                worst.place.ran_on if worst else None,
                **bounds(worst.ratio if worst else None),
                verdict=worst.verdict if worst else None,
            )
            for probe, worst in self.measured
        ]
        return [dict(vars(row)) for row in (*self.facts, *measured, *self.answers)]


def rule_of(name: str) -> Rule:
    """Find a cause by its name; upper case and hyphens do not matter.

    Raises UsageError: there is none of that name; all are listed.
    """
    known = {_plain(rule.name): rule for rule in load_rules()}
    asked = _plain(name)
    # A cause may say its kind before the rule's name: an emulated NIC.
    if found := known.get(asked) or known.get(asked.rpartition(" ")[2]):
        return found
    names = [rule.name for rule in load_rules()]
    close = did_you_mean(name, names, "")
    hint = f"{close} " if close else ""
    raise UsageError(f"no cause is called '{name}'", hint=f"{hint}known are {', '.join(names)}")


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ").strip()


def why_not(
    rule: Rule,
    platform: str,
    findings: Sequence[Finding],
    explanations: Sequence[Explanation],
    facts: Mapping[str, Facts],
    baseline: str,
) -> WhyNot:
    """Describe of one platform why a cause is, or is not, named."""
    head = (rule.name, platform, baseline)
    own, base = facts.get(platform, {}), facts.get(baseline, {})
    known = [
        NeededFact(*head, "fact", key, own.get(key), base.get(key), rule.both)
        for need in rule.needs
        for key in need.split(" or ")
    ]
    measured: list[tuple[str, Row | None]] = []
    for probe in rule.probes:
        own_findings = [f for f in findings if (f.platform, f.probe) == (platform, probe)]
        cells = [finding.worst for finding in own_findings if finding.worst]
        for nodes in dict.fromkeys(cell.place.ran_on for cell in cells):
            there = [cell for cell in cells if cell.place.ran_on == nodes]
            worst = max(there, key=lambda cell: cell.ratio.value if cell.ratio else 0.0)
            measured.append((probe, worst))
        measured += [] if cells else [(probe, None)]
    answers = [
        _answer(head, one)
        for one in explanations
        if one.finding.platform == platform and rule.concerns(one.finding.layer, one.finding.probe)
    ]
    return WhyNot(rule, platform, baseline, known, measured, answers)


def _answer(head: tuple[str, str, str], one: Explanation) -> AnswerRow:
    finding = one.finding
    cause = next((cause for cause in one.causes if cause.rule == head[0]), None)
    figures = ""
    if cause is None:
        reason = one.absent.get(head[0], "")
    elif cause.withdrawn:
        reason = f"withdrawn: {cause.withdrawn}"
    else:
        reason = cause.words
        if cause.share is not None:
            figures = f"{one.amount(cause.share)} of {one.amount(one.extra)}"
            others = [other.name for other in one.sized if other is not cause]
            figures += f", beside {listing(others)}" if others else ""
    point, word = finding.label(one.point), one.word_of(cause) if cause else None
    return AnswerRow(
        *head, "answer", finding.layer, finding.probe, finding.subject, point, word, reason, figures
    )
