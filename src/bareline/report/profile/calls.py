"""The calls of a profile and the sizes of their messages."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.profile.model import Profile
from bareline.profile.summary import (
    CallSum,
    SizeSum,
    sizes,
    top_calls,
)
from bareline.report.blocks.figure import Figure
from bareline.report.content.anchors import slug
from bareline.report.content.wording import call_name
from bareline.report.figures.channels import heading, inline, tip
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import zero_ticks
from bareline.report.figures.theme import colour
from bareline.report.profile.sentences import size_range, total
from bareline.report.profile.tables import calls_table, sizes_table
from bareline.vocabulary.units import format_size, format_value

_SIZE_PANELS = 6


def calls_figure(profile: Profile) -> Figure:
    """Sum up every call: time, number, data, waiting."""
    calls = top_calls(profile)
    posted = any(call.overlap_s is not None for call in calls)
    return Figure(
        id="calls",
        title="Calls, all ranks together",
        caption="“Open for” is the time from posting a request to the call that completed it: "
        "what communication could have overlapped with."
        if posted
        else "",
        layer="calls",
        wide=True,
        data_table=calls_table(calls),
    )


def size_figures(profile: Profile) -> list[Figure]:
    """Draw a histogram for each of the calls that take most time."""
    found = sizes(profile)
    drawn: list[Figure] = []
    for call in top_calls(profile):
        own = [size for size in found if (size.call, size.kind) == (call.call, call.kind)]
        if own and len(drawn) < _SIZE_PANELS:
            drawn.append(_histogram(call, own))
    return drawn


def _histogram_width(bars: int) -> int:
    """Leave room for a bin's name under each of a few bars, else for slanted ones."""
    return 110 * bars if bars <= 3 else min(360, 44 * bars)


def _histogram(call: CallSum, own: Sequence[SizeSum]) -> Figure:
    name = call_name(call.call, call.kind)
    ticks = zero_ticks([float(size.count) for size in own])
    bars = [
        {
            "size": size_range(size.low, size.high),
            "order": order,
            "count": size.count,
            "tip": f"{size_range(size.low, size.high)}: {total(size.count)} calls, "
            f"{format_size(size.bytes)}, {format_value(size.mean_s, 's')} each",
        }
        for order, size in enumerate(own)
    ]
    x = alt.X(
        field="size",
        type="ordinal",
        sort=alt.EncodingSortField(field="order"),
        axis=alt.Axis(title=None, grid=False, labelAngle=-40 if len(own) > 3 else 0),
    )
    y = alt.Y(
        field="count",
        type="quantitative",
        scale=alt.Scale(domain=list(ticks.domain), nice=False),
        axis=alt.Axis(values=list(ticks.values), labelExpr=ticks.label_expression, title=None),
    )
    chart: Chart = (
        alt.Chart(inline(bars))
        .mark_bar(fill=colour("p1"), width={"band": 0.7})
        .encode(x=x, y=y, description=tip())
        .properties(width=_histogram_width(len(own)), height=130, title=heading("calls", 200))
    )
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart,),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=sizes_table(own),
    )
