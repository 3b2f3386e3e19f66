"""The order of the trials in a block.

Trials are ordered in randomised complete blocks: a block contains every case on every platform
once, in a new random order. Slow drift of a machine then affects all platforms equally, and the
analysis removes it by pairing within blocks. A study names the order in a block:

``pairs``: cases are shuffled, and the platforms of a case follow one another, so that they are
close in time. Over as many blocks as there are platforms, every platform is once first, once second
and so on. If a change of platform takes seconds, a platform may run several cases before the next
one.

``shuffled``: cases and platforms are shuffled together. The trials of a case on two platforms are a
third of a block apart on average, so that a drift of the machine can come between them.

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
    """One trial of a block: the number of the platform and the number of the case, from 0."""

    platform: int
    case: int


def order_block(
    cells: Sequence[Cell], *, seed: int, block: int, kind: OrderKind, cases_per_turn: int = 1
) -> list[Cell]:
    """Return the cells of a block in their order.

    - `cases_per_turn`: the number of cases that a platform runs before the next platform.
    """
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
    """Return the items in a random order that depends only on the seed."""
    order = list(items)
    random.Random(seed).shuffle(order)
    return order


def _groups(cases: list[int], seed: int, cases_per_turn: int) -> list[list[int]]:
    """Return groups of cases that a platform runs together; all blocks have the same groups."""
    if cases_per_turn > 1:
        cases = _shuffled(cases, f"{seed}:groups")
    starts = range(0, len(cases), cases_per_turn)
    return [cases[start : start + cases_per_turn] for start in starts]


def _turns(platforms: Sequence[int], seed: int, block: int, group: int) -> list[int]:
    """Return the order in which platforms run a group of cases in a block.

    Over the blocks, these orders form Latin squares.
    """
    square, row = divmod(block, len(platforms))
    generator = random.Random(f"{seed}:{square}:{group}:turns")
    first = list(platforms)
    shifts = list(range(len(platforms)))
    generator.shuffle(first)
    generator.shuffle(shifts)
    shift = shifts[row]
    return first[shift:] + first[:shift]
