"""Relations of a whole side, e.g. its mirror image, which the ranks at its ends must also follow.

A side of four ranks has two ranks inside, which fit many relations by chance. A relation that
reverses or halves the side must also fit the ranks at its ends. If it does not, the ranks inside
follow another relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from bareline.predict.scaling.grid import Place
from bareline.predict.scaling.job_calls import END_NAMES, EndName, Step
from bareline.predict.scaling.pattern import Pattern, Template
from bareline.predict.scaling.relations import Relation

_WHOLE_SIDE = frozenset({"mirror", "half", "copy"})
_LOW = 0
_INSIDE = 1
_HIGH = 2


class _Target(NamedTuple):
    """The key of relations: an end of a call (`name`), the call's kind, a side of the grid."""

    name: EndName
    step: Step
    side: int


class WholeSideRelations:
    """The relations from ranks to the ranks at the other ends of their calls.

    They are kept for each place on the grid, end of a call (receiver, sender or root), step (kind
    of call) and side of the grid.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._fitting: dict[tuple[Place, _Target], set[Relation]] = defaultdict(set)
        for place, template in pattern.templates.items():
            for number in range(len(template.steps)):
                for target, relations in _relations(template, number):
                    self._fitting[place, target].update(relations)

    def why_unchecked(self, place: Place, number: int) -> str:
        """Return why the relation to a call's partner is unchecked; "" if nothing is against it."""
        for target, relations in _relations(self._pattern.templates[place], number):
            kinds = {relation.kind for relation in relations}
            is_whole_side = place[target.side] == _INSIDE and kinds <= _WHOLE_SIDE
            if is_whole_side and not self._are_at_ends(place, target, relations):
                return f"ranks at the ends of side {target.side + 1} have partners of another kind"
        return ""

    def _are_at_ends(self, place: Place, target: _Target, relations: Sequence[Relation]) -> bool:
        """Whether one of the relations fits a call of the same kind at each profiled end."""
        side = target.side
        shared = set(relations)
        for coordinate in (_LOW, _HIGH):
            at_end = (*place[:side], coordinate, *place[side + 1 :])
            if at_end in self._pattern.templates:
                shared &= self._fitting.get((at_end, target), set())
        return bool(shared)


def _relations(template: Template, number: int) -> Iterator[tuple[_Target, tuple[Relation, ...]]]:
    """Yield the relations of each end of a call along each side."""
    for name in END_NAMES:
        end = template.concerns[number].end(name)
        if end is None:
            continue
        for side, relations in enumerate(end.sides):
            yield _Target(name, template.steps[number], side), relations
