"""Whether a place of a run is one that a publication speaks of."""

from __future__ import annotations

from collections.abc import Mapping

from bareline.published.quantities import Condition, Spread
from bareline.vocabulary.place import Place

_ON_ONE_NODE = {"intra_node": True, "inter_node": False}


def holds_at(at: Mapping[str, Condition], place: Place) -> bool:
    """Whether a place meets conditions: all of them are known of it, and hold."""
    known = place.coordinates | {"nodes": place.ran_on}
    for name, condition in at.items():
        if name == "placement":
            if _ON_ONE_NODE.get(str(condition)) is not place.on_one_node:
                return False
            continue
        value = known.get(name)
        if isinstance(condition, Spread):
            if not isinstance(value, int | float) or not condition.holds(value):
                return False
        elif value not in (condition if isinstance(condition, list) else [condition]):
            return False
    return True
