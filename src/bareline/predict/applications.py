"""The profiled applications of a run: their launches on each platform, with profile and trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bareline.analysis.numbers.programs import LaunchKey, launch_values
from bareline.analysis.numbers.records import Records
from bareline.predict.curves.compute import program_of
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.replay.reference import ApplicationClock, ReferenceRun, base_time_s
from bareline.predict.replay.trace_files import read_trace
from bareline.profile.files import is_profile, read_profile
from bareline.profile.launch import PROFILE_FILE, TRACE_FILE
from bareline.profile.model import Profile
from bareline.profile.summary import DISTURBED, queued_share
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError, ProfileError, did_you_mean
from bareline.vocabulary.model import Layout
from bareline.vocabulary.place import CASE, Place


@dataclass(frozen=True)
class ProfiledLaunch:
    """One profiled launch of an application."""

    path: Path
    trace_path: Path
    layout: Layout
    openly_shared: bool = False
    """Whether the ranks had to share cores, so that they wait for a core by design."""
    clock_s: float | None = None
    """The time that the application itself measured; None if it prints none."""
    key: LaunchKey | None = None

    @cached_property
    def profile(self) -> Profile:
        """The profile of the launch."""
        return read_profile(self.path)

    @cached_property
    def time_s(self) -> float:
        """The time of the launch in s by the application's clock, which comparisons use.

        Without such a clock it is the time of the slowest rank in the profile.
        """
        return base_time_s(self.profile) if self.clock_s is None else self.clock_s

    @cached_property
    def trace(self) -> Trace | None:
        """The trace of the launch; None if no trace can be read."""
        try:
            return read_trace(self.trace_path)
        except ProfileError:
            return None


@dataclass(frozen=True, slots=True)
class Application:
    """One case of an application on one platform.

    `disturbed` is the number of launches that were left out because ranks had to wait for a core.
    """

    name: str
    platform: str
    launches: tuple[ProfiledLaunch, ...]
    disturbed: int

    @property
    def program(self) -> str:
        """The probe and parameters of the application, without the number of ranks."""
        return self.name.split(" ranks=", maxsplit=1)[0]

    @property
    def times_s(self) -> list[float]:
        """The times of the launches, in s."""
        return [launch.time_s for launch in self.launches]

    @property
    def median_s(self) -> float:
        """The median time of the launches, in s."""
        return float(np.median(self.times_s))

    @property
    def clock(self) -> ApplicationClock:
        """The times of the launches by the application's own clock."""
        return ApplicationClock(self.typical.time_s, self.median_s, tuple(self.times_s))

    def base(self, ladder: PlatformCurves) -> ReferenceRun:
        """Return the base of predictions: the typical launch, with the curves of its platform."""
        return ReferenceRun(self.typical.profile, self.typical.trace, ladder, self.clock)

    @property
    def typical(self) -> ProfiledLaunch:
        """The launch nearest to the median time; launches with a trace come first."""
        median_s = self.median_s

        def distance(launch: ProfiledLaunch) -> tuple[bool, float]:
            return not launch.trace_path.exists(), abs(launch.time_s - median_s)

        return min(self.launches, key=distance)


def applications(
    records: Records, *, max_queued: float = DISTURBED
) -> dict[str, dict[str, Application]]:
    """Return the profiled applications of a run by name and platform.

    - `max_queued`: the largest accepted share of the time in which ranks had no core. Launches with
      a larger share are left out.

    Raises AnalysisError: the run has no profiled application.
    """
    by_name: dict[str, dict[str, Application]] = {}
    trials = records.trials.filter(
        pl.col("profile").fill_null(False)
        & (pl.col("status") == "measured")
        & (pl.col("ranks") > 1)
    )
    for (platform, *case), rows in trials.group_by("platform", *CASE, maintain_order=True):
        times = launch_values(records, str(platform), tuple(case))
        launches = [
            _launch(records, row, times) for row in rows.sort("run", "block").iter_rows(named=True)
        ]
        profiled = [launch for launch in launches if launch.path.exists()]
        if profiled:
            name = _name(Place.of(dict(zip(CASE, case, strict=True))))
            application = _application(name, str(platform), profiled, max_queued)
            by_name.setdefault(name, {})[application.platform] = application
    if not by_name:
        raise AnalysisError(
            "the run has no profiled application",
            where=_places(records),
            hint="write `profile = true` into the [[measure]] of the application",
        )
    return by_name


