"""Two values of one platform, divided launch by launch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.stats.ratio import paired_ratio


@dataclass(frozen=True, slots=True)
class Paired:
    """The ratio of two cells over the blocks that both were measured in, and how many they are.

    There is none without a common block.
    """

    ratio: Estimate | None
    n: int


def block_ratio(document: Document, above: Cell, below: Cell) -> Paired:
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
