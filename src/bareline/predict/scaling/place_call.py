"""A call that the ranks of a place make, with its laws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bareline.predict.scaling.concern import Key
from bareline.predict.scaling.laws import Law
from bareline.predict.scaling.members import MembersRule
from bareline.predict.scaling.relations import End
from bareline.predict.scaling.tags import TagLaw


@dataclass(eq=False, slots=True)
class PlaceCall:
    """A call of a place, with its laws, and the counts of calls made from it.

    - `at`: its number in the period; `sizes`: by root or not, of the size, sent, received.
    - `times`: how often its place makes it, in `spent_s` altogether.
    - `likely`: its size is that of a face, where several laws fit; `why`: why it is unchecked.
    - `alone`: its communicator has its own rank alone; `padded`: see `may_be_padding`.
    """

    at: int
    key: Key
    to: End | None
    from_: End | None
    root: End | None
    comm: tuple[MembersRule, ...] | None
    send_tag: tuple[TagLaw, ...] = ()
    receive_tag: tuple[TagLaw, ...] = ()
    sizes: Mapping[bool, tuple[Sequence[Law], ...]] = field(default_factory=dict)
    spent_s: float = 0.0
    times: int = 1
    likely: bool = False
    alone: bool = False
    padded: bool = False
    made: int = 0
    unchecked: int = 0
    unchecked_bytes: int = 0
    why: str = ""

    @property
    def laws(self) -> tuple[object, ...]:
        """The properties that distinguish it from other calls of its place."""
        sizes = tuple((role, *map(id, laws)) for role, laws in sorted(self.sizes.items()))
        tags = (self.send_tag, self.receive_tag)
        return (self.key.step, self.to, self.from_, self.root, self.comm, *tags, sizes)
