"""Write infinite numbers and NaN, for which JSON has no form, as null, and list their places."""

from __future__ import annotations

import math
from collections.abc import Mapping


def with_nulls(value: object, nulls: list[str], place: str = "") -> object:
    """Return a value for JSON in which numbers that are not finite are None.

    - `nulls`: receives a text for each such number, e.g. ``[3].ratio = inf``.
    """
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        nulls.append(f"{place} = {value}")
        return None
    if isinstance(value, Mapping):
        return {key: with_nulls(part, nulls, f"{place}.{key}") for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [with_nulls(part, nulls, f"{place}[{index}]") for index, part in enumerate(value)]
    return value
