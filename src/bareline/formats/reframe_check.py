"""One case of a ReFrame check, from whichever of ReFrame's files, as a trial.

A case that ran is one launch on one partition with one environment. What failed its sanity check,
or before it, is a failed trial. What ran right but missed its reference keeps its numbers, with a
caveat: to drop the slow ones would flatter the platform that has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bareline.formats.foreign import figure, plain_key, plain_name, scalar
from bareline.formats.reading import UNTOLD, Reading, outcome_of
from bareline.vocabulary.model import (
    Better,
    Failed,
    Layer,
    Measured,
    Metric,
    Sample,
    Scalar,
    Stage,
)

MISSED = "ReFrame's reference was not met"
#: What the versions of ReFrame call how a case ended.
_SKIPPED = frozenset({"skip", "skipped"})
_PASSED = frozenset({"pass", "success", "xpass"})
#: A scope that stands behind the name of a fixture: where it ran, which the platform tells.
_SCOPE = re.compile(r" ~\S+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceVariable:
    """One performance variable of a case.

    - `value`: None where ReFrame could not read it.
    - `lower`, `upper`: whether the reference bounds it from below, from above.
    """

    value: float | None
    unit: str
    lower: bool = False
    upper: bool = False

    @property
    def better(self) -> Better | None:
        """Which way it is good, if the reference tells: bounded below means more is better."""
        if self.lower == self.upper:
            return None
        return "higher" if self.lower else "lower"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReframeCheck:
    """One case of a check.

    - `name`: its display name, with its parameters: ``stream %threads=4``.
    - `where`: system, partition and environment: ``daint:gpu+gnu``.
    - `result`, `phase`, `reason`: how it ended; the phase in which it failed and why, where the
      file says so.
    """

    name: str
    where: str
    result: str
    phase: str = ""
    reason: str = ""
    ranks: int = 0
    figures: Mapping[str, PerformanceVariable] = field(default_factory=dict)

    @property
    def measures_nothing(self) -> bool:
        """It passed and measures nothing, as a check that only builds does."""
        return self.result in _PASSED and not self.figures

    def reading(self) -> Reading:
        """Give the trial."""
        name, _, rest = _SCOPE.sub("", self.name).partition(" %")
        parts = [part.partition("=") for part in rest.split(" %") if part]
        params: dict[str, Scalar] = {plain_key(key): scalar(value) for key, _, value in parts}
        known = {one: figure(one, of.unit, of.better) for one, of in self.figures.items()}
        metrics: Mapping[str, Metric] = {of.name: of.metric for of in known.values()}
        values = {
            known[one].name: of.value * known[one].factor
            for one, of in self.figures.items()
            if of.value is not None
        }
        outcome, caveats = self._outcome(values, metrics)
        return Reading(
            probe=f"reframe.{plain_name(name) or 'unnamed'}",
            title=f"{plain_name(name)} (ReFrame)",
            layer=Layer.APP,
            metrics=metrics or UNTOLD,
            params=params,
            ranks=self.ranks,
            outcome=outcome,
            caveats=caveats,
            platform=self.where,
        )

    def _outcome(
        self, values: Mapping[str, float], metrics: Mapping[str, Metric]
    ) -> tuple[Measured | Failed, tuple[str, ...]]:
        whole = bool(metrics) and len(values) == len(metrics)
        missed = self.result not in _PASSED and self.phase in ("", "performance") and whole
        if self.result in _PASSED or missed:
            read = outcome_of(metrics, lambda: [Sample(*pair) for pair in values.items()])
            return read, (MISSED,) if missed else ()
        phase = f"{self.phase}: " if self.phase else ""
        reason = f"ReFrame: {self.result}: {phase}{self.reason or 'no reason given'}"
        stage = Stage.ABSENT if self.result in _SKIPPED else Stage.EXIT
        return Failed(stage, " ".join(reason.split())), ()
