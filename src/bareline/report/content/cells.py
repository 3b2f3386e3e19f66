"""Cells as exhibits need them: as rows of a table, and along an axis."""

from __future__ import annotations

from collections.abc import Iterable

from bareline.analysis.numbers.row import Row
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.place import KEY, varying

#: A row of an exhibit's own table.
TidyRow = dict[str, Scalar | None]


def tidy(cells: Iterable[Row]) -> tuple[TidyRow, ...]:
    """Return cells as rows of a table in base units, for further work with the numbers."""

    def row(cell: Row) -> TidyRow:
        value, ratio = cell.value, cell.ratio
        return {
            "platform": cell.platform,
            **{name: getattr(cell.place, name) for name in KEY},
            "unit": cell.metric.unit,
            "better": cell.metric.better,
            "n": cell.n,
            "n_failed": cell.n_failed,
            "value": value.value if value else None,
            "lo": value.lo if value else None,
            "hi": value.hi if value else None,
            "value_baseline": cell.base.value if cell.base else None,
            "ratio": ratio.value if ratio else None,
            "ratio_lo": ratio.lo if ratio else None,
            "ratio_hi": ratio.hi if ratio else None,
            "verdict": cell.verdict or "",
            "caveats": "; ".join(map(str, cell.caveats)),
        }

    return tuple(map(row, cells))


def varying_without(cells: Iterable[Row], x: str) -> tuple[str, ...]:
    """Return the parameters that distinguish the panels of an axis: all that vary except `x`.

    More ranks may take more nodes. But where the same `x` was measured on several numbers of
    nodes, these are different layouts and never share a line.
    """
    cells = list(cells)
    layouts: dict[tuple[Scalar | None, ...], set[int]] = {}
    for cell in cells:
        case = (cell.platform, *cell.place.series[:3], cell.place.threads, cell.place.point,
                cell.place.coordinates.get(x))  # fmt: skip
        layouts.setdefault(case, set()).add(cell.place.nodes)
    mixed = any(len(nodes) > 1 for nodes in layouts.values())
    hidden = (x,) if mixed or x not in ("ranks", "nodes") else (x, "nodes", "ranks")
    return tuple(name for name in varying(cell.place for cell in cells) if name not in hidden)


def headline_first(cells: Iterable[Row]) -> list[Row]:
    """Sort cells: a probe's headline metric before its other metrics."""
    return sorted(cells, key=lambda cell: not cell.headline)


def position(cell: Row, x: str) -> float:
    """Return a cell's place on the axis of a numeric parameter that it has."""
    return float(cell.place.coordinates[x])


def is_number(value: Scalar | None) -> bool:
    """Return whether a parameter is a number that an axis can show."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numeric_axis(cells: Iterable[Row]) -> str | None:
    """Choose the parameter for the horizontal axis of a curve.

    That is the point parameter with the most distinct numbers, at least two; else another
    numeric parameter with at least three; else None: bars.
    """
    cells = list(cells)
    found: list[tuple[bool, int, str]] = []
    for name in varying(cell.place for cell in cells):
        values = {cell.place.coordinates.get(name) for cell in cells}
        in_point = all(name in parse_point(cell.place.point) for cell in cells)
        if all(map(is_number, values)) and len(values) >= (2 if in_point else 3):
            found.append((in_point, len(values), name))
    return max(found)[2] if found else None
