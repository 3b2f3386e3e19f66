"""The cells along a side of a problem, and the rules by which they are divided into parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: The cells of a part, from all cells, the number of parts and the part's number; takes arrays.
Rule = Callable[[Any, Any, Any], Any]


def _first_have_more(cells: Any, side: Any, coordinate: Any) -> Any:
    return cells // side + (coordinate < cells % side)


def _rounded(cells: Any, side: Any, coordinate: Any) -> Any:
    begin = cells * coordinate // side
    end = cells * (coordinate + 1) // side
    return end - begin


def _last_have_more(cells: Any, side: Any, coordinate: Any) -> Any:
    return cells // side + (coordinate >= side - cells % side)


def _last_has_rest(cells: Any, side: Any, coordinate: Any) -> Any:
    block = -(-cells // side)
    rest = cells - coordinate * block
    return np.minimum(block, rest)


_WHOLE: tuple[Rule, ...] = (_rounded, _first_have_more, _last_have_more, _last_has_rest)


def _trimmed(rule: Rule) -> Rule:
    """Return `rule`, changed so that the first and the last part have one cell less."""

    def inner(cells: Any, side: Any, coordinate: Any) -> Any:
        whole = rule(cells, side, coordinate)
        is_first = coordinate == 0
        is_last = coordinate == side - 1
        return whole - is_first - is_last

    return inner


#: Rules of two kinds: of all cells, and of the cells without the boundary.
RULES: tuple[tuple[Rule, ...], ...] = (_WHOLE, tuple(map(_trimmed, _WHOLE)))


@dataclass(frozen=True, slots=True)
class Cells:
    """The number of cells along a side, and the rule by which they are divided into parts."""

    number: int
    rule: Rule

    def part(self, side: int, coordinate: int) -> float:
        """Return the number of cells of the part at `coordinate`, if the side has `side` parts."""
        return float(self.rule(self.number, side, coordinate))


#: The cells along each side; None along a side that is cut evenly.
Cut = tuple[Cells | None, ...]


def share(cells: Cells | None, side: int, coordinate: int) -> float:
    """Return the share of a side's cells in the part at `coordinate`.

    - `cells`: None for equal parts.
    """
    if cells is None:
        return 1 / side
    return cells.part(side, coordinate) / cells.number
