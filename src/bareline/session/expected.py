"""The rows of values that a run would measure, each with an assumed ratio or an obstacle.

An obstacle is the reason why a value will have no ratio.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bareline.analysis.numbers.row import Estimate, Row
from bareline.platforms.base import load_platform_types
from bareline.platforms.config import platforms_from_toml
from bareline.study.order import Cell
from bareline.study.plan import Choice, PlanCell, choose
from bareline.study.study import Study
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import PROCESSOR_LAYERS, Case, Scalar, format_point
from bareline.vocabulary.place import Place
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.verdicts import MIN_LAUNCHES, Verdict

#: Types of platforms that take programs from this machine's own path.
_ON_THIS_PATH = ("local", "netns")
#: Nodes of a platform that has enough of them for any study.
_MANY = 100_000
#: The assumed ratio to the baseline; 1 for two simulated platforms with equal options.
_PLANTED = 2.0


class ClaimObstacle(StrEnum):
    """The reason why a run cannot judge some claims, as printed after the number of claims."""

    SCALE = "left out at this scale"
    ROLE = "of a role that no platform takes"
    SIZE = "too large for the platforms"
    PROGRAM = "by a program that is not installed"
    EMULATED = "of computation, where processors are emulated"
    LAUNCHES = f"with fewer than {MIN_LAUNCHES} launches"
    GIVEN = "put into the simulation"


#: Obstacles of single rows; the remaining ones take platforms or cases away as a whole.
OF_ROWS = (
    ClaimObstacle.SIZE,
    ClaimObstacle.PROGRAM,
    ClaimObstacle.EMULATED,
    ClaimObstacle.LAUNCHES,
    ClaimObstacle.GIVEN,
)


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """A value that a run would measure.

    - `row`: the row of the value, with an assumed ratio.
    - `obstacle`: the reason why there will be no ratio; None if there will be a ratio.
    - `detail`: the layout, program, processor or number of launches that the obstacle concerns.
    - `simulated`: whether the ratio comes from a simulation.
    """

    row: Row
    obstacle: ClaimObstacle | None
    detail: str
    simulated: bool

    def behind(self, obstacles: Collection[ClaimObstacle]) -> Row:
        """Return the row as it would be if only these obstacles existed.

        If the row's obstacle is among them, the row has no ratio. If `GIVEN` is among them, a
        ratio from a simulation gets the caveat that it is simulated.
        """
        if self.obstacle in obstacles:
            return replace(self.row, ratio=None, verdict=Verdict.MISSING, reason=self.detail)
        if self.simulated and ClaimObstacle.GIVEN in obstacles:
            return replace(self.row, caveats=(Caveat("simulated"),))
        return self.row


@dataclass(frozen=True, slots=True)
class _Side:
    """A platform, its number in the plan, and its known properties before it is measured.

    - `emulated`: why the platform's processors are emulated; empty if they are real or unknown.
    """

    number: int
    spec: PlatformSpec
    simulated: bool
    emulated: str

    @property
    def name(self) -> str:
        return self.spec.name


def expected_rows(
    study: Study, platforms: Sequence[PlatformSpec], baseline: str, metrics: Collection[str]
) -> Iterator[ExpectedRow]:
    """Yield the values of the metrics `metrics` that a study would measure on platforms."""
    everywhere = study.without_computing_on([])
    choice = choose(everywhere, platforms)
    types = load_platform_types()
    sides = []
    for number, spec in enumerate(platforms):
        kind = types[spec.type]
        sides.append(_Side(number, spec, kind.exact, kind.emulated(spec)))
    base = next(side for side in sides if side.name == baseline)
    for side in sides:
        if side is not base:
            yield from _Pair(everywhere, choice, side, base, frozenset(metrics)).rows()


def ideally_cast(study: Study, roles: Collection[str]) -> tuple[Study, list[PlatformSpec]]:
    """Return a study in which real machines with enough nodes take the roles `roles`."""
    given = []
    tables = {}
    for number, role in enumerate(study.roles):
        if role in roles:
            name = f"side-{number}"
            given.append(f"{role}={name}")
            tables[name] = {"type": "null", "nodes": _MANY}
        else:
            given.append(f"{role}=")
    specs = platforms_from_toml({"platform": tables}, where="enough nodes")
    return study.with_roles(given, []), list(specs.values())


@dataclass(frozen=True, slots=True)
class _Pair:
    """A platform and the baseline with which it is compared, in a plan."""

    study: Study
    choice: Choice
    platform: _Side
    base: _Side
    metrics: frozenset[str]

    def rows(self) -> Iterator[ExpectedRow]:
        """Yield the values of each case that the study requests on the platform."""
        omitted = self.choice.left_out
        reasons = {(row.platform, row.case): row.reason for row in omitted}
        numbers = {case: number for number, case in enumerate(self.choice.cases)}
        for case in dict.fromkeys((*self.choice.cases, *(row.case for row in omitted))):
            if case.profile:
                continue  # compared without the profiler
            number = numbers.get(case, -1)
            cell = self.choice.cells.get(Cell(self.platform.number, number))
            base = self.choice.cells.get(Cell(self.base.number, number))
            if cell is None and (self.platform.name, case) not in reasons:
                continue  # not asked for there
            missing = self._missing(case, reasons)
            if missing or cell is None or base is None:
                yield from self._values(case, 0, ClaimObstacle.SIZE, missing)
            else:
                obstacle, detail = self._obstacle(case, cell, base)
                yield from self._values(case, cell.layout.nodes, obstacle, detail)

    def _missing(self, case: Case, reasons: Mapping[tuple[str, Case], str]) -> str:
        """Return why a case is left out on either platform; empty if it is measured on both."""
        for side in (self.platform, self.base):
            reason = reasons.get((side.name, case))
            if reason:
                return f"{side.name}: {reason.removeprefix('does not fit: ')}"
        return ""

    def _obstacle(
        self, case: Case, cell: PlanCell, base: PlanCell
    ) -> tuple[ClaimObstacle | None, str]:
        """Return why a case that both platforms run will have no ratio."""
        sides = (self.platform, self.base)
        if self.study.layouts == "equal" and cell.layout != base.layout:
            layouts = f"{self.platform.name} {cell.layout}, {self.base.name} {base.layout}"
            return ClaimObstacle.SIZE, layouts
        if any(side.spec.type in _ON_THIS_PATH for side in sides):
            for tool in self.study.command_of(case).requires:
                if not shutil.which(tool):
                    return ClaimObstacle.PROGRAM, tool
        emulated = [side for side in sides if side.emulated]
        if self.study.find_probe(case.probe).layer in PROCESSOR_LAYERS and emulated:
            return ClaimObstacle.EMULATED, f"{emulated[0].name}: {emulated[0].emulated}"
        launches = min(cell.launches, base.launches)
        if launches < MIN_LAUNCHES and not all(side.simulated for side in sides):
            return ClaimObstacle.LAUNCHES, f"{launches} are planned"
        return None, ""

    def _values(
        self, case: Case, nodes: int, obstacle: ClaimObstacle | None, detail: str
    ) -> Iterator[ExpectedRow]:
        probe = self.study.find_probe(case.probe)
        params = self.study.params_of(case)
        simulated = self.platform.simulated or self.base.simulated
        alike = simulated and self.platform.spec.options == self.base.spec.options
        ratio = 1.0 if alike else _PLANTED
        for point in _points(params):
            for metric in self.metrics & probe.delivers(params).keys():
                place = Place(
                    case.probe, metric, case.params, case.ranks, case.threads, case.nodes or 0,
                    format_point(point), nodes,
                )  # fmt: skip
                row = Row(
                    place=place,
                    platform=self.platform.name,
                    layer=probe.layer,
                    metric=probe.metrics[metric],
                    baseline=self.base.name,
                    ratio=Estimate(ratio, ratio, ratio),
                    verdict=Verdict.SLOWER,
                )
                yield ExpectedRow(row, obstacle, detail, simulated)


def _points(params: object) -> list[Mapping[str, Scalar]]:
    """Return a point for each message or block size of a case; one empty point without sizes."""
    sizes = getattr(params, "sizes", None)
    if callable(sizes):
        return [{"size_bytes": size} for size in sizes()]
    blocks = getattr(params, "blocks_bytes", None)
    if isinstance(blocks, list):
        return [{"block_bytes": block} for block in blocks]
    return [{}]
