"""Numbers that JSON has no form for: they are written as null, and named."""

from __future__ import annotations

import math
from collections.abc import Mapping


def with_nulls(value: object, nulls: list[str], place: str = "") -> object:
    """Return a value of JSON in which numbers that are not finite are None.

    - `nulls`: gets the place and the number of each, as ``[3].ratio = inf``.
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
