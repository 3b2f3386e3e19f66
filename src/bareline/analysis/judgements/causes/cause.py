"""Causes: what differs, and bounds of the factor that it costs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

#: A factor whose bounds lie farther apart says nothing of how much a loss owes to it.
DECADE = 10.0


class Word(StrEnum):
    """What may be said of a cause, or of all causes of a loss together."""

    EXPLAINS = "explains"
    """Nothing else is needed: what is left of the loss may be nothing."""
    MAY_EXPLAIN = "may explain"
    """What bounds it leaves open whether it costs all of the loss or nothing."""
    CONTRIBUTES = "contributes"
    """It costs something, and a part of the loss remains unexplained."""
    DIFFERS = "differs"
    """Its effect was not measured: nothing bounds what it costs."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that differs, and the factor that it can explain.

    - `words`: what differs, as the end of a sentence.
    - `lo`, `hi`: bounds of the factor; `hi` is None where nothing bounds it.
    - `measurement`, `measured`: the probe whose figures bound the factor, and what it measured
      unless `words` say it. Causes that rest on one measurement explain one factor together.
    - `withdrawn`: why it is no cause after all.
    - `name`: what it is, e.g. ``link rate``; a rule that leaves it empty lends its own.
    - `part`: it is what a part of the program's time costs: parts add up, factors multiply.
    - `repeated`: the sentence of an earlier layer says it in full.
    - `caveat`: code of the caveat that says the same, which need not be repeated.
    """

    words: str
    lo: float = 1.0
    hi: float | None = None
    measurement: str = ""
    measured: str = ""
    withdrawn: str = ""
    name: str = ""
    rule: str = ""
    part: bool = False
    repeated: bool = False
    caveat: str = ""

    @property
    def bounded(self) -> bool:
        """Whether anything bounds what it costs."""
        return self.hi is not None or self.lo > 1

    @property
    def vague(self) -> bool:
        """Whether its bounds lie so far apart that it explains anything."""
        return self.hi is not None and self.hi / self.lo > DECADE

    @property
    def text(self) -> str:
        """What differs, and what was measured of it."""
        return "; ".join(filter(None, (self.words, self.measured)))


@dataclass(frozen=True, slots=True)
class NoCause:
    """Why something is not a cause of a loss."""

    reason: str
