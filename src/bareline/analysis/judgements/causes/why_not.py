"""Why a cause is not named, or is: the facts and probes that it needs, and what there was of them.

For each platform: every fact and every measurement that the cause rests on, there or missing; then
for each certain loss that it concerns what came of it, in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypedDict

from bareline.analysis.judgements.causes.case import Facts
from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.search import RULES, CauseRule
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.cell import Estimate, bounds
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.model import Layer, Scalar
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Known:
    """A fact that a cause needs, on both sides; None where it is not known."""

    key: str
    value: Scalar | None
    value_baseline: Scalar | None
    needs_baseline: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a probe that a cause needs measured on some nodes; without nodes it was not measured."""

    probe: str
    where: str = ""
    nodes: int | None = None
    ratio: Estimate | None = None
    rate: bool = False
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a cause for one loss.

    - `word`: None where it is no cause of it.
    - `reason`: why it is none, or what it says.
    - `figures`: measured, explained and residual, and the causes that explain it with this one;
      empty where it explains nothing.
    """

    layer: Layer
    probe: str
    subject: str
    point: str
    word: Word | None
    reason: str
    figures: str = ""


class _Asked(TypedDict):
    cause: str
    platform: str
    baseline: str


class NeededFact(_Asked):
    """``explain --why-not``: a fact that the cause needs; null where it is not known."""

    kind: Literal["fact"]
    key: str
    value: Scalar | None
    value_baseline: Scalar | None
    needs_baseline: bool


class NeededMeasurement(_Asked):
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


class AnswerRow(_Asked):
    """``explain --why-not``: what came of the cause for a loss."""

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
    """Why a cause is, or is not, named on one platform."""

    rule: CauseRule
    platform: str
    baseline: str
    facts: tuple[Known, ...]
    measured: tuple[Measured, ...]
    answers: tuple[Answer, ...]

    @property
    def concerns(self) -> str:
        """Say which losses it may explain: ``Network and MPI``, or some probes."""
        return listing(list(self.rule.only) or [layer.words for layer in self.rule.layers])

    def rows(self) -> list[WhyNotRow]:
        """Give a row for each fact, measurement and loss."""
        head = {"cause": self.rule.name, "platform": self.platform, "baseline": self.baseline}
        return [
            *(row_of(NeededFact, one, kind="fact", **head) for one in self.facts),
            *(
                row_of(NeededMeasurement, one, kind="measurement", **bounds(one.ratio), **head)
                for one in self.measured
            ),
            *(row_of(AnswerRow, one, kind="answer", **head) for one in self.answers),
        ]


def rule_of(name: str) -> CauseRule:
    """Find a cause by its name; upper case and hyphens do not matter.

    Raises UsageError: there is none of that name; all are listed.
    """
    known = {_plain(rule.name): rule for rule in RULES}
    asked = _plain(name)
    # A cause may say its kind before the rule's name: an emulated NIC.
    if found := known.get(asked) or known.get(asked.rpartition(" ")[2]):
        return found
    names = [rule.name for rule in RULES]
    close = did_you_mean(name, names, "")
    hint = f"{close} " if close else ""
    raise UsageError(f"no cause is called '{name}'", hint=f"{hint}known are {', '.join(names)}")


def _plain(name: str) -> str:
    return name.casefold().replace("-", " ").replace("_", " ").strip()


def why_not(
    rule: CauseRule,
    platform: str,
    findings: Sequence[Finding],
    explanations: Sequence[Explanation],
    facts: Mapping[str, Facts],
    baseline: str,
) -> WhyNot:
    """Say of one platform why a cause is, or is not, named."""
    own, base = facts.get(platform, {}), facts.get(baseline, {})
    known = [
        Known(key, own.get(key), base.get(key), need.both)
        for need in rule.needs
        for key in need.keys
    ]
    measured = [
        one
        for probe in rule.probes
        for one in _measured(probe, [f for f in findings if f.platform == platform])
    ]
    answers = [
        _answer(rule, one)
        for one in explanations
        if one.finding.platform == platform and rule.concerns(one.finding.layer, one.finding.probe)
    ]
    return WhyNot(rule, platform, baseline, tuple(known), tuple(measured), tuple(answers))


def _measured(probe: str, findings: Sequence[Finding]) -> Iterator[Measured]:
    """Give what a probe measured, each number of nodes by its worst point."""
    by_nodes: dict[int, Measured] = {}
    for finding in findings:
        worst = finding.worst
        if finding.probe != probe or worst is None:
            continue
        nodes = worst.place.used or worst.place.nodes
        one = Measured(probe, worst.place.where, nodes, worst.ratio, worst.rate, worst.verdict)
        before = by_nodes.get(nodes)
        if before is None or _size(one) > _size(before):
            by_nodes[nodes] = one
    yield from by_nodes.values() or [Measured(probe)]


def _size(measured: Measured) -> float:
    return measured.ratio.value if measured.ratio else 0.0


def _answer(rule: CauseRule, one: Explanation) -> Answer:
    """Say what came of a cause for one loss."""
    finding = one.finding
    cause = next((cause for cause in one.causes if cause.rule == rule.name), None)
    figures = ""
    if cause is None:
        reason = one.absent.get(rule.name, "")
    elif cause.withdrawn:
        reason = f"withdrawn: {cause.withdrawn}"
    else:
        reason = cause.text
        if cause in one.bounded:
            others = [other.name for other in one.bounded if other is not cause]
            beside = f"together with {listing(others)}: " if others else ""
            figures = f"{beside}{one.text}"
    return Answer(
        finding.layer,
        finding.probe,
        finding.subject,
        finding.label(one.point),
        one.word_of(cause) if cause else None,
        reason,
        figures,
    )
