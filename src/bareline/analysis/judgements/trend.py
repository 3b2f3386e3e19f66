"""Metrics over many runs: all changes of their levels, and their present state.

A run counts as one value. Its launches share the boot, the neighbours and the day, so only several
runs show their effect. Changes are judged by differences between runs (`bareline.stats.history`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from typing_extensions import TypedDict

from bareline import stats
from bareline.analysis.judgements.nearby import nearby_changes
from bareline.analysis.judgements.present import ChangePoint, Present, present_state
from bareline.analysis.numbers.cube import laid_out
from bareline.analysis.numbers.dates import RunDate
from bareline.analysis.numbers.digest import RunDigest
from bareline.analysis.numbers.history import RunHistory
from bareline.analysis.numbers.row import Estimate, bounds, finite
from bareline.analysis.numbers.selection import Selection
from bareline.stats import Course
from bareline.store.accepted import read_accepted
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Better, Layer, Scalar
from bareline.vocabulary.place import KEY, Place
from bareline.vocabulary.rows import Params, row_of
from bareline.vocabulary.verdicts import Grade, Verdict

_SERIES = ("platform", *KEY)
_SHOWN = ("layer", "unit", "better", "headline")


class TrendVerdict(StrEnum):
    """The result of a series: how its present level differs from the reference, or why it does not.

    - "nothing-found": a change is possible, but not visible.
    - "stable": the two halves of the runs are certainly equal within the margin.
    - "changed": the series has changes that are only likely, were accepted, or have reverted.
    """

    SLOWER = "slower"
    FASTER = "faster"
    CHANGED = "changed"
    FEW = Course.FEW
    NOTHING = Course.NOTHING
    STABLE = Course.STABLE
    DRIFTING = Course.DRIFTING


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One point of one metric on one platform over several runs.

    - `medians`, `lo`, `hi`: for each run the median in SI base units and its 95 % interval, or
      None.
    - `changes`: all changes, in the order of the runs.
    - `present`: the present state according to the certain changes.
    - `likely`: the present state according to the certain and the likely changes.
    - `slope`: the factor by which a drifting series changes per run; above 1 is worse.
    """

    platform: str
    place: Place
    layer: str
    unit: str
    better: str
    headline: bool
    medians: tuple[float | None, ...]
    lo: tuple[float | None, ...]
    hi: tuple[float | None, ...]
    course: Course
    p: float
    autocorrelation: float
    changes: tuple[ChangePoint, ...]
    present: Present | None
    likely: Present | None
    slope: Estimate | None = None
    simulated: bool = False

    @property
    def words(self) -> str:
        """The point and the metric: ``mpi.pingpong latency, 8 B, 2 ranks``."""
        place = self.place
        parts = [f"{place.probe} {place.metric}", place.words]
        return ", ".join(filter(None, parts))

    @property
    def verdict(self) -> TrendVerdict:
        """The result of the series."""
        if self.present is not None and self.present.verdict is not None:
            return TrendVerdict(self.present.verdict.value)
        if self.course is Course.STEPPED:
            return TrendVerdict.CHANGED
        return TrendVerdict(self.course)

    @property
    def certain(self) -> tuple[ChangePoint, ...]:
        """The changes that are certain."""
        return tuple(change for change in self.changes if change.grade is Grade.CERTAIN)


class TrendValue(TypedDict):
    """The median of one run; if `file_date` is true, `created` is only a file's timestamp."""

    run: str
    created: str
    file_date: bool
    version: str | None
    value: float | None
    lo: float | None
    hi: float | None


class ChangeRow(TypedDict):
    """A change of level; `run` is the first run of the new level.

    - `first_run`, `last_run`: the 95 % interval of `run`.
    - `ratio`: the level after the change divided by the level before the change; above 1 is worse.
    - `p`: the probability of finding a change as large as this in any series if nothing changed.
    - `accepted`: why the change was accepted; null if it was not accepted.
    """

    run: str
    first_run: str
    last_run: str
    verdict: Verdict
    grade: Grade
    p: float
    ratio: float
    lo: float | None
    hi: float | None
    changed: Sequence[Sequence[Scalar | None]]
    accepted: str | None


