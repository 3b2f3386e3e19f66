"""The medians of many runs in one table, so that equal rows of two runs are the same quantity.

The latest run defines each metric. Values of another run in a unit that cannot be converted, or of
the opposite direction, are left out and named; parameters that were replaced are also named.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.analysis.numbers.digest import ROW, Incomplete, RunDigest
from bareline.analysis.numbers.parameters import case_texts
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.place import CASE, Place
from bareline.vocabulary.units import BASE_UNITS, conversion, count, listing

_METRIC = ("probe", "metric")
_MEANING = ("layer", "unit", "better", "headline")
_NAMED = 3


@dataclass(frozen=True, slots=True)
class RunHistory:
    """Runs in the order of their dates.

    - `table`: the columns of `ROW`, and the number of the run as "run".
    - `incomplete`: runs that cannot be a part of it.
    - `differences`: sentences on studies, units and parameters that are not the same everywhere.
    """

    runs: tuple[RunDigest, ...]
    incomplete: tuple[Incomplete, ...]
    table: pl.DataFrame
    differences: tuple[str, ...]


def history_from(runs: Sequence[RunDigest], incomplete: Sequence[Incomplete]) -> RunHistory:
    """Return the history of runs that are in the order of their dates.

    Raises AnalysisError: there is no complete run.
    """
    if not runs:
        why = f": {incomplete[0].path}: {incomplete[0].why}" if incomplete else ""
        raise AnalysisError(
            f"none of {count(len(incomplete), 'run')} can be a part of a history{why}",
            hint="measure again, or give other runs",
        )
    table = pl.concat([run.table.with_columns(run=pl.lit(at)) for at, run in enumerate(runs)])
    table = _with_case_texts(table, runs)
    table, left_out = _with_one_meaning(table, runs)
    differences = [*_studies(runs), *left_out, *_replaced_cases(table, runs)]
    return RunHistory(tuple(runs), tuple(incomplete), table, tuple(differences))


def _with_case_texts(table: pl.DataFrame, runs: Sequence[RunDigest]) -> pl.DataFrame:
    """Name cases so that equal texts are equal parameters, whatever defaults the runs had."""
    cases = table.select("run", "probe", "params").unique(maintain_order=True)
    said: list[list[tuple[str, str]]] = [[] for _ in runs]
    for run, probe, params in cases.iter_rows():
        said[run].append((probe, params))
    texts = case_texts(said, [run.defaults for run in runs])
    renamed = [
        (run, probe, params, texts[run][probe, params]) for run, probe, params in cases.iter_rows()
    ]
    if all(before == after for _, _, before, after in renamed):
        return table
    names = pl.DataFrame(renamed, schema=["run", "probe", "params", "text"], orient="row")
    named = table.join(
        names.with_columns(pl.col("run").cast(table.schema["run"])),
        on=["run", "probe", "params"],
        maintain_order="left",
    )
    return named.with_columns(params="text").drop("text")


def _with_one_meaning(
    table: pl.DataFrame, runs: Sequence[RunDigest]
) -> tuple[pl.DataFrame, list[str]]:
    """Convert values to one unit for each metric; return also sentences on values left out."""
    meanings = table.select("run", *_METRIC, *_MEANING).unique(maintain_order=True).sort("run")
    latest = {row[1:3]: row[3:] for row in meanings.iter_rows()}
    base = {row[1:3]: row[4] for row in meanings.iter_rows() if row[4] in BASE_UNITS}
    factors = []
    refused: Counter[tuple[str, str, str]] = Counter()
    for run, probe, metric, _, unit, better, _ in meanings.iter_rows():
        layer, newest_unit, newest_better, headline = latest[probe, metric]
        chosen = (
            newest_unit if newest_unit in BASE_UNITS else base.get((probe, metric), newest_unit)
        )
        factor = conversion(unit, chosen)
        if factor is None or better != newest_better:
            why = f"is in {unit} there, not in {chosen}" if factor is None else f"is {better} there"
            refused[f"{probe} {metric}", why, runs[run].name] += 1
            continue
        factors.append((run, probe, metric, factor, layer, chosen, better, headline))
    schema: dict[str, Any] = {"run": table.schema["run"], **dict.fromkeys(_METRIC, pl.String)}
    meaning = dict(zip(_MEANING, (pl.String, pl.String, pl.String, pl.Boolean), strict=True))
    known = pl.DataFrame(factors, schema={**schema, "factor": pl.Float64, **meaning}, orient="row")
    joined = table.drop(_MEANING).join(known, on=["run", *_METRIC], maintain_order="left")
    converted = joined.with_columns(pl.col("value", "lo", "hi") * pl.col("factor"))
    return converted.select(*ROW, "run"), list(_refusals(refused))


def _refusals(refused: Counter[tuple[str, str, str]]) -> Iterator[str]:
    names: dict[tuple[str, str], list[str]] = {}
    for metric, why, run in refused:
        names.setdefault((metric, why), []).append(run)
    for (metric, why), own in names.items():
        yield f"{metric} of {_some(own)} is left out: it {why}"


def _some(names: Sequence[str]) -> str:
    if len(names) <= _NAMED:
        return listing(list(names))
    return f"{listing(list(names[:_NAMED]))} and {len(names) - _NAMED} more runs"


def _studies(runs: Sequence[RunDigest]) -> Iterator[str]:
    studies = Counter(run.study for run in runs)
    if len(studies) > 1:
        names = [f"{name or 'unnamed'} ({count(n, 'run')})" for name, n in studies.items()]
        yield f"the runs are of several studies: {listing(names)}"


def _replaced_cases(table: pl.DataFrame, runs: Sequence[RunDigest]) -> Iterator[str]:
    """Yield a sentence for each probe whose cases were replaced by other cases from some run on."""
    cases = table.select("run", "platform", *CASE).unique(maintain_order=True)
    by_probe: dict[tuple[str, str], dict[int, set[Place]]] = {}
    for row in cases.iter_rows(named=True):
        own = by_probe.setdefault((row["platform"], row["probe"]), {})
        own.setdefault(row["run"], set()).add(Place.of(row))
    for (platform, probe), by_run in by_probe.items():
        replaced = list(_replacements(by_run))
        if replaced:
            run, old, new = replaced[0]
            more = f", and {count(len(replaced) - 1, 'time')} more" if len(replaced) > 1 else ""
            yield (
                f"{probe} on {platform} has other parameters from {runs[run].name} on: "
                f"{_words(new)} instead of {_words(old)}{more}"
            )


def _replacements(by_run: dict[int, set[Place]]) -> Iterator[tuple[int, Place, Place]]:
    """Yield each run whose cases replace the cases before it, with an old and a new case."""
    numbers = sorted(by_run)
    for before, after in itertools.pairwise(numbers):
        old = by_run[before] - by_run[after]
        new = by_run[after] - by_run[before]
        if old and new:
            yield after, min(old, key=_words), min(new, key=_words)


def _words(place: Place) -> str:
    return place.words or "none"
