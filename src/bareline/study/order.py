"""The order of the trials in a block.

Trials are ordered in randomised complete blocks: a block has every case on every platform
once, in a new random order. Slow drift of a machine then affects all platforms
equally, and the analysis removes it by pairing within blocks. A study names the order in a block:

``pairs``: cases are shuffled, and the platforms of a case follow each other, so that they are close
in time. Over as many blocks as there are platforms, every one is first once, second once and so on.
A platform whose turn costs seconds may take several cases at a turn.

``shuffled``: cases and platforms are shuffled together, as bareline 0.1.0 did at first. Pairs are a
    third of a block apart on average, and a drift of the machine comes between them.

References
----------
S. Hunold and A. Carpen-Amarie, "MPI Benchmarking Revisited: Experimental Design and
Reproducibility", arXiv:1505.07734.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from bareline.study.keys import OrderKind

T = TypeVar("T")


class Cell(NamedTuple):
    """A cell of a block: number of the platform, number of the case."""

    platform: int
    case: int


def order_block(
    cells: Sequence[Cell], *, seed: int, block: int, kind: OrderKind, cases_per_turn: int = 1
) -> list[Cell]:
    """Order the cells of a block: numbers from 0; a platform takes `cases_per_turn` at a turn."""
    if kind == "shuffled":
        return _shuffled(cells, f"{seed}:{block}")
    platforms_of: dict[int, set[int]] = {}
    for platform, case in cells:
        platforms_of.setdefault(case, set()).add(platform)
    groups = _groups(sorted(platforms_of), seed, cases_per_turn)
    ordered = []
    for number in _shuffled(range(len(groups)), f"{seed}:{block}:cases"):
        cases = _shuffled(groups[number], f"{seed}:{block}:{number}")
        platforms: set[int] = set()
        for case in cases:
            platforms |= platforms_of[case]
        for platform in _turns(sorted(platforms), seed, block, number):
            ordered += [Cell(platform, case) for case in cases if platform in platforms_of[case]]
    return ordered


def _shuffled(items: Iterable[T], seed: str) -> list[T]:
    """Return the items in a random order that depends on the seed alone."""
    order = list(items)
    random.Random(seed).shuffle(order)
    return order


def _groups(cases: list[int], seed: int, cases_per_turn: int) -> list[list[int]]:
    """Return the cases that share a turn, which are the same in every block."""
    if cases_per_turn > 1:
        cases = _shuffled(cases, f"{seed}:groups")
    starts = range(0, len(cases), cases_per_turn)
    return [cases[start : start + cases_per_turn] for start in starts]


def _turns(platforms: Sequence[int], seed: int, block: int, group: int) -> list[int]:
    """Order the platforms of a group: a Latin square over as many blocks as there are platforms."""
    square, row = divmod(block, len(platforms))
    generator = random.Random(f"{seed}:{square}:{group}:turns")
    first = list(platforms)
    shifts = list(range(len(platforms)))
    generator.shuffle(first)
    generator.shuffle(shifts)
    shift = shifts[row]
    return first[shift:] + first[:shift]
