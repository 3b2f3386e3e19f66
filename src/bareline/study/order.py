"""The order of the trials inside a block.

``pairs``: cases are shuffled, and the platforms of a case follow each other, so that what is
compared lies close in time. Each platform takes each place equally often: over as many blocks as
there are platforms, every one is first once, second once and so on. A platform whose turn costs
seconds may take several cases at a turn; what is compared then lies that much further apart.

``shuffled``: cases and platforms are shuffled together, as bareline 0.1.0 did at first. Pairs lie a
third of a block apart on average, and a drift of the machine comes between them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal

OrderKind = Literal["pairs", "shuffled"]

#: A cell of a block: number of the platform, number of the case.
Cell = tuple[int, int]


def order_block(
    cells: Sequence[Cell], *, seed: int, block: int, kind: OrderKind, cases_per_turn: int = 1
) -> list[Cell]:
    """Order the cells of one block.

    - `cells`: every platform and case that belong together, as numbers from 0.
    - `seed`, `block`: what the order follows from.
    - `cases_per_turn`: how many cases a platform takes before the next one does.
    """
    if kind == "shuffled":
        order = list(cells)
        random.Random(f"{seed}:{block}").shuffle(order)
        return order
    ordered = []
    on: dict[int, set[int]] = {}
    for platform, case in cells:
        on.setdefault(case, set()).add(platform)
    groups = _groups(sorted(on), seed, cases_per_turn)
    numbers = list(range(len(groups)))
    random.Random(f"{seed}:{block}:cases").shuffle(numbers)
    for number in numbers:
        cases = list(groups[number])
        random.Random(f"{seed}:{block}:{number}").shuffle(cases)
        platforms = sorted(set().union(*(on[case] for case in cases)))
        for platform in _turns(platforms, seed, block, number):
            ordered += [(platform, case) for case in cases if platform in on[case]]
    return ordered


def _groups(cases: Sequence[int], seed: int, size: int) -> list[tuple[int, ...]]:
    """Put cases together that share a turn, the same in every block."""
    shuffled = list(cases)
    if size > 1:
        random.Random(f"{seed}:groups").shuffle(shuffled)
    return [tuple(shuffled[at : at + size]) for at in range(0, len(shuffled), size)]


def _turns(platforms: Sequence[int], seed: int, block: int, group: int) -> list[int]:
    """Order the platforms of a group: a Latin square over as many blocks as there are platforms."""
    square, row = divmod(block, len(platforms))
    generator = random.Random(f"{seed}:{square}:{group}:turns")
    first, shifts = list(platforms), list(range(len(platforms)))
    generator.shuffle(first)
    generator.shuffle(shifts)
    return first[shifts[row] :] + first[: shifts[row]]
