"""Words of a report, and what orders its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bareline.analysis.words.parts import Sentence
from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Table

#: Text, or a sentence whose amounts, intervals and platforms a writer sets apart. Text between
#: backticks is code.
Words = str | Sentence


@dataclass(frozen=True, slots=True)
class Prose:
    """Sentences: one paragraph each, or a list of them."""

    sentences: tuple[Words, ...]
    kind: Literal["paragraphs", "list", "headline"] = "paragraphs"


@dataclass(frozen=True, slots=True)
class Note:
    """What must be known of a block beside it, in lighter ink."""

    text: Words


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that open on demand where a writer can fold, under their own line."""

    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading that the contents list, or under a lower one within a section.

    One of a `probe` is chosen by its layer's strip; the `first` is shown at first.
    """

    title: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    probe: str = ""
    first: bool = False


Block: TypeAlias = "Table | Prose | Note | Folded | Section | Figure"
