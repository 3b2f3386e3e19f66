"""The page of a profile: one self-contained HTML file that opens offline, with its figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from bareline.profile.files import to_rows
from bareline.profile.model import Profile
from bareline.profile.summary import SizeSum, communication_matrix, remarks, top_calls
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.wording import slug
from bareline.report.figures.grammar import Channel, Chart, Style, axis, heading, layer, plot
from bareline.report.figures.scales import count_ticks, unit_scale, zero_ticks
from bareline.report.figures.theme import colour
from bareline.report.page.drawing import draw_figure, make_download
from bareline.report.page.templates import render
from bareline.report.profile.tables import (
    calls_table,
    findings,
    size_range,
    sizes_by_call,
    sizes_table,
    split_table,
    subtitle,
)
from bareline.vocabulary.finite import with_nulls
from bareline.vocabulary.texts import cleaned
from bareline.vocabulary.units import format_size, format_value, plain, whole

#: Headings of the sections, in the order of the page.
_SECTIONS = {
    "time": "Time",
    "calls": "Calls",
    "sizes": "Message sizes",
    "matrix": "Communication matrix",
}


def render_profile_page(profile: Profile) -> str:
    """Return the page's HTML."""
    drawn = [draw_figure(figure) for figure in figures(profile)]
    sections = [
        (name, title, [one for one in drawn if one.figure.layer == name])
        for name, title in _SECTIONS.items()
    ]
    rows = json.dumps(
        with_nulls(to_rows(profile), []), ensure_ascii=False, allow_nan=False
    ).encode()
    page = render(
        "profile.html.j2",
        ["page.js"],
        profile=profile,
        subtitle=subtitle(profile),
        findings=findings(profile),
        remarks=remarks(profile),
        sections=[section for section in sections if section[2]],
        download=make_download("profile.json", "every row", "application/json", rows),
    )
    return cleaned(page)


def figures(profile: Profile) -> list[Figure]:
    """Draw all figures of the profile."""
    return [
        Figure(id="split", title="Time per rank", layer="time", data_table=split_table(profile)),
        _ranks(profile),
        _rank_table(profile),
        _calls(profile),
        *(_histogram(name, own) for name, own in sizes_by_call(profile)[:6]),
        *([] if profile.send_table.is_empty() else [_matrix(profile)]),
    ]


#: Parts of a rank's time: their column, colour and its name; they also differ by the place in
#: the bar.
_PARTS = {
    "computing": ("compute_ns", "baseline", "grey"),
    "waiting": ("waited_ns", "p5", "yellow"),
    "MPI": ("mpi_ns", "p1", "blue"),
    "files": ("posix_ns", "p3", "green"),
}


def _ranks(profile: Profile) -> Figure:
    together = -(-profile.ranks // 48)
    table = (
        profile.rank_table.sort("rank")
        .group_by(pl.col("rank") // together, maintain_order=True)
        .agg(pl.col("compute_ns", "mpi_ns", "posix_ns", "waited_ns", "wall_ns").mean())
    )
    shown = [part for part, (column, *_) in _PARTS.items() if profile.rank_table[column].sum() > 0]
    order = ", then ".join(f"{part} ({_PARTS[part][2]})" for part in shown)
    means = f" Each bar is the mean of {together} ranks." if together > 1 else ""
    return Figure(
        id="ranks",
        title="Rank by rank",
        caption=f"From left to right: {order}.{means}",
        layer="time",
        panels=(_rank_chart(table, together, profile.ranks),),
        text_summary=f"Time of {profile.ranks} ranks, divided into {', '.join(shown)}.",
    )


def _rank_chart(table: pl.DataFrame, together: int, ranks: int) -> Chart:
    scale = unit_scale([float(table["wall_ns"].max() or 1.0) * 1e-9], "s")  # type: ignore[arg-type]
    bars: list[dict[str, Any]] = []
    labels = {}
    for row in table.iter_rows(named=True):
        begin, name = 0.0, rank_name(row["rank"], together, ranks)
        # The space is slack: a reader's font may be wider than the font of the measured drawing.
        labels[row["rank"]] = f"\u2002{name}"
        for part, (column, ink, _) in _PARTS.items():
            # Waiting is a part of the calls.
            time_ns = row[column] - (row["waited_ns"] if part == "MPI" else 0)
            end = begin + time_ns * scale.factor * 1e-9
            tip = f"{name}: {part} {format_value(time_ns * 1e-9, 's')}"
            place = {"rank": row["rank"], "begin": begin, "end": end}
            bars.append({**place, "colour": colour(ink), "tip": tip})
            begin = end
    names = f"{labels!r}[datum.value]".replace("'", '"')
    how = {"title": None, "grid": False, "labelExpr": names, "labelOverlap": "greedy"}
    y: Channel = {"field": "rank", "type": "ordinal", "axis": how}
    x = axis("begin", zero_ticks([max(bar["end"] for bar in bars)]), title=None)
    drawn = layer("bar", bars, "fill", x=x, x2="end", y=y, tips=True, height={"band": 0.72})
    title = heading(scale.titled("time"), 430)
    return drawn | {"width": 430, "height": max(40, 11 * table.height), "title": title}


def rank_name(group: int, together: int, ranks: int) -> str:
    """Name a rank, or the neighbouring ranks that share one row."""
    first, last = group * together, min(ranks, (group + 1) * together) - 1
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def _rank_table(profile: Profile) -> Figure:
    """Tabulate the facts of each rank: too many columns to be next to its bar."""
    table = profile.rank_table.sort("rank")
    scale = unit_scale([float(value) * 1e-9 for value in table["wall_ns"]], "s")
    rows = Rows(table.iter_rows(named=True))

    def known(
        title: str, name: str, factor: float = 1, write: Callable[[float], str] = whole
    ) -> None:
        """Add a column of numbers, which are below zero where the system does not report them."""
        rows.number(title, lambda row: row[name] * factor if row[name] >= 0 else None, write)

    def times(title: str, name: str) -> None:
        known(scale.titled(title), name, 1e-9, scale.show)

    rows.number("rank", lambda row: row["rank"]).text("node", lambda row: row["host"])
    times("computing", "compute_ns")
    times("MPI", "mpi_ns")
    times("files", "posix_ns")
    known("calls", "calls")
    known("yielded", "voluntary_switches")
    known("preempted", "involuntary_switches")
    known("major faults", "major_faults")
    times("queued", "queued_ns")
    times("stolen", "steal_ns")
    known("memory", "memory_bytes", write=format_size)
    return Figure(
        id="rank-table",
        title="What the system knows of each rank",
        caption="“Queued” is the time in which a rank was ready to run while another process had "
        "its core, “stolen” what a hypervisor gave to other guests.",
        layer="time",
        wide=True,
        data_table=rows.table(),
    )


def _calls(profile: Profile) -> Figure:
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


def _histogram(name: str, own: Sequence[SizeSum]) -> Figure:
    few = len(own) <= 3
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
    how = {"title": None, "grid": False, "labelAngle": 0 if few else -40}
    x: Channel = {"field": "size", "type": "ordinal", "sort": {"field": "order"}, "axis": how}
    y = axis("count", zero_ticks([float(size.count) for size in own]), title=None)
    chart = layer("bar", bars, x=x, y=y, tips=True, fill=colour("p1"), width={"band": 0.7})
    # Room for a bin's name under each of a few bars, else for slanted ones.
    width = 110 * len(own) if few else min(360, 44 * len(own))
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart | {"width": width, "height": 130, "title": heading("calls", 200)},),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=sizes_table(own),
    )


