"""Relations of a whole side, such as its mirror image: the ranks at its ends have to follow them.

Two ranks inside a side of four meet many relations by chance. One that reverses or halves the side
is true of its ends as well, or the ranks inside follow another rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.pattern import Pattern, Step
from bareline.predict.scaling.relations import Relation

_WHOLE_SIDE = frozenset({"mirror", "half", "copy"})
_ENDS = ("to", "from_", "root")
_LOW = 0
_INSIDE = 1
_HIGH = 2


class WholeSideRelations:
    """The relations that fit the calls of each place, by end, step and side."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._fitting: dict[tuple[Place, str, Step, int], set[Relation]] = defaultdict(set)
        for place, template in pattern.templates.items():
            for name in _ENDS:
                for step, end in zip(template.steps, getattr(template, name), strict=True):
                    for side, relations in enumerate(end.sides if end is not None else ()):
                        self._fitting[place, name, step, side].update(relations)

    def why_unchecked(self, place: Place, at: int) -> str:
        """Return why a relation of a call inside a side is not checked; empty if its ends fit."""
        template = self._pattern.templates[place]
        for name in _ENDS:
            end = getattr(template, name)[at]
            for side, relations in enumerate(end.sides if end is not None else ()):
                if place[side] != _INSIDE or any(
                    relation.kind not in _WHOLE_SIDE for relation in relations
                ):
                    continue
                if not self._are_at_ends(place, name, template.steps[at], side, relations):
                    return f"ranks at the ends of side {side + 1} have partners of another kind"
        return ""

    def _are_at_ends(
        self, place: Place, name: str, step: Step, side: int, relations: Sequence[Relation]
    ) -> bool:
        """Whether a relation fits a call of the same step at both ends, where they were seen."""
        shared = set(relations)
        for coordinate in (_LOW, _HIGH):
            at_end = (*place[:side], coordinate, *place[side + 1 :])
            if at_end in self._pattern.templates:
                shared &= self._fitting.get((at_end, name, step, side), set())
        return bool(shared)
