"""Causes: a fact that differs, the terms of the cost model that it changes, and their share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bareline.analysis.judgements.causes.share import Share


class CauseStatus(StrEnum):
    """The relation of a cause, or of all causes together, to a loss."""

    EXPLAINS = "explains"
    """Nothing else is needed: the rest may be nothing."""
    MAY_EXPLAIN = "may explain"
    """Its bounds leave open whether it costs all of the loss or nothing."""
    CONTRIBUTES = "contributes"
    """It costs something, and a part of the loss is unexplained."""
    DIFFERS = "differs"
    """It has no term of its own: its cost is unknown."""


class Term(StrEnum):
    """A part of an operation's time; the operation's time is the sum of them."""

    START = "start"
    """The cost of every message, however short it is."""
    BYTES = "bytes"
    """The additional cost of bytes over a link."""
    COPIES = "copies"
    """The cost of a second copy of a message within a node."""
    ARITHMETIC = "arithmetic"
    CORES = "cores"
    """The work that more cores do at the same time."""
    MEMORY = "memory"
    FILES = "files"
    COMPUTING = "computing"
    """Of a program: all time outside calls."""
    MESSAGES = "messages"
    """Of a program: its calls of MPI."""
    ALGORITHMS = "algorithms"
    """Of a replayed program: the time of its collectives beyond a tree of messages."""
    MODEL = "model"
    """Of a simulation: the parameters of its model."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A fact that differs, and the extra time that it can explain.

    - `words`: the difference, as the end of a sentence.
    - `terms`: the terms that it changes; empty where no changed term is known.
    - `share`: the extra time by the fact itself; None where the fact does not bound it.
    - `noun`: a noun for the share, as in "49 us are due to the link rate (1 Gb/s)"; if empty, the
      name and `words` are used.
    - `withdrawn`: why it is not a cause after all.
    - `name`: its name, e.g. ``link rate``; if empty, the name of its rule is used.
    - `certain`: it is at work, so that the measured term is its effect: a link that is full.
    - `repeated`: the sentence of an earlier layer describes it in full.
    - `caveat`: code of the caveat with the same meaning, which need not be repeated.
    - `beside`: names of the causes that the share may equally belong to.
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
        """Whether its cost is known."""
        return self.share is not None


@dataclass(frozen=True, slots=True)
class NoCause:
    """Why something is not a cause of a loss."""

    reason: str
