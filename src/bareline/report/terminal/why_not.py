"""Why a cause does not explain a loss, with the facts and measurements that the cause needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.judgements.causes.why_not import AnswerRow, WhyNot
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import ratio_words
from bareline.analysis.words.parts import Amount, capital, sentence
from bareline.report.blocks import Block, Field, Remark, Rows, Table
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import listing

_WORDS: Mapping[str | None, str] = {
    CauseStatus.EXPLAINS: "explains it",
    CauseStatus.MAY_EXPLAIN: "may explain it, or cost nothing",
    CauseStatus.CONTRIBUTES: "explains a part of it",
    CauseStatus.DIFFERS: "differs, but its effect was not measured",
    None: "is not named as its cause",
}


def why_not_blocks(answers: Sequence[WhyNot]) -> Iterator[Block]:
    """Yield for each platform the facts and measurements that a cause needs, then the reasons."""
    for number, answer in enumerate(answers):
        if number:
            yield Remark()
        head = f"{answer.rule.name} on {answer.platform}, compared with {answer.baseline}"
        yield Remark(capital(head), "bold")
        if answer.facts:
            yield _fact_table(answer)
        yield from _measured(answer.measured)
        yield from _answers(answer.answers)
        if not answer.answers:
            yield Remark(f"No certain loss in {answer.concerns} there.")


def _fact_table(answer: WhyNot) -> Table:
    """Return the facts that a cause needs, on both platforms."""
    title = "one of these facts" if len(answer.facts) > 1 else "fact"
    rows = Rows(answer.facts).text(title, lambda fact: fact.key)
    rows.text(answer.baseline, lambda fact: _fact(fact.key, fact.value_baseline))
    rows.text(answer.platform, lambda fact: _fact(fact.key, fact.value))
    return rows.table(whole=True)


def _fact(key: str, value: Scalar | None) -> str:
    return "not known" if value is None else format_fact(key, value)


def _measured(measured: Sequence[tuple[str, Row | None]]) -> Iterator[Block]:
    """Yield the results of probes.

    The number of nodes is shown, because on one node only the loopback interface is measured.
    """
    probes: list[str] = []
    results: list[Row] = []
    missing: list[str] = []
    for probe, worst in measured:
        if worst is None:
            missing.append(probe)
        else:
            probes.append(probe)
            results.append(worst)
    if results:
        rows = Rows(results).fields("measurement", map(Field, probes), "text")
        rows.text("", lambda row: row.place.where)
        rows.text("", lambda row: ratio_words(row.ratio, row.rate))
        yield rows.table(whole=True)
    if missing:
        yield Remark(f"Not measured on the two platforms: {listing(missing)}.", "muted")


def _answers(answers: Sequence[AnswerRow]) -> Iterator[Block]:
    """Yield a line for each reason why the cause explains a loss or not.

    Each line has the figures of the first loss with this reason, and names further such losses.
    """
    same_reason = grouped_by(answers, lambda answer: (answer.word, answer.reason))
    for same in same_reason.values():
        first, *further = same
        subject = first.subject
        if first.point:
            subject += f" (at {first.point})"
        reason = first.reason.removeprefix("withdrawn: ")
        if first.word is not None and reason.startswith("its "):
            reason = f"{first.platform}'s {reason.removeprefix('its ')}"
        else:
            reason = capital(reason)
        text = f". {reason}."
        if first.figures:
            text += f" The cost is {first.figures}."
        if further:
            subjects = [answer.subject for answer in further]
            text += f" The same answer for: {listing(subjects)}."
        verdict = Amount(_WORDS[first.word])
        yield Remark(sentence(f"· Loss of {subject}: '{first.cause}' ", verdict, text))
