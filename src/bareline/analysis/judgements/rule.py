"""A rule: what may be found, by what it looks at, and what it rests on.

It declares facts of both platforms and probes that measure its effect, so that what is not found
can say what it lacked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, ParamSpec, TypeVar

from bareline.vocabulary.model import Layer

P = ParamSpec("P")
F_co = TypeVar("F_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a rule rests on: any of some keys, of both platforms or of the slower one."""

    keys: tuple[str, ...]
    both: bool = True

    @classmethod
    def any(cls, *keys: str, both: bool = True) -> Need:
        """Need any of some facts."""
        return cls(keys, both)


@dataclass(frozen=True, slots=True)
class Rule(Generic[P, F_co]):
    """What may be found.

    - `name`: what it is, e.g. ``link rate``.
    - `layers`: those whose losses it may explain, or whose figures it is of.
    - `find`: looks; every fact of `needs` is there then.
    - `probes`: probes that measure its effect; any of them will do, and most causes do without.
    - `only`: the probes whose losses it may explain; empty for all of its layers.
    """

    name: str
    layers: tuple[Layer, ...]
    find: Callable[P, F_co]
    needs: tuple[Need, ...] = ()
    probes: tuple[str, ...] = ()
    only: tuple[str, ...] = ()

    def concerns(self, layer: Layer, probe: str) -> bool:
        """Tell whether it is of a probe."""
        return layer in self.layers and (not self.only or probe in self.only)
