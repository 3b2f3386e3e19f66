"""Estimate before a run how many of a publication's claims the run can judge.

The comparisons (rows) that the run would contain are judged in the same way as measured rows. An
obstacle is a reason why a claim cannot be judged. Obstacles are added one after the other, so that
each lost claim is attributed to one obstacle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bareline.analysis.numbers.row import Row
from bareline.platforms.base import exact_among
from bareline.platforms.config import choose_platforms
from bareline.session.begin import cast_study, choose_baseline, without_emulated
from bareline.session.expected import (
    OF_ROWS,
    ClaimObstacle,
    ExpectedRow,
    expected_rows,
    ideally_cast,
)
from bareline.session.outlook import Earlier, WallTime, earlier_runs, wall_time
from bareline.study.catalogue import find_study, study_names
from bareline.study.plan import make_plan
from bareline.study.study import Study
from bareline.vocabulary.errors import StudyError, UsageError
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import count, listing

#: A run that judges fewer of its claims than this share is confirmed first.
_LEAST_SHARE = 1 / 3
_SIMULATED = "-simulated"

#: Returns the numbers of the claims that rows judge, given a study's roles and its baseline.
Judge = Callable[[Mapping[str, Mapping[str, Any]], Sequence[Row], str], frozenset[int]]


@dataclass(frozen=True, slots=True)
class Lost:
    """The number of claims that an obstacle leaves unjudged.

    - `detail`: the scale, roles, programs or platform that the obstacle concerns; may be empty.
    """

    obstacle: ClaimObstacle
    claims: int
    detail: str = ""

    @property
    def reason(self) -> str:
        """The obstacle with its detail."""
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.obstacle}{detail}"

    def __str__(self) -> str:
        return f"{self.claims} {self.reason}"


@dataclass(frozen=True, slots=True)
class StudyForm:
    """Another way to run a study: its command, its number of judged claims, and its duration."""

    command: str
    claims: int
    time: WallTime | None = None

    def __str__(self) -> str:
        takes = f" ({self.time.brief})" if self.time is not None else ""
        return f"{self.command} judges {self.claims}{takes}"


@dataclass(frozen=True, slots=True)
class Answers:
    """The number of claims that a run judges, and the number that the whole study can judge."""

    claims: int
    of: int
    lost: tuple[Lost, ...] = ()
    forms: tuple[StudyForm, ...] = ()

    @property
    def few(self) -> bool:
        """Whether the run judges less than a third of the claims."""
        return self.claims < _LEAST_SHARE * self.of

    @property
    def better(self) -> tuple[StudyForm, ...]:
        """The other ways to run the study that judge more claims than the run."""
        return tuple(form for form in self.forms if form.claims > self.claims)

    def lines(self, source: str) -> Iterator[str]:
        """Yield lines for people: judged claims, lost claims, and ways to judge more claims.

        - `source`: the names of the publications.
        """
        rest = ", not:" if self.lost else ""
        yield f"this run can judge {self.claims} of {count(self.of, 'claim')} of {source}{rest}"
        yield from (f"  {lost}" for lost in self.lost)
        yield from (f"  {form}" for form in self.better)

    def refusal(self, study: str, source: str) -> UsageError:
        """Return the error for a run that judges too few claims, with the next step."""
        most = ""
        if self.lost:
            most = f": {max(self.lost, key=lambda lost: lost.claims)}"
        return UsageError(
            f"{self.claims} of {count(self.of, 'claim')} of {source} can be judged here,"
            " which is less than "
            f"a third{most}",
            where=f"study '{study}'",
            hint="; ".join([*map(str, self.better), "--yes measures all the same"]),
        )


@dataclass(frozen=True, slots=True)
class Foresight:
    """The forecast of the claims that runs of a study can judge.

    - `whole`: the study at its full size, without ``--scale``.
    - `judge`: returns the numbers of the claims that can be judged from rows of a comparison.
    - `metrics`: the metrics that the claims concern.
    """

    whole: Study
    judge: Judge
    metrics: Collection[str]
    earlier: Earlier = field(default_factory=earlier_runs)

    def answers(self, study: Study, platforms: Sequence[PlatformSpec], baseline: str) -> Answers:
        """Return the numbers of judged and of lost claims, and other ways to run the study.

        - `study`: the study `whole` after its roles got platforms, at full size or at a scale.
        """
        ideal = self._ideal(self.whole, study.roles)
        expected = list(expected_rows(study, platforms, baseline, self.metrics))
        lost: dict[int, ClaimObstacle] = {}
        for obstacle, judged in self._steps(study, expected, baseline):
            lost = {claim: lost.get(claim, obstacle) for claim in ideal - judged}
        return Answers(
            claims=len(ideal) - len(lost),
            of=len(ideal),
            lost=tuple(_losses(Counter(lost.values()), study, expected)),
            forms=tuple(self._forms(study, platforms, baseline, len(ideal))),
        )

    def _steps(
        self, study: Study, expected: Sequence[ExpectedRow], baseline: str
    ) -> Iterator[tuple[ClaimObstacle, frozenset[int]]]:
        """Yield each obstacle, with the claims that the run can still judge.

        The run has this obstacle and all earlier obstacles.
        """
        sized = self._at(study.scale)
        if study.scale is not None:
            yield ClaimObstacle.SCALE, self._ideal(sized, study.roles)
        cast = [name for name, role in study.roles.items() if role.platform]
        yield ClaimObstacle.ROLE, self._ideal(sized, cast)
        there = {row.obstacle for row in expected}
        if any(row.simulated for row in expected):
            there.add(ClaimObstacle.GIVEN)
        met: list[ClaimObstacle] = []
        for obstacle in OF_ROWS:
            if obstacle in there:
                met.append(obstacle)
                rows = [row.behind(met) for row in expected]
                yield obstacle, self.judge(_tables(study), rows, baseline)

    def _at(self, scale: str | None) -> Study:
        return self.whole if scale is None else self.whole.at_scale(scale)

    def _ideal(self, study: Study, roles: Collection[str]) -> frozenset[int]:
        """Return the claims that a study judges if real machines take the roles `roles`."""
        if not roles:
            return frozenset()
        cast, specs = ideally_cast(study, roles)
        base = choose_baseline(cast, specs, None)
        rows = expected_rows(cast, specs, base, self.metrics)
        return self.judge(_tables(cast), [expected.row for expected in rows], base)

    def _forms(
        self, study: Study, platforms: Sequence[PlatformSpec], baseline: str, claims: int
    ) -> Iterator[StudyForm]:
        """Yield other ways to run the study.

        These are its other scales on the same platforms, the simulated study, and real machines.
        Scales and simulations that cannot be measured here at all are left out.
        """
        forms = [*self._scaled_forms(study, platforms, baseline), self._simulated_form()]
        yield from (form for form in forms if form is not None)
        if len(exact_among(platforms)) < len(platforms):
            yield StudyForm("a real machine for each role (--as ROLE=PLATFORM)", claims)

    def _scaled_forms(
        self, study: Study, platforms: Sequence[PlatformSpec], baseline: str
    ) -> Iterator[StudyForm | None]:
        """Yield the study at its other scales, with the same platform for each role.

        Yield nothing if no role has a platform.
        """
        if not any(role.platform for role in study.roles.values()):
            return
        given = [f"{name}={role.platform or ''}" for name, role in study.roles.items()]
        for scale in (None, *self.whole.scales):
            if scale != study.scale:
                option = f" --scale {scale}" if scale else ""
                words = f"`bareline run {self.whole.name}{option}`"
                cast = self._at(scale).with_roles(given, [])
                yield self._form(words, cast, platforms, baseline)

    def _simulated_form(self) -> StudyForm | None:
        """Return the simulated form of the study.

        The result is None if the study has no simulated form, or if a role of that form has no
        platform.
        """
        name = self.whole.name + _SIMULATED
        if name not in study_names():
            return None
        try:
            cast, _ = cast_study(find_study(name), [], [], None, anyway=True)
        except StudyError:
            return None  # no role has a platform
        if not all(role.platform for role in cast.roles.values()):
            return None
        specs = choose_platforms(cast.platforms, None)
        base = choose_baseline(cast, specs, None)
        return self._form(f"`bareline run {name}`", cast, specs, base)

    def _form(
        self, words: str, study: Study, platforms: Sequence[PlatformSpec], baseline: str
    ) -> StudyForm | None:
        """Return a study with its judged claims and time; None if no case fits the platforms."""
        rows = expected_rows(study, platforms, baseline, self.metrics)
        judged = self.judge(_tables(study), [row.behind(OF_ROWS) for row in rows], baseline)
        asking = without_emulated(study, platforms, baseline)
        try:
            plan = make_plan(asking, platforms)
        except StudyError:
            return None  # no case fits
        time = wall_time(asking, plan, exact_among(platforms), self.earlier)
        return StudyForm(words, len(judged), time)


def _losses(
    claims: Mapping[ClaimObstacle, int], study: Study, expected: Sequence[ExpectedRow]
) -> Iterator[Lost]:
    """Yield each obstacle that leaves claims unjudged, with the number of these claims."""
    for obstacle in ClaimObstacle:
        if claims.get(obstacle):
            yield Lost(obstacle, claims[obstacle], _detail(obstacle, study, expected))


def _tables(study: Study) -> dict[str, dict[str, Any]]:
    return {name: role.model_dump() for name, role in study.roles.items()}


def _detail(obstacle: ClaimObstacle, study: Study, expected: Sequence[ExpectedRow]) -> str:
    """Return a text that names the scale, roles or programs that an obstacle concerns.

    For any other obstacle, return the detail of the first expected row that has this obstacle.
    """
    if obstacle is ClaimObstacle.SCALE:
        return study.scale or ""
    if obstacle is ClaimObstacle.ROLE:
        return listing([name for name, role in study.roles.items() if role.platform is None])
    details = list(dict.fromkeys(row.detail for row in expected if row.obstacle is obstacle))
    if obstacle is ClaimObstacle.PROGRAM:
        return listing(details)
    return details[0] if details else ""