class SeriesRow(TypedDict):
    """A row of ``trend``: a metric over runs, its changes, and its present state.

    - `ratio`: the present level divided by the reference level, above 1 is worse; null without a
      change.
    - `reference`: the latest run with the reference level.
    - `first_of_new_level`: the first run after the last change between the two levels.
    - `changed`: the facts that changed near the run `first_of_new_level`.
    - `p`: the smallest p of the series.
    - `slope`: the relative change per run of a drifting series; above 0 is worse.
    - `autocorrelation`: the correlation of successive runs, 0 if none is found.
    """

    platform: str
    layer: Layer
    probe: str
    metric: str
    params: Params
    unit: str
    better: Better
    headline: bool
    runs: list[TrendValue]
    verdict: TrendVerdict
    ratio: float | None
    lo: float | None
    hi: float | None
    first_of_new_level: str | None
    changed: Sequence[Sequence[Scalar | None]]
    p: float
    reference: str | None
    changes: list[ChangeRow]
    slope: float | None
    autocorrelation: float


@dataclass(frozen=True)
class Trend:
    """The series of several runs in the order of the runs' dates.

    Changes are judged over all requested series together.

    - `since`: the number of the run whose level is the reference; None for the default.
    """

    history: RunHistory
    margin: float
    asked: Selection
    since: int | None = None

    @property
    def runs(self) -> tuple[RunDigest, ...]:
        """The runs, the oldest first."""
        return self.history.runs

    @property
    def dates(self) -> tuple[RunDate, ...]:
        """The date of each run."""
        return tuple(run.date for run in self.runs)

    @property
    def dated_by_files(self) -> list[str]:
        """The names of runs whose dates are timestamps of files; their order may be wrong."""
        return [run.name for run in self.runs if run.date.is_of_files]

    @cached_property
    def series(self) -> list[TrendSeries]:
        """All requested series, in the order of the first run that contains them.

        Raises AnalysisError: fewer than two runs contain a requested series.
        """
        keys = self.keys
        numbered_keys = keys.with_row_index("series")
        numbered = self._table.join(numbered_keys, on=_SERIES, nulls_equal=True)
        shape = (keys.height, len(self.runs))
        columns = []
        for name in ("value", "lo", "hi"):
            columns.append(laid_out(numbered, name, shape, "series", "run"))
        courses = stats.find_changes(columns[0], margin=self.margin)
        rows = keys.iter_rows(named=True)
        series = []
        for row, course, *figures in zip(rows, courses, *columns, strict=True):
            of_row = self._series(row, course, *figures)
            series.append(of_row)
        return series

    @cached_property
    def keys(self) -> pl.DataFrame:
        """The columns that identify a series; the rows are in the order of `series`."""
        columns = self._table.select(*_SERIES, *_SHOWN)
        return columns.unique(_SERIES, maintain_order=True)

    @cached_property
    def _table(self) -> pl.DataFrame:
        # A series that is asked for need not be in every run, but must be in one of them.
        chosen = self.asked.among(self.history.table)
        if chosen.get_column("run").n_unique() < 2:
            incomplete = self.history.incomplete[:3]
            left_out = "; ".join(f"{run.path}: {run.why}" for run in incomplete)
            hint = "give more runs of one study, or a folder of them"
            if left_out:
                hint = f"incomplete runs were left out ({left_out})"
            raise AnalysisError("a trend needs the same metric in at least two runs", hint=hint)
        return chosen

    def _series(
        self,
        row: Mapping[str, Any],
        course: stats.SeriesCourse,
        values: np.ndarray,
        lo: np.ndarray,
        hi: np.ndarray,
    ) -> TrendSeries:
        platform = row["platform"]
        better = row["better"]
        changes = tuple(self._change(change, platform, better) for change in course.changes)
        certain = [change for change in changes if change.grade is Grade.CERTAIN]
        medians = _known(values)
        state = partial(
            present_state,
            medians,
            better=better,
            margin=self.margin,
            since=self.since,
            drifts=course.slope is not None,
        )
        slope = None
        if course.slope is not None:
            slope = _worse(course.slope, better)
        return TrendSeries(
            place=Place.of(row),
            medians=medians,
            lo=_known(lo),
            hi=_known(hi),
            course=course.course,
            p=course.p,
            autocorrelation=course.phi,
            changes=changes,
            present=state(certain),
            likely=state(changes),
            slope=slope,
            simulated=any(platform in run.simulated for run in self.runs),
            **{name: row[name] for name in ("platform", *_SHOWN)},
        )

    def _change(self, change: stats.Change, platform: str, better: str) -> ChangePoint:
        ratio = _worse(change.ratio, better)
        accepted = None
        near = self.runs[change.first : change.last + 1]
        for run in near:
            accepted = self._accepted.get(run.path, accepted)
        verdict = Verdict.FASTER
        if ratio.value > 1:
            verdict = Verdict.SLOWER
        grade = Grade.LIKELY
        if change.certain:
            grade = Grade.CERTAIN
        return ChangePoint(
            at=change.at,
            first=change.first,
            last=change.last,
            ratio=ratio,
            verdict=verdict,
            grade=grade,
            p=change.p,
            changed=nearby_changes(self.runs, platform, change.first, change.last),
            accepted=accepted,
        )

    @cached_property
    def _accepted(self) -> Mapping[Path, Any]:
        return read_accepted(run.path for run in self.runs)

    def rows(self) -> list[SeriesRow]:
        """Return every series as a row for ``--json``."""
        return [self._series_row(series) for series in self.series]

    def _series_row(self, series: TrendSeries) -> SeriesRow:
        slope = None
        if series.slope is not None:
            slope = series.slope.value - 1
        return row_of(
            SeriesRow,
            series,
            probe=series.place.probe,
            metric=series.place.metric,
            params=series.place.coordinates,
            runs=self._values_of(series),
            verdict=series.verdict,
            **self._present_of(series.present),
            changes=[self._change_row(change) for change in series.changes],
            slope=slope,
        )

    def _values_of(self, series: TrendSeries) -> list[TrendValue]:
        """Return the value of a series in each run."""
        figures = zip(series.medians, series.lo, series.hi, strict=True)
        values: list[TrendValue] = []
        for run, (median, lo, hi) in zip(self.runs, figures, strict=True):
            values.append(
                {
                    "run": str(run.path),
                    "created": run.date.text,
                    "file_date": run.date.is_of_files,
                    "version": run.version,
                    "value": median,
                    "lo": lo,
                    "hi": hi,
                }
            )
        return values

    def _present_of(self, present: Present | None) -> dict[str, Any]:
        """Return the columns of the present state of a series."""
        if present is None:
            return {
                **bounds(None),
                "first_of_new_level": None,
                "changed": (),
                "reference": None,
            }
        return {
            **bounds(present.ratio),
            "first_of_new_level": self._path(present.change.at),
            "changed": present.change.changed,
            "reference": self._path(present.reference),
        }

    def _change_row(self, change: ChangePoint) -> ChangeRow:
        accepted = None
        if change.accepted is not None:
            accepted = change.accepted.reason
        return row_of(
            ChangeRow,
            change,
            run=self._path(change.at),
            first_run=self._path(change.first),
            last_run=self._path(change.last),
            **bounds(change.ratio),
            accepted=accepted,
        )

    def _path(self, run: int) -> str:
        return str(self.runs[run].path)


def _worse(ratio: stats.LevelRatio, better: str) -> Estimate:
    """Return a ratio, inverted if necessary so that above 1 is worse."""
    lo = finite(ratio.lo)
    hi = finite(ratio.hi)
    estimate = Estimate(ratio.value, lo, hi)
    if better == "lower":
        return estimate
    return estimate.inverse()


def _known(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(finite(value) for value in values.tolist())
