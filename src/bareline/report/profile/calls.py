"""The calls of a profile and the sizes of their messages."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

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
from bareline.report.figures.figure import Chart, Column, DataTable, Field, Figure
from bareline.report.figures.scales import unit_scale, zero_ticks
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
    split = profile.mode == "split"
    posted = any(call.overlap_s is not None for call in calls)
    columns = [
        Column("call", "text"),
        Column("share"),
        Column(times.titled("time")),
        Column("calls"),
        Column(each.titled("mean")),
        Column(longest.titled("longest"), "light"),
        Column("data"),
        *([Column("waiting")] if split else []),
        *([Column(opened.titled("open for"), "light")] if posted else []),
    ]

    def row(call: CallSum) -> tuple[Field, ...]:
        waited = Field(percent(call.waited), call.waited) if call.waited is not None else Field("")
        overlap = call.overlap_s
        return (
            Field(call_name(call.call, call.kind)),
            Field(percent(call.share), call.share),
            Field(times.show(call.time_s), call.time_s),
            Field(total(call.count), call.count),
            Field(each.show(call.mean_s), call.mean_s),
            Field(longest.show(call.longest_s), call.longest_s),
            Field(format_size(call.bytes) if call.bytes else "", call.bytes),
            *([waited] if split else []),
            *([Field("" if overlap is None else opened.show(overlap), overlap)] if posted else []),
        )

    return Figure(
        id="calls",
        title="Calls, all ranks together",
        caption="“Open for” is the time from posting a request to the call that completed it: "
        "what communication could have overlapped with."
        if posted
        else "",
        layer="calls",
        wide=True,
        data_table=DataTable(tuple(columns), tuple(row(call) for call in calls)),
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
    rows = tuple(
        (
            Field(size_range(size.low, size.high), size.low),
            Field(total(size.count), size.count),
            Field(format_size(size.bytes), size.bytes),
            Field(each.show(size.mean_s), size.mean_s),
        )
        for size in own
    )
    columns = (Column("size"), Column("calls"), Column("data"), Column(each.titled("mean")))
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart,),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=DataTable(columns, rows),
    )