def _name(place: Place) -> str:
    """Return the name of a program's case, e.g. ``npb.cg problem_class=A ranks=4``."""
    name = f"{program_of(place.probe, place.params)} ranks={place.ranks}"
    if place.threads > 1:
        name += f" threads={place.threads}"
    if place.nodes:
        name += f" nodes={place.nodes}"
    return name


def _application(
    name: str, platform: str, launches: Sequence[ProfiledLaunch], max_queued: float
) -> Application:
    """Return the application of a case, without launches whose ranks had to wait for a core."""
    quiet = tuple(
        launch
        for launch in launches
        if launch.openly_shared or queued_share(launch.profile) <= max_queued
    )
    return Application(name, platform, quiet, len(launches) - len(quiet))


def name_of(by_name: Mapping[str, dict[str, Application]], text: str) -> str:
    """Return the full name of the application that a text refers to.

    The text is the application's name, its probe, or the path of a profile of it.

    Raises AnalysisError: the text refers to no application of the run, or to several.
    """
    path = Path(text)
    if is_profile(path):
        names = _names_by_command(by_name, read_profile(path).command)
    else:
        names = [name for name in by_name if text in (name, name.split(" ", 1)[0])]
        # Cases on several nodes come before the case on one node, which is the control.
        names = [name for name in names if not name.endswith("nodes=1")] or names
    if len(names) == 1:
        return names[0]
    if not names:
        hint = did_you_mean(text, list(by_name), f"it has {'; '.join(by_name)}")
        raise AnalysisError(f"the run has no profiled application '{text}'", hint=hint)
    raise AnalysisError(
        f"'{text}' is ambiguous: {len(names)} applications match",
        hint=f"name one in full: {'; '.join(names)}",
    )


def _names_by_command(by_name: Mapping[str, dict[str, Application]], command: str) -> list[str]:
    """Return the names of the applications that were started with this command line."""
    names = []
    for name, by_platform in by_name.items():
        if command in map(_command_of, by_platform.values()):
            names.append(name)
    return names


def _command_of(application: Application) -> str | None:
    """Return the command line of an application; None if all its launches were left out."""
    if not application.launches:
        return None
    return application.launches[0].profile.command


def _places(records: Records) -> str:
    """Return the paths of the runs, separated by commas, for an error message."""
    return ", ".join(str(run.path) for run in records.runs)


def usable(
    records: Records, name: str, on: Mapping[str, Application], platforms: Sequence[str]
) -> list[Application]:
    """Return the application for each of `platforms`, in their order.

    - `on`: the application by platform.

    Raises AnalysisError: all launches of the application on one of the platforms were left out.
    """
    missing = [
        platform for platform in platforms if platform not in on or not on[platform].launches
    ]
    if missing:
        raise AnalysisError(
            f"{name} has no undisturbed profiled launch on {' and '.join(missing)}",
            where=_places(records),
            hint="measure the application there with `profile = true` and a core per rank",
        )
    return [on[platform] for platform in platforms]


def _launch(
    records: Records, row: Mapping[str, Any], times: Mapping[LaunchKey, float]
) -> ProfiledLaunch:
    run = records.runs[row["run"]]
    return ProfiledLaunch(
        path=run.raw_file(row["trial"], PROFILE_FILE, row["attempt"]),
        trace_path=run.raw_file(row["trial"], TRACE_FILE, row["attempt"]),
        layout=Layout.parse(row["layout"]),
        openly_shared="oversubscribed" in (row["caveats"] or ()),
        clock_s=times.get((row["run"], row["block"])),
        key=(row["run"], row["block"]),
    )
