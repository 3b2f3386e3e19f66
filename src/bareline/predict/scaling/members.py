"""Rules for the members of a communicator: all ranks, ranks along sides, blocks or strides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from bareline.predict.scaling.grid import Grid


@dataclass(frozen=True, slots=True, order=True)
class MembersRule:
    """A rule that determines the ranks of a communicator.

    The meaning of `kind`:

    - ``sides``: all ranks along `sides`.
    - ``block``: blocks of `number` neighbouring ranks.
    - ``blocks``: `number` blocks of neighbouring ranks.
    - ``stride``: every `number`-th rank.
    - ``strides``: every n-th rank; n is the number of ranks divided by `number`.
    """

    kind: str
    sides: tuple[int, ...] = ()
    number: int = 0

    def members(self, grid: Grid, rank: int) -> frozenset[int] | None:
        """Return the ranks in the communicator of `rank`; None if the rule does not fit `grid`."""
        if self.kind == "sides":
            return frozenset(_along(grid, rank, self.sides))
        if grid.ranks % self.number:
            return None
        rest = grid.ranks // self.number
        match self.kind:
            case "block":
                return _block(rank, self.number)
            case "blocks":
                return _block(rank, rest)
            case "stride":
                step = self.number
            case _:
                step = rest
        return frozenset(range(rank % step, grid.ranks, step))


def _block(rank: int, size: int) -> frozenset[int]:
    """Return the block of `size` neighbouring ranks that contains a rank."""
    begin = rank - rank % size
    return frozenset(range(begin, begin + size))


def _along(grid: Grid, rank: int, sides: Sequence[int]) -> Iterator[int]:
    """Yield a rank and the ranks whose coordinates differ from it only along some sides."""
    if len(sides) == len(grid.sides):
        yield from range(grid.ranks)
        return
    origin = grid.at(rank)
    lengths = [range(grid.sides[side]) for side in sides]
    for coordinates in product(*lengths):
        there = list(origin)
        for side, here in zip(sides, coordinates, strict=True):
            there[side] = here
        yield grid.rank(there)


def rules_of(grid: Grid, rank: int, members: frozenset[int]) -> Iterator[MembersRule]:
    """Yield the rules that explain the members of a rank's communicator, the simplest first."""
    for rule in _possible_rules(grid, len(members)):
        if rule.members(grid, rank) == members:
            yield rule


def _possible_rules(grid: Grid, size: int) -> Iterator[MembersRule]:
    """Yield the rules for communicators of `size` ranks."""
    sides = range(len(grid.sides))
    for count in (len(sides), *range(1, len(sides))):
        for along in combinations(sides, count):
            yield MembersRule("sides", along)
    if grid.ranks % size:
        return
    groups = grid.ranks // size
    yield MembersRule("block", number=size)
    yield MembersRule("blocks", number=groups)
    yield MembersRule("stride", number=groups)
    yield MembersRule("strides", number=size)


def common(rules: Sequence[Sequence[MembersRule]]) -> tuple[MembersRule, ...]:
    """Return the rules that all sequences contain, in the order of the first sequence."""
    shared = set(rules[0]).intersection(*rules[1:])
    return tuple(rule for rule in rules[0] if rule in shared)
