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
    `from_`), and the same number `nth` among the otherwise equal calls of their place on the grid.
    Roots are not in the key: all ranks make the same collectives in the same order, and a fixed
    root looks like a neighbour to the ranks next to it.
    """

    step: Step
    to: tuple[Relation, ...] | None
    from_: tuple[Relation, ...] | None
    nth: int

    @property
    def along(self) -> int | None:
        """The side that a message crosses on a grid of several sides; None if not exactly one."""
        way = self.to or self.from_ or ()
        stay = Relation("shift", 0)
        crossed = [side for side, relation in enumerate(way) if relation != stay]
        if len(crossed) != 1 or len(way) == 1:
            return None
        return crossed[0]


class ProfiledCall(NamedTuple):
    """A profiled call: the index of its profile, its rank, and the rank's place on the grid."""

    job: int
    rank: int
    place: Place
    shape: Shape

    @property
    def is_root(self) -> bool:
        """Whether the rank is the root of the call."""
        return self.shape.root == self.rank

    def moved(self, index: int) -> int:
        """Return the size (`index` 0), the bytes sent (1) or the bytes received (2)."""
        amounts = (self.shape.size, self.shape.sent, self.shape.received)
        return amounts[index]

    def partner(self, *, sends: bool) -> int:
        """Return the rank to which the call sends, or from which it receives."""
        return self.shape.to if sends else self.shape.from_

    def tag(self, *, sends: bool) -> int:
        """Return the tag with which the call sends, or receives."""
        return self.shape.send_tag if sends else self.shape.receive_tag

    def is_at(self, place: Place, sides: Sequence[int]) -> bool:
        """Whether the rank's place on the grid is equal to `place` along the given sides."""
        return all(self.place[side] == place[side] for side in sides)
