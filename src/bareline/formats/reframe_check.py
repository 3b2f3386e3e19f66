"""A case of a ReFrame check as a trial: its name, the way it ended, and its figures."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from bareline.formats.damage import Omission
from bareline.formats.foreign import figure, plain_key, plain_name, scalar
from bareline.formats.reading import UNTOLD, Reading, outcome_of
from bareline.vocabulary.model import Better, Failed, Layer, Measured, Metric, Sample, Stage

MISSED = "ReFrame's reference was not met"
#: The ways in which a case ends, in the words of all versions of ReFrame.
_SKIPPED = frozenset({"skip", "skipped"})
PASSED = frozenset({"pass", "success", "xpass"})
#: A scope behind the name of a fixture: its place, which the platform also contains.
_SCOPE = re.compile(r" ~\S+$")


@dataclass(frozen=True, slots=True)
class PerformanceVariable:
    """A performance variable; `value` is None if ReFrame could not read it."""

    value: float | None
    unit: str
    better: Better | None


def performance_variable(
    value: float | None, unit: str | None, *, lower: bool, upper: bool
) -> PerformanceVariable:
    """Return a performance variable; the bounds of its reference show the better direction.

    - `lower`, `upper`: whether the reference has a lower or an upper bound. If it has only a lower
      bound, a higher value is better; if it has only an upper bound, a lower value is better.
    """
    better: Better | None = None
    if lower != upper:
        better = "higher" if lower else "lower"
    return PerformanceVariable(value, unit or "", better)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A case of a check, from a report or a log.

    - `name`: display name of the case, with its parameters: ``stream %threads=4``.
    - `where`: system, partition and environment: ``daint:gpu+gnu``.
    - `phase`: phase of ReFrame in which the case failed, if the file contains it.
    - `reason`: reason of the failure, if the file contains it.
    """

    name: str
    where: str
    result: str
    phase: str = ""
    reason: str = ""
    ranks: int = 0
    figures: Mapping[str, PerformanceVariable] = field(default_factory=dict)

    def reading(self) -> Reading:
        """Return the trial."""
        full_name, _, rest = _SCOPE.sub("", self.name).partition(" %")
        name = plain_name(full_name)
        parts = [part.partition("=") for part in rest.split(" %") if part]
        metrics, values, left_out = self._figures()
        if left_out and values:
            metrics = {metric: metrics[metric] for metric in metrics if metric in values}
        outcome, caveats = self._outcome(values, metrics)
        if left_out and not values and self.result in PASSED:
            outcome = Failed(Stage.PARSE, str(left_out[0]))
        if isinstance(outcome, Failed):
            left_out = ()
        return Reading(
            probe=f"reframe.{name or 'unnamed'}",
            title=f"{name} (ReFrame)",
            layer=Layer.APP,
            metrics=metrics or UNTOLD,
            params={plain_key(key): scalar(value) for key, _, value in parts},
            ranks=self.ranks,
            outcome=outcome,
            caveats=caveats,
            platform=self.where,
            left_out=left_out,
        )

    def _figures(self) -> tuple[dict[str, Metric], dict[str, float], tuple[Omission, ...]]:
        """Return the metrics, their values, and the values that are not numbers."""
        metrics: dict[str, Metric] = {}
        values: dict[str, float] = {}
        left_out: list[Omission] = []
        for title, printed in self.figures.items():
            described = figure(title, printed.unit, printed.better)
            metrics[described.name] = described.metric
            if printed.value is None:
                continue
            if math.isnan(printed.value):
                left_out.append(Omission(f"'{title}' = {printed.value} is not a valid measurement"))
            else:
                values[described.name] = printed.value * described.factor
        return metrics, values, tuple(left_out)

    def _outcome(
        self, values: Mapping[str, float], metrics: Mapping[str, Metric]
    ) -> tuple[Measured | Failed, tuple[str, ...]]:
        whole = bool(metrics) and len(values) == len(metrics)
        missed = self.result not in PASSED and self.phase in ("", "performance") and whole
        if self.result in PASSED or missed:
            read = outcome_of(metrics, lambda: [Sample(*pair) for pair in values.items()])
            caveats = (MISSED,) if missed else ()
            return read, caveats
        phase = f"{self.phase}: " if self.phase else ""
        reason = f"ReFrame: {self.result}: {phase}{self.reason or 'no reason given'}"
        stage = Stage.ABSENT if self.result in _SKIPPED else Stage.EXIT
        return Failed(stage, " ".join(reason.split())), ()
