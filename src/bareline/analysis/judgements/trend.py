"""One metric over many runs: its medians by date, and the step that they certainly made.

A run is one value here. Launches of one run share its boot, its neighbours and its day; only other
runs say how much these move a figure, so a step is judged against how runs differ among themselves
(`bareline.stats.change`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from typing_extensions import TypedDict

from bareline import stats
from bareline.analysis.judgements.dates import RunDate, date_of
from bareline.analysis.numbers.cube import laid_out
from bareline.analysis.numbers.records import Records, margin_of, read_runs
from bareline.analysis.numbers.row import Estimate, bounds, finite
from bareline.analysis.numbers.selection import Selection
from bareline.analysis.numbers.summary import summarize
from bareline.store.naming import list_runs
from bareline.store.run import Run
from bareline.vocabulary.caveats import codes, read_caveats
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Better, Layer, Scalar
from bareline.vocabulary.place import KEY, Place
from bareline.vocabulary.rows import Params, row_of
from bareline.vocabulary.verdicts import Verdict

_SERIES = ("platform", *KEY)
_SHOWN = ("layer", "unit", "better", "headline")
#: Facts that are other in every run tell nothing of a step.
_PASSING = ("time.", "import.dated", "host.boot", "load", "steal")


@dataclass(frozen=True, slots=True)
class ChangePoint:
    """Where a series changed its level, certainly over all series that were looked at.

    - `at`: number of the first run of the new level.
    - `ratio`: the new level by the old one, above 1 worse, with its 95 % interval over runs.
    - `changed`: facts of the platform that changed with it: name, before, after.
    """

    at: int
    ratio: Estimate
    verdict: Verdict
    changed: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class TrendSeries:
    """One point of one metric on one platform over runs.

    - `medians`, `lo`, `hi`: one value a run, in SI base units, with a 95 % interval; None without.
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
    step: ChangePoint | None
    simulated: bool = False

    @property
    def words(self) -> str:
        """Say which point of which metric: ``mpi.pingpong latency, 8 B, 2 ranks``."""
        place = self.place
        return ", ".join(filter(None, [f"{place.probe} {place.metric}", place.words]))


class TrendValue(TypedDict):
    """A median of one run; with `file_date` its date is only that of imported files."""

    run: str
    created: str
    file_date: bool
    version: str | None
    value: float | None
    lo: float | None
    hi: float | None


class SeriesRow(TypedDict):
    """``trend``: a metric over runs, and the step in it that is certain."""

    platform: str
    layer: Layer
    probe: str
    metric: str
    params: Params
    unit: str
    better: Better
    headline: bool
    runs: list[TrendValue]
    verdict: Verdict
    ratio: float | None
    lo: float | None
    hi: float | None
    first_of_new_level: str | None
    changed: Sequence[Sequence[Scalar | None]]


