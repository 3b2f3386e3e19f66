"""The records of runs as frames, ready for analysis."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from bareline.analysis.numbers import parameters
from bareline.analysis.numbers.cube import Cube
from bareline.analysis.numbers.declarations import Factors, convert, declarations
from bareline.analysis.numbers.frames import (
    Frames,
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
    """The records of one or several runs, as tables.

    - `trials`: one row per trial, without samples: run, trial, block, platform, the case's columns,
      layout, status, stage, reason, started, duration_s, clock, caveats.
    - `values`: one row per sample: trial number, metric and point (categorical), value, caveats.
    - `declarations`: one row per probe and metric: layer, unit, better, detail, headline.
    - `left_out`: one row per case that a plan excluded on a platform, with the reason.
    - `planned`: one row per planned case; None if a run does not record its plan (imported runs,
      and runs of older versions).
    - `controls`: for each platform that measures its run's baseline a second time, this baseline.
      `platforms` and the tables here do not contain these platforms; `with_controls` and `whole`
      do.
    - `unlike_defaults`: sentences about parameters that are not compared because their defaults
      differ.
    - `labels`: for each run the label that is added to the names of platforms that several runs
      have.
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
        """Return the records of the platforms `names` only."""
        wanted = sorted(names)
        theirs = pl.col("platform").is_in(wanted)
        trials = self.trials.filter(theirs)
        values = self.values.join(trials.select("row"), on="row", how="semi", maintain_order="left")
        planned = None
        if self.planned is not None:
            planned = self.planned.filter(theirs)
        left_out = self.left_out.filter(theirs)
        return replace(self, trials=trials, values=values, left_out=left_out, planned=planned)

    @property
    def platforms(self) -> list[str]:
        """The names of the platforms, in the order of the runs and of each run's command line."""
        names: dict[str, None] = {}
        for number, run in enumerate(self.runs):
            for platform in run.header.platforms:
                names[self.name_of(platform, number)] = None
        return [name for name in names if name in self._present]

    @cached_property
    def _present(self) -> frozenset[str]:
        return frozenset(self.trials.get_column("platform").unique())

    def name_of(self, platform: str, number: int) -> str:
        """Return the name that these records use for a platform of run `number`."""
        shared = _run_name(platform, self.labels[number])
        if shared in self._present:
            return shared
        return platform

    @property
    def study(self) -> Mapping[str, Any]:
        """The ``[study]`` table of the first run's study."""
        study = self.runs[0].header.study
        head: Mapping[str, Any] = study.get("study", {})
        return head

    @property
    def baseline(self) -> str:
        """The platform with which the first run compares its platforms."""
        return self.name_of(self.runs[0].header.baseline, 0)

    @property
    def earlier(self) -> dict[str, str]:
        """The baseline of each platform of later runs.

        The baseline is the same platform in the first run. For a platform that the first run does
        not have, it is the first run's baseline. The mapping is empty if no later run has a
        platform of the first run.
        """
        first = self.runs[0].header.platforms
        present = self.platforms
        baselines: dict[str, str] = {}
        shares = False
        for number, run in enumerate(self.runs[1:], start=1):
            for platform in run.header.platforms:
                name = self.name_of(platform, number)
                if platform in first:
                    before = self.name_of(platform, 0)
                else:
                    before = self.baseline
                if name in present and before in present and name != before:
                    shares |= platform in first
                    baselines[name] = before
        if shares:
            return baselines
        return {}

    @property
    def margin(self) -> float:
        """The equivalence margin that the first run declares."""
        return margin_of(self.runs[0])

    def asked(self, platform: str) -> set[str] | None:
        """Return the probes that the studies request on a platform; None for all probes.

        A study may request a probe on some of its platforms only. On its other platforms, the
        probe's values are not called missing.
        """
        name = platform.partition("@")[0]
        runs = [run for run in self.runs if name in run.header.platforms]
        measures_of_runs = [run.header.study.get("measure", []) for run in runs]
        if not all(measures_of_runs):
            return None
        probes = set()
        for measure in itertools.chain.from_iterable(measures_of_runs):
            platforms = measure.get("platforms")
            if platforms is None or name in platforms:
                probes.add(str(measure["probe"]))
        return probes

    @property
    def growing(self) -> dict[str, set[str]]:
        """For each probe the parameters that the studies increase with the number of ranks."""
        growing: dict[str, set[str]] = {}
        for run in self.runs:
            for measure in run.header.study.get("measure", []):
                params = growing.setdefault(str(measure["probe"]), set())
                params.update(measure.get("per_rank", {}))
        return growing

    @cached_property
    def defaults(self) -> dict[str, dict[str, Scalar]]:
        """For each probe the parameters that the text of a case leaves out, with their values."""
        defaults_of_runs = [parameters.defaults_of(run.header) for run in self.runs]
        return parameters.common_defaults(defaults_of_runs)

    @cached_property
    def facts(self) -> dict[str, dict[str, Scalar]]:
        """The facts of each platform, by its name in these records."""
        facts_of: dict[str, dict[str, Scalar]] = {}
        for number, run in enumerate(self.runs):
            for name, facts in run.facts().items():
                facts_of[self.name_of(name, number)] = facts
        return facts_of

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample, with all columns of the sample's trial and metric."""
        return self._samples(self.trials, self.values)

    def samples_of(self, probe: str) -> pl.DataFrame:
        """Return the rows of `samples` for one probe, without joining the rows of all probes."""
        trials = self.trials.filter(probe=probe)
        return self._samples(trials, self.values)

    def samples_at(self, places: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of `samples` at `places`.

        For probes that are not in `places`, return all rows.

        - `places`: a table with the columns of a case and the column "point".
        """
        probes = places.get_column("probe").unique()
        theirs = pl.col("probe").is_in(probes.implode())
        crowded = self.trials.filter(theirs)
        others = self.trials.filter(~theirs)
        wanted = crowded.join(places, on=CASE).select("row", text="point")
        point_text = pl.col("point").cast(pl.String)
        with_text = self.values.with_columns(text=point_text)
        chosen = with_text.join(wanted, on=["row", "text"], how="semi")
        rest = self.values.join(others, on="row", how="semi")
        values = pl.concat([chosen.drop("text"), rest])
        return self._samples(self.trials, values)

    def _samples(self, trials: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
        caveats = pl.col("caveats_trial", "caveats").fill_null([])
        return (
            values.join(trials, on="row", how="inner", suffix="_trial", maintain_order="left")
            .with_columns(pl.col("metric", "point").cast(pl.String))
            .join(self.declarations, on=["probe", "metric"], how="left", maintain_order="left")
            .with_columns(caveats=pl.concat_list(caveats))
            .drop("caveats_trial", "row")
        )

    @cached_property
    def cube(self) -> Cube:
        """All values in one array with the axes platform, point and block."""
        return Cube(self.platforms, self.trials, self.values, self.declarations)


def margin_of(run: Run) -> float:
    """Return the equivalence margin that a run's study declares."""
    study = run.header.study.get("study", {})
    margin = study.get("margin")
    if margin:
        return float(margin)
    return DEFAULT_MARGIN


def read_runs(runs: Sequence[Run]) -> Records:
    """Read the records of runs into tables.

    A platform name that several runs have becomes ``name@run``.

    Raises AnalysisError: there are no records, or runs disagree on the meaning of a metric.
    Raises StoreError: a run is damaged.
    """
    frames = [read_frames(run) for run in runs]
    labels = path_labels([run.path for run in runs])
    defaults = [parameters.defaults_of(run.header) for run in runs]
    texts_of_runs = [of_run.case_texts for of_run in frames]
    texts = parameters.case_texts(texts_of_runs, defaults)
    shared = _shared_platforms(frames)
    renamed = []
    for number, of_run in enumerate(frames):
        rename = partial(name_cases, texts=texts[number])
        named = of_run.with_cases(rename)
        if shared:
            names = _named_apart(shared, labels[number])
            rename_platforms = partial(pl.DataFrame.with_columns, platform=names)
            named = named.with_cases(rename_platforms)
        renamed.append(named)

    declared, factors = declarations(runs)
    joined = _joined(renamed, factors)
    split = split_of(joined.trials)
    if joined.trials.is_empty():
        raise AnalysisError(
            "the run has no records yet",
            where=", ".join(str(run.path) for run in runs),
            hint="`bareline continue RUN` measures the run",
        )
    planned = joined.planned
    if planned is not None:
        planned = split_cases(planned, split).drop("layout")
    whole = Records(
        trials=split_trials(joined.trials, split),
        values=joined.values,
        declarations=declared,
        runs=tuple(runs),
        left_out=split_cases(joined.left_out, split).drop("layout"),
        planned=planned,
        unlike_defaults=parameters.differences(texts, defaults, labels),
        labels=labels,
    )
    return _without_controls(_with_shares(whole))


def _shared_platforms(frames: Sequence[Frames]) -> set[str]:
    """Return the names of platforms that several runs have."""
    runs_with: Counter[str] = Counter()
    for of_run in frames:
        platforms = of_run.trials.get_column("platform").unique()
        runs_with.update(platforms)
    return {name for name, runs in runs_with.items() if runs > 1}


def _joined(frames: Sequence[Frames], factors: Sequence[Factors]) -> Frames:
    """Return the tables of all runs as one, with numbered runs, unique rows and common units.

    The planned cases are None if any run does not record its plan.
    """
    trials = []
    values = []
    left_out = []
    planned = []
    offset = 0
    for number, of_run in enumerate(frames):
        row = pl.col("row") + offset
        last_row = of_run.trials.get_column("row").to_numpy().max(initial=-1)
        offset += 1 + int(last_row)
        trials.append(of_run.trials.with_columns(row, run=pl.lit(number)))
        converted = convert(of_run.values, of_run.trials, factors[number])
        values.append(converted.with_columns(row))
        left_out.append(of_run.left_out.drop("profile"))
        if of_run.planned is not None:
            planned.append(of_run.planned.drop("profile"))
    planned_cases = None
    if len(planned) == len(frames):
        planned_cases = pl.concat(planned)
    return Frames(pl.concat(trials), pl.concat(values), pl.concat(left_out), planned_cases)


def _with_shares(records: Records) -> Records:
    """Return the records with the shares of peaks (link rate, flop/s) as additional metrics."""
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
    """Return the platforms' names as a Polars expression; a shared name gets its run's label."""
    shared_names = sorted(shared)
    is_shared = pl.col("platform").is_in(shared_names)
    labelled = pl.col("platform") + _run_name("", label)
    return pl.when(is_shared).then(labelled).otherwise("platform")


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
