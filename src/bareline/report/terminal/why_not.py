"""Why a cause is named or not, on a terminal: what it needs, what there was, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.why_not import AnswerRow, WhyNot
from bareline.analysis.numbers.cell import Cell
from bareline.analysis.words.amounts import ratio_words
from bareline.analysis.words.parts import Amount, sentence
from bareline.report.blocks import Block, Remark, Rows, Table
from bareline.report.content.wording import capital
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import listing

_WORDS: Mapping[str | None, str] = {
    Word.EXPLAINS: "explains",
    Word.MAY_EXPLAIN: "may explain it, or cost nothing",
    Word.CONTRIBUTES: "contributes",
    Word.DIFFERS: "differs, effect not measured",
    None: "no",
}


def why_not_blocks(answers: Sequence[WhyNot]) -> Iterator[Block]:
    """Give for each platform the facts and measurements that a cause needs, then each loss."""
    for number, one in enumerate(answers):
        if number:
            yield Remark()
        head = f"{one.rule.name} on {one.platform}, compared with {one.baseline}"
        yield Remark(capital(head), "bold")
        if one.facts:
            yield _facts(one)
        yield from _measured(one.measured)
        yield from _answers(one.answers)
        if not one.answers:
            yield Remark(f"Nothing that it concerns ({one.concerns}) is certainly worse there.")


def _facts(one: WhyNot) -> Table:
    several = "s, any of them" if len(one.facts) > 1 else ""
    return (
        Rows(one.facts)
        .text(f"fact{several}", lambda known: known.key)
        .text(one.baseline, lambda known: _fact(known.key, known.value_baseline))
        .text(one.platform, lambda known: _fact(known.key, known.value))
        .table(whole=True)
    )


def _fact(key: str, value: Scalar | None) -> str:
    return "not known" if value is None else format_fact(key, value)


def _measured(measured: Sequence[tuple[str, Cell | None]]) -> Iterator[Block]:
    """Give what probes found, and where: its one node shows a loopback."""
    rows = Rows([(probe, worst) for probe, worst in measured if worst is not None])
    if rows.rows:
        rows.text("measurement", lambda row: row[0]).text("", lambda row: row[1].place.where)
        yield rows.text("", lambda row: ratio_words(row[1].ratio, row[1].rate)).table(whole=True)
    if missing := [probe for probe, worst in measured if worst is None]:
        yield Remark(f"Not measured on both: {listing(missing)}.", "muted")


def _answers(answers: Sequence[AnswerRow]) -> Iterator[Block]:
    """Say what came of the cause: losses of one answer together, the first of them by name."""
    alike: dict[tuple[str | None, str], list[AnswerRow]] = {}
    for answer in answers:
        alike.setdefault((answer.word, answer.reason), []).append(answer)
    for (word, reason), (first, *others) in alike.items():
        subject = ", ".join(filter(None, [first.subject, first.point]))
        figures = f" ({first.figures})" if first.figures else ""
        more = f"; likewise {len(others)} more" if others else ""
        yield Remark(
            sentence(f"· {subject}: ", Amount(_WORDS[word]), f": {reason}{figures}{more}.")
        )