@dataclass(frozen=True)
class Trend:
    """Runs in the order of their dates; a step is certain over all rows that are asked for."""

    runs: tuple[Run, ...]
    margin: float
    asked: Selection

    @cached_property
    def _records(self) -> list[Records]:
        return [read_runs([run]) for run in self.runs]

    @cached_property
    def dates(self) -> tuple[RunDate, ...]:
        """When each run was measured."""
        return tuple(map(date_of, self.runs))

    @property
    def dated_by_files(self) -> list[str]:
        """Names of the runs whose outputs give no date, so that their order may be wrong."""
        return [
            run.path.name
            for run, date in zip(self.runs, self.dates, strict=True)
            if date.is_of_files
        ]

    @cached_property
    def series(self) -> list[TrendSeries]:
        """All series that were asked for, in the order of the first run that has them.

        Raises AnalysisError: fewer than two runs have anything that was asked for.
        """
        table, keys = self._table, self.keys
        simulated = {
            platform
            for platform, caveats in table.select("platform", "caveats").iter_rows()
            if "simulated" in codes(read_caveats(caveats))
        }
        numbered = table.join(
            keys.with_row_index("series"), on=[*_SERIES, *_SHOWN], how="inner", nulls_equal=True
        )
        shape = (keys.height, len(self.runs))
        values, lo, hi = (
            laid_out(numbered, name, shape, "series", "run") for name in ("value", "lo", "hi")
        )
        found = stats.largest_steps(values, margin=self.margin)
        return [
            TrendSeries(
                place=Place.of(row),
                medians=_known(values[number]),
                lo=_known(lo[number]),
                hi=_known(hi[number]),
                step=self._step(row, values[number], int(found.at[number]))
                if found.p[number] < stats.ALPHA
                else None,
                simulated=row["platform"] in simulated,
                **{name: row[name] for name in ("platform", *_SHOWN)},
            )
            for number, row in enumerate(keys.iter_rows(named=True))
        ]

    @cached_property
    def keys(self) -> pl.DataFrame:
        """The columns that tell series apart, a row for each, in their order."""
        keys = self._table.select(*_SERIES, *_SHOWN).unique(maintain_order=True)
        return keys.filter(pl.col("better") != "none")

    @cached_property
    def _table(self) -> pl.DataFrame:
        parts = []
        for number, records in enumerate(self._records):
            summary = summarize(records).filter(~pl.col("detail"))
            parts.append(summary.with_columns(pl.lit(number).alias("run")))
        table = pl.concat(parts, how="diagonal_relaxed")
        # What is asked for need not stand in every run, but in one of them.
        chosen = self.asked.among(table)
        if chosen.get_column("run").n_unique() < 2:
            raise AnalysisError(
                "a trend needs the same metric in two runs or more",
                hint="give more runs of one study, or a folder of them",
            )
        return chosen

    def _step(self, row: Mapping[str, Any], values: np.ndarray, at: int) -> ChangePoint:
        before, after = values[:at], values[at:]
        pair = (after, before) if row["better"] == "lower" else (before, after)
        ratio = stats.unpaired_ratio(pair[0][None, :], pair[1][None, :])
        value = float(ratio.ratio[0])
        verdict = Verdict.SLOWER if value > 1 else Verdict.FASTER
        estimate = Estimate(value, finite(float(ratio.lo[0])), finite(float(ratio.hi[0])))
        return ChangePoint(at, estimate, verdict, self._changed(row["platform"], at))

    def _changed(self, platform: str, at: int) -> tuple[tuple[str, str, str], ...]:
        known = [records.facts.get(platform, {}) for records in self._records]
        changed = []
        for name in sorted(set().union(*known)):
            old, new = ({facts.get(name) for facts in side} for side in (known[:at], known[at:]))
            alike = len(old) == len(new) == 1 and None not in old | new
            if alike and old != new and not name.startswith(_PASSING):
                changed.append((name, str(*old), str(*new)))
        versions = [run.header.versions.get("bareline") for run in self.runs]
        before, after = set(versions[:at]), set(versions[at:])
        if before != after and len(before) == len(after) == 1:
            changed.append(("bareline", str(*before), str(*after)))
        return tuple(changed)

    def rows(self) -> list[SeriesRow]:
        """Give every series as a row for ``--json``."""
        runs = [
            (str(run.path), date.text, date.is_of_files, run.header.versions.get("bareline"))
            for run, date in zip(self.runs, self.dates, strict=True)
        ]
        return [
            row_of(
                SeriesRow,
                one,
                probe=one.place.probe,
                metric=one.place.metric,
                params=one.place.coordinates,
                runs=[
                    dict(zip(TrendValue.__annotations__, (*run, *value), strict=True))
                    for run, *value in zip(runs, one.medians, one.lo, one.hi, strict=True)
                ],
                verdict=one.step.verdict if one.step else Verdict.INCONCLUSIVE,
                **bounds(one.step.ratio if one.step else None),
                first_of_new_level=str(self.runs[one.step.at].path) if one.step else None,
                changed=one.step.changed if one.step else (),
            )
            for one in self.series
        ]


def trend_of(
    runs: Sequence[Run], margin: float | None = None, asked: Selection | None = None
) -> Trend:
    """Put runs into the order of their dates; the margin is by default the latest run's."""
    ordered = tuple(sorted(runs, key=lambda run: (date_of(run).moment, run.path.name)))
    return Trend(ordered, margin or margin_of(ordered[-1]), asked or Selection())


def history_of(runs: Sequence[Run]) -> Sequence[Run]:
    """Give runs that have a history; of a single one, those of its study beside it, up to it."""
    if len(runs) > 1:
        return runs
    own = runs[0]
    name = own.header.study["study"]["name"]
    until = date_of(own).moment
    return [
        run
        for run in list_runs(own.path.absolute().parent)
        if run.header.study["study"]["name"] == name and date_of(run).moment <= until
    ]


def _known(values: np.ndarray) -> tuple[float | None, ...]:
    return tuple(finite(value) for value in values.tolist())
