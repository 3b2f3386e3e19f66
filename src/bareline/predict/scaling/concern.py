"""Profiled calls, and the calls that may share laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.job_calls import Step
from bareline.predict.scaling.relations import Relation
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
        stay = Relation("shift", 0)
        crossed = [side for side, relation in enumerate(way) if relation != stay]
        if len(crossed) != 1 or len(way) == 1:
            return None
        return crossed[0]


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
        amounts = (self.shape.size, self.shape.sent, self.shape.received)
        return amounts[index]

    def partner(self, *, sends: bool) -> int:
        """Return the rank that it sends to, or receives from."""
        return self.shape.to if sends else self.shape.from_

    def tag(self, *, sends: bool) -> int:
        """Return the tag that it sends with, or receives with."""
        return self.shape.send_tag if sends else self.shape.receive_tag

    def is_at(self, place: Place, sides: Sequence[int]) -> bool:
        """Whether its rank is at a place along some sides."""
        return all(self.place[side] == place[side] for side in sides)
