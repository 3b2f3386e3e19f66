"""Blocks as Markdown, for an issue, a wiki, or another place that shows no HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from bareline.analysis.words.parts import Amount, Part, Sentence
from bareline.report.blocks import (
    Block,
    Column,
    Field,
    Figure,
    Folded,
    Next,
    Note,
    Prose,
    Remark,
    Section,
    Table,
    Words,
)
from bareline.vocabulary.caveats import Caveat, notes
from bareline.vocabulary.units import joined

_SPECIAL = re.compile(r"([\\`*_\[\]|#])")


def markdown(blocks: Iterable[Block], figures: Path | None = None, level: int = 2) -> Iterator[str]:
    """Yield the Markdown of each block.

    - `figures`: the path of the figures' folder, relative to the Markdown file; if None, the
      Markdown has no links to figures.
    """
    for block in blocks:
        match block:
            case Table():
                yield from _table(block)
            case Prose():
                yield from _prose(block)
            case Note():
                yield set_words(block.text)
            case Remark():
                yield _remark(block)
            case Next():
                yield "\n".join(["```sh", *block.commands, "```"])
            case Section():
                yield f"{'#' * level} {escaped(block.title)}"
                yield from markdown(block.blocks, figures, level + 1)
            case Folded():
                yield f"<details><summary>{escaped(block.summary)}</summary>"
                yield from markdown(block.blocks, figures, level)
                yield "</details>"
            case Figure():
                yield from _figure(block, figures, level)


def _remark(remark: Remark) -> str:
    if not remark.lead:
        return set_words(remark.text)
    return f"**{escaped(remark.lead)}**{set_words(remark.text)}"


def escaped(text: object) -> str:
    """Return a text in one line that Markdown shows unchanged."""
    plain = _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;")


def set_words(words: Words) -> str:
    """Return a sentence with bold amounts and a capital at its beginning."""
    if not isinstance(words, Sentence):
        return escaped(words)
    whole = "".join(map(_part, words.parts))
    return whole[:1].upper() + whole[1:]


def _part(part: Part) -> str:
    """Return the Markdown of a part of a sentence; spaces at the ends are outside of the markup."""
    core = part.text.strip()
    if not core:
        return part.text
    before, _, after = part.text.partition(core)
    bold = "**" if isinstance(part, Amount) else ""
    return f"{before}{bold}{escaped(core)}{bold}{after}"


def _prose(prose: Prose) -> Iterator[str]:
    if prose.kind == "list":
        yield "\n".join(map(_item, prose.sentences))
    else:
        yield from map(set_words, prose.sentences)


def _item(words: Words) -> str:
    """Return an item of a list; a long sentence with a lead becomes a list of its clauses."""
    if not isinstance(words, Sentence) or words.lead is None or not words.is_long:
        return f"- {set_words(words)}"
    lines = [f"- {escaped(words.lead.name)}"]
    lines += [f"  - {set_words(clause)}" for clause in words.clauses]
    return "\n".join(lines)


def _figure(figure: Figure, folder: Path | None, level: int) -> Iterator[str]:
    """Yield a figure's title, drawing, caption and table."""
    yield f"{'#' * level} {escaped(figure.title)}"
    if folder is not None and figure.panels:
        place = (folder / f"{figure.id}.svg").as_posix()
        description = figure.text_summary or figure.title
        yield f"![{escaped(description)}](<{place}>)"
    names = dict.fromkeys(name for _, name in figure.sources)
    published = ""
    if any(names):
        published = f"Published: {'; '.join(names)}."
    caption = joined(figure.caption, published, by=" ")
    if caption:
        yield escaped(caption)
    if figure.data_table is not None:
        yield from _table(figure.data_table)


def _table(table: Table) -> Iterator[str]:
    """Yield a table, followed by its caveats."""
    marks = {caveat: number for number, caveat in enumerate(table.caveats, 1)}
    heads = map(escaped, _heads(table))
    rules = map(_rule, table.columns)
    lines = [_line(heads), _line(rules)]
    rows = [*table.rows]
    if table.foot:
        rows.append(table.foot)
    for fields in rows:
        cells = [_field(field, marks) for field in fields]
        lines.append(_line(cells))
    yield "\n".join(lines)
    if marks:
        texts = notes(marks)
        yield "\n".join(f"({mark}) {escaped(texts[caveat])}  " for caveat, mark in marks.items())


def _rule(column: Column) -> str:
    """Return the rule below a column head, which aligns a column of figures at the right."""
    return "---" if column.kind in ("text", "whole") else "---:"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _heads(table: Table) -> list[str]:
    """Return the heads of the columns.

    A head over several columns is repeated in the head of each of them.
    """
    heads = [column.title or column.platform for column in table.columns]
    for groups in reversed(table.groups):
        above: list[str] = []
        for words, width in groups:
            above += [words] * width
        for place, (group, head) in enumerate(zip(above, heads[1:], strict=True), 1):
            heads[place] = joined(group, head, by=" ")
    return heads


def _field(field: Field, marks: dict[Caveat, int]) -> str:
    """Return a field with its note and the numbers of its caveats."""
    text = joined(set_words(field.text), escaped(field.note), by="; ")
    numbers = [f"({marks[caveat]})" for caveat in field.caveats]
    return joined(text, *numbers, by=" ")
