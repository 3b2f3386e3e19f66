"""Forecast a program's time on another platform: profile it, measure benchmarks, check.

Each step is an ordinary run directory, whose name contains a checksum of its study and platforms.
So the same question finds the existing steps. An interrupted run continues. A complete run is used
again while it is recent and this machine is unchanged. `bareline.predict.questions.answer` makes
the prediction from the steps, in the same way as for `bareline predict`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from typing_extensions import TypedDict

from bareline.analysis.numbers.records import read_runs
from bareline.platforms.base import exact_among, load_platform_types
from bareline.platforms.hosts.launchers.installation import mpi_facts
from bareline.predict.applications import Application, applications
from bareline.predict.changes import CallChange
from bareline.predict.curves.requirements import plan_study
from bareline.predict.prediction import Prediction
from bareline.predict.questions import answer
from bareline.predict.replay.reference import base_time_s
from bareline.profile.model import Profile
from bareline.session.begin import create_run
from bareline.session.machine import host_of_today, versions
from bareline.session.outlook import WallTime, wall_time
from bareline.session.status import status_of
from bareline.store.naming import RUNS
from bareline.store.run import Run
from bareline.study.launch import MpiProgram, program_study
from bareline.study.plan import make_plan
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import AnalysisError, BarelineError
from bareline.vocabulary.files import parse_toml
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import format_duration

#: Launches of the program under the profiler: the one nearest to their median is predicted from.
PROFILE_LAUNCHES = 3
_LONGEST_NAME = 40
_DIGITS = 8
_HASHED_BYTES = 64 << 20


class StepRow(TypedDict):
    """A row of ``forecast --dry-run``: a step.

    - `run`: the run directory that is used or continued; null if one is created.
    - `expected_s`, `at_least_s`, `at_most_s`: the wall time of the step; null if the step is
      complete, or if its time is unknown until the program has been profiled.
    """

    step: str
    platforms: list[str]
    run: str | None
    measures: bool
    state: str
    expected_s: float | None
    at_least_s: float | None
    at_most_s: float | None
    time: str


class Forecast(TypedDict):
    """The output of ``forecast``: the predicted time of a program on a platform.

    - `profile`: the profiled launch.
    - `ladder`: the run of the benchmarks.
    - `check`: the run that measures the program on the platform, with ``--check``.
    - `prediction`: the same table as in the output of ``predict``; its `measured_s` has values only
      with ``--check``.
    - `changes`: how the platform changes the program's calls.
    """

    profile: str
    ladder: str
    check: str | None
    prediction: Prediction
    changes: list[CallChange]


@dataclass(frozen=True, slots=True)
class StepState:
    """The state of a step.

    - `run`: the run of the step that can be used or continued; None without such a run.
    - `measures`: whether some launches of the step have not been made yet.
    - `words`: the reason for the state, as a text for people.
    """

    run: Run | None
    measures: bool
    words: str


@dataclass(frozen=True)
class ForecastStep:
    """One run of a forecast: a study on some platforms. The name of the run comes from both.

    - `profiled`: whether the run launches the program under the profiler.
    """

    title: str
    study: Study
    platforms: tuple[PlatformSpec, ...]
    stem: Path
    profiled: bool = False

    @property
    def estimate(self) -> WallTime:
        """The expected duration of the step."""
        return wall_time(self.study, make_plan(self.study, self.platforms), self._exact)

    @property
    def _exact(self) -> frozenset[str]:
        return exact_among(self.platforms)

    def standing(self, max_age_s: float) -> StepState:
        """Return the state of the step: whether it already has a complete and recent run."""
        run = self._latest()
        if run is None:
            return StepState(None, True, "not measured yet")
        if stale := self._why_stale(run, max_age_s):
            return StepState(None, True, f"measured again: {run.path} {stale}")
        if status_of(run)["remaining"]:
            return StepState(run, True, f"{run.path} goes on where it stopped")
        if useless := self._why_useless(run):
            return StepState(None, True, f"measured again: {useless}")
        age = format_duration(_age_s(run))
        return StepState(run, False, f"{run.path} is used again, {age} old")

    def _why_useless(self, run: Run) -> str:
        """Return why a complete run is no basis for a prediction; "" if it is usable."""
        if not self.profiled:
            return ""
        try:
            for spec in self.platforms:
                launches_of(run, spec.name)
        except BarelineError as error:
            return str(error.what)
        return ""

    def begin(self, baseline: str) -> Run:
        """Create a run directory for the step."""
        return create_run(self.study, self.platforms, self._free_path(), baseline=baseline)

    def _candidates(self) -> list[Path]:
        return [path for path in self.stem.parent.glob(f"{self.stem.name}*") if path.is_dir()]

    def _latest(self) -> Run | None:
        runs = []
        for path in self._candidates():
            try:
                runs.append(Run.open(path))
            except BarelineError:
                continue  # no run, or a damaged one: another one is made
        return max(runs, key=lambda run: run.header.created, default=None)

    def _free_path(self) -> Path:
        number = 2
        path = self.stem
        while path.exists():
            path = self.stem.with_name(f"{self.stem.name}-{number}")
            number += 1
        return path

    def _why_stale(self, run: Run, max_age_s: float) -> str:
        """Return why an existing run cannot be used again; "" if it can be used."""
        age_s = _age_s(run)
        if age_s > max_age_s:
            return f"is {format_duration(age_s)} old"
        sessions = run.sessions()
        if sessions:
            last = sessions[max(sessions)]
            for key, value in host_of_today().items():
                if key != "boot" and last.host.get(key, value) != value:
                    difference = "host" if key == "name" else key
                    return f"was measured on another {difference}"
            if last.versions.get("bareline") != versions()["bareline"]:
                return "was measured by another bareline"
        for spec in self.platforms:
            if changed := _changed_mpi(spec, run.facts().get(spec.name, {})):
                return f"was measured with {changed} on {spec.name}"
        return ""


def _age_s(run: Run) -> float:
    created = datetime.fromisoformat(run.header.created)
    if created.tzinfo is None:
        created = created.replace(tzinfo=UTC)
    return (datetime.now(UTC) - created).total_seconds()


def _changed_mpi(spec: PlatformSpec, facts: Mapping[str, Scalar]) -> str:
    """Return the MPI library of a run if this machine now has a different one; else ""."""
    choice = getattr(spec.options, "mpi", None)
    if not load_platform_types()[spec.type].here or not isinstance(choice, str) or not facts:
        return ""
    today = mpi_facts(choice, "auto")
    keys = ("mpi.flavour", "mpi.version")
    if any(key in today and facts.get(key, today[key]) != today[key] for key in keys):
        return " ".join(str(facts.get(key, "")) for key in keys)
    return ""


@dataclass(frozen=True)
class Question:
    """The question: a program's time on platforms, from its profile on another platform.

    - `folder`: the folder in which the program runs.
    - `runs`: the folder in which run directories are created.
    """

    program: MpiProgram
    folder: Path
    base: PlatformSpec
    targets: tuple[PlatformSpec, ...]
    runs: Path = RUNS

    @cached_property
    def profiling(self) -> ForecastStep:
        """The step that runs the program on the base platform under the profiler."""
        return self._launched("profile", (self.base,))

    @cached_property
    def checking(self) -> ForecastStep:
        """The step that runs the program on the target platforms, to check the prediction."""
        return self._launched("check", self.targets)

    def ladder(self, profile: Profile) -> ForecastStep:
        """Return the step that measures, on all platforms, the benchmarks for a prediction."""
        study = study_from_toml(parse_toml(plan_study(profile)), where="forecast")
        platforms = (self.base, *self.targets)
        measures = [measure.model_dump(mode="json") for measure in study.measures]
        stem = self._stem("ladder", profile.title, measures, platforms)
        return ForecastStep("ladder", study, platforms, stem)

    def _launched(self, title: str, platforms: tuple[PlatformSpec, ...]) -> ForecastStep:
        study = program_study(self.program, self.folder, PROFILE_LAUNCHES)
        measured = [*self.program.words, self.program.ranks, str(self.folder), self._sum_of_program]
        stem = self._stem(title, self.program.title, measured, platforms)
        return ForecastStep(title, study, platforms, stem, profiled=True)

    def _stem(
        self, title: str, name: str, measured: object, platforms: Sequence[PlatformSpec]
    ) -> Path:
        """Return the path of a run directory for a step.

        The name of the directory ends with a checksum of `measured` and of the platforms.
        """
        tables = [[spec.name, spec.to_dict()] for spec in platforms]
        text = json.dumps([measured, tables], sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
        plain = re.sub(r"[\W_]", "-", Path(name).name.split(" ")[0])
        return self.runs / f"{title}-{plain[:_LONGEST_NAME]}-{digest}"

    @property
    def _sum_of_program(self) -> str:
        """The checksum of the program's file, which shows whether the program was built again."""
        path = self.folder / self.program.words[0]
        try:
            with path.open("rb") as file:
                return hashlib.sha256(file.read(_HASHED_BYTES)).hexdigest()
        except OSError:
            return ""  # on the path, or on other nodes


def launches_of(run: Run, platform: str) -> Application:
    """Return the profiled launches of a step's run on a platform.

    Raises AnalysisError: no launch is usable; the error has the reason.
    """
    by_name = applications(read_runs([run]))
    (name,) = by_name
    application = by_name[name].get(platform)
    if application is None or not application.launches:
        disturbed = application.disturbed if application else "none"
        raise AnalysisError(
            f"no launch of {name} on {platform} is usable: {disturbed} launches lacked free cores",
            where=str(run.path),
            hint="forecast again when other programs let the machine alone, with fewer ranks than "
            "cores",
        )
    return application


def predicted(
    profile: Path, ladder: Run, base: str, to: str, check: Run | None = None
) -> Prediction:
    """Return the prediction for a platform, with the measured times of the run `check`.

    Raises BarelineError: the run `ladder` lacks benchmarks that the prediction needs, or results
        of its launches contradict each other.
    """
    prediction = answer(profile, read_runs([ladder]), base=base, to=to)
    if check is None:
        return prediction
    launches = launches_of(check, to).launches
    # As predicted: from the end of MPI_Init to MPI_Finalize, not the whole launch.
    return replace(prediction, measured_s=tuple(base_time_s(launch.profile) for launch in launches))
