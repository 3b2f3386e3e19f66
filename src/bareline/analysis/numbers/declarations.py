"""Meanings of metrics from the headers of runs: one meaning for all runs together.

Runs that declare a metric in another unit of the same dimension are converted. A unit of another
dimension is refused, and so is a metric that is better lower in one run and better higher in
another: a ratio of such values has no meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.units import BASE_UNITS, conversion

_ALONE = "look at each run by itself (`bareline show RUN`), or measure one of them again"
_Declared = tuple[Run, Mapping[str, Any]]  #: A run, and how it declares a metric.
Factors = dict[tuple[str, str], float]  #: By probe and metric.


def declarations(runs: Sequence[Run]) -> tuple[pl.DataFrame, list[Factors]]:
    """Return the meaning of each metric, and the factor that converts each run's values to it.

    Gives a row per probe and metric: probe, metric, layer, title, unit, better, detail, headline.
    And for each run the factors that are not 1.

    Raises AnalysisError: runs disagree on the unit of a metric, or on which direction is better.
    """
    newest = {name: declared for run in runs for name, declared in run.header.probes.items()}
    rows: list[dict[str, Any]] = []
    factors: dict[Run, Factors] = {run: {} for run in runs}
    known: dict[tuple[str, str], list[_Declared]] = defaultdict(list)
    for run in runs:
        for probe, declared in run.header.probes.items():
            for metric, about in declared["metrics"].items():
                known[probe, metric].append((run, about))
    for (probe, metric), every in known.items():
        unit = _unit(probe, metric, every)
        for run, about in every:
            factor = conversion(about["unit"], unit)
            if factor != 1.0 and factor is not None:
                factors[run][probe, metric] = factor
        declared = newest[probe]
        rows.append(
            {
                "probe": probe,
                "metric": metric,
                "layer": declared["layer"],
                "title": declared["title"],
                "unit": unit,
                "better": _better(probe, metric, every),
                "detail": every[-1][1]["detail"],
                "headline": metric == declared["headline"],
            }
        )
    return pl.DataFrame(rows), [factors[run] for run in runs]


def _unit(probe: str, metric: str, every: Sequence[_Declared]) -> str:
    units = [str(about["unit"]) for _, about in every]
    chosen = next((unit for unit in units if unit in BASE_UNITS), units[0])
    for run, about in every:
        if conversion(about["unit"], chosen) is None:
            other = next(one for one, said in every if said["unit"] == chosen)
            words, other_words = (
                "no unit" if unit == "1" else unit for unit in (chosen, about["unit"])
            )
            raise AnalysisError(
                f"{probe} has {metric} in {words} in one run and in {other_words} in the other: "
                "that is not the same quantity",
                where=f"{other.path}, {run.path}",
                hint=_ALONE,
            )
    return chosen


def _better(probe: str, metric: str, every: Sequence[_Declared]) -> str:
    directed: dict[str, Run] = {}
    for run, about in every:
        if about["better"] != "none":
            directed.setdefault(about["better"], run)
    if len(directed) > 1:
        (first, run), (second, other) = directed.items()
        raise AnalysisError(
            f"of {probe}'s {metric} {first} is better in one run and {second} in the other",
            where=f"{run.path}, {other.path}",
            hint=_ALONE,
        )
    return next(iter(directed), "none")


def convert(values: pl.DataFrame, trials: pl.DataFrame, factors: Factors) -> pl.DataFrame:
    """Return the values of a run in the units that are common to all runs."""
    if not factors:
        return values
    schema = {"probe": pl.String, "text": pl.String, "factor": pl.Float64}
    rows = [(*of, factor) for of, factor in factors.items()]
    known = pl.DataFrame(rows, schema, orient="row")
    return (
        values.with_columns(pl.col("metric").cast(pl.String).alias("text"))
        .join(trials.select("row", "probe"), on="row", how="left", maintain_order="left")
        .join(known, on=["probe", "text"], how="left", maintain_order="left")
        .with_columns(pl.col("value") * pl.col("factor").fill_null(1.0))
        .drop("text", "probe", "factor")
    )
