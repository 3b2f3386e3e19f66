"""Absolute values that publications print, in the unit of a cell of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions, publications
from bareline.published.model import PublishedStudy, Result
from bareline.published.places import meets
from bareline.published.quantities import UNITS
from bareline.report.content.published import SIZE_CONDITIONS, agrees
from bareline.store.header import RoleKeys
from bareline.vocabulary.place import Place


@dataclass(frozen=True, slots=True)
class PrintedValue:
    """An absolute value that a publication prints.

    - `gain`: how many times better the value is than another value, if that is printed; else "".
    - `part`: the table or figure that prints the value, e.g. ``nebula:table-4``.
    """

    value: float
    text: str
    gain: str
    source: str
    part: str


def printed_values(roles: Mapping[str, RoleKeys], cell: Row) -> dict[str, PrintedValue]:
    """Return the published value of a cell for each platform of the run that has one."""
    values: dict[str, PrintedValue] = {}
    for role in roles.values():
        if not role.platform:
            continue
        for name in role.published:
            publication, _, platform = name.partition(":")
            printed = _printed_value(publications()[publication], platform, cell)
            if printed is not None:
                values.setdefault(str(role.platform), printed)
    return values


def _printed_value(study: PublishedStudy, platform: str, cell: Row) -> PrintedValue | None:
    """Return the published value of a platform in the unit of a cell; None without such a value."""
    results = [row for row in study.results if row.platform == platform]
    results = [row for row in results if _measures(study, row, cell)]
    # Of several sizes, the size of the place is chosen; if none agrees, the first.
    values = filter(_is_value, results)
    result = max(values, key=lambda row: _sizes_met(row, cell.place), default=None)
    if result is None or result.value is None:
        return None
    factor = _factor_to(cell, result)
    if factor is None:
        return None
    gains = (row for row in results if row.kind == "factor" and row.relation == "better_by")
    gain = next(gains, None)
    return PrintedValue(
        float(result.value * factor),
        _value_words(result, cell.place),
        "" if gain is None else str(gain),
        source=f"{study.publication.short}, {study.part(result.part).label}",
        part=f"{study.id}:{result.part}",
    )


def _sizes_met(result: Result, place: Place) -> int:
    """Return how many size conditions of a published result are met by a measured case."""
    coordinates = place.coordinates
    met = 0
    for name, size in result.at.items():
        if name in SIZE_CONDITIONS and name in coordinates:
            met += meets(size, coordinates[name])
    return met


def _value_words(result: Result, place: Place) -> str:
    """Format a printed value, with its number of streams if the case ran with another number."""
    streams = result.at.get("streams")
    if streams is None or meets(streams, place.coordinates.get("streams")):
        return result.words
    return f"{result.words} ({conditions({'streams': streams})})"


def _is_value(result: Result) -> bool:
    """Whether a result is an absolute value: an amount, or a share of a peak."""
    is_share = result.kind == "efficiency" and result.baseline == "peak"
    return result.value is not None and (result.kind == "absolute" or is_share)


def _factor_to(cell: Row, result: Result) -> Decimal | None:
    """Return the factor from a printed unit to a cell's unit; None for different quantities."""
    unit, factor = UNITS[result.unit]
    if (unit, cell.metric.unit) == ("%", "1"):
        return Decimal("0.01")
    return factor if unit == cell.metric.unit else None


def _measures(study: PublishedStudy, result: Result, cell: Row) -> bool:
    """Whether a result is a value of a cell's metric, and does not repeat an earlier result."""
    benchmark = study.benchmark(result.benchmark)
    return (
        benchmark is not None
        and not result.restates
        and fnmatchcase(cell.place.probe, benchmark.probe)
        and benchmark.metrics.get(result.metric) == cell.place.metric
        and agrees(result.at, cell.place)
    )
