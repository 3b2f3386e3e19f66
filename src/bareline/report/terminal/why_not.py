"""Why a cause is named or not, on a terminal: what it needs, what there was, what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.text import Text

from bareline.analysis.judgements.causes.cause import Word
from bareline.analysis.judgements.causes.why_not import CauseAnswer, WhyNot
from bareline.analysis.numbers.cell import Cell
from bareline.analysis.words.amounts import ratio_words
from bareline.report.blocks import Column
from bareline.report.writers.columns import print_table
from bareline.report.writers.console import clean
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


def print_why_not(answers: Sequence[WhyNot], console: Console) -> None:
    """Print for each platform the facts and measurements that a cause needs, then each loss."""
    for number, one in enumerate(answers):
        if number:
            console.print()
        head = f"{one.rule.name} on {one.platform}, compared with {one.baseline}"
        console.print(Text(clean(head[:1].upper() + head[1:]), "bold"))
        if one.facts:
            _print_facts(one, console)
        if one.measured:
            _print_measured(one.measured, console)
        _print_answers(one.answers, console)
        if not one.answers:
            console.print(
                clean(f"Nothing that it concerns ({one.concerns}) is certainly worse there.")
            )


def _print_facts(one: WhyNot, console: Console) -> None:
    rows = [
        [known.key, *(_fact(known.key, value) for value in (known.value_baseline, known.value))]
        for known in one.facts
    ]
    several = "s, any of them" if len(rows) > 1 else ""
    print_table(
        [Column(f"fact{several}"), Column(one.baseline), Column(one.platform)], rows, console
    )


def _fact(key: str, value: Scalar | None) -> str:
    return "not known" if value is None else format_fact(key, value)


def _print_measured(measured: Sequence[tuple[str, Cell | None]], console: Console) -> None:
    """Print what probes found, and where: its one node shows a loopback."""
    rows = [
        [probe, worst.place.where, ratio_words(worst.ratio, worst.rate)]
        for probe, worst in measured
        if worst is not None
    ]
    if rows:
        print_table([Column("measurement"), Column(""), Column("")], rows, console)
    if missing := [probe for probe, worst in measured if worst is None]:
        console.print(Text(clean(f"Not measured on both: {listing(missing)}."), "dim"))


def _print_answers(answers: Sequence[CauseAnswer], console: Console) -> None:
    """Print what came of the cause: losses of one answer together, the first of them by name."""
    alike: dict[tuple[str | None, str], list[CauseAnswer]] = {}
    for answer in answers:
        alike.setdefault((answer.word, answer.reason), []).append(answer)
    for (word, reason), (first, *others) in alike.items():
        subject = ", ".join(filter(None, [first.subject, first.point]))
        figures = f" ({first.figures})" if first.figures else ""
        more = f"; likewise {len(others)} more" if others else ""
        text = Text(clean(f"· {subject}: ")).append(_WORDS[word], "bold")
        console.print(text.append(clean(f": {reason}{figures}{more}.")))
