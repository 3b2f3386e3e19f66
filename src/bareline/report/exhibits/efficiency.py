"""Parallel efficiency: the speed per rank divided by the speed per rank at the fewest ranks.

For a problem of fixed size (strong scaling), efficiency is the speed-up divided by the growth of
ranks. For a problem that grows with the ranks (weak scaling), efficiency is the speed per rank
divided by the speed per rank at the fewest ranks. The case with the fewest ranks that the platform
measured has an efficiency of 100 %.

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

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.cells import position
from bareline.stats import paired_ratio
from bareline.vocabulary.model import Scalar, format_point, parse_point
from bareline.vocabulary.place import Place

#: The value of a launch by its run and block. Values of two cells are paired by this key.
Launches = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class EfficiencyPoint:
    """A cell and its parallel efficiency.

    - `efficiency`: the efficiency in %, relative to the fewest ranks of the same platform and
      computed from medians. Its 95 % interval is computed from the two cells' ratio in each block.
      There is no interval for fewer than six common blocks, for simulated times (which have no
      noise), and at the fewest ranks, where efficiency is 100 % by definition.
    """

    cell: Row
    ranks: float
    efficiency: Estimate


#: The points of one platform, sorted by their numbers of ranks.
Line = Sequence[EfficiencyPoint]


def efficiencies(
    cells: Sequence[Row], x: str, *, weak: bool, samples: pl.DataFrame | None = None
) -> list[EfficiencyPoint]:
    """Return the parallel efficiencies of one platform's cells; 100 % at the fewest ranks.

    Simulated times are never divided by measured times, nor the reverse.

    - `samples`: the samples of the cells' metric, in the form of `Records`; if None, the
      efficiencies have no intervals.
    """
    measured = [cell for cell in cells if cell.median]
    measured.sort(key=lambda cell: position(cell, x))
    bases: dict[bool, Row] = {}
    points = []
    for cell in measured:
        base = bases.setdefault(cell.simulated, cell)
        ranks = position(cell, x)
        # In weak scaling the ideal time is constant, but the ideal rate grows with the ranks.
        is_same_work = weak and cell.metric.better == "lower"
        ideal = 1.0 if is_same_work else ranks / position(base, x)
        efficiency = _efficiency(cell, base, ideal, samples)
        points.append(EfficiencyPoint(cell, ranks, efficiency))
    return points


def _efficiency(cell: Row, base: Row, ideal: float, samples: pl.DataFrame | None) -> Estimate:
    """Return the efficiency of a cell in percent; `ideal` is the speed-up for 100 %."""
    slower = cell.metric.worse(cell.median, base.median)
    assert slower is not None
    value = 100 / (slower * ideal)
    if samples is None or cell is base or cell.simulated:
        return Estimate(value)
    interval = _slower(_launches(cell, samples), _launches(base, samples), cell.rate)
    if interval is None:
        return Estimate(value)
    low, high = interval
    return Estimate(value, 100 / (high * ideal), 100 / (low * ideal))


def _slower(launches: Launches, base: Launches, rate: bool) -> tuple[float, float] | None:
    """Return the interval of the ratio "how many times slower is the cell than the base".

    Each mapping contains the values of a cell by block of trials. The interval is computed from the
    blocks that both cells have. It is None if these are too few, or if a value is not positive.
    """
    shared = sorted(launches.keys() & base.keys())
    values = np.array([launches[block] for block in shared])
    bases = np.array([base[block] for block in shared])
    if not shared or (values <= 0).any() or (bases <= 0).any():
        return None
    if rate:
        ratio = paired_ratio(bases, values)
    else:
        ratio = paired_ratio(values, bases)
    ends = (float(ratio.lo), float(ratio.hi))
    if not np.isfinite(ends).all():
        return None
    return ends


def _launches(cell: Row, samples: pl.DataFrame) -> Launches:
    place = cell.place
    rows = samples.filter(
        platform=cell.platform,
        params=place.params,
        ranks=place.ranks,
        threads=place.threads,
        nodes=place.nodes,
        point=place.point,
    )
    launches = {}
    for run, block, value in rows.select("run", "block", "value").iter_rows():
        launches[int(run), int(block)] = float(value)
    return launches


def each_rank(place: Place, growing: Collection[str]) -> Place:
    """Return a measured case with its growing parameters divided by its number of ranks.

    A parameter grows if a study makes it proportional to the ranks (weak scaling). After the
    division all cases have the same parameters, so that they are on one line.
    """
    if not growing:
        return place
    shares: dict[str, Scalar] = {}
    for name, value in parse_point(place.params).items():
        if name in growing and isinstance(value, int | float) and not isinstance(value, bool):
            shares[f"{name}_per_rank"] = value / place.ranks
        else:
            shares[name] = value
    return replace(place, params=format_point(shares))
