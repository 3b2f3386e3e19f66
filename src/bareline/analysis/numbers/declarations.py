"""Find for each metric one unit and one good direction that are valid in all runs.

If runs declare a metric in different units of one dimension, their values are converted. Units of
different dimensions are an error. Different good directions ("lower is better" in one run, "higher
is better" in another) are also an error, because a ratio of such values has no meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from bareline.store.run import Run
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.units import BASE_UNITS, conversion

_ALONE = "look at each run by itself (`bareline show RUN`), or measure one of them again"
Factors = dict[tuple[str, str], float]  #: By probe and metric.


@dataclass(frozen=True, slots=True)
class _Declared:
    """The declaration of a metric in one run."""

    run: Run
    unit: str
    better: str
    detail: bool


def declarations(runs: Sequence[Run]) -> tuple[pl.DataFrame, list[Factors]]:
    """Return the unit and direction of each metric, and factors that convert runs to this unit.

    The table has a row per probe and metric: probe, metric, layer, title, unit, better, detail,
    headline. The list has for each run the factors that are not 1.

    Raises AnalysisError: runs disagree on the unit of a metric, or on which direction is better.
    """
    newest: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        newest.update(run.header.probes)
    rows: list[dict[str, Any]] = []
    factors: dict[Run, Factors] = {run: {} for run in runs}
    for (probe, metric), declared in _metrics(runs).items():
        unit = _unit(probe, metric, declared)
        for in_run in declared:
            factor = conversion(in_run.unit, unit)
            if factor != 1.0 and factor is not None:
                factors[in_run.run][probe, metric] = factor
        of_probe = newest[probe]
        rows.append(
            {
                "probe": probe,
                "metric": metric,
                "layer": of_probe["layer"],
                "title": of_probe["title"],
                "unit": unit,
                "better": _better(probe, metric, declared),
                "detail": declared[-1].detail,
                "headline": metric == of_probe["headline"],
            }
        )
    return pl.DataFrame(rows), [factors[run] for run in runs]


def _metrics(runs: Sequence[Run]) -> dict[tuple[str, str], list[_Declared]]:
    """Return the declarations of each metric in all runs, by probe and metric."""
    metrics: dict[tuple[str, str], list[_Declared]] = defaultdict(list)
    for run in runs:
        for probe, of_probe in run.header.probes.items():
            for metric, declared in of_probe["metrics"].items():
                in_run = _Declared(run, declared["unit"], declared["better"], declared["detail"])
                metrics[probe, metric].append(in_run)
    return metrics


def _unit(probe: str, metric: str, declared: Sequence[_Declared]) -> str:
    """Return the common unit of a metric.

    A base unit if any run uses one, else the first run's unit.
    """
    chosen = declared[0]
    for in_run in declared:
        if in_run.unit in BASE_UNITS:
            chosen = in_run
            break
    for in_run in declared:
        if conversion(in_run.unit, chosen.unit) is None:
            unit = _unit_words(chosen.unit)
            other_unit = _unit_words(in_run.unit)
            raise AnalysisError(
                f"{probe} has {metric} in {unit} in one run and in "
                f"{other_unit} in the other: these are different quantities",
                where=f"{chosen.run.path}, {in_run.run.path}",
                hint=_ALONE,
            )
    return chosen.unit


def _unit_words(unit: str) -> str:
    if unit == "1":
        return "no unit"
    return unit


def _better(probe: str, metric: str, declared: Sequence[_Declared]) -> str:
    """Return the good direction of a metric in all runs; "none" if the metric has none."""
    directed: dict[str, Run] = {}
    for in_run in declared:
        if in_run.better != "none":
            directed.setdefault(in_run.better, in_run.run)
    if len(directed) > 1:
        (first, run), (second, other) = directed.items()
        raise AnalysisError(
            f"the direction of {metric} of {probe} differs: {first} is better in one run,"
            f" {second} in the other",
            where=f"{run.path}, {other.path}",
            hint=_ALONE,
        )
    return next(iter(directed), "none")


def convert(values: pl.DataFrame, trials: pl.DataFrame, factors: Factors) -> pl.DataFrame:
    """Return the values of a run in the units that are common to all runs."""
    if not factors:
        return values
    schema = {"probe": pl.String, "text": pl.String, "factor": pl.Float64}
    rows = [(probe, metric, factor) for (probe, metric), factor in factors.items()]
    table = pl.DataFrame(rows, schema, orient="row")
    return (
        values.with_columns(text=pl.col("metric").cast(pl.String))
        .join(trials.select("row", "probe"), on="row", how="left", maintain_order="left")
        .join(table, on=["probe", "text"], how="left", maintain_order="left")
        .with_columns(pl.col("value") * pl.col("factor").fill_null(1.0))
        .drop("text", "probe", "factor")
    )
