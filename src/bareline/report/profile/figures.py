"""The figures of a profile's page: time by rank, calls, sizes of messages, who sends to whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from bareline.profile.model import Profile
from bareline.profile.summary import (
    CallSum,
    SizeSum,
    communication_matrix,
    sizes,
    top_calls,
)
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.wording import call_name, slug
from bareline.report.figures.grammar import (
    Chart,
    Style,
    alt,
    axis,
    heading,
    layer,
)
from bareline.report.figures.scales import Scale, count_ticks, unit_scale, zero_ticks
from bareline.report.figures.theme import colour
from bareline.report.profile.tables import calls_table, size_range, sizes_table, split_table
from bareline.vocabulary.units import format_size, format_value, plain, whole


def figures(profile: Profile) -> list[Figure]:
    """Draw everything that the profile holds."""
    drawn = [
        Figure(id="split", title="Time per rank", layer="time", data_table=split_table(profile)),
        ranks_figure(profile),
        rank_table_figure(profile),
        calls_figure(profile),
    ]
    drawn += size_figures(profile)
    if not profile.send_table.is_empty():
        drawn.append(matrix_figure(profile))
    return drawn


_RANK_BARS = 48


#: Parts of a rank's time: their column, colour and its name; the place in the bar tells them apart
#: too.
_PARTS = {
    "computing": ("compute_ns", "baseline", "grey"),
    "waiting": ("waited_ns", "p5", "yellow"),
    "MPI": ("mpi_ns", "p1", "blue"),
    "files": ("posix_ns", "p3", "green"),
}


def ranks_figure(profile: Profile) -> Figure:
    """Draw a bar for each rank, or for neighbouring ranks where there are many."""
    together = -(-profile.ranks // _RANK_BARS)
    table = (
        profile.rank_table.sort("rank")
        .group_by(pl.col("rank") // together, maintain_order=True)
        .agg(pl.col("compute_ns", "mpi_ns", "posix_ns", "waited_ns", "wall_ns").mean())
    )
    names = {rank: rank_name(rank, together, profile.ranks) for rank in table.get_column("rank")}
    chart = _rank_chart(table, names)
    shown = [part for part, (column, *_) in _PARTS.items() if profile.rank_table[column].sum() > 0]
    order = ", then ".join(f"{part} ({_PARTS[part][2]})" for part in shown)
    return Figure(
        id="ranks",
        title="Rank by rank",
        caption=f"From left to right: {order}."
        + (f" Each bar is the mean of {together} ranks." if together > 1 else ""),
        layer="time",
        panels=(chart,),
        text_summary=f"Time of {profile.ranks} ranks, divided into {', '.join(shown)}.",
    )


def _rank_bars(
    table: pl.DataFrame, names: Mapping[int, str], scale: Scale
) -> tuple[list[dict[str, Any]], float]:
    """Lay the parts of each rank's time end to end; give the bars and the longest end."""
    bars, longest = [], 0.0
    for row in table.iter_rows(named=True):
        begin = 0.0
        for part, (column, ink, _) in _PARTS.items():
            # Waiting is a part of the calls.
            time_ns = row[column] - (row["waited_ns"] if part == "MPI" else 0)
            end = begin + time_ns * scale.factor * 1e-9
            text = f"{names[row['rank']]}: {part} {format_value(time_ns * 1e-9, 's')}"
            place = {"rank": row["rank"], "begin": begin, "end": end}
            bars.append({**place, "colour": colour(ink), "tip": text})
            begin = end
        longest = max(longest, begin)
    return bars, longest


def _rank_chart(table: pl.DataFrame, names: Mapping[int, str]) -> Chart:
    scale = unit_scale([float(table["wall_ns"].max() or 1.0) * 1e-9], "s")  # type: ignore[arg-type]
    bars, longest = _rank_bars(table, names, scale)
    ticks = zero_ticks([longest])
    # The space is slack: a reader's font may be wider than the one that the drawing measured.
    labels = {rank: f"\u2002{name}" for rank, name in names.items()}
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
    x = axis(alt.X, "begin", ticks, title=None)
    how: Style = {"tips": True, "height": {"band": 0.72}}
    return layer("bar", bars, "fill", x=x, x2="end", y=y, **how).properties(
        width=430, height=max(40, 11 * table.height), title=heading(scale.titled("time"), 430)
    )


def rank_name(group: int, together: int, ranks: int) -> str:
    """Name a rank, or the neighbouring ones that one row stands for."""
    first, last = group * together, min(ranks, (group + 1) * together) - 1
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def rank_table_figure(profile: Profile) -> Figure:
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


