"""The records of runs as frames, ready for analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from bareline.analysis.numbers import parameters
from bareline.analysis.numbers.cube import Cube
from bareline.analysis.numbers.declarations import convert, declarations
from bareline.analysis.numbers.frames import (
    name_cases,
    read_frames,
    split_cases,
    split_of,
    split_trials,
)
from bareline.analysis.numbers.shares import share_values, with_share_metrics
from bareline.store.labels import path_labels
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError, StoreError
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import CASE
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


@dataclass(frozen=True)
class Records:
    """The records of one or several runs.

    - `trials`: one row per trial, without samples: run, trial, block, platform, the case's columns,
      layout, status, stage, reason, started, duration_s, clock, caveats.
    - `values`: one row per sample: trial number, metric and point (categorical), value, caveats.
    - `declarations`: one row per probe and metric: layer, unit, better, detail, headline.
    - `left_out`, `planned`: one row per case that a plan left out on a platform, with the reason,
      or planned; `planned` is None where a run has no such record (imported, or of older versions).
    - `controls`: platforms that are their run's baseline measured again, each with that baseline.
      Not in `platforms`, and in no frame here: `with_controls`, or `whole`, contains them.
    - `unlike_defaults`: sentences on parameters that are not compared: their defaults differ.
    - `labels`: the label of each run in the names of platforms that several runs have.
    """

    trials: pl.DataFrame
    values: pl.DataFrame
    declarations: pl.DataFrame
    runs: tuple[Run, ...]
    left_out: pl.DataFrame
    planned: pl.DataFrame | None = None
    controls: Mapping[str, str] = field(default_factory=dict)
    whole: Records | None = None
    unlike_defaults: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def with_controls(self) -> Records:
        """The same records, with the records of the controls."""
        return self.whole or self

    def of_platforms(self, names: Collection[str]) -> Records:
        """Return the records of some platforms alone."""
        theirs = pl.col("platform").is_in(sorted(names))
        trials = self.trials.filter(theirs)
        values = self.values.join(trials.select("row"), on="row", how="semi", maintain_order="left")
        planned = None if self.planned is None else self.planned.filter(theirs)
        left_out = self.left_out.filter(theirs)
        return replace(self, trials=trials, values=values, left_out=left_out, planned=planned)

    @property
    def platforms(self) -> list[str]:
        """Names of the platforms, in the order of their runs and of each run's command line."""
        names = dict.fromkeys(
            self.name_of(name, number)
            for number, run in enumerate(self.runs)
            for name in run.header.platforms
        )
        return [name for name in names if name in self._present]

    @cached_property
    def _present(self) -> frozenset[str]:
        return frozenset(self.trials.get_column("platform").unique())

    def name_of(self, platform: str, number: int) -> str:
        """Return the name that a platform of a run, by the run's number, has here."""
        shared = _run_name(platform, self.labels[number])
        return shared if shared in self._present else platform

    @property
    def study(self) -> Mapping[str, Any]:
        """The ``[study]`` table of the first run's study."""
        head: Mapping[str, Any] = self.runs[0].header.study.get("study", {})
        return head

    @property
    def baseline(self) -> str:
        """The platform that the first run compares with."""
        return self.name_of(self.runs[0].header.baseline, 0)

    @property
    def earlier(self) -> dict[str, str]:
        """The baseline of each platform of later runs: itself, or the first run's baseline.

        It is empty where no later run has a platform of the first one.
        """
        first = self.runs[0].header.platforms
        present = self.platforms
        found: dict[str, str] = {}
        shares = False
        for number, run in enumerate(self.runs[1:], start=1):
            for platform in run.header.platforms:
                name = self.name_of(platform, number)
                before = self.name_of(platform, 0) if platform in first else self.baseline
                if name in present and before in present and name != before:
                    shares |= platform in first
                    found[name] = before
        return found if shares else {}

    @property
    def margin(self) -> float:
        """The equivalence margin that the first run declares."""
        return margin_of(self.runs[0])

    def asked(self, platform: str) -> set[str] | None:
        """Return the probes that the studies asked of a platform; None for all of them.

        A study may measure something on some of its platforms only: elsewhere it is not missing.
        """
        name = platform.partition("@")[0]
        own = [
            run.header.study.get("measure", []) for run in self.runs if name in run.header.platforms
        ]
        if not all(own):
            return None
        return {
            str(measure["probe"])
            for measures in own
            for measure in measures
            if measure.get("platforms") is None or name in measure["platforms"]
        }

    @property
    def growing(self) -> dict[str, set[str]]:
        """The parameters that the studies make grow with the ranks, by probe."""
        found: dict[str, set[str]] = {}
        for run in self.runs:
            for measure in run.header.study.get("measure", []):
                found.setdefault(str(measure["probe"]), set()).update(measure.get("per_rank", {}))
        return found

    @cached_property
    def defaults(self) -> dict[str, dict[str, Scalar]]:
        """The parameters of each probe that the text of a case leaves out."""
        return parameters.common_defaults([parameters.defaults_of(run.header) for run in self.runs])

    @cached_property
    def facts(self) -> dict[str, dict[str, Scalar]]:
        """Facts of each platform, by the name it has here."""
        found: dict[str, dict[str, Scalar]] = {}
        for number, run in enumerate(self.runs):
            for name, facts in run.facts().items():
                found[self.name_of(name, number)] = facts
        return found

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample with all columns of its trial and metric, for figures."""
        return self._samples(self.trials, self.values)

    def samples_of(self, probe: str) -> pl.DataFrame:
        """Return the rows of `samples` of one probe, without joining the rows of all probes."""
        return self._samples(self.trials.filter(pl.col("probe") == probe), self.values)

    def samples_at(self, places: pl.DataFrame) -> pl.DataFrame:
        """Return `samples` at some places (a case's columns, and point), and all other probes'."""
        theirs = pl.col("probe").is_in(places.get_column("probe").unique().implode())
        crowded, others = self.trials.filter(theirs), self.trials.filter(~theirs)
        wanted = crowded.join(places, on=CASE).select("row", text="point")
        chosen = self.values.with_columns(text=pl.col("point").cast(pl.String)).join(
            wanted, on=["row", "text"], how="semi"
        )
        rest = self.values.join(others, on="row", how="semi")
        return self._samples(self.trials, pl.concat([chosen.drop("text"), rest]))

    def _samples(self, trials: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
        return (
            values.join(trials, on="row", how="inner", suffix="_trial", maintain_order="left")
            .with_columns(pl.col("metric", "point").cast(pl.String))
            .join(self.declarations, on=["probe", "metric"], how="left", maintain_order="left")
            .with_columns(caveats=pl.concat_list(pl.col("caveats_trial", "caveats").fill_null([])))
            .drop("caveats_trial", "row")
        )

    @cached_property
    def cube(self) -> Cube:
        """All values as one array by platform, point and block."""
        return Cube(self.platforms, self.trials, self.values, self.declarations)


def margin_of(run: Run) -> float:
    """Return the equivalence margin that a run's study declares."""
    margin = run.header.study.get("study", {}).get("margin")
    return float(margin) if margin else DEFAULT_MARGIN


def read_runs(runs: Sequence[Run]) -> Records:
    """Read the records of runs into frames.

    A platform name that several runs share becomes ``name@run``.

    Raises AnalysisError: there are no records, or runs disagree on the meaning of a metric.
    Raises StoreError: a run is damaged.
    """
    read = [read_frames(run) for run in runs]
    present = Counter(name for one in read for name in one.trials.get_column("platform").unique())
    shared = {name for name, runs_with_it in present.items() if runs_with_it > 1}
    known = [parameters.defaults_of(run.header) for run in runs]
    labels = path_labels([run.path for run in runs])
    texts = parameters.case_texts([frames.said for frames in read], known)
    declared, factors = declarations(runs)
    trials, values, left_out = [], [], []
    planned: list[pl.DataFrame] | None = []
    offset = 0
    for number, frames in enumerate(read):
        frames = frames.with_cases(partial(name_cases, texts=texts[number]))
        if shared:
            named = _named_apart(shared, labels[number])
            frames = frames.with_cases(partial(pl.DataFrame.with_columns, platform=named))
        here = pl.col("row") + offset
        offset += 1 + int(frames.trials.get_column("row").to_numpy().max(initial=-1))
        trials.append(frames.trials.with_columns(here, pl.lit(number).alias("run")))
        converted = convert(frames.values, frames.trials, factors[number])
        values.append(converted.with_columns(here))
        left_out.append(frames.left_out.drop("profile"))
        asked = frames.planned
        planned = None if planned is None or asked is None else [*planned, asked.drop("profile")]
    everything = pl.concat(trials)
    split = split_of(everything)
    if everything.is_empty():
        raise AnalysisError(
            "there are no records yet",
            where=", ".join(str(run.path) for run in runs),
            hint="`bareline continue RUN` measures",
        )
    whole = Records(
        split_trials(everything, split),
        pl.concat(values),
        declared,
        tuple(runs),
        split_cases(pl.concat(left_out), split).drop("layout"),
        None if planned is None else split_cases(pl.concat(planned), split).drop("layout"),
        unlike_defaults=parameters.differences(texts, known, labels),
        labels=labels,
    )
    return _without_controls(_with_shares(whole))


def _with_shares(records: Records) -> Records:
    """Return the records with the shares of a peak; without them where no rate has a peak."""
    declared = with_share_metrics(records.declarations)
    if declared.height == records.declarations.height:
        return records
    try:
        facts = records.facts
    except StoreError:
        return records  # the verbs that show facts report the damage
    shares = share_values(records.trials, records.values, facts)
    if shares.is_empty():
        return records
    values = pl.concat([records.values, shares])
    return replace(records, values=values, declarations=declared)


def _named_apart(shared: Collection[str], label: str) -> pl.Expr:
    """Return the platforms' names; shared names get the label of their run."""
    is_shared = pl.col("platform").is_in(sorted(shared))
    return pl.when(is_shared).then(pl.col("platform") + _run_name("", label)).otherwise("platform")


def _without_controls(whole: Records) -> Records:
    controls = {}
    for number, run in enumerate(whole.runs):
        if run.header.control:
            again = whole.name_of(run.header.control, number)
            controls[again] = whole.name_of(run.header.baseline, number)
    platforms = [name for name in whole.platforms if name not in controls]
    if not controls or not platforms:
        return whole
    return replace(whole.of_platforms(platforms), controls=controls, whole=whole)


def _run_name(name: str, label: str) -> str:
    return f"{name}@{label}"
