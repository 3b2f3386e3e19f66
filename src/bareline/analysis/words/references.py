"""The outcome of reference values: a line for each row outside, as for a condition."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.references import (
    ReferenceCheck,
    check_references,
    read_references,
)
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.conditions import ConditionOutcome
from bareline.vocabulary.place import coordinate
from bareline.vocabulary.units import listing, percent, scale_of, significant

#: The most values of a parameter that are named.
_NAMED_VALUES = 8


def reference_outcome(path: Path, records: Records, run: str = "") -> ConditionOutcome:
    """Return which rows of some records are outside the reference values of a file.

    - `run`: the run that is compared with them, where it is one of many.

    Raises AnalysisError: the file cannot be used.
    """
    checks = check_references(read_references(path), summarize(records), path)
    outside = sorted((check for check in checks if check.is_outside), key=lambda item: item.room)
    inside = [check for check in checks if not check.is_outside]
    return ConditionOutcome(
        f"{path}, {run}" if run else str(path),
        len(checks),
        tuple(map(_words, outside)),
        nearest=_words(min(inside, key=lambda item: item.room)) if inside else "",
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
    reference, row = check.reference, check.row
    if row is None:
        params = reference.params
    else:
        params = row["params"]
    hidden = {"threads": 1}
    case = [coordinate(name, value) for name, value in params.items() if hidden.get(name) != value]
    if row is None:
        where = check.system
    else:
        where = row["platform"]
    name = f"{reference.probe} {reference.metric}, {', '.join(case)} on {where}"
    if row is None:
        return f"{name}: not measured{_measured_instead(check)}"
    factor, unit = scale_of(row["value"], row["unit"])
    median = Estimate(row["value"], row["lo"], row["hi"]).times(factor)
    return f"{name}: {with_interval(median, unit)}, {_bounds(check, factor, unit)}"


def _measured_instead(check: ReferenceCheck) -> str:
    """Return the values that rows have of the first parameter that fits none of them."""
    for name, values in check.measured.items():
        if not values:
            return f"; its rows have no parameter '{name}'"
        return f"; its rows have {name} = {listing(list(map(str, values[:_NAMED_VALUES])))}"
    return ""


def _bounds(check: ReferenceCheck, factor: float, unit: str) -> str:
    """Format the nearest end, with its derivation from the reference."""
    assert check.row is not None
    median = check.row["value"]
    lower, upper = check.ends
    if lower is None:
        to_lower = float("inf")
    else:
        to_lower = median - lower
    if upper is None:
        to_upper = float("inf")
    else:
        to_upper = upper - median
    below = to_lower < to_upper
    end = upper
    if below:
        end = lower
    if below:
        share = check.reference.lower
    else:
        share = check.reference.upper
    assert end is not None and share is not None
    word = "at most"
    if below:
        word = "at least"
    sign = "+"
    if below:
        sign = "-"
    return (
        f"{word} {significant(end * factor)} {unit} "
        f"({significant(check.value * factor)} {unit} {sign}{percent(abs(share))})"
    )
