"""A cause: what differs between two platforms, and bounds of the factor that it costs.

A rule is a cause that may be known. It declares what it rests on (facts of both platforms, probes
that measure its effect), so that a cause that is not named can say what it lacked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant

if TYPE_CHECKING:
    from bareline.analysis.causes.case import Case

#: A factor whose bounds lie farther apart says nothing of how much a loss owes to it.
DECADE = 10.0


class Word(StrEnum):
    """What may be said of a cause, or of all causes of a loss together."""

    EXPLAINS = "explains"
    """Nothing else is needed: what is left of the loss may be nothing."""
    CONTRIBUTES = "contributes"
    """It costs something, and a part of the loss remains unexplained."""
    DIFFERS = "differs"
    """Its effect was not measured: nothing bounds what it costs."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that differs, and the factor that it can explain.

    Parameters
    ----------
    words
        What differs, as the end of a sentence.
    lo, hi
        Bounds of the factor; `hi` is None where nothing bounds it.
    measurement
        The probe whose figures bound the factor; empty where facts do. Causes that rest on one
        measurement explain one factor together.
    measured
        What that probe measured, in words; empty where `words` say it.
    withdrawn
        Why it is no cause after all; empty where it is one.
    name
        What it is, e.g. ``link rate``; a rule that leaves it empty lends its own.
    rule
        The name of the rule that found it.
    part
        It is what one part of the program's time costs: parts add up, whereas factors multiply.
    told
        The sentence of an earlier layer says it in full.
    caveat
        Code of the caveat that says the same: what a sentence says as a cause it need not repeat.
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
    told: bool = False
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
class Absent:
    """Why something is not a cause of a loss."""

    reason: str


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a cause rests on.

    Parameters
    ----------
    keys
        Keys of facts, any of which will do.
    both
        Whether both platforms must tell it; else the slower one.
    """

    keys: tuple[str, ...]
    both: bool = True

    @classmethod
    def any(cls, *keys: str, both: bool = True) -> Need:
        """Need any of some facts."""
        return cls(keys, both)


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause that may be known.

    Parameters
    ----------
    name
        What it is, e.g. ``link rate``.
    layers
        Those whose losses it may explain.
    find
        Looks at a loss; every fact of `needs` is there then.
    needs
        Facts that it rests on, each of which is needed.
    probes
        Probes that measure its effect; any of them will do, and most rules do without.
    only
        The probes whose losses it may explain; empty for all of its layers.
    """

    name: str
    layers: tuple[Layer, ...]
    find: Callable[[Case], Cause | Absent]
    needs: tuple[Need, ...] = ()
    probes: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def concerns(self, layer: Layer, probe: str) -> bool:
        """Tell whether it may explain losses of a probe."""
        return layer in self.layers and (not self.only or probe in self.only)

    def look(self, case: Case) -> Cause | Absent:
        """Look at a loss that it concerns."""
        for need in self.needs:
            if lacking := case.lacking(need):
                return Absent(f"{' or '.join(need.keys[:3])} is not known of {lacking}")
        found = self.find(case)
        if isinstance(found, Cause) and found.vague:
            assert found.hi is not None
            bounds = f"{significant(found.lo)} to {significant(found.hi)} times"
            return Absent(f"its effect is known no better than {bounds}, which says nothing")
        return found
