"""The medians of many runs in one table; rows with equal names in two runs are the same quantity.

The latest run defines the unit and the good direction of each metric. Values of an earlier run are
left out if their unit cannot be converted or their good direction is the opposite.
`RunHistory.differences` names the values that were left out, and parameters that were replaced.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import polars as pl

from bareline.analysis.numbers.digest import ROW, Incomplete, RunDigest
from bareline.analysis.numbers.parameters import CaseText, case_texts
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.place import CASE, Place
from bareline.vocabulary.units import BASE_UNITS, conversion, count, listing

_METRIC = ("probe", "metric")
_MEANING = ("layer", "unit", "better", "headline")
_NAMED = 3


@dataclass(frozen=True, slots=True)
class RunHistory:
    """The medians of several runs, ordered by the date of the run.

    - `table`: the columns of `ROW`, and the number of the run as "run".
    - `incomplete`: the runs that the history cannot contain.
    - `differences`: sentences about studies, units and parameters that differ between runs.
    """

    runs: tuple[RunDigest, ...]
    incomplete: tuple[Incomplete, ...]
    table: pl.DataFrame
    differences: tuple[str, ...]


def history_from(runs: Sequence[RunDigest], incomplete: Sequence[Incomplete]) -> RunHistory:
    """Return the history of runs that are sorted by date.

    Raises AnalysisError: no run is complete.
    """
    if not runs:
        why = ""
        if incomplete:
            why = f": {incomplete[0].path}: {incomplete[0].why}"
        number_of_runs = count(len(incomplete), "run")
        raise AnalysisError(
            f"none of {number_of_runs} can be a part of a history{why}",
            hint="measure again, or give other runs",
        )
    tables = [run.table.with_columns(run=pl.lit(number)) for number, run in enumerate(runs)]
    table = pl.concat(tables)
    table = _with_case_texts(table, runs)
    table, left_out = _with_one_meaning(table, runs)
    replaced = _replaced_cases(table, runs)
    differences = [*_studies(runs), *left_out, *replaced]
    return RunHistory(tuple(runs), tuple(incomplete), table, tuple(differences))


def _with_case_texts(table: pl.DataFrame, runs: Sequence[RunDigest]) -> pl.DataFrame:
    """Name cases so that equal texts mean equal parameters, also if the runs' defaults differ."""
    cases = table.select("run", "probe", "params").unique(maintain_order=True)
    texts_of_runs: list[list[CaseText]] = [[] for _ in runs]
    for run, probe, params in cases.iter_rows():
        texts_of_runs[run].append((probe, params))
    defaults = [run.defaults for run in runs]
    names = case_texts(texts_of_runs, defaults)
    renamed = []
    for run, probe, params in cases.iter_rows():
        text = names[run][probe, params]
        renamed.append((run, probe, params, text))
    if all(before == after for _, _, before, after in renamed):
        return table
    schema: dict[str, Any] = {
        "run": table.schema["run"],
        "probe": pl.String,
        "params": pl.String,
        "text": pl.String,
    }
    texts = pl.DataFrame(renamed, schema=schema, orient="row")
    named = table.join(texts, on=["run", "probe", "params"], maintain_order="left")
    return named.with_columns(params="text").drop("text")


#: A probe and a metric of it.
_Key = tuple[str, str]
#: The names of runs by a metric and the reason why it is left out of them.
_Refused = dict[tuple[str, str], list[str]]
#: The cases of each run, by its number.
_CasesOfRuns = dict[int, set[Place]]


class _Meaning(NamedTuple):
    """The meaning of a metric in a run."""

    layer: str
    unit: str
    better: str
    headline: bool


class _RunMetric(NamedTuple):
    """A metric of a probe in a run, with its unit and direction in that run."""

    run: int
    probe: str
    metric: str
    meaning: _Meaning

    @property
    def key(self) -> _Key:
        """The probe and the metric."""
        return self.probe, self.metric


def _metrics(table: pl.DataFrame) -> list[_RunMetric]:
    """Return the metrics of all runs, the oldest run first."""
    different = table.select("run", *_METRIC, *_MEANING).unique(maintain_order=True)
    columns = different.sort("run")
    metrics = []
    for run, probe, metric, *meaning in columns.iter_rows():
        metrics.append(_RunMetric(run, probe, metric, _Meaning(*meaning)))
    return metrics


