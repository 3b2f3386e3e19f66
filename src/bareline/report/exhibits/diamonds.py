"""Notes on the published ratios that diamonds mark on an axis."""

from __future__ import annotations

from collections.abc import Iterable

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions
from bareline.report.content.published import PublishedPoint
from bareline.report.exhibits.base import Panel
from bareline.vocabulary.units import listing

#: The meaning of a diamond on an axis of ratios.
DIAMONDS = (
    "Diamonds: published ratios, dashed where they apply to a range, pale where they were "
    "measured elsewhere than here, which is written beside."
)


def diamonds_note(chosen: Panel) -> str:
    """Describe the diamonds, which mark published ratios on the axis.

    The description also contains the ratios that are published without a position on this axis, and
    the benchmarks that a published range leaves out.
    """
    x = chosen.x
    placeless = []
    on_axis = []
    for point in chosen.published:
        if x in point.ratio.conditions and not point.places(x):
            placeless.append(point)
        else:
            on_axis.append(point)
    notes = []
    if any(_is_about_any(point, chosen.cells) for point in on_axis):
        notes.append(DIAMONDS)
    elif on_axis:
        notes.append(_of_others(on_axis))
    left_out = map(_left_out, chosen.published)
    notes += dict.fromkeys(filter(None, left_out))
    if placeless:
        ranges = [_range_words(point, x) for point in placeless]
        notes.append(f"Published without numbers on this axis: {'; '.join(ranges)}.")
    return " ".join(notes)


def _is_about_any(point: PublishedPoint, cells: Iterable[Row]) -> bool:
    return any(map(point.about, cells))


def _range_words(point: PublishedPoint, x: str) -> str:
    """Format a ratio and the range of the parameter `x` for which it is published."""
    place = conditions({x: point.ratio.conditions[x]})
    return f"{point.factor} times worse ({place})"


def _of_others(points: Iterable[PublishedPoint]) -> str:
    """Format published ratios of cases that the figure does not show, e.g. another file size."""
    ratios = [point.ratio for point in points]
    texts = [f"{ratio.text} ({conditions(ratio.conditions)})" for ratio in ratios]
    distinct = dict.fromkeys(texts)
    return f"Published of other cases, and not drawn: {'; '.join(distinct)}."


def _left_out(point: PublishedPoint) -> str:
    """Name the benchmarks that a published range leaves out; empty if it leaves out none."""
    names = point.ratio.excludes
    if not names:
        return ""
    return f"{point.label} leaves out {listing(names)}."
