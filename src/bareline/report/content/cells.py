"""One value of one platform with everything that is said about it.

A cell joins a row of the summary with the matching row of the comparison, so that an exhibit
finds the median, its interval, the ratio, the verdict and the caveats in one place.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from bareline.vocabulary.model import Scalar, parse_point

#: What makes a value the same on every platform.
KEYS = ("probe", "params", "ranks", "threads", "nodes", "point", "metric")


#: Columns of an exhibit's own table.
_TIDY = (
    "platform", *KEYS, "unit", "better", "n", "n_failed", "value", "lo", "hi", "value_baseline",
    "ratio", "ratio_lo", "ratio_hi", "verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A summarized value of a platform and its comparison with the baseline.

    Attributes
    ----------
    value, lo, hi
        Median of the trials and its 95 % interval, in `unit`; None where there is none.
    value_baseline
        Median on the baseline, where the cell is compared with it.
    ratio, ratio_lo, ratio_hi
        Above 1 means worse than the baseline; None for the baseline itself.
    verdict
        "slower", "faster", "equivalent", "inconclusive", "not-comparable", "missing",
        "does-not-fit", "failed", or "" for the baseline and for what is not compared.
    """

    platform: str
    probe: str
    layer: str
    params: str
    ranks: int
    threads: int
    nodes: int
    point: str
    metric: str
    unit: str
    better: str
    detail: bool
    headline: bool
    n: int
    n_failed: int
    value: float | None
    lo: float | None
    hi: float | None
    value_baseline: float | None
    ratio: float | None
    ratio_lo: float | None
    ratio_hi: float | None
    verdict: str
    caveats: tuple[str, ...]

    @cached_property
    def coordinates(self) -> Mapping[str, Scalar]:
        """Every parameter by name: those of the probe, of the point, ranks and threads."""
        return {
            **parse_point(self.params),
            **({"nodes": self.nodes} if self.nodes else {}),
            "ranks": self.ranks,
            "threads": self.threads,
            **parse_point(self.point),
        }

    @property
    def simulated(self) -> bool:
        """Whether the value is simulated time, which must never pass for a measured one."""
        return "simulated" in self.caveats

    @property
    def series(self) -> tuple[str, str, str, int, int, int]:
        """What stays the same along a curve over a point parameter."""
        return (self.probe, self.metric, self.params, self.ranks, self.threads, self.nodes)


def by_caveat(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """Group cells by the codes of their caveats; a cell stands under each of its own."""
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        for code in cell.caveats:
            groups.setdefault(code, []).append(cell)
    return groups


def read_cells(summary: pl.DataFrame | None, comparison: pl.DataFrame | None) -> tuple[Cell, ...]:
    """Join the two frames; what only one of them holds is kept, and either may be absent.

    Parameters
    ----------
    summary, comparison
        Frames as `bareline.analysis.comparison` gives them. Cells of the baseline come from the
        summary alone.
    """
    compared = {_key(row): row for row in _rows(comparison)}
    cells = []
    for row in _rows(summary):
        cells.append(_cell(row, compared.pop(_key(row), None)))
    for row in compared.values():
        cells.append(_cell({**row, "lo": None, "hi": None, "n_failed": 0}, row))
    return tuple(cells)


def _rows(frame: pl.DataFrame | None) -> Iterable[dict[str, Any]]:
    return () if frame is None else frame.iter_rows(named=True)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["platform"], *(row[key] for key in KEYS))


def _cell(row: Mapping[str, Any], compared: Mapping[str, Any] | None) -> Cell:
    other = compared or {}
    caveats = dict.fromkeys([*(row["caveats"] or ()), *(other.get("caveats") or ())])
    return Cell(
        platform=row["platform"],
        probe=row["probe"],
        layer=row["layer"],
        params=row["params"],
        ranks=row["ranks"],
        threads=row["threads"],
        nodes=row["nodes"] or 0,
        point=row["point"],
        metric=row["metric"],
        unit=row["unit"],
        better=row["better"],
        detail=bool(row["detail"]),
        headline=bool(row["headline"]),
        n=row["n"] or 0,
        n_failed=row["n_failed"] or 0,
        value=_finite(row["value"]),
        lo=_finite(row["lo"]),
        hi=_finite(row["hi"]),
        value_baseline=_finite(other.get("value_baseline")),
        ratio=_finite(other.get("ratio")),
        ratio_lo=_finite(other.get("lo")),
        ratio_hi=_finite(other.get("hi")),
        verdict=other.get("verdict") or "",
        caveats=tuple(caveats),
    )


def _finite(value: float | None) -> float | None:
    """Take an end that is not bounded for one that is not there."""
    return value if value is not None and math.isfinite(value) else None


def tidy(cells: Iterable[Cell]) -> tuple[dict[str, Scalar | None], ...]:
    """Give cells as rows of a table in base units, for whoever goes on with the numbers."""
    return tuple(
        {
            **{name: getattr(cell, name) for name in _TIDY},
            "caveats": "; ".join(cell.caveats),
        }
        for cell in cells
    )


def varying(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Name the parameters that differ between cells, in the order in which they appear."""
    seen: dict[str, set[Scalar | None]] = {}
    cells = list(cells)
    names = dict.fromkeys(name for cell in cells for name in cell.coordinates)
    for name in names:
        seen[name] = {cell.coordinates.get(name) for cell in cells}
    return tuple(name for name, values in seen.items() if len(values) > 1)


def varying_beside(cells: Iterable[Cell], x: str) -> tuple[str, ...]:
    """Name the parameters that tell the panels of an axis apart: what varies beside `x`.

    More ranks may take more nodes. But where the same `x` was measured on several numbers of
    nodes, these are different layouts and never share a line.
    """
    cells = list(cells)
    layouts: dict[tuple[Scalar | None, ...], set[int]] = {}
    for cell in cells:
        case = (cell.platform, *cell.series[:3], cell.threads, cell.point, cell.coordinates.get(x))
        layouts.setdefault(case, set()).add(cell.nodes)
    mixed = any(len(nodes) > 1 for nodes in layouts.values())
    hidden = (x,) if mixed or x not in ("ranks", "nodes") else (x, "nodes", "ranks")
    return tuple(name for name in varying(cells) if name not in hidden)


def headline_first(cells: Iterable[Cell]) -> list[Cell]:
    """Put a probe's headline metric before its others."""
    return sorted(cells, key=lambda cell: not cell.headline)


def is_number(value: Scalar | None) -> bool:
    """Say whether a parameter is a number that an axis can show."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numeric_axis(cells: Iterable[Cell]) -> str | None:
    """Choose the parameter for the horizontal axis of a curve.

    That is the point parameter with the most distinct numbers, at least two; else another
    numeric parameter with at least three; else None: bars.
    """
    cells = list(cells)
    best: tuple[int, str] | None = None
    for name in varying(cells):
        values = {cell.coordinates.get(name) for cell in cells}
        if not all(is_number(value) for value in values):
            continue
        in_point = all(name in parse_point(cell.point) for cell in cells)
        if len(values) >= (2 if in_point else 3):
            rank = len(values) + (1000 if in_point else 0)
            best = max(best, (rank, name)) if best else (rank, name)
    return best[1] if best else None
