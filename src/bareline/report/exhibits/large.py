"""Which of many panels is drawn large; the others stand small beside it and can be chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.published import PublishedPoint

#: As few panels stand beside each other at their full size.
ALL_LARGE = 2


def largest(
    groups: Mapping[str, Sequence[Cell]], published: Sequence[PublishedPoint] = ()
) -> int | None:
    """Choose a panel by its place; None where all have room.

    That is the one at whose ranks and nodes most of the published figures were measured, as the
    publication drew it; without any, the one with the most ranks, where losses are the largest.
    """
    if len(groups) <= ALL_LARGE:
        return None
    layouts = [own[0].place for own in groups.values()]
    told = [
        sum(_at(point, "ranks", place.ranks) and _at(point, "nodes", place.nodes, missing=True)
            for point in published)
        for place in layouts
    ]  # fmt: skip
    return max(
        range(len(layouts)), key=lambda at: (told[at], layouts[at].ranks, layouts[at].nodes, -at)
    )


def _at(point: PublishedPoint, name: str, value: int, *, missing: bool = False) -> bool:
    """Tell whether a published figure is told for so many ranks or nodes."""
    stretches = point.places(name)
    return any(low <= value <= high for low, high in stretches) if stretches else missing
