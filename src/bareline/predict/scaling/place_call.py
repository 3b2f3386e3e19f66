"""A call that the ranks at one place on the grid make, with the laws of its sizes and tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bareline.predict.scaling.concern import Key
from bareline.predict.scaling.laws import Law
from bareline.predict.scaling.pattern import Concern
from bareline.predict.scaling.tags import TagLaw


@dataclass(eq=False, slots=True)
class PlaceCall:
    """A call at a place on the grid (such as a corner), with the laws of its sizes and tags.

    - `number`: the number of the call in the period.
    - `sizes`: laws of the size, of the bytes sent and of the bytes received. The key is True for
      the laws of the root, and False for the laws of other ranks.
    - `times`: the number of calls of a rank that follow the same laws; `spent_s` is their total
      time.
    - `likely`: whether several laws fit the size, and the size of a face of the rank's part of the
      problem was assumed.
    - `made`: the number of calls that were built from this call.
    - `why`: the reason why the call is unchecked.
    - `alone`: whether the communicator contains only the rank itself.
    - `padded`: whether the size may be rounded up to whole blocks (see `may_be_padding`).
    """

    number: int
    key: Key
    concern: Concern
    send_tag: Sequence[TagLaw] = ()
    receive_tag: Sequence[TagLaw] = ()
    sizes: Mapping[bool, Sequence[Sequence[Law]]] = field(default_factory=dict)
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
    def is_completion(self) -> bool:
        """Whether this is the completion of a request and not a call."""
        return self.key.step.kind == "done"

    @property
    def laws(self) -> tuple[object, ...]:
        """The properties that distinguish the call from other calls at its place on the grid."""
        sizes = tuple((role, *map(id, laws)) for role, laws in sorted(self.sizes.items()))
        return (self.key.step, self.concern, self.send_tag, self.receive_tag, sizes)

    def add_to(self, other: PlaceCall) -> None:
        """Add this call to the counts of `other`, a call that follows the same laws."""
        other.times += 1
        other.spent_s += self.spent_s

    def why_unchecked_tags_or_sizes(self, laws: Sequence[Sequence[Law]]) -> str:
        """Return the reason why a law of sizes or tags is not checked; "" if all are checked."""
        if self.likely:
            return "its size is taken as that of a face"
        # A law that is only near has the error of its counts as its band.
        for alternatives in laws:
            if not any(law.checked or law.off is not None for law in alternatives):
                return "no further count checks its size"
        if not all(law.checked for law in (*self.send_tag, *self.receive_tag)):
            return "no further rank checks its tag"
        return ""
