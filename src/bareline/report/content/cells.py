"""Measured values ("cells") as rows of a table, and as points along the axis of a figure."""

from __future__ import annotations

from collections.abc import Iterable

from bareline.analysis.numbers.row import Estimate, Row
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.place import KEY, varying

#: A row of an exhibit's own table.
TidyRow = dict[str, Scalar | None]


def tidy(cells: Iterable[Row]) -> tuple[TidyRow, ...]:
    """Return cells as rows of a table in base units, for further work with the numbers."""
    return tuple(map(_tidy_row, cells))


def _tidy_row(cell: Row) -> TidyRow:
    row: TidyRow = {"platform": cell.platform}
    for name in KEY:
        row[name] = getattr(cell.place, name)
    row["unit"] = cell.metric.unit
    row["better"] = cell.metric.better
    row["n"] = cell.n
    row["n_failed"] = cell.n_failed
    row |= _columns(cell.value, "value", "lo", "hi")
    row["value_baseline"] = cell.base.value if cell.base else None
    row |= _columns(cell.ratio, "ratio", "ratio_lo", "ratio_hi")
    row["verdict"] = cell.verdict or ""
    row["caveats"] = "; ".join(map(str, cell.caveats))
    return row


def _columns(estimate: Estimate | None, value: str, low: str, high: str) -> TidyRow:
    """Return an estimate and the ends of its interval as a row with the given column names."""
    if estimate is None:
        return {value: None, low: None, high: None}
    return {value: estimate.value, low: estimate.lo, high: estimate.hi}


def varying_without(cells: Iterable[Row], x: str) -> tuple[str, ...]:
    """Return the parameters that distinguish panels with the axis `x`: all that vary except `x`.

    If `x` is the number of ranks, the number of nodes distinguishes no panels, because it often
    grows with the ranks. But if one number of ranks was measured on several numbers of nodes, these
    layouts are different lines, and the number of nodes distinguishes them.
    """
    cells = list(cells)
    hidden = {x}
    if x in ("ranks", "nodes") and not _has_several_layouts(cells, x):
        hidden |= {"nodes", "ranks"}
    names = varying(cell.place for cell in cells)
    return tuple(name for name in names if name not in hidden)


def _has_several_layouts(cells: Iterable[Row], x: str) -> bool:
    """Whether a case was measured on several numbers of nodes at the same value of `x`."""
    nodes_of: dict[tuple[Scalar | None, ...], int] = {}
    for cell in cells:
        place = cell.place
        x_value = place.coordinates.get(x)
        case = (cell.platform, *place.series[:3], place.threads, place.point, x_value)
        if nodes_of.setdefault(case, place.nodes) != place.nodes:
            return True
    return False


def headline_first(cells: Iterable[Row]) -> list[Row]:
    """Sort cells, so that a probe's headline metric is before its other metrics."""
    return sorted(cells, key=lambda cell: not cell.headline)


def position(cell: Row, x: str) -> float:
    """Return the value of the numeric parameter `x` of a cell."""
    return float(cell.place.coordinates[x])


def is_number(value: Scalar | None) -> bool:
    """Return whether a parameter is a number that an axis can show."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numeric_axis(cells: Iterable[Row]) -> str | None:
    """Return the parameter for the horizontal axis of a curve; None for a bar chart.

    Parameters that vary inside a trial, such as the message size, need at least two distinct
    numbers and come first. Other parameters need at least three. Of several candidates, the
    parameter with the most distinct numbers is returned.
    """
    places = [cell.place for cell in cells]
    candidates: list[tuple[bool, int, str]] = []
    for name in varying(places):
        values = {place.coordinates.get(name) for place in places}
        in_point = all(name in parse_point(place.point) for place in places)
        least = 2 if in_point else 3
        if len(values) >= least and all(map(is_number, values)):
            candidates.append((in_point, len(values), name))
    if not candidates:
        return None
    _, _, name = max(candidates)
    return name
