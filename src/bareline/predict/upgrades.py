"""Which upgrade of a platform helps an application most: what-ifs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from bareline.predict.prediction import Case, point
from bareline.predict.whatif import WhatIf, parse_what_if

#: What is tried, as `--what-if` takes it, and in words.
UPGRADES: Mapping[str, str] = MappingProxyType(
    {
        "latency=x0.5": "half the latency",
        "bandwidth=x2": "twice the bandwidth",
        "cores=2x": "twice the cores",
        "compute=x0.5": "processors twice as fast",
    }
)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A change of a platform, and what it would bring to an application.

    Attributes
    ----------
    base_s, time_s
        Time as it is, and predicted after the change.
    """

    application: str
    platform: str
    change: str
    base_s: float
    time_s: float

    @property
    def title(self) -> str:
        """The change in words."""
        return UPGRADES[self.change]

    @property
    def saved(self) -> float:
        """Share of the time that is saved."""
        return 1 - self.time_s / self.base_s

    def row(self) -> dict[str, Any]:
        """Give it as a tidy row in SI units."""
        return {
            "application": self.application,
            "platform": self.platform,
            "change": self.change,
            "base_s": self.base_s,
            "time_s": self.time_s,
            "saved": self.saved,
        }


def upgrades(application: str, case: Case) -> list[Upgrade]:
    """Try each change on the platform of a case's profile, the one that saves most first.

    Twice the cores is tried only where ranks share them.
    """
    found = []
    for text in UPGRADES:
        changes = parse_what_if([text])
        if changes.cores != 1 and case.a.cores is None:
            continue
        base_s, time_s = point(_changed(case, changes))
        found.append(Upgrade(application, case.a.platform, text, base_s, time_s))
    return sorted(found, key=lambda one: one.time_s)


def _changed(case: Case, changes: WhatIf) -> Case:
    factor = replace(case.compute, value=changes.compute, lo=changes.compute, hi=changes.compute)
    changed = replace(case, b=changes.applied(case.a), compute=factor)
    changed.take_base(case)  # which is the same for all: it is replayed once
    return changed
