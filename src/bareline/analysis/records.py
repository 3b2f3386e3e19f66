"""The records of runs as frames, ready for analysis.

Everything here reads run directories only, never a platform.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import polars as pl

from bareline.analysis import parameters
from bareline.analysis.cube import Cube
from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Case, Scalar, format_point, parse_point
from bareline.vocabulary.place import CASE
from bareline.vocabulary.verdicts import DEFAULT_MARGIN


@dataclass(frozen=True)
class Records:
    """The records of one or several runs, ready for analysis.

    Attributes
    ----------
    trials
        One row per trial, without samples: run, trial, block, platform, the case's columns,
        layout, status, stage, reason, started, duration_s, clock, caveats.
    values
        One row per sample: trial number, metric and point (categorical), value, caveats.
    declarations
        One row per probe and metric: layer, unit, better, detail, headline.
    runs
        The runs, in the order given.
    left_out
        One row per case that a plan did not ask of a platform: platform, the case's columns,
        reason.
    controls
        Platforms that are their run's baseline measured again, each with that baseline. None of
        `platforms`, and in no frame here: `with_controls` holds them.
    whole
        The same records with those of the controls; None where there are none.
    planned
        One row per case that a plan asks of a platform: platform, the case's columns; None where
        a run did not keep that (imported results, runs of before).
    """

    trials: pl.DataFrame
    values: pl.DataFrame
    declarations: pl.DataFrame
    runs: tuple[Run, ...]
    left_out: pl.DataFrame
    planned: pl.DataFrame | None = None
    controls: Mapping[str, str] = field(default_factory=dict)
    whole: Records | None = None

    @property
    def with_controls(self) -> Records:
        """The same records with those of the controls."""
        return self.whole or self

    def of_platforms(self, names: Collection[str]) -> Records:
        """Give the records of some platforms alone."""
        theirs = pl.col("platform").is_in(sorted(names))
        trials = self.trials.filter(theirs)
        values = self.values.join(trials.select("row"), on="row", how="semi", maintain_order="left")
        return replace(self, trials=trials, values=values, left_out=self.left_out.filter(theirs))

    @property
    def platforms(self) -> list[str]:
        """Names of the platforms, in the order of their runs and of each run's command line."""
        present = set(self.trials.get_column("platform").unique().to_list())
        ordered: dict[str, None] = {}
        for run in self.runs:
            for name in run.header.platforms:
                for shown in (name, _told_apart(name, run)):
                    if shown in present:
                        ordered[shown] = None
        return list(ordered)

    @property
    def study(self) -> Mapping[str, Any]:
        """The head of the first run's study: what its ``[study]`` declares."""
        head: Mapping[str, Any] = self.runs[0].header.study.get("study", {})
        return head

    @property
    def baseline(self) -> str:
        """The platform that the first run compares with."""
        return self.runs[0].header.baseline

    @property
    def margin(self) -> float:
        """The equivalence margin that the first run declares."""
        margin = self.study.get("margin")
        return float(margin) if margin else DEFAULT_MARGIN

    def asked(self, platform: str) -> set[str] | None:
        """Give the probes that the studies asked of a platform; None for all of them.

        A study may measure something on some of its platforms only: elsewhere it is not missing.
        """
        name = platform.partition("@")[0]
        probes: set[str] = set()
        for run in self.runs:
            measures = run.header.study.get("measure", [])
            if name not in run.header.platforms:
                continue
            if not measures:
                return None
            probes |= {
                str(measure["probe"])
                for measure in measures
                if measure.get("platforms") is None or name in measure["platforms"]
            }
        return probes

    @property
    def growing(self) -> dict[str, set[str]]:
        """Give the parameters that the studies make grow with the ranks, by probe."""
        found: dict[str, set[str]] = {}
        for run in self.runs:
            for measure in run.header.study.get("measure", []):
                found.setdefault(str(measure["probe"]), set()).update(measure.get("per_rank", {}))
        return found

    @cached_property
    def defaults(self) -> dict[str, dict[str, Scalar]]:
        """Give what the parameters of each probe are that the text of a case leaves out."""
        known = [parameters.defaults_of(run.header) for run in self.runs]
        return parameters.common_defaults(known)

    @cached_property
    def facts(self) -> dict[str, dict[str, Scalar]]:
        """Facts of each platform, by the name it has here."""
        found: dict[str, dict[str, Scalar]] = {}
        for run in self.runs:
            for name, facts in run.facts().items():
                told_apart = _told_apart(name, run)
                found[told_apart if told_apart in self.platforms else name] = facts
        return found

    @cached_property
    def samples(self) -> pl.DataFrame:
        """One row per sample with all columns of its trial and metric, for figures."""
        return self._samples(self.trials, self.values)

    def samples_of(self, probe: str) -> pl.DataFrame:
        """Give the rows of `samples` that are of one probe, without joining all others."""
        return self._samples(self.trials.filter(pl.col("probe") == probe), self.values)

    def samples_at(self, places: pl.DataFrame) -> pl.DataFrame:
        """Give the rows of `samples` at some points of some probes, and all of the other probes.

        Parameters
        ----------
        places
            The columns of a case, and point.
        """
        theirs = pl.col("probe").is_in(places.get_column("probe").unique().implode())
        crowded, others = self.trials.filter(theirs), self.trials.filter(~theirs)
        wanted = crowded.join(places, on=list(CASE)).select("row", text="point")
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
            .with_columns(
                pl.concat_list(
                    pl.col("caveats_trial").fill_null([]), pl.col("caveats").fill_null([])
                ).alias("caveats")
            )
            .drop("caveats_trial", "row")
        )

    @cached_property
    def cube(self) -> Cube:
        """All values as one array by platform, point and block."""
        return Cube(self.platforms, self.trials, self.values, self.declarations)


