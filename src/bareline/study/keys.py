"""The keys of a study, with the checks that need only the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from bareline.probes.app.program import Program
from bareline.study.looks import with_looks
from bareline.study.measure import Exhibit, Measure, StudyScale
from bareline.study.roles import Role
from bareline.study.variant import Variant
from bareline.vocabulary.limits import Limits
from bareline.vocabulary.platform import PLATFORM_NAME
from bareline.vocabulary.sources import Source
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: Orders of the trials in a block; see `bareline.study.order`.
OrderKind = Literal["pairs", "shuffled"]
#: A boot is a level above a launch: all launches in it share its effects, and then
#: count as one value. So each block has a boot of its own: docs/method/measuring.md, "Boots".
BLOCKS_PER_BOOT = 1


class StudyKeys(Limits, BaseModel):
    """The keys of a study; `bareline.study.study.Study` interprets them.

    `docs/reference/study.md` defines each key. Some keys belong to a run: `scale` is the scale at
    which the study runs, `scale_changes` describes the changes by this scale, and `emulated` names
    platforms on which no computation is measured. In a run, each role has the platform that took
    the role, and `baseline` is the name of a platform instead of a role.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
    title: str = ""
    description: str = ""
    question: list[str] = []
    launches: Annotated[int, Field(ge=1, le=100_000)] = 10
    looks: list[int] | None = None
    min_launches: Annotated[int, Field(ge=1)] = MIN_LAUNCHES
    precision: Annotated[float, Field(ge=0, lt=1)] | None = None
    budget_s: Annotated[float, Field(gt=0)] | None = None
    margin: Annotated[float, Field(gt=0, lt=1)] = 0.02
    seed: int | None = None
    order: OrderKind = "pairs"
    cases_per_turn: Annotated[int, Field(ge=1, le=1000)] | None = None
    blocks_per_boot: Annotated[int, Field(ge=0)] = BLOCKS_PER_BOOT
    emulated_launches: Annotated[int, Field(ge=0)] = 2
    scale: str | None = None
    scale_changes: list[str] = []
    emulated: list[str] = []
    ladder: bool = False
    control: bool = False
    layouts: Literal["equal", "any"] = "equal"
    platforms: list[str] = []
    baseline: str | None = None
    roles: dict[str, Role] = {}
    scales: dict[str, StudyScale] = {}
    programs: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,99}$")], Program] = {}
    sources: dict[str, Source] = {}
    variants: dict[Annotated[str, Field(pattern=PLATFORM_NAME.pattern)], Variant] = {}
    measures: Annotated[list[Measure], Field(min_length=1)]
    exhibits: list[Exhibit] = []

    @model_validator(mode="before")
    @classmethod
    def _with_looks(cls, content: Any) -> Any:
        """Add the looks (interim analyses): one at the end if only `launches` is given."""
        return with_looks(content) if isinstance(content, Mapping) else content

    @model_validator(mode="after")
    def _consistent(self) -> StudyKeys:
        if self.precision != 0 and self.launches > MIN_LAUNCHES > self.min_launches:
            raise ValueError(
                f"min_launches = {self.min_launches}, but an interval needs "
                f"{MIN_LAUNCHES} launches; raise it or set precision = 0"
            )
        return self
