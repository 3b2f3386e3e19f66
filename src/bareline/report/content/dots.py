"""The single trials behind the cells of a panel, as the faint dots of a figure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.content.document import Document
from bareline.stats.ratio import paired_ratio

#: The least number of dots of a cell (its two ends). If there is no room for them, no cell has any.
_FEWEST = 2

#: The columns that distinguish the cells of one probe and metric, except the platform.
_PLACE = ("params", "ranks", "threads", "nodes", "point")


@dataclass(frozen=True, slots=True)
class Dot:
    """The value of one trial, in the stored unit, and the cell to which the trial belongs."""

    cell: Row
    trial: int
    block: int
    value: float


@dataclass(frozen=True, slots=True)
class Dots:
    """The trials of a panel that are drawn as dots; `trials` is the number of all its trials."""

    dots: tuple[Dot, ...]
    trials: int

    @classmethod
    def together(cls, parts: Iterable[Dots]) -> Dots:
        """Combine the dots of several metrics."""
        dots: list[Dot] = []
        trials = 0
        for part in parts:
            dots += part.dots
            trials += part.trials
        return cls(tuple(dots), trials)

    @property
    def note(self) -> str:
        """A sentence for the caption if not all trials are drawn, else ""."""
        drawn = len(self.dots)
        if drawn == self.trials:
            return ""
        if not drawn:
            return "Single trials are not drawn: there are too many."
        return (
            f"{drawn} of {self.trials} trials are drawn as dots, evenly over their order; "
            "medians and intervals use all of them."
        )


def trial_dots(document: Document, cells: Sequence[Row], most: int | None = None) -> Dots:
    """Return the dots of the trials of cells that share a probe and a metric.

    Without `most` all trials are returned. If there are more than `most`, each cell keeps the same
    number of trials: the least value, the greatest value, and values spread evenly over the sorted
    values between them, so that the shape of the distribution stays visible. If `most` is too small
    for two trials of each cell, no trial is returned.
    """
    if not cells:
        return Dots((), 0)
    samples = document.metric_samples.get((cells[0].place.probe, cells[0].place.metric))
    if samples is None:
        return Dots((), 0)
    trials = _trials_of(cells, samples)
    most = trials.height if most is None else most
    each = most // len(cells)
    if trials.height > most and each < _FEWEST:
        return Dots((), trials.height)
    drawn = _thinned(trials, max(_FEWEST, each))
    rows = drawn.select("cell", "trial", "block", "value").iter_rows()
    dots = tuple(Dot(cells[cell], trial, block, value) for cell, trial, block, value in rows)
    return Dots(dots, trials.height)


def _trials_of(cells: Sequence[Row], samples: pl.DataFrame) -> pl.DataFrame:
    """Return the samples of the cells; the column "cell" has the index of a sample's cell."""
    columns: dict[str, Sequence[object]] = {}
    for name in _PLACE:
        columns[name] = [getattr(cell.place, name) for cell in cells]
    columns["platform"] = [cell.platform for cell in cells]
    columns["cell"] = range(len(cells))
    kinds = {name: samples.schema[name] for name in ("platform", *_PLACE)}
    keys = pl.DataFrame(columns, schema_overrides=kinds)
    trials = samples.join(keys, on=["platform", *_PLACE], how="inner")
    return trials.sort("cell", "value", "trial")


def _thinned(frame: pl.DataFrame, most_per_cell: int) -> pl.DataFrame:
    """Keep `most_per_cell` rows of each cell: the first, the last, and rows evenly between them."""
    order = pl.int_range(pl.len()).over("cell")
    size = pl.len().over("cell")
    last = (size - 1).clip(lower_bound=1)
    step = (order * (most_per_cell - 1)) // last
    step_before = ((order - 1) * (most_per_cell - 1)) // last
    is_kept = (size <= most_per_cell) | (order == 0) | (step != step_before)
    return frame.filter(is_kept)


@dataclass(frozen=True, slots=True)
class Paired:
    """The ratio of two values, from the `n` blocks of trials with both; no ratio if `n` is 0."""

    ratio: Estimate | None
    n: int


def block_ratio(document: Document, above: Row, below: Row) -> Paired:
    """Return the ratio of two cells: in each block of trials, `above` is divided by `below`."""
    first = _value_by_block(document, above)
    second = _value_by_block(document, below)
    blocks = sorted(first.keys() & second.keys())
    numerators = [first[block] for block in blocks]
    denominators = [second[block] for block in blocks]
    paired = paired_ratio(numerators, denominators)
    value = _finite(paired.ratio)
    if value is None:
        return Paired(None, int(paired.n))
    ratio = Estimate(value, _finite(paired.lo), _finite(paired.hi))
    return Paired(ratio, int(paired.n))


def _value_by_block(document: Document, cell: Row) -> dict[int, float]:
    return {dot.block: dot.value for dot in trial_dots(document, [cell]).dots}


def _finite(end: Any) -> float | None:
    return float(end) if np.isfinite(end) else None
