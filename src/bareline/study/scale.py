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

from bareline.study.sweep import Count, Counts, PerNode
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.units import listing

#: The keys of a measure that hold parameters of its probe.
_PARAMETERS = ("params", "sweep", "per_rank")


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StudyScale(_Table):
    """A ``[scale.NAME]``: keys of ``[study]`` that take other values at this scale.

    Attributes
    ----------
    question, launches, min_launches, precision, budget_s, blocks_per_boot, emulated_launches
    control, platforms, baseline
        As in ``[study]``.
    """

    question: list[str] | None = None
    launches: int | None = None
    min_launches: int | None = None
    precision: float | None = None
    budget_s: float | None = None
    blocks_per_boot: int | None = None
    emulated_launches: int | None = None
    control: bool | None = None
    platforms: list[str] | None = None
    baseline: str | None = None

    def over(self, head: dict[str, Any]) -> dict[str, Any]:
        """Lay this over the content of a ``[study]``."""
        return {**head, **self.model_dump(exclude_none=True)}


class MeasureScale(_Table):
    """A measure's ``scale.NAME``: what takes other values at this scale.

    - `params`, `sweep`, `per_rank`: parameters that are added or replaced; what is given in one of
      them replaces what has the same name in the others.
    - `ranks`, `ranks_per_node`, `threads`, `nodes`, `roles`, `timeout_s`: as in ``[[measure]]``.
    - `skip`: leave the measure out.
    """

    params: dict[str, Scalar] = {}
    sweep: dict[str, list[Scalar]] = {}
    per_rank: dict[str, int | float] = {}
    ranks: Counts | None = None
    ranks_per_node: PerNode | None = None
    threads: Count | None = None
    nodes: Counts | None = None
    roles: list[str] | None = None
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    skip: bool = False

    def over(self, measure: dict[str, Any]) -> dict[str, Any]:
        """Lay this over the content of a ``[[measure]]``."""
        new = {name: getattr(self, name) for name in _PARAMETERS}
        named = {name for table in new.values() for name in table}
        plain = self.model_dump(exclude_none=True, exclude={*_PARAMETERS, "skip"})
        tables = {
            name: {
                **{key: value for key, value in measure.get(name, {}).items() if key not in named},
                **new[name],
            }
            for name in _PARAMETERS
            if name in measure or new[name]
        }
        return {**measure, **plain, **tables}

    def changes(self, measure: Mapping[str, Any]) -> list[str]:
        """Say what it changes of a ``[[measure]]``: ``n 512 instead of 4096``."""
        if self.skip:
            return ["left out"]
        before = {**measure}
        after = self.model_dump(exclude_none=True, exclude={*_PARAMETERS, "skip", "timeout_s"})
        for name in _PARAMETERS:
            before |= measure.get(name, {})
            after |= getattr(self, name)
        return [
            f"{name} {_worded(value)} instead of {_worded(before.get(name, 'its default'))}"
            for name, value in after.items()
            if before.get(name) != value
        ]


def _worded(value: Any) -> str:
    return listing([str(item) for item in value]) if isinstance(value, list) else str(value)
