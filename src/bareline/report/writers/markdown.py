"""Blocks as Markdown: for an issue, a wiki, or another place that shows no HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bareline.analysis.words.parts import Amount, Sentence
from bareline.report.blocks import (
    Block,
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

_SPECIAL = re.compile(r"([\\`*_\[\]|#])")


def markdown(blocks: Iterable[Block], figures: Path | None = None, level: int = 2) -> Iterator[str]:
    """Write blocks, a text for each; `figures`: their folder as the text names it, if any."""
    for block in blocks:
        match block:
            case Table():
                yield from _table(block)
            case Prose():
                yield from _prose(block)
            case Note():
                yield set_words(block.text)
            case Remark():
                bold = f"**{escaped(block.lead)}**" if block.lead else ""
                yield bold + set_words(block.text)
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


def escaped(text: object) -> str:
    """Write text so that Markdown shows it as it is, in one line."""
    plain = _SPECIAL.sub(r"\\\1", " ".join(str(text).split()))
    return plain.replace("&", "&amp;").replace("<", "&lt;")


def set_words(words: Words) -> str:
    """Set a sentence: amounts in bold; it begins with a capital."""
    if not isinstance(words, Sentence):
        return escaped(words)
    parts = []
    for part in words.parts:
        text = part.text
        if core := text.strip():
            # Spaces at the ends of a part belong to the sentence.
            before, _, after = text.partition(core)
            bold = "**" if isinstance(part, Amount) else ""
            text = f"{before}{bold}{escaped(core)}{bold}{after}"
        parts.append(text)
    whole = "".join(parts)
    return whole[:1].upper() + whole[1:]


def _prose(prose: Prose) -> Iterator[str]:
    if prose.kind == "list":
        yield "\n".join(map(_item, prose.sentences))
    else:
        yield from map(set_words, prose.sentences)


def _item(words: Words) -> str:
    if not isinstance(words, Sentence) or words.lead is None or not words.is_long:
        return f"- {set_words(words)}"
    return "\n".join(
        [f"- {escaped(words.lead.name)}", *(f"  - {set_words(one)}" for one in words.clauses)]
    )


def _figure(figure: Figure, folder: Path | None, level: int) -> Iterator[str]:
    yield f"{'#' * level} {escaped(figure.title)}"
    if folder is not None and figure.panels:
        place = (folder / f"{figure.id}.svg").as_posix()
        yield f"![{escaped(figure.text_summary or figure.title)}](<{place}>)"
    sources = "; ".join(dict.fromkeys(name for _, name in figure.sources))
    if caption := " ".join(filter(None, [figure.caption, sources and f"Published: {sources}."])):
        yield escaped(caption)
    if figure.data_table is not None:
        yield from _table(figure.data_table)


def _table(table: Table) -> Iterator[str]:
    marks = {caveat: number for number, caveat in enumerate(table.caveats, 1)}
    heads = [column.title or column.platform for column in table.columns]
    for groups in reversed(table.groups):
        spread = [words for words, width in groups for _ in range(width)]
        heads[1:] = [" ".join(filter(None, [above, own])) for above, own in
                     zip(spread, heads[1:], strict=True)]  # fmt: skip
    rows = [[_field(field, marks) for field in row] for row in table.rows]
    rows += [[_field(field, marks) for field in table.foot]] if table.foot else []
    rules = ["---" if column.kind in ("text", "whole") else "---:" for column in table.columns]
    lines = [f"| {' | '.join(line)} |" for line in (map(escaped, heads), rules, *rows)]
    yield "\n".join(lines)
    if marks:
        texts = notes(marks)
        yield "\n".join(f"({mark}) {escaped(texts[one])}  " for one, mark in marks.items())


def _field(field: Field, marks: dict[Caveat, int]) -> str:
    words: Sequence[str] = [set_words(field.text), escaped(field.note)]
    text = "; ".join(filter(None, words))
    return " ".join(filter(None, [text, *(f"({marks[caveat]})" for caveat in field.caveats)]))
