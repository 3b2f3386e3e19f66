"""Two values of one platform, divided launch by launch."""

from __future__ import annotations

import numpy as np

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.stats.ratio import Ratio, paired_ratio


def finite(ratio: Ratio) -> Estimate | None:
    """Give a ratio with those of its ends that are known; None where there is none."""
    value, *ends = (
        float(end) if np.isfinite(end) else None for end in (ratio.ratio, ratio.lo, ratio.hi)
    )
    return None if value is None else Estimate(value, *ends)


#: More trials than any run has: all are wanted.
_ALL = 1_000_000_000


def block_ratio(document: Document, above: Cell, below: Cell) -> Ratio:
    """Give the ratio of two cells over the blocks that both were measured in."""
    first, second = (
        {dot.block: dot.value for dot in trial_dots(document, [cell], _ALL).dots}
        for cell in (above, below)
    )
    blocks = sorted(first.keys() & second.keys())
    return paired_ratio([first[block] for block in blocks], [second[block] for block in blocks])
