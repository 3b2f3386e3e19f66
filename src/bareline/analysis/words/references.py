"""The result of a comparison with reference values: a line for each row outside its bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.references import (
    ReferenceCheck,
    ReferenceValue,
    check_references,
    read_references,
)
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.conditions import ConditionOutcome
from bareline.vocabulary.place import coordinate
from bareline.vocabulary.units import listing, percent, scale_of, significant

#: The largest number of values of a parameter that are listed.
_NAMED_VALUES = 8


def reference_outcome(path: Path, records: Records, run: str = "") -> ConditionOutcome:
    """Return which rows of some records are outside the reference values of a file.

    - `run`: the name of the compared run; empty if only one run is compared.

    Raises AnalysisError: the file cannot be used.
    """
    references = read_references(path)
    checks = check_references(references, summarize(records), path)
    rows_outside = (check for check in checks if check.is_outside)
    outside = sorted(rows_outside, key=lambda item: item.room)
    inside = [check for check in checks if not check.is_outside]
    name = str(path)
    if run:
        name += f", {run}"
    nearest = ""
    if inside:
        nearest_row = min(inside, key=lambda item: item.room)
        nearest = _words(nearest_row)
    return ConditionOutcome(
        name,
        len(checks),
        tuple(map(_words, outside)),
        nearest=nearest,
        head="outside",
        verb="outside",
        verb_of_one="outside",
    )


def reference_outcomes(
    paths: Sequence[Path], records: Records, run: str = ""
) -> list[ConditionOutcome]:
    """Return the outcome of each file of reference values."""
    return [reference_outcome(path, records, run) for path in paths]


def _words(check: ReferenceCheck) -> str:
    row = check.row
    if row is None:
        name = _name(check.reference, check.reference.params, check.system)
        return f"{name}: not measured{_measured_instead(check)}"
    name = _name(check.reference, row["params"], row["platform"])
    factor, unit = scale_of(row["value"], row["unit"])
    in_base_unit = Estimate(row["value"], row["lo"], row["hi"])
    median = in_base_unit.times(factor)
    median_text = with_interval(median, unit)
    bounds = _bounds(check, factor, unit)
    return f"{name}: {median_text}, {bounds}"


def _name(reference: ReferenceValue, params: Mapping[str, Any], where: str) -> str:
    hidden = {"threads": 1}
    case = []
    for name, value in params.items():
        if hidden.get(name) != value:
            case.append(coordinate(name, value))
    case_text = ", ".join(case)
    return f"{reference.probe} {reference.metric}, {case_text} on {where}"


def _measured_instead(check: ReferenceCheck) -> str:
    """Describe which values the rows have for a parameter instead of the reference's value."""
    for name, values in check.measured.items():
        if not values:
            return f"; its rows have no parameter '{name}'"
        first_part = values[:_NAMED_VALUES]
        first_values = [str(value) for value in first_part]
        return f"; its rows have {name} = {listing(first_values)}"
    return ""


def _bounds(check: ReferenceCheck, factor: float, unit: str) -> str:
    """Format the nearest bound and its computation: ``at most 1.1 us (1.0 us +10 %)``."""
    assert check.row is not None
    median = check.row["value"]
    lower, upper = check.ends
    to_lower = math.inf
    if lower is not None:
        to_lower = median - lower
    to_upper = math.inf
    if upper is not None:
        to_upper = upper - median
    if to_lower < to_upper:
        word = "at least"
        end = lower
        sign = "-"
        share = check.reference.lower
    else:
        word = "at most"
        end = upper
        sign = "+"
        share = check.reference.upper
    assert end is not None and share is not None
    bound = significant(end * factor)
    value = significant(check.value * factor)
    share_text = percent(abs(share))
    return f"{word} {bound} {unit} ({value} {unit} {sign}{share_text})"