class _Frames(NamedTuple):
    """What one run holds, as frames."""

    trials: pl.DataFrame
    values: pl.DataFrame
    left_out: pl.DataFrame
    planned: pl.DataFrame | None

    def with_cases(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> _Frames:
        """Change all that has the columns of a case alike."""
        return self._replace(
            trials=change(self.trials),
            left_out=change(self.left_out),
            planned=None if self.planned is None else change(self.planned),
        )


def _frames(run: Run) -> _Frames:
    trials, values = run.tables()
    trials = trials.with_columns(pl.col("nodes").fill_null(0), pl.col("profile").fill_null(False))
    return _Frames(trials, values, _left_out(run), _planned(run))


def read_runs(runs: Sequence[Run]) -> Records:
    """Read the records of runs into frames.

    A platform name that several runs share is told apart as ``name@run``.

    Raises
    ------
    AnalysisError
        There are no records.
    StoreError
        A run is damaged.
    """
    read = [_frames(run) for run in runs]
    shared = _shared_names([frames.trials for frames in read])
    texts = _texts(read, runs)
    trials, values, left_out = [], [], []
    planned: list[pl.DataFrame] | None = []
    offset = 0
    for number, (run, frames) in enumerate(zip(runs, read, strict=True)):
        frames = frames.with_cases(partial(_named, texts=texts[number]))
        if shared:
            frames = frames.with_cases(partial(_with_run, shared=shared, run=run))
        here = pl.col("row") + offset
        offset += 1 + int(frames.trials.get_column("row").to_numpy().max(initial=-1))
        trials.append(frames.trials.with_columns(here, pl.lit(number).alias("run")))
        values.append(frames.values.with_columns(here))
        left_out.append(frames.left_out.drop("profile"))
        asked = frames.planned
        planned = None if planned is None or asked is None else [*planned, asked.drop("profile")]
    everything = pl.concat(trials)
    if everything.is_empty():
        raise AnalysisError(
            "there are no records yet",
            where=", ".join(str(run.path) for run in runs),
            hint="`bareline continue RUN` measures",
        )
    whole = Records(
        everything,
        pl.concat(values),
        _declarations(runs),
        tuple(runs),
        pl.concat(left_out),
        None if planned is None else pl.concat(planned),
    )
    return _without_controls(whole, shared)


def _without_controls(whole: Records, shared: Collection[str]) -> Records:
    """Take out what measured a baseline again; a run of it alone compares nothing else."""
    controls = {}
    for run in whole.runs:
        if run.header.control:
            names = (run.header.control, run.header.baseline)
            again, base = (_told_apart(name, run) if name in shared else name for name in names)
            controls[again] = base
    kept = [name for name in whole.platforms if name not in controls]
    if not controls or not kept:
        return whole
    return replace(whole.of_platforms(kept), controls=controls, whole=whole)


def _left_out(run: Run) -> pl.DataFrame:
    """Give what the plan of a run left out, with the columns of a case as trials have them."""
    rows = [(row.platform, row.case, row.reason) for row in run.left_out()]
    return _cases([row[:2] for row in rows]).with_columns(
        pl.Series("reason", [reason for _, _, reason in rows], dtype=pl.String)
    )


def _planned(run: Run) -> pl.DataFrame | None:
    """Give what the plan of a run asks for, with the columns of a case as trials have them."""
    rows = run.planned()
    return None if rows is None else _cases(rows)


def _cases(rows: Sequence[tuple[str, Case]]) -> pl.DataFrame:
    """Give platforms and cases, with the columns of a case as trials have them."""
    return pl.DataFrame(
        [
            {
                "platform": platform,
                "probe": case.probe,
                "params": case.params,
                "ranks": case.ranks,
                "threads": case.threads,
                "nodes": case.nodes or 0,
                "profile": case.profile,
            }
            for platform, case in rows
        ],
        schema={
            "platform": pl.String, "probe": pl.String, "params": pl.String, "ranks": pl.Int64,
            "threads": pl.Int64, "nodes": pl.Int64, "profile": pl.Boolean,
        },
    )  # fmt: skip


#: By probe and what a case of it says, the text that names it.
_Text = dict[tuple[str, str], str]


def _texts(read: Sequence[_Frames], runs: Sequence[Run]) -> list[_Text]:
    """Give for each run the text that names each case; what is unsaid counts too."""
    said = [
        [
            row
            for frame in (frames.trials, frames.left_out, frames.planned)
            if frame is not None
            for row in frame.select("probe", "params").unique().iter_rows()
        ]
        for frames in read
    ]
    return parameters.shown(said, [parameters.defaults_of(run.header) for run in runs])


def _named(frame: pl.DataFrame, texts: _Text) -> pl.DataFrame:
    """Name cases by their texts, profiled ones with the parameter ``profile=true``.

    What was measured under the profiler is compared with its like.
    """
    rows = [
        (*said, profile, format_point({**parse_point(text), "profile": True}) if profile else text)
        for said, text in texts.items()
        for profile in (False, True)
    ]
    keys = {"probe": pl.String, "params": pl.String, "profile": pl.Boolean}
    names = pl.DataFrame(rows, schema={**keys, "text": pl.String}, orient="row")
    return (
        frame.join(names, on=list(keys), how="left", maintain_order="left")
        .with_columns(pl.col("text").alias("params"))
        .drop("text")
    )


def _with_run(frame: pl.DataFrame, *, shared: Collection[str], run: Run) -> pl.DataFrame:
    """Tell the platforms apart whose names several runs share."""
    return frame.with_columns(
        pl.when(pl.col("platform").is_in(sorted(shared)))
        .then(pl.col("platform") + _told_apart("", run))
        .otherwise(pl.col("platform"))
        .alias("platform")
    )


def _told_apart(name: str, run: Run) -> str:
    """Name a platform that several runs share."""
    return f"{name}@{run.path.resolve().name}"


def _shared_names(frames: Sequence[pl.DataFrame]) -> set[str]:
    seen: set[str] = set()
    shared: set[str] = set()
    for frame in frames:
        names = set(frame.get_column("platform").unique().to_list())
        shared |= seen & names
        seen |= names
    return shared


def _declarations(runs: Sequence[Run]) -> pl.DataFrame:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for run in runs:
        for probe, declared in run.header.probes.items():
            for metric, about in declared["metrics"].items():
                rows[probe, metric] = {
                    "probe": probe,
                    "metric": metric,
                    "layer": declared["layer"],
                    "title": declared["title"],
                    "unit": about["unit"],
                    "better": about["better"],
                    "detail": about["detail"],
                    "headline": metric == declared["headline"],
                }
    return pl.DataFrame(list(rows.values()))
