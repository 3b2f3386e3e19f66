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
from bareline.report.content.anchors import slug
from bareline.report.content.wording import call_name, percent
from bareline.report.figures.channels import heading, inline, tip
from bareline.report.figures.figure import Chart, Field, Figure
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import unit_scale, zero_ticks
from bareline.report.figures.tables import Rows
from bareline.report.figures.theme import colour
from bareline.report.profile.sentences import size_range, total
from bareline.vocabulary.units import format_size, format_value

_SIZE_PANELS = 6


def calls_figure(profile: Profile) -> Figure:
    """Sum up every call: time, number, data, waiting."""
    calls = top_calls(profile)
    times = unit_scale([max((call.time_s for call in calls), default=0.0)], "s")
    each = unit_scale([call.mean_s for call in calls], "s")
    longest = unit_scale([call.longest_s for call in calls], "s")
    opened = unit_scale([call.overlap_s for call in calls], "s")
    rows = (
        Rows(calls)
        .text("call", lambda call: call_name(call.call, call.kind))
        .number("share", lambda call: call.share, percent)
        .number(times.titled("time"), lambda call: call.time_s, times.show)
        .number("calls", lambda call: call.count)
        .number(each.titled("mean"), lambda call: call.mean_s, each.show)
        .number(longest.titled("longest"), lambda call: call.longest_s, longest.show, kind="light")
        .number("data", lambda call: call.bytes or None, format_size, absent="")
    )
    if profile.mode == "split":
        rows.number("waiting", lambda call: call.waited, percent, absent="")
    posted = any(call.overlap_s is not None for call in calls)
    if posted:
        title = opened.titled("open for")
        rows.number(title, lambda call: call.overlap_s, opened.show, kind="light", absent="")
    return Figure(
        id="calls",
        title="Calls, all ranks together",
        caption="“Open for” is the time from posting a request to the call that completed it: "
        "what communication could have overlapped with."
        if posted
        else "",
        layer="calls",
        wide=True,
        data_table=rows.table(),
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
    each = unit_scale([size.mean_s for size in own], "s")
    table = (
        Rows(own)
        .column("size", lambda size: Field(size_range(size.low, size.high), size.low))
        .number("calls", lambda size: size.count)
        .number("data", lambda size: size.bytes, format_size)
        .number(each.titled("mean"), lambda size: size.mean_s, each.show)
        .table()
    )
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart,),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=table,
    )
