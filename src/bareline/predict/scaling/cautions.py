"""Assumptions about a period on more ranks that the profiles neither show nor contradict.

Profiles that cut a side of the grid of ranks into 2 and 4 parts leave three questions open for 5
parts and more: the direction to a partner, whether one or several parts at the end of the side make
further calls, and the number of blocks of a padded message. The simplest assumption is made and
reported, with the calls that depend on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bareline.predict.scaling.grid import Grid, Place
from bareline.predict.scaling.pattern import Pattern, Template
from bareline.profile.records import POINT_TO_POINT
from bareline.profile.trace import CallStream, Trace

INSIDE = 1


@dataclass(frozen=True, slots=True)
class Caution:
    """An assumption that no profile confirms.

    - `about`: the property of calls that the assumption concerns.
    - `sides`: the numbers, from 0, of the grid's sides that the assumption concerns.
    - `calls`: number of calls of all ranks in the predicted period that depend on the assumption.
    """

    about: Literal["partners", "calls", "sizes"]
    sides: tuple[int, ...]
    calls: int
    text: str


def cautions_of(pattern: Pattern, grid: Grid, trace: Trace) -> Iterator[Caution]:
    """Yield the assumptions about partners and calls of a predicted period."""
    for side in range(len(grid.sides)):
        caution = _of_steps(pattern, grid, trace, side)
        if caution is not None:
            yield caution
    at_ends = _of_ends(pattern, grid)
    if at_ends is not None:
        yield at_ends


def padding_caution(calls: int) -> Caution | None:
    """Return the assumption that sizes are constant.

    A number of whole blocks that grows with a rank's share would also explain these sizes.
    """
    if not calls:
        return None
    text = (
        f"{calls:,} messages are taken to have one size on every number of ranks; a share of the "
        "problem, padded to whole blocks, fits the profiles as well and is smaller there"
    )
    return Caution("sizes", (), calls, text)


# Partners -----------------------------------------------------------------------------------------


def _of_steps(pattern: Pattern, grid: Grid, trace: Trace, side: int) -> Caution | None:
    """Return the assumption about the distance to partners along a side of the grid.

    Distances that differ by a common multiple of all profiled lengths of the side lead to the same
    partner in every profile. The result is None if the side is too short for such distances, or if
    no message crosses it.
    """
    lengths = sorted({profiled.sides[side] for profiled in pattern.grids})
    same_after = math.lcm(*lengths)
    if same_after >= grid.sides[side]:
        return None
    calls = sum(_crossing(grid, stream, side) for stream in trace.streams)
    if not calls:
        return None
    listed = " and ".join(map(str, lengths))
    also = f"a step of {same_after - 1} the other way leads to the same rank there"
    if len(lengths) == 1:
        also = f"a part of the side, or so many ranks further on, may be meant, and {also}"
    text = (
        f"Partners along side {side + 1} of {grid.sides[side]} ranks ({calls:,} calls) are taken "
        f"as the nearest that fit; the profiles have {listed} ranks along it, and {also}"
    )
    return Caution("partners", (side,), calls, text)


def _crossing(grid: Grid, stream: CallStream, side: int) -> int:
    """Return the number of a rank's messages whose partner has another coordinate along a side."""
    coordinate = grid.at(stream.rank)[side]
    crosses = []
    for shape in stream.shapes:
        ends = [end for end in (shape.to, shape.from_) if end >= 0]
        is_message = shape.kind in POINT_TO_POINT
        crosses.append(is_message and any(grid.at(end)[side] != coordinate for end in ends))
    return sum(crosses[number] for number in stream.shape.tolist())


# Calls of the ends --------------------------------------------------------------------------------


def _of_ends(pattern: Pattern, grid: Grid) -> Caution | None:
    """Return the assumption that only the last ranks of a side make calls that inner ranks lack.

    In the profiles, one rank at an end of the side makes these calls. On a longer side, several
    ranks at the end may make them.
    """
    ranks_at = Counter(map(grid.place, range(grid.ranks)))
    calls = 0
    names: set[str] = set()
    sides: set[int] = set()
    for place, template in pattern.templates.items():
        more_of_place = 0
        for side in _longer_sides(pattern, grid):
            more = _more_than_inside(pattern, place, template, side)
            if more:
                more_of_place = max(more_of_place, more.total())
                names.update(more)
                sides.add(side)
        calls += ranks_at[place] * more_of_place
    if not calls:
        return None
    first = min(names)
    text = (
        f"{calls:,} calls ({first} among them) are made at an end of a side and not inside; it is "
        "assumed that only the last rank makes them, and not a part of the side"
    )
    return Caution("calls", tuple(sorted(sides)), calls, text)


def _longer_sides(pattern: Pattern, grid: Grid) -> Sequence[int]:
    lengths = zip(*(profiled.sides for profiled in pattern.grids), strict=True)
    longest = map(max, lengths)
    pairs = zip(grid.sides, longest, strict=True)
    return [side for side, (length, most) in enumerate(pairs) if length > most]


def _more_than_inside(
    pattern: Pattern, place: Place, template: Template, side: int
) -> Counter[str]:
    """Return by function how many more calls ranks at an end of a side make than inner ranks."""
    inside = pattern.templates.get((*place[:side], INSIDE, *place[side + 1 :]))
    if place[side] == INSIDE or inside is None:
        return Counter()
    return _functions(template) - _functions(inside)


def _functions(template: Template) -> Counter[str]:
    return Counter(step.call for step in template.steps if step.kind != "done")
