"""Profiled calls, and the keys of calls that may follow the same laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.job_calls import Step
from bareline.predict.scaling.relations import Relation
from bareline.profile.records import Shape


class Key(NamedTuple):
    """The key of calls that may follow the same laws.

    Such calls have the same kind (`step`), the same relations from the rank to its partners (`to`,
    `from_`), and the same number `nth` among the otherwise equal calls of their place. Roots are
    not in the key: all ranks make the same collectives in the same order, and a fixed root looks
    like a neighbour to the ranks next to it.
    """

    step: Step
    to: tuple[Relation, ...] | None
    from_: tuple[Relation, ...] | None
    nth: int

    @property
    def along(self) -> int | None:
        """The only side that a message crosses; None for several sides, or without a message."""
        way = self.to or self.from_ or ()
        stay = Relation("shift", 0)
        crossed = [side for side, relation in enumerate(way) if relation != stay]
        if len(crossed) != 1 or len(way) == 1:
            return None
        return crossed[0]


class ProfiledCall(NamedTuple):
    """A profiled call, with the index of its profile, its rank, and the place of its rank."""

    job: int
    rank: int
    place: Place
    shape: Shape

    @property
    def is_root(self) -> bool:
        """Whether the rank is the root of the call."""
        return self.shape.root == self.rank

    def moved(self, index: int) -> int:
        """Return an amount of the call by `index`: size, bytes sent, or bytes received."""
        amounts = (self.shape.size, self.shape.sent, self.shape.received)
        return amounts[index]

    def partner(self, *, sends: bool) -> int:
        """Return the rank to which the call sends, or from which it receives."""
        return self.shape.to if sends else self.shape.from_

    def tag(self, *, sends: bool) -> int:
        """Return the tag with which the call sends, or receives."""
        return self.shape.send_tag if sends else self.shape.receive_tag

    def is_at(self, place: Place, sides: Sequence[int]) -> bool:
        """Whether the rank has the given place along some sides."""
        return all(self.place[side] == place[side] for side in sides)
