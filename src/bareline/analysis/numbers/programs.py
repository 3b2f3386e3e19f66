"""Read measurements of programs: profiles, computing and communicating time, and predictions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.row import Estimate, Row
from bareline.profile.files import read_profile
from bareline.profile.launch import PROFILE_FILE
from bareline.profile.summary import time_split
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.model import format_point, parse_point
from bareline.vocabulary.place import CASE, Place

#: A launch's run and block, by which it is paired with a launch of another platform.
LaunchKey = tuple[int, int]


def profiles_of(
    records: Records, platform: str, case: tuple[object, ...]
) -> Mapping[LaunchKey, Path]:
    """Return the paths of the profiles of a case's launches (parameters ``profile=true``)."""
    is_profiled = pl.col("profile").fill_null(False)
    trials = _launches(records, platform, case).filter(is_profiled)
    profiles: dict[LaunchKey, Path] = {}
    launches = trials.select("run", "block", "trial", "attempt")
    for run, block, trial, attempt in launches.iter_rows():
        path = records.runs[run].raw_file(trial, PROFILE_FILE, attempt)
        if path.exists():
            profiles[run, block] = path
    return profiles


def launch_values(
    records: Records, platform: str, case: tuple[object, ...], metric: str = "time"
) -> Mapping[LaunchKey, float]:
    """Return a metric of each launch of a case, such as the time by the program's own clock."""
    rows = _launches(records, platform, case).join(records.values, on="row")
    metric_name = pl.col("metric").cast(pl.String)
    rows = rows.filter(metric_name == metric)
    values: dict[LaunchKey, float] = {}
    figures = rows.select("run", "block", "value")
    for run, block, value in figures.iter_rows():
        values[run, block] = value
    return values


def _launches(records: Records, platform: str, case: tuple[object, ...]) -> pl.DataFrame:
    """Return the measured trials of a case on a platform."""
    values = zip(CASE, case, strict=True)
    of_case = [pl.col(name) == value for name, value in values]
    is_here = pl.col("platform") == platform
    measured = is_here & (pl.col("status") == "measured")
    return records.trials.filter(*of_case, measured).sort("run", "block")


def under_profiler(place: Place) -> Place:
    """Return the place (case and metric) that records use for profiled launches of the case."""
    params = parse_point(place.params)
    params["profile"] = True
    return replace(place, params=format_point(params))


