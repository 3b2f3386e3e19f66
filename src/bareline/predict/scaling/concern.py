"""Calls that may share laws, and the ranks that they concern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.members import MembersRule
from bareline.predict.scaling.pattern import Step
from bareline.predict.scaling.relations import End, Relation
from bareline.profile.records import Shape


class Key(NamedTuple):
    """Calls that may share laws: the same step to the same relations, the `nth` of its place.

    Roots are left out: all ranks make the same collectives in the same order, and a root that is
    fixed looks like a neighbour to the ranks next to it.
    """

    step: Step
    to: tuple[Relation, ...] | None
    from_: tuple[Relation, ...] | None
    nth: int

    @property
    def along(self) -> int | None:
        """The one side that a message crosses; None for several sides, or without a message."""
        way = self.to or self.from_ or ()
        sides = [side for side, relation in enumerate(way) if relation != Relation("shift", 0)]
        return sides[0] if len(sides) == 1 and len(way) > 1 else None


class ProfiledCall(NamedTuple):
    """A profiled call: the number of its count, its rank and the rank's place, and the call."""

    job: int
    rank: int
    place: Place
    shape: Shape

    @property
    def is_root(self) -> bool:
        """Whether its rank is the root of the call."""
        return self.shape.root == self.rank

    def moved(self, index: int) -> int:
        """Return the size, the bytes sent, or the bytes received."""
        return (self.shape.size, self.shape.sent, self.shape.received)[index]


@dataclass(frozen=True, slots=True)
class Concern:
    """The ranks that a call concerns; None where it has no such end, or no communicator."""

    to: End | None
    from_: End | None
    root: End | None
    comm: tuple[MembersRule, ...] | None

    def also(self, other: Concern) -> Concern:
        """Return the relations and rules that the calls of two places share."""
        comm = self.comm
        if comm is not None and other.comm is not None:
            comm = tuple(rule for rule in comm if rule in other.comm)
        return Concern(
            _both(self.to, other.to),
            _both(self.from_, other.from_),
            _both(self.root, other.root),
            comm,
        )


def _both(end: End | None, other: End | None) -> End | None:
    return end.also(other) if end is not None and other is not None else None
