"""Programs: their profiled launches, the parts of their time, and their predictions."""

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
    """Return the profiles that a run has of a case's launches (parameters ``profile=true``)."""
    trials = _launches(records, platform, case).filter(pl.col("profile").fill_null(False))
    found = {
        (run, block): records.runs[run].raw_file(trial, PROFILE_FILE, attempt)
        for run, block, trial, attempt in trials.select(
            "run", "block", "trial", "attempt"
        ).iter_rows()
    }
    return {key: path for key, path in found.items() if path.exists()}


def launch_values(
    records: Records, platform: str, case: tuple[object, ...], metric: str = "time"
) -> Mapping[LaunchKey, float]:
    """Return the metrics of each launch of a case, such as its time by the program's clock."""
    rows = _launches(records, platform, case).join(records.values, on="row")
    rows = rows.filter(pl.col("metric").cast(pl.String) == metric)
    return {(run, block): v for run, block, v in rows.select("run", "block", "value").iter_rows()}


def _launches(records: Records, platform: str, case: tuple[object, ...]) -> pl.DataFrame:
    wanted = [pl.col(name) == value for name, value in zip(CASE, case, strict=True)]
    measured = (pl.col("platform") == platform) & (pl.col("status") == "measured")
    return records.trials.filter(*wanted, measured).sort("run", "block")


def under_profiler(place: Place) -> Place:
    """Return the place of the profiled launches of the same case."""
    return replace(place, params=format_point({**parse_point(place.params), "profile": True}))


def unprofiled(rows: pl.DataFrame) -> pl.DataFrame:
    """Leave out profiled launches, unless all launches of a probe were profiled."""
    texts = rows.get_column("params").unique().to_list()
    profiled = [text for text in texts if parse_point(text).get("profile") is True]
    if not profiled:
        return rows
    under = pl.col("params").is_in(profiled)
    return rows.filter(~under | under.all().over("probe"))


#: Parts of a program's time by its own clock: means over the ranks, which add up to its time.
COMPUTING, COMMUNICATING = "compute_mean", "communication_mean"

_Case = tuple[str, str, int, int, int]


@dataclass(frozen=True, slots=True)
class Split:
    """How a program divides its time on the baseline: shares, whose rest is files.

    - `source`: the source of the split, in words.
    - `own_computing`, `own_communicating`: how many times worse the parts are, if known.
    """

    computing: float
    communicating: float
    source: str
    own_computing: Estimate | None = None
    own_communicating: Estimate | None = None


class Splits:
    """The splits of the programs of a comparison; a profile is read when its split is needed."""

    def __init__(self, records: Records, cells: Iterable[Row], baseline: str) -> None:
        self._records = records
        self._cells = {(c.platform, c.place.case, c.place.metric): c for c in cells if c.base}
        self._baseline = baseline
        self._by_profile = cache(self._read)

    def of(self, platform: str, place: Place) -> Split | None:
        """Return the split of a program on the baseline; None where it was not measured."""
        computes, talks = (
            self._cells.get((platform, place.case, metric)) for metric in (COMPUTING, COMMUNICATING)
        )
        if computes and talks and computes.base and talks.base:
            own, other = computes.base.value, talks.base.value
            if (total := own + other) > 0:
                source = f"by its own clock on {self._baseline}"
                return Split(own / total, other / total, source, computes.ratio, talks.ratio)
        if place.ranks == 1:
            return Split(1.0, 0.0, "with one rank")
        return self._by_profile(under_profiler(place).case)  # of a profiled launch, or of this one

    def _read(self, case: _Case) -> Split | None:
        shares = []
        for path in profiles_of(self._records, self._baseline, case).values():
            try:
                parts = {part.what: part.share for part in time_split(read_profile(path))}
            except ProfileError:
                continue  # a damaged profile must not end `explain`; `show` reports it
            computing, files = (parts.get(name, 0.0) for name in ("computing", "files (POSIX)"))
            shares.append((computing, max(0.0, 1.0 - computing - files)))
        if not shares:
            return None
        computing, communicating = (float(median(own)) for own in zip(*shares, strict=True))
        return Split(computing, communicating, f"by its profile on {self._baseline}")


#: The models whose time is printed, the best first: `bareline.predict.validation.scores`.
_MODELS = ("replay", "delta")

#: Seconds by platform and application.
Predicted = Mapping[tuple[str, str], float]


def application_of(place: Place) -> str:
    """Name a program's case as predictions do; being profiled makes it no other one."""
    params = {key: value for key, value in parse_point(place.params).items() if key != "profile"}
    parts = [place.probe, format_point(params), f"ranks={place.ranks}"]
    parts += [f"threads={place.threads}"] if place.threads > 1 else []
    parts += [f"nodes={place.nodes}"] if place.nodes else []
    return " ".join(filter(None, parts))


#: How the terms of a replayed loss are called, by the input of the replay that is swapped.
REPLAYED_TERMS: Mapping[str, str] = {
    "compute": "computing and memory",
    "latency": "latency of messages",
    "bandwidth": "bandwidth of messages",
    "collectives": "algorithms of collectives",
    "cores": "waiting for a shared core",
    "io": "files",
    "start-up": "start-up",  # of runs of 0.1.0; a program's own clock leaves it out
}


@dataclass(frozen=True, slots=True)
class ReplayedTerm:
    """The extra time of a term of a replayed loss, over the baseline's time, with its interval."""

    name: str
    extra: float
    lo: float
    hi: float


#: Terms by platform and application, and of how many launches the loss is.
ReplayedLosses = Mapping[tuple[str, str], tuple[tuple[ReplayedTerm, ...], int]]


def replayed_losses(records: Records, baseline: str) -> ReplayedLosses:
    """Return the losses that predictions split; none where none were kept or can be read."""
    found: dict[tuple[str, str], tuple[tuple[ReplayedTerm, ...], int]] = {}
    for run in records.runs:
        try:
            for row in json.loads(run.read_predictions() or b"{}")["losses"]:
                loss = row["loss"]
                if loss["base"] == baseline:
                    base_s = median(map(float, loss["measured_a"]))
                    terms = tuple(_replayed_terms(loss["shares"], base_s))
                    launches = min(len(loss["measured_a"]), len(loss["measured_b"]))
                    found[loss["platform"], row["application"]] = (terms, launches)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            continue  # of another version: `bareline predict` reports it
    return found


def _replayed_terms(shares: Iterable[Mapping[str, Any]], base_s: float) -> Iterator[ReplayedTerm]:
    for share in shares:
        if share["input"] in REPLAYED_TERMS:
            extra, lo, hi = (float(share[key]) / base_s for key in ("time_s", "lo_s", "hi_s"))
            if not all(map(isfinite, (extra, lo, hi))):
                raise ValueError("a share is not finite")
            yield ReplayedTerm(REPLAYED_TERMS[share["input"]], extra, lo, hi)


def predicted_times(records: Records, baseline: str) -> Predicted:
    """Return the predictions from the baseline; empty where none was kept or readable."""
    found: dict[tuple[str, str], float] = {}
    for run in records.runs:
        try:
            trials = json.loads(run.read_predictions() or b"{}")["validation"]["trials"]
            for model in reversed(_MODELS):
                for row in trials:
                    if row["model"] == model and row["base"] == baseline and row["time_s"]:
                        found[row["platform"], row["application"]] = float(row["time_s"])
        except (KeyError, TypeError, ValueError):
            continue  # of another version: `bareline predict` reports it
    return found
