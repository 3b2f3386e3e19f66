"""Reference values with tolerances for each system and case, similar to ReFrame's references.

Example of a file ``reference.toml``::

    [[system.bare]]
    probe = "mpi.pingpong"
    metric = "latency"
    params = { ranks = 2, size_bytes = 8 }
    value = 1.5e-6
    unit = "s"
    lower = -0.1
    upper = 0.1

A row of a summary belongs to a reference if they have the same platform, probe and metric, and if
the row has all `params` of the reference. `params` can contain parameters of the case and point,
and the numbers of ranks, threads and nodes. `lower` and `upper` are relative to `value`, and
`lower` is from -1 to 0. A missing bound is open. The system ``*`` is any platform. A platform of
several runs (``bare@n8``) belongs to the system ``bare``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bareline.analysis.numbers.summary import as_rows
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.files import read_toml, step_to_read
from bareline.vocabulary.units import conversion
from bareline.vocabulary.validation_errors import problem_of

#: The name of a system that matches any platform.
ANY_SYSTEM = "*"
_KEYS = "probe, metric, value, unit, and lower or upper"


class ReferenceValue(BaseModel):
    """A reference value of a metric, and the permitted distances of a median from this value."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    probe: str
    metric: str
    params: dict[str, str | int | float | bool] = Field(default_factory=dict)
    value: float
    unit: str
    lower: Annotated[float, Field(ge=-1, le=0)] | None = None
    upper: Annotated[float, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> ReferenceValue:
        if self.lower is None and self.upper is None:
            raise ValueError(
                "the reference value has neither lower nor upper, so that no value can be"
                " outside; add one of them"
            )
        if any(end is not None and math.isinf(end) for end in self.ends):
            raise ValueError("the reference value has a bound that is too large for a number")
        return self

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The lowest and the highest permitted value; None for an open end."""
        return self._end(self.lower), self._end(self.upper)

    def _end(self, share: float | None) -> float | None:
        if share is None:
            return None
        distance = abs(self.value) * share
        return self.value + distance


class ReferenceFile(BaseModel):
    """The content of a file of reference values: a list of values for each system."""

    model_config = ConfigDict(extra="forbid", strict=True)

    system: dict[str, list[ReferenceValue]]


@dataclass(frozen=True, slots=True)
class SystemReference:
    """A reference value and its system."""

    system: str
    reference: ReferenceValue


@dataclass(frozen=True, slots=True)
class ReferenceCheck:
    """The result of comparing a row with its reference; `row` is None if no row matches.

    - `value`: the reference value in the row's unit.
    - `ends`: the permitted bounds in the row's unit.
    - `measured`: the parameters for which no row has the reference's value, each with the values
      that the rows have.
    """

    system: str
    reference: ReferenceValue
    row: Mapping[str, Any] | None = None
    value: float = math.nan
    ends: tuple[float | None, float | None] = (None, None)
    measured: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def is_outside(self) -> bool:
        """Whether the median is outside the bounds, or is missing."""
        return self.row is None or self.room < 0

    @property
    def room(self) -> float:
        """The distance from the median to its nearest bound, divided by the median.

        The distance is negative if the median is outside the bounds.
        """
        if self.row is None:
            return float("-inf")
        median = float(self.row["value"])
        lower, upper = self.ends
        rooms = []
        if lower is not None:
            rooms.append(median - lower)
        if upper is not None:
            rooms.append(upper - median)
        size = abs(median) or 1.0
        return min(rooms) / size


def read_references(path: Path) -> tuple[SystemReference, ...]:
    """Read a file of reference values.

    Raises AnalysisError: the file cannot be read, or does not contain reference values.
    """
    try:
        content = ReferenceFile.model_validate(read_toml(path))
    except OSError as error:
        step = step_to_read(error, "`bareline reference RUN` writes one")
        why = f"the file cannot be read: {error.strerror}"
        raise AnalysisError(why, where=str(path), hint=step) from error
    except ValidationError as error:
        problem = problem_of(error)
        hint = f"a system is [[system.NAME]] with {_KEYS}"
        problem_text = f"'{problem.key}': {problem.clause}"
        raise AnalysisError(problem_text, where=str(path), hint=hint) from error
    except ValueError as error:
        hint = "`bareline reference RUN` writes a correct file"
        raise AnalysisError(
            f"the file is not valid TOML: {error}", where=str(path), hint=hint
        ) from error
    system_references: list[SystemReference] = []
    for name, references in content.system.items():
        system_references += [SystemReference(name, reference) for reference in references]
    if not system_references:
        hint = "`bareline reference RUN` writes a file with reference values"
        raise AnalysisError("the file contains no reference value", where=str(path), hint=hint)
    return tuple(system_references)


def check_references(
    references: Sequence[SystemReference], summary: pl.DataFrame, path: Path
) -> list[ReferenceCheck]:
    """Compare the rows of a summary with reference values; `summary` is a result of `summarize`.

    References of systems that the summary does not contain belong to other runs and are ignored.

    Raises AnalysisError: a reference has a unit of another dimension, or no reference belongs to a
        platform of the summary.
    """
    rows = as_rows(summary)
    present = {_system_of(row["platform"]) for row in rows}
    of_interest = {*present, ANY_SYSTEM}
    chosen = [entry for entry in references if entry.system in of_interest]
    if not chosen:
        systems = ", ".join(dict.fromkeys(entry.system for entry in references))
        platforms = ", ".join(sorted(present))
        raise AnalysisError(
            f"the file has reference values for the systems {systems}, but none of them was"
            " measured here",
            where=str(path),
            hint=f"the platforms here are {platforms}",
        )
    checks = []
    for entry in chosen:
        matches = [row for row in rows if _belongs(row, entry)]
        checks += [_check(row, entry, path) for row in matches]
        if not matches:
            measured = _measured_instead(rows, entry)
            checks.append(ReferenceCheck(entry.system, entry.reference, measured=measured))
    return checks


def _system_of(platform: str) -> str:
    return platform.partition("@")[0]


def _belongs(row: Mapping[str, Any], entry: SystemReference) -> bool:
    if not _has_metric(row, entry):
        return False
    params = row["params"]
    return all(params.get(name) == value for name, value in entry.reference.params.items())


def _has_metric(row: Mapping[str, Any], entry: SystemReference) -> bool:
    """Whether a row has the platform, probe and metric of a reference."""
    reference = entry.reference
    if (row["probe"], row["metric"]) != (reference.probe, reference.metric):
        return False
    return entry.system in (ANY_SYSTEM, _system_of(row["platform"]), row["platform"])


def _measured_instead(
    rows: Sequence[Mapping[str, Any]], entry: SystemReference
) -> dict[str, list[Any]]:
    """Return the parameters for which no row has the reference's value, with the rows' values."""
    near = []
    for row in rows:
        if _has_metric(row, entry):
            near.append(row["params"])
    measured = {}
    for name, wanted in entry.reference.params.items():
        values = [params.get(name) for params in near]
        if near and wanted not in values:
            different = dict.fromkeys(value for value in values if value is not None)
            measured[name] = list(different)
    return measured


def _check(row: Mapping[str, Any], entry: SystemReference, path: Path) -> ReferenceCheck:
    reference = entry.reference
    factor = conversion(reference.unit, row["unit"])
    if factor is None:
        raise AnalysisError(
            f"the reference value of {reference.probe} {reference.metric} has the unit"
            f" '{reference.unit}', but the metric was "
            f"measured in '{row['unit']}'",
            where=str(path),
            hint="write the value in a unit of the same kind",
        )
    lower, upper = reference.ends
    if lower is not None:
        lower *= factor
    if upper is not None:
        upper *= factor
    value = reference.value * factor
    return ReferenceCheck(entry.system, reference, row, value, (lower, upper))


def references_of(summary: pl.DataFrame, tolerance: float) -> dict[str, Any]:
    """Return the content of a reference file, from the medians of a summary's headline metrics.

    - `tolerance`: the relative tolerance below and above the median. If the launches of a row
      spread farther than that (5th to 95th percentile), this spread is the row's tolerance.
    """
    systems: dict[str, list[dict[str, Any]]] = {}
    for row in as_rows(summary):
        if not row["headline"]:
            continue
        if row["better"] == "none":
            continue
        if not row["value"]:
            continue
        value = row["value"]
        spread_below = 1 - row["p5"] / value
        below = max(tolerance, spread_below)
        spread_above = row["p95"] / value - 1
        above = max(tolerance, spread_above)
        entry = {key: row[key] for key in ("probe", "metric", "params")}
        bounds = {"lower": -min(round(below, 4), 1.0), "upper": round(above, 4)}
        entry |= {"value": value, "unit": row["unit"], **bounds}
        systems.setdefault(_system_of(row["platform"]), []).append(entry)
    return {"system": systems}
