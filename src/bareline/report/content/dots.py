"""The single trials behind the cells of a panel, as the faint dots of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.document import Document
from bareline.stats.ratio import paired_ratio

#: Dots that a cell has at least, or none has any: smallest and largest; its mark is between.
_FEWEST = 2

#: The columns that distinguish the cells of one probe and metric, except the platform.
_PLACE = ("params", "ranks", "threads", "nodes", "point")


@dataclass(frozen=True, slots=True)
class Dot:
    """One trial's value, in the stored unit, and the cell that it belongs to."""

    cell: Row
    trial: int
    block: int
    value: float


@dataclass(frozen=True, slots=True)
class Dots:
    """The drawn trials, and how many there are."""

    dots: tuple[Dot, ...]
    found: int

    @classmethod
    def together(cls, parts: Iterable[Dots]) -> Dots:
        """Combine the trials of several metrics."""
        every = list(parts)
        return cls(tuple(dot for part in every for dot in part.dots), sum(p.found for p in every))

    @property
    def note(self) -> str:
        """Explain so when not all of them are drawn."""
        drawn = len(self.dots)
        if drawn == self.found:
            return ""
        if not drawn:
            return "Single trials are not drawn: there are too many."
        return (
            f"{drawn} of {self.found} trials are drawn as dots, evenly over their order; "
            "medians and intervals use all of them."
        )


def trial_dots(document: Document, cells: Sequence[Row], most: int | None = None) -> Dots:
    """Return the trials of some cells of one probe and metric: all of them without `most`.

    Above it, each cell keeps the same number, spread evenly over the values with both ends, so that
    the shape of the distribution stays visible; none where not even both ends fit.
    """
    if not cells:
        return Dots((), 0)
    samples = document.metric_samples.get((cells[0].place.probe, cells[0].place.metric))
    if samples is None:
        return Dots((), 0)
    keys = pl.DataFrame(
        {name: [getattr(cell.place, name) for cell in cells] for name in _PLACE}
        | {"platform": [cell.platform for cell in cells], "cell": range(len(cells))},
        schema_overrides={name: samples.schema[name] for name in ("platform", *_PLACE)},
    )
    found = samples.join(keys, on=["platform", *_PLACE], how="inner").sort("cell", "value", "trial")
    most = found.height if most is None else most
    each = most // len(cells)
    if found.height > most and each < _FEWEST:
        return Dots((), found.height)
    trials = _thinned(found, max(_FEWEST, each))
    rows = trials.select("cell", "trial", "block", "value").iter_rows()
    dots = tuple(Dot(cells[cell], trial, block, value) for cell, trial, block, value in rows)
    return Dots(dots, found.height)


def _thinned(frame: pl.DataFrame, most_per_cell: int) -> pl.DataFrame:
    order = pl.int_range(pl.len()).over("cell")
    size = pl.len().over("cell")
    last = (size - 1).clip(lower_bound=1)
    step, previous = ((at * (most_per_cell - 1)) // last for at in (order, order - 1))
    return frame.filter((size <= most_per_cell) | (order == 0) | (step != previous))


@dataclass(frozen=True, slots=True)
class Paired:
    """The ratio of two cells over their `n` common blocks; None without any."""

    ratio: Estimate | None
    n: int


def block_ratio(document: Document, above: Row, below: Row) -> Paired:
    """Divide two cells, block by block."""
    first, second = (
        {dot.block: dot.value for dot in trial_dots(document, [cell]).dots}
        for cell in (above, below)
    )
    blocks = sorted(first.keys() & second.keys())
    found = paired_ratio([first[block] for block in blocks], [second[block] for block in blocks])
    value, *ends = (
        float(end) if np.isfinite(end) else None for end in (found.ratio, found.lo, found.hi)
    )
    return Paired(None if value is None else Estimate(value, *ends), int(found.n))
