"""Cells of tables with published ratios: the number, and where else it was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions
from bareline.published.model import NotCompleted
from bareline.report.blocks import Field
from bareline.report.content.published import PublishedPoint, uncompleted


def loss_words(point: PublishedPoint) -> str:
    """Format a published ratio as the performance that it loses, in percent."""
    ends = [f"{100 * (1 - 1 / end):.3g}" for end in (point.low, point.high) if end]
    if point.low is None:
        return f"at most {ends[0]}"
    if point.high is None:
        return f"at least {ends[0]}"
    return " to ".join(dict.fromkeys(ends))


def percent_words(points: Sequence[PublishedPoint], cell: Row) -> str:
    """Return the losses of a cell that are printed in percent, in the words of the publication."""
    texts = [
        point.ratio.text
        for point in points
        if "%" in point.ratio.text and point.about(cell) and not point.elsewhere(cell.place)
    ]
    return "; ".join(dict.fromkeys(texts))


def uncompleted_words(points: Sequence[PublishedPoint], cells: Sequence[Row]) -> str:
    """Name the cases of a figure that the authors did not complete; empty without any."""
    cases = [case for cell in cells for case in uncompleted(points, cell)]
    texts = [f"{case.benchmark}, {conditions(case.at)} ({case.reason})" for case in cases]
    return f"Not completed by the authors: {'; '.join(dict.fromkeys(texts))}." if texts else ""


def not_completed(cases: Sequence[NotCompleted]) -> Field:
    """Format a case that the authors did not complete, with their reason."""
    reasons = dict.fromkeys(f"{case.reason}, {case.where}" for case in cases)
    return Field("not completed", tone="muted", tip="; ".join(reasons))


def published_field(
    points: Sequence[PublishedPoint], cell: Row, write: Callable[[PublishedPoint], str]
) -> Field:
    """Format published ratios with links to their sources, and where else they were measured."""
    if not points:
        return Field("")
    factors: dict[str, list[str]] = {}
    for point in points:
        factors.setdefault(point.elsewhere(cell.place), []).append(write(point))
    parts = []
    for place, texts in factors.items():
        text = "; ".join(dict.fromkeys(texts))
        parts.append(f"{text} ({place})" if place else text)
    return Field(
        "; ".join(parts),
        points[0].middle,
        "" if "" in factors else "muted",
        link=points[0].anchor,
        tip="; ".join(dict.fromkeys(point.tip for point in points)),
    )
