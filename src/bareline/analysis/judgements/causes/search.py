"""Look for the causes of every certain loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bareline.analysis.judgements.causes import network, node, simulated, software
from bareline.analysis.judgements.causes.case import Facts, LossCase, Rule
from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.programs import cause_of_program, program_terms
from bareline.analysis.judgements.causes.sums import sum_of
from bareline.analysis.judgements.causes.terms import terms_of
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import ReplayedLosses, Splits, application_of
from bareline.vocabulary.model import Layer
from bareline.vocabulary.verdicts import Verdict

#: Every cause that is known, in the order in which causes are told.
RULES: tuple[Rule, ...] = (
    *node.RULES, *network.RULES, *software.RULES, *simulated.RULES,
)  # fmt: skip


def explain(
    findings: Sequence[Finding],
    facts: Mapping[str, Facts],
    baseline: str,
    splits: Splits | None = None,
    replayed: ReplayedLosses | None = None,
) -> list[Explanation]:
    """Explain every finding with a certain loss.

    - `splits`, `replayed`: how programs divide their time, and the terms of their replayed losses.
    """
    explanations = []
    for finding in findings:
        # What is worse by its crashes alone may take as long as before.
        slower = (p for p in finding.of(Verdict.SLOWER) if p.ratio is not None)
        point = next((p for p in slower if not (p.lost and p.lost.by_loss)), None)
        if point is None:
            continue
        case = LossCase(
            finding=finding,
            point=point,
            findings=[other for other in findings if other.platform == finding.platform],
            facts=facts.get(finding.platform, {}),
            baseline_facts=facts.get(baseline, {}),
            others=[
                (other, facts.get(other.platform, {}))
                for other in findings
                if other.probe == finding.probe and other.platform != finding.platform
            ],
        )
        if case.is_program:
            case = _with_parts(case, splits, replayed or {})
        explanations.append(_explained(case))
    return _once(explanations)


def _with_parts(case: LossCase, splits: Splits | None, replayed: ReplayedLosses) -> LossCase:
    """Return the case of a program with its parts: those of its replay, and those of its time."""
    platform = case.finding.platform
    place = case.place
    terms, _ = replayed.get((platform, application_of(place)), ((), 0))
    # The time at a point, as of one rank, is not the time of the launch that was replayed.
    is_launch = place.metric == "time" and not place.point
    return replace(
        case,
        split=splits.of(platform, place) if splits is not None else None,
        replayed=terms if is_launch else (),
    )


def _explained(case: LossCase) -> Explanation:
    measured, missing = program_terms(case) if case.is_program else terms_of(case)
    causes: list[Cause] = []
    absent: dict[str, str] = {}
    for rule in RULES:
        if rule.concerns(case.finding.layer, case.finding.probe):
            found = _look(rule, case)
            if isinstance(found, NoCause):
                absent[rule.name] = found.reason
            else:
                cause = cause_of_program(found, case, measured) if case.is_program else found
                causes.append(replace(cause, name=found.name or rule.name, rule=rule.name))
    whole = sum_of(causes, measured, case.extra)
    return Explanation(
        case.finding,
        case.point,
        whole.causes,
        whole.terms,
        tuple(missing),
        absent,
        case.base_s,
    )


def _look(rule: Rule, case: LossCase) -> Cause | NoCause:
    sides = [(case.finding.platform, case.facts)]
    sides += [(case.finding.baseline, case.baseline_facts)] if rule.both else []
    for keys in (need.split(" or ") for need in rule.needs):
        if not any(all(key in facts for _, facts in sides) for key in keys):
            none = [name for name, facts in sides if not any(key in facts for key in keys)]
            lacking = " and ".join(none or [name for name, _ in sides])
            return NoCause(f"{' or '.join(keys[:3])} is not known of {lacking}")
    if rule.between and case.place.on_one_node:
        return NoCause("within a node no network is used")
    return rule.find(case)


def _once(explanations: Sequence[Explanation]) -> list[Explanation]:
    rungs = [[*Layer].index(one.finding.layer) for one in explanations]
    first: dict[tuple[str, str], int] = {}
    for one, rung in zip(explanations, rungs, strict=True):
        for cause in one.differing:
            key = (one.finding.platform, cause.words)
            first[key] = min(rung, first.get(key, rung))
    return [
        replace(
            one,
            causes=tuple(
                replace(cause, repeated=first.get((one.finding.platform, cause.words), rung) < rung)
                for cause in one.causes
            ),
        )
        for one, rung in zip(explanations, rungs, strict=True)
    ]
