"""A rule: a cause that may be known, and what it rests on.

It declares facts of both platforms and probes that measure its effect, so that a cause that is not
named can say what it lacked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bareline.analysis.judgements.causes.case import Case
from bareline.analysis.judgements.causes.cause import Absent, Cause
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import significant


@dataclass(frozen=True, slots=True)
class Need:
    """A fact that a cause rests on.

    - `keys`: keys of facts, any of which will do.
    - `both`: whether both platforms must tell it; else the slower one.
    """

    keys: tuple[str, ...]
    both: bool = True

    def lacking(self, case: Case) -> str:
        """Name the platforms that do not tell it; empty where all do that must."""
        sides = [(case.finding.platform, case.facts)]
        if self.both:
            sides.append((case.finding.baseline, case.baseline_facts))
        if any(all(key in facts for _, facts in sides) for key in self.keys):
            return ""
        none = [name for name, facts in sides if not any(key in facts for key in self.keys)]
        return " and ".join(none or [name for name, _ in sides])

    @classmethod
    def any(cls, *keys: str, both: bool = True) -> Need:
        """Need any of some facts."""
        return cls(keys, both)


@dataclass(frozen=True, slots=True)
class Rule:
    """A cause that may be known.

    - `name`: what it is, e.g. ``link rate``.
    - `layers`: those whose losses it may explain.
    - `find`: looks at a loss; every fact of `needs` is there then.
    - `needs`: facts that it rests on, each of which is needed.
    - `probes`: probes that measure its effect; any of them will do, and most rules do without.
    - `only`: the probes whose losses it may explain; empty for all of its layers.
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
            if lacking := need.lacking(case):
                return Absent(f"{' or '.join(need.keys[:3])} is not known of {lacking}")
        found = self.find(case)
        if isinstance(found, Cause) and found.vague:
            assert found.hi is not None
            bounds = f"{significant(found.lo)} to {significant(found.hi)} times"
            return Absent(f"its effect is known no better than {bounds}, which says nothing")
        return found
