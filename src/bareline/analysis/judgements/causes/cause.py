"""Causes: a fact that differs, the terms of the cost model that it changes, and their share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bareline.analysis.judgements.causes.share import Share


class Word(StrEnum):
    """What may be said of a cause, or of all causes of a loss together."""

    EXPLAINS = "explains"
    """Nothing else is needed: what is left over may be nothing."""
    MAY_EXPLAIN = "may explain"
    """Its bounds leave open whether it costs all of the loss or nothing."""
    CONTRIBUTES = "contributes"
    """It costs something, and a part of the loss is left over."""
    DIFFERS = "differs"
    """It has no term of its own: nothing says what it costs."""


class Term(StrEnum):
    """A part of an operation's time; the operation's time is the sum of them."""

    START = "start"
    """What every message costs, however short it is."""
    BYTES = "bytes"
    """What bytes over a link cost beyond that."""
    COPIES = "copies"
    """What a second copy of a message within a node costs."""
    ARITHMETIC = "arithmetic"
    CORES = "cores"
    """What more cores do side by side."""
    MEMORY = "memory"
    FILES = "files"
    COMPUTING = "computing"
    """Of a program: all that is no call."""
    MESSAGES = "messages"
    """Of a program: its calls of MPI."""
    ALGORITHMS = "algorithms"
    """Of a replayed program: what its collectives take longer than a tree of messages."""
    MODEL = "model"
    """Of a simulation: what its model was given."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that differs, and the extra time that it can explain.

    - `words`: what differs, as the end of a sentence.
    - `terms`: the terms that it changes; none where no term is known to.
    - `share`: the extra time by the fact itself; None where the fact bounds none.
    - `noun`: what the share is, as in "49 us are its bytes at 1 Gb/s"; empty: `words` are a reason.
    - `withdrawn`: why it is no cause after all.
    - `name`: what it is, e.g. ``link rate``; a rule that leaves it empty lends its own.
    - `certain`: whatever the term was measured at is its doing: a link that is full.
    - `repeated`: the sentence of an earlier layer says it in full.
    - `caveat`: code of the caveat that says the same, which need not be repeated.
    - `beside`: names of the causes that the share may as well belong to.
    """

    words: str
    terms: tuple[Term, ...] = ()
    share: Share | None = None
    noun: str = ""
    withdrawn: str = ""
    name: str = ""
    rule: str = ""
    certain: bool = False
    repeated: bool = False
    caveat: str = ""
    beside: tuple[str, ...] = ()

    @property
    def sized(self) -> bool:
        """Whether anything says what it costs."""
        return self.share is not None


@dataclass(frozen=True, slots=True)
class NoCause:
    """Why something is not a cause of a loss."""

    reason: str
