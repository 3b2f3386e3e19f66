"""The comparison of a place (the case of a measured value) with the conditions of a publication."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.published.quantities import Condition, Spread
from bareline.vocabulary.place import Place

_ON_ONE_NODE = {"intra_node": True, "inter_node": False}


def holds_at(conditions: Mapping[str, Condition], place: Place) -> bool:
    """Whether a measured case meets all conditions; unknown values do not meet a condition."""
    coordinates = place.coordinates | {"nodes": place.ran_on}
    for name, condition in conditions.items():
        if name == "placement":
            if _ON_ONE_NODE.get(str(condition)) is not place.on_one_node:
                return False
        elif not meets(condition, coordinates.get(name)):
            return False
    return True


def meets(condition: Condition, value: object) -> bool:
    """Whether a value meets a condition.

    The value must be in the range of a `Spread`, be one of a list, or equal a single value.
    """
    if isinstance(condition, Spread):
        return isinstance(value, int | float) and condition.holds(value)
    if isinstance(condition, list):
        return value in condition
    return value == condition
