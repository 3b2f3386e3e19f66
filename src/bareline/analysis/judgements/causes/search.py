"""Find the causes of every loss of time (verdict "slower").

bareline's own rules are tuples in the modules of this package. A plug-in installs a `Rule` under
the entry-point group ``bareline.causes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from bareline.analysis.judgements.causes import network, node, simulated, software
from bareline.analysis.judgements.causes.case import Facts, LossCase, Rule
from bareline.analysis.judgements.causes.cause import Cause, NoCause
from bareline.analysis.judgements.causes.explanation import Explanation
from bareline.analysis.judgements.causes.programs import cause_of_program, program_terms
from bareline.analysis.judgements.causes.sums import sum_of
from bareline.analysis.judgements.causes.terms import terms_of
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import ReplayedLosses, Splits, application_of
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.errors import one_line
from bareline.vocabulary.model import Layer
from bareline.vocabulary.plugins import brought, checked, named
from bareline.vocabulary.verdicts import Verdict

#: bareline's own causes, in the order in which they are printed.
_OWN_RULES: tuple[Rule, ...] = (
    *node.RULES, *network.RULES, *software.RULES, *simulated.RULES,
)  # fmt: skip


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return all rules in the order of printing: bareline's own rules first, then plug-ins' rules.

    Raises PluginError: two rules have the same name, or a plug-in is not a rule.
    """
    builtin = (("bareline.analysis.judgements.causes", rule) for rule in _OWN_RULES)
    of_plug_ins = checked("cause", brought("bareline.causes"), Rule)
    rules = chain(builtin, of_plug_ins)
    return tuple(named("cause", rules, lambda rule: rule.name).values())


def explain(
    findings: Sequence[Finding],
    facts: Mapping[str, Facts],
    baseline: str,
    splits: Splits | None = None,
    replayed: ReplayedLosses | None = None,
) -> list[Explanation]:
    """Explain the worst loss of time of every finding.

    - `splits`: the division of programs' time into computing and communicating.
    - `replayed`: the terms into which replays of traces divide the losses of programs.
    """
    cases = []
    for finding in findings:
        point = _worst_loss(finding)
        if point is not None:
            cases.append(_case(finding, point, findings, facts, baseline))
    below = {}
    for case in cases:
        if not case.is_program:
            below[id(case)] = _explained(case)
    refused = _refused_below(below.values())
    explanations = []
    for case in cases:
        if case.is_program:
            case = _with_parts(case, splits, replayed or {})
            refused_here = refused.get(case.finding.platform)
            explanations.append(_explained(case, refused_here))
        else:
            explanations.append(below[id(case)])
    return _once(explanations)


def _worst_loss(finding: Finding) -> Row | None:
    """Return the worst loss of time (verdict "slower"); None if only lost launches show a loss."""
    for point in finding.of(Verdict.SLOWER):
        if point.ratio is not None and not (point.lost and point.lost.by_loss):
            return point
    return None


def _case(
    finding: Finding,
    point: Row,
    findings: Sequence[Finding],
    facts: Mapping[str, Facts],
    baseline: str,
) -> LossCase:
    platform = finding.platform
    others = []
    for other in findings:
        if other.probe == finding.probe and other.platform != platform:
            others.append((other, facts.get(other.platform, {})))
    return LossCase(
        finding=finding,
        point=point,
        findings=[other for other in findings if other.platform == platform],
        facts=facts.get(platform, {}),
        baseline_facts=facts.get(baseline, {}),
        others=others,
    )


def _refused_below(explanations: Iterable[Explanation]) -> dict[str, dict[str, str]]:
    """Return for each platform the rules that are withdrawn for all its MPI losses, with reasons.

    If a fact explains none of a platform's MPI losses, it does not explain the platform's losses of
    programs either.
    """
    standing: set[tuple[str, str]] = set()
    refused: dict[str, dict[str, str]] = {}
    for explanation in explanations:
        if explanation.finding.layer is not Layer.MPI:
            continue
        platform = explanation.finding.platform
        for cause in explanation.causes:
            if cause.withdrawn:
                refused_rules = refused.setdefault(platform, {})
                refused_rules.setdefault(cause.rule, cause.withdrawn)
            else:
                standing.add((platform, cause.rule))
    for platform, rule in standing:
        refused.get(platform, {}).pop(rule, None)
    return refused


