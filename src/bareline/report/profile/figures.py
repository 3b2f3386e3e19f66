"""The figures of a profile's page."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from bareline.profile.model import Profile
from bareline.profile.summary import (
    CallSum,
    Share,
    SizeSum,
    communication_matrix,
    sizes,
    time_split,
    top_calls,
)
from bareline.report.document import slug
from bareline.report.exhibits.base import (
    Chart,
    Column,
    DataTable,
    Field,
    Figure,
    heading,
    inline,
    raw,
    tip,
)
from bareline.report.profile.wording import call_name, percent, size_range, total
from bareline.report.scales import Scale, count_ticks, plain, unit_scale, zero_ticks
from bareline.report.theme import colour
from bareline.units import format_size, format_value

_CELLS = 64
_RANK_BARS = 48
_SIZE_PANELS = 6
_PAIRS = 12
#: Parts of a rank's time and their colours; a part's place in the bar tells them apart too.
_PARTS = {
    "computing": "baseline",
    "waiting": "p5",
    "MPI": "p1",
    "files": "p3",
}


def figures(profile: Profile) -> list[Figure]:
    """Draw everything that the profile holds."""
    drawn = [_split(profile), _ranks(profile), _rank_figure(profile), _calls(profile)]
    drawn += _sizes(profile)
    if not profile.send_table.is_empty():
        drawn.append(_matrix(profile))
    return drawn


# Time ---------------------------------------------------------------------------------------------


def _split(profile: Profile) -> Figure:
    split = time_split(profile)
    scale = unit_scale([max(part.mean_s for part in split)], "s")
    rows = tuple(
        (
            Field(f"\u2003{part.what}" if part.is_part else part.what),
            Field(percent(part.share), part.share),
            Field(scale.show(part.mean_s), part.mean_s),
            Field(_span(part, scale), part.least_s or 0.0),
        )
        for part in split
    )
    columns = (
        Column("", "text"),
        Column("share"),
        Column(scale.titled("mean")),
        Column(scale.titled("ranks"), "light"),
    )
    return Figure(
        id="split", title="Time per rank", layer="time", data_table=DataTable(columns, rows)
    )


def _span(part: Share, scale: Scale) -> str:
    if part.least_s is None or part.most_s is None:
        return ""
    return f"{scale.show(part.least_s)} to {scale.show(part.most_s)}"


def _ranks(profile: Profile) -> Figure:
    """Draw a bar for each rank, or for neighbouring ranks where there are many."""
    together = -(-profile.ranks // _RANK_BARS)
    table = (
        profile.rank_table.sort("rank")
        .group_by(pl.col("rank") // together, maintain_order=True)
        .agg(pl.col("compute_ns", "mpi_ns", "posix_ns", "waited_ns", "wall_ns").mean())
    )
    scale = unit_scale([float(table["wall_ns"].max() or 1.0) * 1e-9], "s")  # type: ignore[arg-type]
    factor = scale.factor * 1e-9
    bars, longest = [], 0.0
    for row in table.iter_rows(named=True):
        parts = {
            "computing": row["compute_ns"],
            "waiting": row["waited_ns"],
            "MPI": row["mpi_ns"] - row["waited_ns"],
            "files": row["posix_ns"],
        }
        name = _rank_name(row["rank"], together, profile.ranks)
        begin = 0.0
        for part, time_ns in parts.items():
            end = begin + time_ns * factor
            text = f"{name}: {part} {format_value(time_ns * 1e-9, 's')}"
            bars.append(
                {
                    "rank": row["rank"],
                    "begin": begin,
                    "end": end,
                    "colour": colour(_PARTS[part]),
                    "tip": text,
                }
            )
            begin = end
        longest = max(longest, begin)
    ticks = zero_ticks([longest])
    height = max(40, 11 * table.height)
    # The space is slack: a reader's font may be wider than the one that the drawing measured.
    names = [f"\u2002{_rank_name(rank, together, profile.ranks)}" for rank in table["rank"]]
    labels = dict(zip(table["rank"], names, strict=True))
    y = alt.Y(
        field="rank",
        type="ordinal",
        axis=alt.Axis(
            title=None,
            grid=False,
            labelExpr=f"{labels!r}[datum.value]".replace("'", '"'),
            labelOverlap="greedy",
        ),
    )
    x = alt.X(
        field="begin",
        type="quantitative",
        scale=alt.Scale(domain=list(ticks.domain), nice=False),
        axis=alt.Axis(values=list(ticks.values), labelExpr=ticks.label_expression, title=None),
    )
    chart: Chart = (
        alt.Chart(inline(bars))
        .mark_bar(height={"band": 0.72})
        .encode(x=x, x2=alt.X2(field="end"), y=y, fill=raw(alt.Fill, "colour"), description=tip())
        .properties(width=430, height=height, title=heading(scale.titled("time"), 430))
    )
    shown = [part for part in _PARTS if _has(profile, part)]
    order = ", then ".join(f"{part} ({_shade(part)})" for part in shown)
    return Figure(
        id="ranks",
        title="Rank by rank",
        caption=f"From left to right: {order}."
        + (f" Each bar is the mean of {together} ranks." if together > 1 else ""),
        layer="time",
        panels=(chart,),
        text_summary=f"Time of {profile.ranks} ranks, divided into {', '.join(shown)}.",
    )


def _shade(part: str) -> str:
    return {"computing": "grey", "waiting": "yellow", "MPI": "blue", "files": "green"}[part]


def _has(profile: Profile, part: str) -> bool:
    column = {"waiting": "waited_ns", "files": "posix_ns", "MPI": "mpi_ns"}.get(part, "compute_ns")
    return int(profile.rank_table[column].sum()) > 0


def _rank_name(group: int, together: int, ranks: int) -> str:
    first, last = group * together, min(ranks, (group + 1) * together) - 1
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def _rank_figure(profile: Profile) -> Figure:
    """Lay out what is known of each rank: too many columns to stand beside its bar."""
    return Figure(
        id="rank-table",
        title="What the system knows of each rank",
        caption="“Queued” is the time in which a rank was ready to run while another process had "
        "its core, “stolen” what a hypervisor gave to other guests.",
        layer="time",
        wide=True,
        data_table=_rank_table(profile),
    )


def _rank_table(profile: Profile) -> DataTable:
    table = profile.rank_table.sort("rank")
    scale = unit_scale([float(value) * 1e-9 for value in table["wall_ns"]], "s")

    def time(value_ns: int) -> Field:
        return Field(scale.show(value_ns * 1e-9) if value_ns >= 0 else "–", value_ns)

    def number(value: int) -> Field:
        return Field(total(value) if value >= 0 else "–", value)

    rows = tuple(
        (
            Field(str(row["rank"]), row["rank"]),
            Field(row["host"]),
            time(row["compute_ns"]),
            time(row["mpi_ns"]),
            time(row["posix_ns"]),
            number(row["calls"]),
            number(row["voluntary_switches"]),
            number(row["involuntary_switches"]),
            number(row["major_faults"]),
            time(row["queued_ns"]),
            time(row["steal_ns"]),
            Field(
                format_size(row["memory_bytes"]) if row["memory_bytes"] >= 0 else "–",
                row["memory_bytes"],
            ),
        )
        for row in table.iter_rows(named=True)
    )
    columns = (
        Column("rank"),
        Column("node", "text"),
        Column(scale.titled("computing")),
        Column(scale.titled("MPI")),
        Column(scale.titled("files")),
        Column("calls"),
        Column("yielded"),
        Column("preempted"),
        Column("major faults"),
        Column(scale.titled("queued")),
        Column(scale.titled("stolen")),
        Column("memory"),
    )
    return DataTable(columns, rows)


# Calls and sizes ----------------------------------------------------------------------------------


def _calls(profile: Profile) -> Figure:
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


def _sizes(profile: Profile) -> list[Figure]:
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


# Matrix -------------------------------------------------------------------------------------------


def _matrix(profile: Profile) -> Figure:
    matrix = communication_matrix(profile, _CELLS)
    size = len(matrix.bytes)
    strength = matrix.strength
    cells = []
    for sender in range(size):
        for receiver in range(size):
            messages = int(matrix.count[sender, receiver])
            if messages == 0:
                continue
            sent = int(matrix.bytes[sender, receiver])
            cells.append(
                {
                    "from": sender,
                    "from_end": sender + 1,
                    "to": receiver,
                    "to_end": receiver + 1,
                    "opacity": round(0.12 + 0.88 * float(strength[sender, receiver]), 3),
                    "tip": f"{_rank_name(sender, matrix.block, profile.ranks)} to "
                    f"{_rank_name(receiver, matrix.block, profile.ranks)}: "
                    f"{total(messages)} messages, {format_size(sent)}",
                }
            )
    side = max(150, 26 * size) if size <= 12 else 340
    each = f" Each row and column is {matrix.block} neighbouring ranks." if matrix.block > 1 else ""
    return Figure(
        id="matrix",
        title="Who sends to whom",
        caption=f"Bytes sent by the row's rank to the column's, point to point and one-sided: "
        f"the darker the more, from {format_size(round(matrix.faint))} or less to "
        f"{format_size(matrix.most)}, on a logarithmic scale.{each}",
        layer="matrix",
        panels=(_matrix_chart(cells, size, matrix.block, side),),
        text_summary=f"{total(int(matrix.count.sum()))} messages with "
        f"{format_size(int(matrix.bytes.sum()))} between {profile.ranks} ranks.",
        data_table=_pairs(profile),
    )


def _matrix_chart(
    cells: Sequence[dict[str, object]], size: int, block: int, side: int
) -> alt.LayerChart:
    ticks = count_ticks([1, size]) if size > 12 else None
    places = [value - 1 for value in ticks.values] if ticks else list(range(size))
    shown = [round(place) for place in places]
    labels = "".join(
        f"abs(datum.value - {place + 0.5}) < 0.01 ? '{place * block}' : " for place in shown
    )

    def axis(title: str) -> alt.Axis:
        return alt.Axis(
            values=[place + 0.5 for place in shown],
            labelExpr=f"{labels}''",
            grid=False,
            title=title,
        )

    scale = alt.Scale(domain=[0, size], nice=False)
    down = alt.Scale(domain=[size, 0], nice=False)
    frame = (
        alt.Chart(inline([{"a": 0, "b": size}]))
        .mark_rect(fill=None, stroke=colour("line"), aria=False)
        .encode(
            x=alt.X(field="a", type="quantitative", scale=scale, axis=axis("to rank")),
            x2=alt.X2(field="b"),
            y=alt.Y(field="a", type="quantitative", scale=down, axis=axis("from rank")),
            y2=alt.Y2(field="b"),
        )
    )
    filled = (
        alt.Chart(inline(cells))
        .mark_rect(fill=colour("p1"))
        .encode(
            x=alt.X(field="to", type="quantitative"),
            x2=alt.X2(field="to_end"),
            y=alt.Y(field="from", type="quantitative"),
            y2=alt.Y2(field="from_end"),
            fillOpacity=alt.FillOpacity(field="opacity", type="quantitative", scale=None),
            description=tip(),
        )
    )
    return alt.LayerChart(layer=[frame, filled]).properties(width=side, height=side)


def _pairs(profile: Profile) -> DataTable:
    """List the pairs that exchange most."""
    block = profile.ranks_per_cell
    table = profile.send_table.sort("bytes", "count", descending=True).head(_PAIRS)
    rows = tuple(
        (
            Field(_rank_name(row["from"], block, profile.ranks), row["from"]),
            Field(_rank_name(row["to"], block, profile.ranks), row["to"]),
            Field(total(row["count"]), row["count"]),
            Field(format_size(row["bytes"]), row["bytes"]),
            Field(plain(row["bytes"] / row["count"]) if row["count"] else "–", row["count"]),
        )
        for row in table.iter_rows(named=True)
    )
    columns = (
        Column("from", "text"),
        Column("to", "text"),
        Column("messages"),
        Column("data"),
        Column("mean (B)"),
    )
    return DataTable(columns, rows)