def unprofiled(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows without profiled launches, unless all launches of a probe were profiled."""
    texts = rows.get_column("params").unique().to_list()
    profiled = [text for text in texts if parse_point(text).get("profile") is True]
    if not profiled:
        return rows
    under = pl.col("params").is_in(profiled)
    always_under = under.all().over("probe")
    return rows.filter(~under | always_under)


#: Parts of a program's time by its own clock: means over the ranks, which add up to its time.
COMPUTING = "compute_mean"
COMMUNICATING = "communication_mean"

_Case = tuple[str, str, int, int, int]


@dataclass(frozen=True, slots=True)
class Split:
    """How a program divides its time on the baseline.

    `computing` and `communicating` are shares of the whole time; the rest is the time for files.

    - `source`: the source of the shares, in words.
    - `own_computing`, `own_communicating`: how many times longer the platform takes for each part,
      by the program's own clock; None if not known.
    """

    computing: float
    communicating: float
    source: str
    own_computing: Estimate | None = None
    own_communicating: Estimate | None = None


class Splits:
    """The division of each program's time into computing and communicating, read when needed."""

    def __init__(self, records: Records, cells: Iterable[Row], baseline: str) -> None:
        self._records = records
        self._cells: dict[tuple[str, _Case, str], Row] = {}
        for cell in cells:
            if cell.base:
                self._cells[cell.platform, cell.place.case, cell.place.metric] = cell
        self._baseline = baseline
        self._by_profile = cache(self._read)

    def of(self, platform: str, place: Place) -> Split | None:
        """Return the split of a program's time on the baseline; None if it was not measured."""
        split = self._by_clock(platform, place)
        if split is not None:
            return split
        if place.ranks == 1:
            return Split(1.0, 0.0, "with one rank")
        return self._by_profile(under_profiler(place).case)  # of a profiled launch, or of this one

    def _by_clock(self, platform: str, place: Place) -> Split | None:
        """Return the split by the program's own clock; None if the program does not measure it."""
        computing = self._cells.get((platform, place.case, COMPUTING))
        communicating = self._cells.get((platform, place.case, COMMUNICATING))
        if computing is None or communicating is None:
            return None
        if computing.base is None or communicating.base is None:
            return None
        computing_s = computing.base.value
        communicating_s = communicating.base.value
        total_s = computing_s + communicating_s
        if total_s <= 0:
            return None
        return Split(
            computing=computing_s / total_s,
            communicating=communicating_s / total_s,
            source=f"by its own clock on {self._baseline}",
            own_computing=computing.ratio,
            own_communicating=communicating.ratio,
        )

    def _read(self, case: _Case) -> Split | None:
        """Return the split according to the profiles of a case on the baseline.

        The result is None without a profile.
        """
        computing = []
        communicating = []
        profiles = profiles_of(self._records, self._baseline, case).values()
        for path in profiles:
            try:
                split = time_split(read_profile(path))
                parts = {part.what: part.share for part in split}
            except ProfileError:
                continue  # a damaged profile must not end `explain`; `show` reports it
            share = parts.get("computing", 0.0)
            files = parts.get("files (POSIX)", 0.0)
            computing.append(share)
            rest = 1.0 - share - files
            communicating.append(max(0.0, rest))
        if not computing:
            return None
        source = f"by its profile on {self._baseline}"
        usual_computing = float(median(computing))
        usual_communicating = float(median(communicating))
        return Split(usual_computing, usual_communicating, source)


#: The models whose time is printed, the best first: `bareline.predict.validation.scores`.
_MODELS = ("replay", "delta")

#: Times in s by platform and application.
Predicted = Mapping[tuple[str, str], float]


def application_of(place: Place) -> str:
    """Return the name of a program's case in predictions.

    Profiled launches of the case have the same name.
    """
    given = parse_point(place.params).items()
    params = {key: value for key, value in given if key != "profile"}
    parts = [place.probe, format_point(params), f"ranks={place.ranks}"]
    if place.threads > 1:
        parts.append(f"threads={place.threads}")
    if place.nodes:
        parts.append(f"nodes={place.nodes}")
    return " ".join(filter(None, parts))


#: The names of the terms of a replayed loss, for each input of the replay that is swapped.
REPLAYED_TERMS: Mapping[str, str] = {
    "compute": "computing and memory",
    "latency": "message latency",
    "bandwidth": "message bandwidth",
    "collectives": "collective algorithms",
    "cores": "waiting for a shared core",
    "io": "files",
    "start-up": "start-up",  # of runs of 0.1.0; a program's own clock leaves it out
}


@dataclass(frozen=True, slots=True)
class ReplayedTerm:
    """One term of a replayed loss: its extra time as a share of the baseline's time."""

    name: str
    extra: float
    lo: float
    hi: float


#: The terms of a loss, and its number of launches.
ReplayedLoss = tuple[tuple[ReplayedTerm, ...], int]
#: By platform and application.
ReplayedLosses = Mapping[tuple[str, str], ReplayedLoss]


def replayed_losses(records: Records, baseline: str) -> ReplayedLosses:
    """Return the losses that stored predictions divide into terms.

    The result is empty without readable predictions.
    """
    losses: dict[tuple[str, str], ReplayedLoss] = {}
    for run in records.runs:
        try:
            for row in json.loads(run.read_predictions() or b"{}")["losses"]:
                loss = row["loss"]
                if loss["base"] == baseline:
                    losses[loss["platform"], row["application"]] = _replayed_loss(loss)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            continue  # of another version: `bareline predict` reports it
    return losses


def _replayed_loss(loss: Mapping[str, Any]) -> ReplayedLoss:
    """Return the terms of a loss, and the smaller number of launches of the two platforms."""
    base_s = median(map(float, loss["measured_a"]))
    terms = tuple(_replayed_terms(loss["shares"], base_s))
    launches = min(len(loss["measured_a"]), len(loss["measured_b"]))
    return terms, launches


def _replayed_terms(shares: Iterable[Mapping[str, Any]], base_s: float) -> Iterator[ReplayedTerm]:
    for share in shares:
        if share["input"] in REPLAYED_TERMS:
            extra = float(share["time_s"]) / base_s
            lo = float(share["lo_s"]) / base_s
            hi = float(share["hi_s"]) / base_s
            if not all(map(isfinite, (extra, lo, hi))):
                raise ValueError("a share of the predicted loss is not a finite number")
            name = REPLAYED_TERMS[share["input"]]
            yield ReplayedTerm(name, extra, lo, hi)


def predicted_times(records: Records, baseline: str) -> Predicted:
    """Return the times that are predicted from the baseline; empty without readable predictions."""
    times_s: dict[tuple[str, str], float] = {}
    for run in records.runs:
        try:
            trials = json.loads(run.read_predictions() or b"{}")["validation"]["trials"]
            for model in reversed(_MODELS):
                for row in trials:
                    if row["model"] == model and row["base"] == baseline and row["time_s"]:
                        time_s = float(row["time_s"])
                        times_s[row["platform"], row["application"]] = time_s
        except (KeyError, TypeError, ValueError):
            continue  # of another version: `bareline predict` reports it
    return times_s