def _with_parts(case: LossCase, splits: Splits | None, replayed: ReplayedLosses) -> LossCase:
    """Return the case of a program with the terms of its replay and the division of its time."""
    platform = case.finding.platform
    place = case.place
    program = (platform, application_of(place))
    terms, _ = replayed.get(program, ((), 0))
    # The time at a point, for example of one rank, is not the time of the replayed launch.
    is_launch = place.metric == "time" and not place.point
    if not is_launch:
        terms = ()
    split = None
    if splits is not None:
        split = splits.of(platform, place)
    return replace(case, split=split, replayed=terms)


def _explained(case: LossCase, refused: Mapping[str, str] | None = None) -> Explanation:
    """Explain a loss.

    - `refused`: for each rule that losses of the layer below exclude, the reason.
    """
    if case.is_program:
        measured, missing = program_terms(case)
    else:
        measured, missing = terms_of(case)
    if refused is None:
        refused = {}
    causes: list[Cause] = []
    absent: dict[str, str] = {}
    for rule in load_rules():
        if not rule.concerns(case.finding.layer, case.finding.probe):
            continue
        answer = _look(rule, case)
        if isinstance(answer, NoCause):
            absent[rule.name] = answer.reason
            continue
        name = answer.name or rule.name
        cause = answer
        if case.is_program:
            cause = cause_of_program(answer, case, measured)
        withdrawn = cause.withdrawn or refused.get(rule.name, "")
        causes.append(replace(cause, name=name, rule=rule.name, withdrawn=withdrawn))
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
    """Apply a rule to a loss if the facts that the rule needs are known."""
    sides = {case.finding.platform: case.facts}
    if rule.both:
        sides[case.finding.baseline] = case.baseline_facts
    for need in rule.needs:
        keys = need.split(" or ")
        common_keys = set(keys).intersection(*sides.values())
        common = common_keys
        if not common:
            without = [name for name, facts in sides.items() if facts.keys().isdisjoint(keys)]
            lacking = " and ".join(without or sides)
            first_keys = " or ".join(keys[:3])
            return NoCause(f"{first_keys} is not known of {lacking}")
    if rule.between and case.place.on_one_node:
        return NoCause("within a node no network is used")
    return _answer(rule, case)


def _answer(rule: Rule, case: LossCase) -> Cause | NoCause:
    if rule in _OWN_RULES:
        return rule.find(case)
    try:
        answer = rule.find(case)
    except Exception as error:  # foreign code may raise anything; other causes remain
        problem = one_line(f"{type(error).__name__}: {error}")
        return NoCause(f"its rule failed: {problem}")
    if isinstance(answer, Cause | NoCause):
        return answer
    return NoCause(f"its rule returned {type(answer).__name__}, not a Cause or NoCause")


def _once(explanations: Sequence[Explanation]) -> list[Explanation]:
    """Mark the causes that the report already describes in its sentence on an earlier layer."""
    layers = list(Layer)
    first: dict[tuple[str, str], int] = {}
    for explanation in explanations:
        rung = layers.index(explanation.finding.layer)
        for cause in explanation.differing:
            key = (explanation.finding.platform, cause.words)
            first[key] = min(rung, first.get(key, rung))
    marked = []
    for explanation in explanations:
        rung = layers.index(explanation.finding.layer)
        causes = []
        for cause in explanation.causes:
            key = (explanation.finding.platform, cause.words)
            causes.append(replace(cause, repeated=first.get(key, rung) < rung))
        with_marks = replace(explanation, causes=tuple(causes))
        marked.append(with_marks)
    return marked