def _with_one_meaning(
    table: pl.DataFrame, runs: Sequence[RunDigest]
) -> tuple[pl.DataFrame, list[str]]:
    """Convert the values of each metric to one unit.

    Returns the table, and sentences about values that were left out.
    """
    metrics = _metrics(table)
    newest = _newest_meanings(metrics)
    rows = []
    refused: _Refused = defaultdict(list)
    for metric in metrics:
        meaning = newest[metric.key]
        factor = conversion(metric.meaning.unit, meaning.unit)
        reason = _contradiction(metric.meaning, meaning)
        if reason:
            name = f"{metric.probe} {metric.metric}"
            refused[name, reason].append(runs[metric.run].name)
        else:
            rows.append((metric.run, *metric.key, factor, *meaning))
    schema: dict[str, Any] = {
        "run": table.schema["run"],
        "probe": pl.String,
        "metric": pl.String,
        "factor": pl.Float64,
        "layer": pl.String,
        "unit": pl.String,
        "better": pl.String,
        "headline": pl.Boolean,
    }
    factors = pl.DataFrame(rows, schema=schema, orient="row")
    joined = table.drop(_MEANING).join(factors, on=["run", *_METRIC], maintain_order="left")
    in_one_unit = pl.col("value", "lo", "hi") * pl.col("factor")
    converted = joined.with_columns(in_one_unit)
    return converted.select(*ROW, "run"), _refusals(refused)


def _contradiction(earlier: _Meaning, newest: _Meaning) -> str:
    """Return why an earlier run's values are a different quantity; empty if they are the same."""
    if conversion(earlier.unit, newest.unit) is None:
        return f"is in {earlier.unit} there, not in {newest.unit}"
    if earlier.better != newest.better:
        return f"is {earlier.better} there"
    return ""


def _newest_meanings(metrics: Sequence[_RunMetric]) -> dict[_Key, _Meaning]:
    """Return the meaning of each metric in its latest run, in a base unit if any run uses one."""
    newest = {metric.key: metric.meaning for metric in metrics}
    in_base_units = [metric for metric in metrics if metric.meaning.unit in BASE_UNITS]
    base_units = {metric.key: metric.meaning.unit for metric in in_base_units}
    for key, meaning in newest.items():
        if meaning.unit not in BASE_UNITS and key in base_units:
            newest[key] = meaning._replace(unit=base_units[key])
    return newest


def _refusals(refused: _Refused) -> list[str]:
    """Describe the metrics whose values are left out, with the names of the runs."""
    sentences = []
    for (metric, reason), names in refused.items():
        different = list(dict.fromkeys(names))
        runs = _some(different)
        sentences.append(f"{metric} of {runs} is left out: it {reason}")
    return sentences


def _some(names: Sequence[str]) -> str:
    """List the first few names, and count the remaining ones."""
    if len(names) <= _NAMED:
        return listing(list(names))
    first_names = listing(list(names[:_NAMED]))
    return f"{first_names} and {len(names) - _NAMED} more runs"


def _studies(runs: Sequence[RunDigest]) -> Iterator[str]:
    """Yield a sentence if the runs belong to several studies."""
    studies = Counter(run.study for run in runs)
    if len(studies) > 1:
        names = []
        for name, number in studies.items():
            number_of_runs = count(number, "run")
            names.append(f"{name or 'unnamed'} ({number_of_runs})")
        yield f"the runs are of several studies: {listing(names)}"


def _replaced_cases(table: pl.DataFrame, runs: Sequence[RunDigest]) -> Iterator[str]:
    """Yield a sentence for each probe and platform whose cases a later run replaced completely."""
    cases = table.select("run", "platform", *CASE).unique(maintain_order=True)
    by_probe: dict[tuple[str, str], _CasesOfRuns] = {}
    for row in cases.iter_rows(named=True):
        key = (row["platform"], row["probe"])
        by_run = by_probe.setdefault(key, {})
        cases_of_run = by_run.setdefault(row["run"], set())
        cases_of_run.add(Place.of(row))
    for (platform, probe), by_run in by_probe.items():
        replacements = list(_replacements(by_run))
        if not replacements:
            continue
        first = replacements[0]
        after = _words(first.after)
        before = _words(first.before)
        name = runs[first.run].name
        text = (
            f"{probe} on {platform} has other parameters from {name} on: "
            f"{after} instead of {before}"
        )
        more = len(replacements) - 1
        if more:
            text += f", and {count(more, 'time')} more"
        yield text


class _Replacement(NamedTuple):
    """A run whose cases replace earlier cases, with an old and a new case as example."""

    run: int
    before: Place
    after: Place


def _replacements(by_run: _CasesOfRuns) -> Iterator[_Replacement]:
    """Yield each run whose cases replace cases of the previous run."""
    numbers = sorted(by_run)
    for before, after in itertools.pairwise(numbers):
        old = by_run[before] - by_run[after]
        new = by_run[after] - by_run[before]
        if old and new:
            yield _Replacement(after, min(old, key=_words), min(new, key=_words))


def _words(place: Place) -> str:
    return place.words or "none"
