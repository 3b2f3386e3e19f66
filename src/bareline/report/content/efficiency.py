"""Parallel efficiency: what is left of each platform's own speed on more ranks.

With a problem of fixed size (strong scaling) that is speed-up over growth of ranks; with one that
grows with them (weak scaling) it is what is left of the speed per rank. 100 % is the case with the
fewest ranks that the platform measured.

References
----------
G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing
capabilities", AFIPS 1967, doi:10.1145/1465482.1465560.
J. L. Gustafson, "Reevaluating Amdahl's law", Communications of the ACM 31(5), 1988,
doi:10.1145/42411.42415.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.content.cells import is_number, position
from bareline.stats import paired_ratio
from bareline.vocabulary.model import Scalar, format_point, parse_point
from bareline.vocabulary.place import Place

#: A launch of one block, by its case: what the same block measured elsewhere is paired with.
Launches = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Point:
    """A cell by ranks.

    - `ranks`: its place on the axis: ranks, or nodes.
    - `efficiency`: against the fewest ranks of the same platform, in %: from medians. Its 95 %
      interval is that of the ratio of both within blocks; none below six common blocks, for
      simulated times, which have no noise, and at the fewest ranks, where it is 100 % by
      definition.
    """

    cell: Cell
    ranks: float
    efficiency: Estimate


def efficiencies(
    cells: Sequence[Cell], x: str, *, weak: bool, samples: pl.DataFrame | None = None
) -> list[Point]:
    """Give the parallel efficiencies of one platform's cells, 100 % at the fewest ranks.

    Simulated and wall times are never divided by each other.

    - `weak`: the problem grows with the ranks.
    - `samples`: of the cells' metric, as of `Records`; no intervals without.
    """
    known = sorted((c for c in cells if c.median), key=lambda cell: position(cell, x))
    bases: dict[bool, Cell] = {}
    for cell in known:
        bases.setdefault(cell.simulated, cell)
    launches = {} if samples is None else _launches(known, samples)
    return [_point(cell, bases[cell.simulated], x, weak, launches) for cell in known]


def _point(cell: Cell, base: Cell, x: str, weak: bool, launches: Mapping[Place, Launches]) -> Point:
    ranks = position(cell, x)
    growth = ranks / position(base, x)
    # A time measures the work that was done only if that is the same; a rate counts it itself.
    ideal = growth if not (weak and cell.metric.better == "lower") else 1.0

    def share(slowdown: float) -> float:
        return 100 / (slowdown * ideal)

    slower = cell.metric.worse(cell.median, base.median)
    assert slower is not None
    alone = cell is base or cell.simulated
    bounds = None if alone else _paired(launches, cell, base)
    ends = (share(bounds[1]), share(bounds[0])) if bounds else (None, None)
    return Point(cell, ranks, Estimate(share(slower), *ends))


def _paired(
    launches: Mapping[Place, Launches], cell: Cell, base: Cell
) -> tuple[float, float] | None:
    """Give the interval of how many times slower a cell is than the base, from common blocks."""
    own, first = launches.get(cell.place, {}), launches.get(base.place, {})
    shared = sorted(set(own) & set(first))
    if not shared:
        return None
    values, bases = (np.array([side[block] for block in shared]) for side in (own, first))
    if (values <= 0).any() or (bases <= 0).any():
        return None
    worse = (values, bases) if cell.metric.better == "lower" else (bases, values)
    found = paired_ratio(*worse)
    low, high = float(found.lo), float(found.hi)
    return (low, high) if np.isfinite(low) and np.isfinite(high) else None


def _launches(cells: Sequence[Cell], samples: pl.DataFrame) -> dict[Place, Launches]:
    """Give each cell's values by run and block."""
    found: dict[Place, Launches] = {}
    for cell in cells:
        place = cell.place
        rows = samples.filter(
            platform=cell.platform, params=place.params, ranks=place.ranks, threads=place.threads,
            nodes=place.nodes, point=place.point,
        )  # fmt: skip
        found[place] = {
            (int(run), int(block)): float(value)
            for run, block, value in rows.select("run", "block", "value").iter_rows()
        }
    return found


def each_rank(cell: Cell, growing: Collection[str]) -> Cell:
    """Give a cell whose parameters that grow with the ranks say how much each rank has of them.

    Cases of weak scaling differ in such a parameter and yet belong on one line.
    """
    if not growing:
        return cell
    shares: dict[str, Scalar] = {}
    for name, value in parse_point(cell.place.params).items():
        if name in growing and is_number(value):
            assert isinstance(value, int | float)
            shares[f"{name}_per_rank"] = value / cell.place.ranks
        else:
            shares[name] = value
    return replace(cell, place=replace(cell.place, params=format_point(shares)))
