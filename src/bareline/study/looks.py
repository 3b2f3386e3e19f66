"""The planned looks (interim analyses) of a study, as its file gives them or by default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bareline.vocabulary.looks import DEFAULT_LOOKS, checked_looks


def with_looks(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the content of a study after its looks and number of launches were filled in.

    A look is an interim analysis. A study that gives only `launches` has one look, at the end.

    Raises ValueError: the looks are impossible, or do not fit the launches.
    """
    looks = content.get("looks")
    launches = content.get("launches")
    if looks is None:
        if launches is not None:
            return content
        looks = list(DEFAULT_LOOKS)
    planned = checked_looks(looks)
    if launches is not None and launches != planned[-1]:
        raise ValueError(
            f"launches = {launches}, but the last interim analysis (looks) is after {planned[-1]} "
            "launches; remove the key launches or the key looks"
        )
    return {**content, "looks": list(planned), "launches": planned[-1]}