def _rank_table(profile: Profile) -> Table:
    table = profile.rank_table.sort("rank")
    scale = unit_scale([float(value) * 1e-9 for value in table["wall_ns"]], "s")

    rows = Rows(table.iter_rows(named=True))

    def times(title: str, name: str) -> None:
        """Add a column of times, which are below zero where the system does not tell them."""
        rows.number(scale.titled(title), _known(name, 1e-9), scale.show)

    rows.number("rank", lambda row: row["rank"]).text("node", lambda row: row["host"])
    times("computing", "compute_ns")
    times("MPI", "mpi_ns")
    times("files", "posix_ns")
    rows.number("calls", _known("calls"))
    rows.number("yielded", _known("voluntary_switches"))
    rows.number("preempted", _known("involuntary_switches"))
    rows.number("major faults", _known("major_faults"))
    times("queued", "queued_ns")
    times("stolen", "steal_ns")
    return rows.number("memory", _known("memory_bytes"), format_size).table()


def _known(name: str, factor: float = 1) -> Callable[[Mapping[str, Any]], float | None]:
    """Read a number of a rank; None where the system does not tell it."""
    return lambda row: row[name] * factor if row[name] >= 0 else None


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


def _histogram(call: CallSum, own: Sequence[SizeSum]) -> Figure:
    name = call_name(call.call, call.kind)
    ticks = zero_ticks([float(size.count) for size in own])
    bars = [
        {
            "size": size_range(size.low, size.high),
            "order": order,
            "count": size.count,
            "tip": f"{size_range(size.low, size.high)}: {whole(size.count)} calls, "
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
    y = axis(alt.Y, "count", ticks, title=None)
    how: Style = {"tips": True, "fill": colour("p1"), "width": {"band": 0.7}}
    chart = layer("bar", bars, x=x, y=y, **how).properties(
        # Room for a bin's name under each of a few bars, else for slanted ones.
        width=110 * len(own) if len(own) <= 3 else min(360, 44 * len(own)),
        height=130,
        title=heading("calls", 200),
    )
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart,),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=sizes_table(own),
    )


_CELLS = 64


_PAIRS = 12


def matrix_figure(profile: Profile) -> Figure:
    """Draw the bytes between ranks, with the pairs that exchange most as its table."""
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
                    "tip": f"{rank_name(sender, matrix.block, profile.ranks)} to "
                    f"{rank_name(receiver, matrix.block, profile.ranks)}: "
                    f"{whole(messages)} messages, {format_size(sent)}",
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
        text_summary=f"{whole(int(matrix.count.sum()))} messages with "
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

    def between(title: str) -> alt.Axis:
        places = [place + 0.5 for place in shown]
        return alt.Axis(values=places, labelExpr=f"{labels}''", grid=False, title=title)

    scale = alt.Scale(domain=[0, size], nice=False)
    down = alt.Scale(domain=[size, 0], nice=False)
    across, up = (
        channel(field="a", type="quantitative", scale=own, axis=between(title))
        for channel, own, title in ((alt.X, scale, "to rank"), (alt.Y, down, "from rank"))
    )
    to, sender = (
        channel(field=field, type="quantitative")
        for channel, field in ((alt.X, "to"), (alt.Y, "from"))
    )
    box: Style = {"fill": None, "stroke": colour("line")}
    dark = alt.FillOpacity(field="opacity", type="quantitative", scale=None)
    place: Style = {"x": to, "x2": "to_end", "y": sender, "y2": "from_end"}
    frame = layer("rect", [{"a": 0, "b": size}], x=across, x2="b", y=up, y2="b", **box)
    filled = layer("rect", cells, **place, tips=True, fill=colour("p1")).encode(fillOpacity=dark)
    return alt.LayerChart(layer=[frame, filled]).properties(width=side, height=side)


def _pairs(profile: Profile) -> Table:
    """List the pairs that exchange most."""
    block = profile.ranks_per_cell
    table = profile.send_table.sort("bytes", "count", descending=True).head(_PAIRS)
    ranks = profile.ranks
    return (
        Rows(table.iter_rows(named=True))
        .column(
            "from", lambda row: Field(rank_name(row["from"], block, ranks), row["from"]), "text"
        )
        .column("to", lambda row: Field(rank_name(row["to"], block, ranks), row["to"]), "text")
        .number("messages", lambda row: row["count"])
        .number("data", lambda row: row["bytes"], format_size)
        .number(
            "mean (B)", lambda row: row["bytes"] / row["count"] if row["count"] else None, plain
        )
        .table()
    )
