"""Causes: facts that differ, the terms of the cost model that they change, and their shares."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bareline.analysis.judgements.causes.share import Share


class CauseStatus(StrEnum):
    """The relation of a cause, or of all causes together, to a loss."""

    EXPLAINS = "explains"
    """No other cause is needed: the unexplained rest may be 0."""
    MAY_EXPLAIN = "may explain"
    """The bounds of the cause include the whole loss and 0."""
    CONTRIBUTES = "contributes"
    """The cause costs something, and a part of the loss remains unexplained."""
    DIFFERS = "differs"
    """The fact differs, but the cost of the cause is unknown."""


class Term(StrEnum):
    """A part of an operation's time, which is the sum of such parts."""

    START = "start"
    """The start-up time of every message, however short the message is."""
    BYTES = "bytes"
    """The additional time for bytes over a link."""
    COPIES = "copies"
    """The time of a second copy of a message within a node."""
    ARITHMETIC = "arithmetic"
    CORES = "cores"
    """Work that a larger number of cores does at the same time."""
    MEMORY = "memory"
    FILES = "files"
    COMPUTING = "computing"
    """For a program: all time outside calls."""
    MESSAGES = "messages"
    """For a program: the time of its MPI calls."""
    ALGORITHMS = "algorithms"
    """For a replayed program: the time of its collectives beyond a tree of messages."""
    MODEL = "model"
    """For a simulation: the parameters of its model."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A fact that differs, and the extra time that it can explain.

    - `words`: the difference, as the end of a sentence.
    - `terms`: the terms that the fact changes; empty if none is known.
    - `share`: the extra time that the fact causes; None if the fact does not bound it.
    - `noun`: a noun for the share, as in "49 us are due to the link rate (1 Gb/s)"; if empty,
      `name` and `words` are used.
    - `withdrawn`: the reason if the fact is not a cause after all.
    - `name`: the cause's name, e.g. ``link rate``; if empty, the name of its rule is used.
    - `certain`: the fact certainly has an effect, for example a fully used link. Its share is then
      the part of the measured term that other facts leave unexplained.
    - `repeated`: the sentence on an earlier layer already describes the cause in full.
    - `caveat`: the code of a caveat with the same meaning, which is then not repeated.
    - `beside`: the names of causes to which the share may equally belong.
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
        """Whether the cost of the cause is known."""
        return self.share is not None


@dataclass(frozen=True, slots=True)
class NoCause:
    """The reason why a fact is not a cause of a loss."""

    reason: str
