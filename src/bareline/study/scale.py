"""Scales of a study: what changes when it is run smaller, or larger, than it is written.

::

    [scale.small]
    launches = 6

    [[measure]]
    probe = "compute.dgemm"
    params = { n = 4096 }
    scale.small = { params = { n = 512 } }
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import listing


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyScale(_Table):
    """A ``[scale.NAME]``: keys of ``[study]`` that take other values at this scale.

    Attributes
    ----------
    launches, min_launches, precision, budget_s, blocks_per_boot
        As in ``[study]``.
    """

    launches: int | None = None
    min_launches: int | None = None
    precision: float | None = None
    budget_s: float | None = None
    blocks_per_boot: int | None = None

    def over(self, head: dict[str, Any]) -> dict[str, Any]:
        """Lay this over the content of a ``[study]``."""
        return {**head, **self.model_dump(exclude_none=True)}


class MeasureScale(_Table):
    """A measure's ``scale.NAME``: what takes other values at this scale.

    Attributes
    ----------
    params, sweep
        Parameters that are added or replaced; a value replaces a sweep of the same name and the
        other way round.
    ranks, ranks_per_node, threads, nodes, roles, timeout_s
        As in ``[[measure]]``.
    skip
        Leave the measure out.
    """

    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    ranks: Annotated[int, Field(ge=1)] | list[Annotated[int, Field(ge=1)]] | None = None
    ranks_per_node: Annotated[int, Field(ge=1)] | None = None
    threads: Annotated[int, Field(ge=1)] | None = None
    nodes: Annotated[int, Field(ge=1)] | None = None
    roles: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    skip: bool = False

    def over(self, measure: dict[str, Any]) -> dict[str, Any]:
        """Lay this over the content of a ``[[measure]]``."""
        given = {key: value for key, value in measure.items() if key not in ("params", "sweep")}
        params = {key: value for key, value in measure["params"].items() if key not in self.sweep}
        sweep = {key: value for key, value in measure["sweep"].items() if key not in self.params}
        plain = self.model_dump(exclude_none=True, exclude={"params", "sweep", "skip"})
        return {
            **given,
            **plain,
            "params": {**params, **self.params},
            "sweep": {**sweep, **self.sweep},
        }

    def changes(self, measure: Mapping[str, Any]) -> list[str]:
        """Say what it changes of a ``[[measure]]``: ``n 512 instead of 4096``."""
        if self.skip:
            return ["left out"]
        before = {**measure, **measure["params"], **measure["sweep"]}
        given = self.model_dump(exclude_none=True, exclude={"params", "sweep", "skip", "timeout_s"})
        after = {**given, **self.params, **self.sweep}
        return [
            f"{name} {_told(value)} instead of {_told(before.get(name, 'its default'))}"
            for name, value in after.items()
            if before.get(name) != value
        ]


def _told(value: Any) -> str:
    return listing([str(item) for item in value]) if isinstance(value, list) else str(value)
