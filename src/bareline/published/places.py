"""The comparison of a place of a run with the conditions of a publication."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.published.quantities import Condition, Spread
from bareline.vocabulary.place import Place

_ON_ONE_NODE = {"intra_node": True, "inter_node": False}


def holds_at(conditions: Mapping[str, Condition], place: Place) -> bool:
    """Whether a place meets all conditions; a condition on an unknown value is not met."""
    coordinates = place.coordinates | {"nodes": place.ran_on}
    for name, condition in conditions.items():
        if name == "placement":
            if _ON_ONE_NODE.get(str(condition)) is not place.on_one_node:
                return False
        elif not meets(condition, coordinates.get(name)):
            return False
    return True


def meets(condition: Condition, value: object) -> bool:
    """Whether a value is in a spread, is one of a list, or equals the condition."""
    if isinstance(condition, Spread):
        return isinstance(value, int | float) and condition.holds(value)
    if isinstance(condition, list):
        return value in condition
    return value == condition
