"""The bars of the matrix: how far each layer's worst certain change is from none, drawn alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from bareline.analysis.words.verdict import Glance
from bareline.vocabulary.model import Layer

#: The end of the scale is at least this many times: small changes are to look small.
_LEAST_END = 2.0


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths on one logarithmic scale, in percent of its whole.

    - `end`: how many times worse or better the whole scale stands for.
    """

    end: float
    percents: Mapping[tuple[Layer, str], float]


def lengths(glance: Glance) -> Lengths:
    """Lay out the squares that hold a certain change."""
    factors = {
        at: abs(math.log(square.point.ratio.value))
        for at, square in glance.squares.items()
        if square.point and square.point.ratio and square.point.ratio.value > 0
    }
    whole = max([math.log(_LEAST_END), *factors.values()])
    shares = {at: 100 * factor / whole for at, factor in factors.items()}
    return Lengths(math.exp(whole), shares)