def _matrix(profile: Profile) -> Figure:
    matrix = communication_matrix(profile, 64)
    size, block = len(matrix.bytes), matrix.block
    cells = [
        {
            "from": sender,
            "from_end": sender + 1,
            "to": receiver,
            "to_end": receiver + 1,
            "opacity": round(0.12 + 0.88 * float(matrix.strength[sender, receiver]), 3),
            "tip": f"{rank_name(sender, block, profile.ranks)} to "
            f"{rank_name(receiver, block, profile.ranks)}: "
            f"{whole(int(matrix.count[sender, receiver]))} messages, "
            f"{format_size(int(matrix.bytes[sender, receiver]))}",
        }
        for sender, receiver in np.argwhere(matrix.count).tolist()
    ]
    each = f" Each row and column is {block} neighbouring ranks." if block > 1 else ""
    return Figure(
        id="matrix",
        title="Who sends to whom",
        caption=f"Bytes sent by the row's rank to the column's, point to point and one-sided: "
        f"the darker the more, from {format_size(round(matrix.faint))} or less to "
        f"{format_size(matrix.most)}, on a logarithmic scale.{each}",
        layer="matrix",
        panels=(_matrix_chart(cells, size, block),),
        text_summary=f"{whole(int(matrix.count.sum()))} messages with "
        f"{format_size(int(matrix.bytes.sum()))} between {profile.ranks} ranks.",
        data_table=_pairs(profile),
    )


def _matrix_chart(cells: Sequence[dict[str, Any]], size: int, block: int) -> Chart:
    few = size <= 12
    shown = range(size) if few else [round(value - 1) for value in count_ticks([1, size]).values]
    labels = "".join(
        f"abs(datum.value - {place + 0.5}) < 0.01 ? '{place * block}' : " for place in shown
    )

    def between(domain: list[int], title: str) -> Channel:
        places = [place + 0.5 for place in shown]
        how = {"values": places, "labelExpr": f"{labels}''", "grid": False, "title": title}
        scale = {"domain": domain, "nice": False}
        return {"field": "a", "type": "quantitative", "scale": scale, "axis": how}

    ends: Style = {"x2": "b", "y2": "b", "fill": None, "stroke": colour("line")}
    across, up = between([0, size], "to rank"), between([size, 0], "from rank")
    frame = layer("rect", [{"a": 0, "b": size}], x=across, y=up, **ends)
    to, sender = ({"field": name, "type": "quantitative"} for name in ("to", "from"))
    dark = {"field": "opacity", "type": "quantitative", "scale": None}
    place: Style = {"x": to, "x2": "to_end", "y": sender, "y2": "from_end", "fillOpacity": dark}
    filled = layer("rect", cells, tips=True, fill=colour("p1"), **place)
    side = max(150, 26 * size) if few else 340
    return plot([frame, filled], side, side)


def _pairs(profile: Profile) -> Table:
    table = profile.send_table.sort("bytes", "count", descending=True).head(12)

    def rank(side: str) -> Callable[[Mapping[str, Any]], Field]:
        return lambda row: Field(
            rank_name(row[side], profile.ranks_per_cell, profile.ranks), row[side]
        )

    return (
        Rows(table.iter_rows(named=True))
        .column("from", rank("from"), "text")
        .column("to", rank("to"), "text")
        .number("messages", lambda row: row["count"])
        .number("data", lambda row: row["bytes"], format_size)
        .number(
            "mean (B)", lambda row: row["bytes"] / row["count"] if row["count"] else None, plain
        )
        .table()
    )
