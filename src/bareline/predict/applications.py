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
from bareline.predict.base import ApplicationClock, Base, base_time_s
from bareline.predict.compute import program_of
from bareline.predict.ladder import Ladder
from bareline.predict.replay import read_trace
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
    """One profiled launch."""

    path: Path
    trace_path: Path
    layout: Layout
    openly_shared: bool = False
    """Whether its ranks had to share cores: then they wait for one by design."""
    clock_s: float | None = None
    """Its time by its own clock; None where it says none."""
    key: LaunchKey | None = None

    @cached_property
    def profile(self) -> Profile:
        """Its profile."""
        return read_profile(self.path)

    @cached_property
    def time_s(self) -> float:
        """Its time: what it says itself, as a comparison has it, or all of the profile."""
        return base_time_s(self.profile) if self.clock_s is None else self.clock_s

    @cached_property
    def trace(self) -> Trace | None:
        """Its trace, None where there is none that can be read."""
        try:
            return read_trace(self.trace_path)
        except ProfileError:
            return None


@dataclass(frozen=True, slots=True)
class Application:
    """One case on one platform; `disturbed` counts the launches whose ranks lacked their cores."""

    name: str
    platform: str
    launches: tuple[ProfiledLaunch, ...]
    disturbed: int

    @property
    def program(self) -> str:
        """Its probe and parameters, without the ranks."""
        return self.name.split(" ranks=", maxsplit=1)[0]

    @property
    def times_s(self) -> list[float]:
        """Times of the launches."""
        return [launch.time_s for launch in self.launches]

    @property
    def median_s(self) -> float:
        """Their median."""
        return float(np.median(self.times_s))

    @property
    def clock(self) -> ApplicationClock:
        """Its time by its own clock, of the typical launch and of all."""
        return ApplicationClock(self.typical.time_s, self.median_s, tuple(self.times_s))

    def base(self, ladder: Ladder) -> Base:
        """Return what is predicted from: the typical launch, on the ladder of its platform."""
        return Base(self.typical.profile, self.typical.trace, ladder, self.clock)

    @property
    def typical(self) -> ProfiledLaunch:
        """The launch whose time is nearest to the median; one with a trace before one without."""
        middle = self.median_s
        return min(
            self.launches, key=lambda one: (not one.trace_path.exists(), abs(one.time_s - middle))
        )


def applications(
    records: Records, *, max_queued: float = DISTURBED
) -> dict[str, dict[str, Application]]:
    """Return a run's profiled applications by name and platform.

    Raises AnalysisError without any.
    """
    found: dict[str, dict[str, Application]] = {}
    trials = records.trials.filter(
        pl.col("profile").fill_null(False)
        & (pl.col("status") == "measured")
        & (pl.col("ranks") > 1)
    )
    for (platform, *case), own in trials.group_by("platform", *CASE, maintain_order=True):
        place = Place.of(dict(zip(CASE, case, strict=True)))
        times = launch_values(records, str(platform), tuple(case))
        rows = own.sort("run", "block").iter_rows(named=True)
        launches = [one for row in rows if (one := _launch(records, row, times)).path.exists()]
        if launches:
            quiet = tuple(
                one
                for one in launches
                if one.openly_shared or queued_share(one.profile) <= max_queued
            )
            name = f"{program_of(place.probe, place.params)} ranks={place.ranks}"
            name += f" threads={place.threads}" if place.threads > 1 else ""
            name += f" nodes={place.nodes}" if place.nodes else ""
            made = Application(name, str(platform), quiet, len(launches) - len(quiet))
            found.setdefault(name, {})[made.platform] = made
    if not found:
        raise AnalysisError(
            "the run has no profiled application",
            where=", ".join(str(run.path) for run in records.runs),
            hint="write `profile = true` into the [[measure]] of the application",
        )
    return found


def name_of(found: Mapping[str, dict[str, Application]], app: str) -> str:
    """Find the application that is meant; raises AnalysisError: there is none, or several."""
    path = Path(app)
    if is_profile(path):
        command = read_profile(path).command
        names = [
            name
            for name, own in found.items()
            if any(one.launches and one.launches[0].profile.command == command
                   for one in own.values())
        ]  # fmt: skip
    else:
        names = [name for name in found if app in (name, name.split(" ", 1)[0])]
        # More nodes before one: the one-node case is the control.
        names = [name for name in names if not name.endswith("nodes=1")] or names
    if len(names) == 1:
        return names[0]
    if not names:
        hint = did_you_mean(app, list(found), f"it has {'; '.join(found)}")
        raise AnalysisError(f"the run has no profiled application '{app}'", hint=hint)
    raise AnalysisError(
        f"'{app}' is ambiguous: {len(names)} applications match",
        hint=f"name one in full: {'; '.join(names)}",
    )


def usable(
    records: Records, name: str, on: Mapping[str, Application], platforms: Sequence[str]
) -> list[Application]:
    """Return an application on platforms; raises AnalysisError if one has no launch that counts."""
    missing = [one for one in platforms if one not in on or not on[one].launches]
    if missing:
        raise AnalysisError(
            f"{name} has no undisturbed profiled launch on {' and '.join(missing)}",
            where=", ".join(str(run.path) for run in records.runs),
            hint="measure it with `profile = true` there, with a core per rank",
        )
    return [on[one] for one in platforms]


def _launch(
    records: Records, row: Mapping[str, Any], times: Mapping[LaunchKey, float]
) -> ProfiledLaunch:
    path, trace_path = (
        records.runs[row["run"]].raw_file(row["trial"], file, row["attempt"])
        for file in (PROFILE_FILE, TRACE_FILE)
    )
    shared, key = "oversubscribed" in (row["caveats"] or ()), (row["run"], row["block"])
    layout = Layout.parse(row["layout"])
    return ProfiledLaunch(path, trace_path, layout, shared, times.get(key), key)
