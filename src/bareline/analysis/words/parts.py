"""The parts of a sentence, so that output formats can mark amounts, intervals and platforms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from bareline.vocabulary.model import Layer


@dataclass(frozen=True, slots=True)
class Text:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Lead:
    """The subject at the beginning of a sentence (a layer or a step), which a colon follows."""

    name: str

    @property
    def text(self) -> str:
        """The subject with its colon."""
        return f"{self.name}: "


@dataclass(frozen=True, slots=True)
class Amount:
    """The amount of a difference with the verdict: ``2.3 times slower``, ``equal within 2 %``."""

    text: str


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval of the preceding amount, in the same unit and direction."""

    lo: str
    hi: str

    @property
    def text(self) -> str:
        """The interval in brackets."""
        return f"[{self.lo}, {self.hi}]"


@dataclass(frozen=True, slots=True)
class PlatformName:
    """The name of a platform."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """The end of a clause; in a long sentence the next clause begins on a new line."""

    text: str = "; "


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the evidence on the page, with the smallest and largest number of launches."""

    anchor: str
    n: int | None = None
    n_most: int | None = None

    @property
    def launches(self) -> str:
        """The number of launches, e.g. ``n = 10`` or ``n = 6 to 10``; empty if it is not known."""
        if not self.n:
            return ""
        several = self.n_most is not None and self.n_most > self.n
        if several:
            return f"n = {self.n} to {self.n_most}"
        return f"n = {self.n}"

    @property
    def text(self) -> str:
        """An empty text, because a link has no words of its own."""
        return ""


Part = Text | Lead | Amount | Interval | PlatformName | Break | Link
Piece = Part | str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, as its parts in order."""

    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """The sentence in plain words."""
        return "".join(part.text for part in self.parts)

    @property
    def clauses(self) -> list[Sentence]:
        """The clauses as sentences, without the lead and without the breaks between clauses."""
        clauses: list[list[Part]] = [[]]
        for part in self.parts:
            if isinstance(part, Break):
                clauses.append([])
            elif not isinstance(part, Lead):
                clauses[-1].append(part)
        return [_ended(parts) for parts in clauses]

    @property
    def lead(self) -> Lead | None:
        """The lead; None if the sentence has no lead."""
        for part in self.parts:
            if isinstance(part, Lead):
                return part
        return None

    @property
    def is_long(self) -> bool:
        """Whether the sentence is easier to read with a line for each clause."""
        return self.lead is not None and len(self.clauses) >= 3

    @property
    def about(self) -> Layer | None:
        """The layer that the first words (the lead) name; None if they name no layer."""
        if self.lead is None:
            return None
        for layer in Layer:
            if layer.words == self.lead.name:
                return layer
        return None

    @property
    def evidence(self) -> Link | None:
        """The first link to evidence; None without a link."""
        for part in self.parts:
            if isinstance(part, Link):
                return part
        return None

    def __str__(self) -> str:
        return self.text


def _ended(parts: Sequence[Part]) -> Sentence:
    """Return a clause as a sentence, which ends with a full stop."""
    clause = Sentence(tuple(parts))
    if clause.text and clause.text[-1] not in ".:":
        return Sentence((*parts, Text(".")))
    return clause


def sentence(*pieces: Piece | Sentence | Iterable[Piece]) -> Sentence:
    """Return a sentence made of pieces; neighbouring words become one part."""
    parts: list[Part] = []
    for plain, group in groupby(_flat(pieces), lambda piece: isinstance(piece, Text)):
        if not plain:
            parts += group
        elif words := "".join(piece.text for piece in group):
            parts.append(Text(words))
    return Sentence(tuple(parts))


def _flat(pieces: Iterable[Piece | Sentence | Iterable[Piece]]) -> Iterator[Part]:
    for piece in pieces:
        if isinstance(piece, str):
            yield Text(piece)
        elif isinstance(piece, Sentence):
            yield from piece.parts
        elif isinstance(piece, Iterable):
            yield from _flat(piece)
        else:
            yield piece


def capitalized(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of a sentence with a capital letter at its beginning."""
    first, *rest = pieces
    if isinstance(first, str):
        return [capital(first), *rest]
    if isinstance(first, Text | Amount):
        return [replace(first, text=capital(first.text)), *rest]
    return [*pieces]


def joined(
    clauses: Sequence[Sequence[Piece]], *, between: Piece = ", ", last: Piece = " and "
) -> list[Piece]:
    """Join clauses as a sentence lists them: ``a, b and c``."""
    pieces: list[Piece] = []
    remaining = len(clauses)
    for clause in clauses:
        pieces += clause
        remaining -= 1
        if remaining == 1:
            pieces.append(last)
        elif remaining:
            pieces.append(between)
    return pieces


def capital(text: str) -> str:
    """Return a text with a capital at its beginning; its other letters stay."""
    return f"{text[:1].upper()}{text[1:]}"


def platforms_named(names: Iterable[str]) -> list[Piece]:
    """List platforms: ``a, b and c``."""
    different = dict.fromkeys(names)
    return joined([[PlatformName(name)] for name in different])
