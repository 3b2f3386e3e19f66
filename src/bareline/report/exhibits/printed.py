"""The cells of published ratios in tables: the number, and where it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions
from bareline.published.model import NotCompleted
from bareline.report.blocks import Field, Tone
from bareline.report.content.published import PublishedPoint, uncompleted


def loss_words(point: PublishedPoint) -> str:
    """Format a published ratio as the loss of performance in percent."""
    ends = []
    for ratio in filter(None, (point.low, point.high)):
        loss = 1 - 1 / ratio
        ends.append(f"{100 * loss:.3g}")
    if point.low is None:
        return f"at most {ends[0]}"
    if point.high is None:
        return f"at least {ends[0]}"
    return _distinct(ends, " to ")


def _distinct(texts: Iterable[str], separator: str = "; ") -> str:
    """Join texts without duplicates."""
    return separator.join(dict.fromkeys(texts))


def percent_words(points: Sequence[PublishedPoint], cell: Row) -> str:
    """Return a cell's published losses in percent, in the words of the publication."""
    texts = []
    for point in points:
        text = point.ratio.text
        if "%" in text and point.about(cell) and not point.elsewhere(cell.place):
            texts.append(text)
    return _distinct(texts)


def uncompleted_words(points: Sequence[PublishedPoint], cells: Sequence[Row]) -> str:
    """Name the cases of a figure that the authors did not complete; empty if there are none."""
    texts: list[str] = []
    for cell in cells:
        for case in uncompleted(points, cell):
            texts.append(f"{case.benchmark}, {conditions(case.at)} ({case.reason})")
    if not texts:
        return ""
    return f"Not completed by the authors: {_distinct(texts)}."


def not_completed(cases: Sequence[NotCompleted]) -> Field:
    """Format the cases that the authors did not complete, with their reasons."""
    reasons = [f"{case.reason}, {case.where}" for case in cases]
    return Field("not completed", tone="muted", tip=_distinct(reasons))


def published_field(
    points: Sequence[PublishedPoint], cell: Row, write: Callable[[PublishedPoint], str]
) -> Field:
    """Format published ratios with a link to the source of the first ratio.

    The ranks and nodes of a ratio are added if it was not measured on the ranks and nodes of the
    cell.
    """
    if not points:
        return Field("")
    factors: dict[str, list[str]] = {}
    for point in points:
        texts = factors.setdefault(point.elsewhere(cell.place), [])
        texts.append(write(point))
    parts = []
    for place, texts in factors.items():
        text = _distinct(texts)
        if place:
            text = f"{text} ({place})"
        parts.append(text)
    first = points[0]
    tone: Tone = "" if "" in factors else "muted"
    return Field(
        "; ".join(parts),
        first.middle,
        tone,
        link=first.anchor,
        tip=_distinct(point.tip for point in points),
    )
