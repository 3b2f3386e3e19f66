"""The page of a profile: one self-contained HTML file that opens offline, with its figures."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from bareline.profile.files import to_rows
from bareline.profile.model import Profile
from bareline.profile.summary import SizeSum, communication_matrix, remarks, top_calls
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.wording import slug
from bareline.report.figures.scales import Scale, count_ticks, unit_scale, zero_ticks
from bareline.report.figures.theme import colour
from bareline.report.figures.vega import Channel, Chart, Style, axis, heading, layer, plot
from bareline.report.page.drawing import DrawnFigure, draw_figure, make_download
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
from bareline.vocabulary.sanitize import cleaned
from bareline.vocabulary.units import format_size, format_value, plain, whole

#: A matrix of at most so many rows has the number of each row at its sides.
_FEW_ROWS = 12
#: Headings of the sections, in the order of the page.
_SECTIONS = {
    "time": "Time",
    "calls": "Calls",
    "sizes": "Message sizes",
    "matrix": "Communication matrix",
}


def render_profile_page(profile: Profile) -> str:
    """Return the HTML of a profile's page."""
    rows = with_nulls(to_rows(profile), [])
    rows_json = json.dumps(rows, ensure_ascii=False, allow_nan=False).encode()
    page = render(
        "profile.html.j2",
        ["page.js"],
        profile=profile,
        subtitle=subtitle(profile),
        findings=findings(profile),
        remarks=remarks(profile),
        sections=_sections(profile),
        download=make_download("profile.json", "every row", "application/json", rows_json),
    )
    return cleaned(page)


def _sections(profile: Profile) -> list[tuple[str, str, list[DrawnFigure]]]:
    """Return the id, the heading and the figures of each section that has figures."""
    by_section: dict[str, list[DrawnFigure]] = {name: [] for name in _SECTIONS}
    for figure in figures(profile):
        by_section[figure.layer].append(draw_figure(figure))
    return [(name, _SECTIONS[name], drawn) for name, drawn in by_section.items() if drawn]


def figures(profile: Profile) -> list[Figure]:
    """Return all figures of the profile."""
    drawn = [
        Figure(id="split", title="Time per rank", layer="time", data_table=split_table(profile)),
        _ranks(profile),
        _rank_table(profile),
        _calls(profile),
    ]
    drawn += [_histogram(name, sizes) for name, sizes in sizes_by_call(profile)[:6]]
    if not profile.send_table.is_empty():
        drawn.append(_matrix(profile))
    return drawn


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a rank's time: its name, the column of the rank table, and its colour."""

    name: str
    column: str
    ink: str
    colour_name: str


#: The parts of a bar; they also differ by their place in it.
_PARTS = (
    _Part("computing", "compute_ns", "baseline", "grey"),
    _Part("waiting", "waited_ns", "p5", "yellow"),
    _Part("MPI", "mpi_ns", "p1", "blue"),
    _Part("files", "posix_ns", "p3", "green"),
)


def _ranks(profile: Profile) -> Figure:
    """Return the figure with a bar for each rank; for many ranks, a bar for each group of ranks."""
    together = math.ceil(profile.ranks / 48)
    table = (
        profile.rank_table.sort("rank")
        .group_by(pl.col("rank") // together, maintain_order=True)
        .agg(pl.col("compute_ns", "mpi_ns", "posix_ns", "waited_ns", "wall_ns").mean())
    )
    parts = [part for part in _PARTS if profile.rank_table[part.column].sum() > 0]
    order = ", then ".join(f"{part.name} ({part.colour_name})" for part in parts)
    names = ", ".join(part.name for part in parts)
    means = f" Each bar is the mean of {together} ranks." if together > 1 else ""
    return Figure(
        id="ranks",
        title="Rank by rank",
        caption=f"From left to right: {order}.{means}",
        layer="time",
        panels=(_rank_chart(table, together, profile.ranks),),
        text_summary=f"Time of {profile.ranks} ranks, divided into {names}.",
    )


def _rank_chart(table: pl.DataFrame, together: int, ranks: int) -> Chart:
    scale = unit_scale([float(table["wall_ns"].max() or 1.0) * 1e-9], "s")  # type: ignore[arg-type]
    bars: list[dict[str, Any]] = []
    labels: dict[int, str] = {}
    for row in table.iter_rows(named=True):
        name = rank_name(row["rank"], together, ranks)
        # The space is slack: a reader's font may be wider than the font of the measured drawing.
        labels[row["rank"]] = f"\u2002{name}"
        bars += _rank_bars(row, name, scale)
    names = f"{labels!r}[datum.value]".replace("'", '"')
    options = {"title": None, "grid": False, "labelExpr": names, "labelOverlap": "greedy"}
    y: Channel = {"field": "rank", "type": "ordinal", "axis": options}
    x = axis("begin", zero_ticks([max(bar["end"] for bar in bars)]), title=None)
    drawn = layer("bar", bars, "fill", x=x, x2="end", y=y, tips=True, height={"band": 0.72})
    title = heading(scale.titled("time"), 430)
    return drawn | {"width": 430, "height": max(40, 11 * table.height), "title": title}


def _rank_bars(row: Mapping[str, Any], name: str, scale: Scale) -> Iterator[dict[str, Any]]:
    """Yield the parts of a rank's bar; each part begins where the previous part ends."""
    begin = 0.0
    for part in _PARTS:
        time_ns = row[part.column]
        if part.name == "MPI":
            # Waiting is a part of the calls.
            time_ns -= row["waited_ns"]
        end = begin + time_ns * scale.factor * 1e-9
        yield {
            "rank": row["rank"],
            "begin": begin,
            "end": end,
            "colour": colour(part.ink),
            "tip": f"{name}: {part.name} {format_value(time_ns * 1e-9, 's')}",
        }
        begin = end


def rank_name(group: int, together: int, ranks: int) -> str:
    """Return the name of a rank, or of the neighbouring ranks that share a row."""
    first = group * together
    last = min(ranks, (group + 1) * together) - 1
    return f"rank {first}" if first == last else f"ranks {first} to {last}"


def _rank_table(profile: Profile) -> Figure:
    """Return the table of facts of each rank.

    It is a separate figure because it has too many columns to be next to the bars.
    """
    table = profile.rank_table.sort("rank")
    scale = unit_scale([float(value) * 1e-9 for value in table["wall_ns"]], "s")
    rows = Rows(table.iter_rows(named=True))

    def numbers(
        title: str, name: str, factor: float = 1, write: Callable[[float], str] = whole
    ) -> None:
        """Add a column of numbers; a number below zero means that the system does not report it."""
        rows.number(title, partial(_reported, name, factor), write)

    def times(title: str, name: str) -> None:
        numbers(scale.titled(title), name, 1e-9, scale.show)

    rows.number("rank", lambda row: row["rank"]).text("node", lambda row: row["host"])
    times("computing", "compute_ns")
    times("MPI", "mpi_ns")
    times("files", "posix_ns")
    numbers("calls", "calls")
    numbers("yielded", "voluntary_switches")
    numbers("preempted", "involuntary_switches")
    numbers("major faults", "major_faults")
    times("queued", "queued_ns")
    times("stolen", "steal_ns")
    numbers("memory", "memory_bytes", write=format_size)
    return Figure(
        id="rank-table",
        title="The system's record of each rank",
        caption="“Queued” is the time in which a rank was ready to run while another process had "
        "its core, “stolen” is the time that a hypervisor gave to other guests.",
        layer="time",
        wide=True,
        data_table=rows.table(),
    )


def _reported(name: str, factor: float, row: Mapping[str, Any]) -> float | None:
    """Return a number of a rank; None if the system does not report it."""
    value: float = row[name]
    return value * factor if value >= 0 else None


def _calls(profile: Profile) -> Figure:
    calls = top_calls(profile)
    caption = ""
    if any(call.overlap_s is not None for call in calls):
        caption = (
            "“Open for” is the time from posting a request to the call that completed it: "
            "work in this time could overlap with the communication."
        )
    return Figure(
        id="calls",
        title="Calls, all ranks together",
        caption=caption,
        layer="calls",
        wide=True,
        data_table=calls_table(calls),
    )


def _histogram(name: str, sizes: Sequence[SizeSum]) -> Figure:
    """Return the histogram of the message sizes of one call."""
    has_few_bars = len(sizes) <= 3
    bars = [_size_bar(size, order) for order, size in enumerate(sizes)]
    angle = 0 if has_few_bars else -40
    options = {"title": None, "grid": False, "labelAngle": angle}
    x: Channel = {"field": "size", "type": "ordinal", "sort": {"field": "order"}, "axis": options}
    y = axis("count", zero_ticks([float(size.count) for size in sizes]), title=None)
    chart = layer("bar", bars, x=x, y=y, tips=True, fill=colour("p1"), width={"band": 0.7})
    # Room for a bin's name under each of a few bars, else for slanted ones.
    width = 110 * len(sizes) if has_few_bars else min(360, 44 * len(sizes))
    return Figure(
        id=slug("sizes", name),
        title=f"Message sizes of {name}",
        layer="sizes",
        panels=(chart | {"width": width, "height": 130, "title": heading("calls", 200)},),
        text_summary="; ".join(str(bar["tip"]) for bar in bars[:12]),
        data_table=sizes_table(sizes),
    )


def _size_bar(size: SizeSum, order: int) -> dict[str, Any]:
    name = size_range(size.low, size.high)
    data = format_size(size.bytes)
    mean = format_value(size.mean_s, "s")
    return {
        "size": name,
        "order": order,
        "count": size.count,
        "tip": f"{name}: {whole(size.count)} calls, {data}, {mean} each",
    }


def _matrix(profile: Profile) -> Figure:
    """Return the matrix of the bytes that each rank sends to every other rank."""
    matrix = communication_matrix(profile, 64)
    size = len(matrix.bytes)
    block = matrix.block
    cells: list[dict[str, Any]] = []
    for sender, receiver in np.argwhere(matrix.count).tolist():
        sender_name = rank_name(sender, block, profile.ranks)
        receiver_name = rank_name(receiver, block, profile.ranks)
        messages = whole(int(matrix.count[sender, receiver]))
        data = format_size(int(matrix.bytes[sender, receiver]))
        cell = {
            "from": sender,
            "from_end": sender + 1,
            "to": receiver,
            "to_end": receiver + 1,
            "opacity": round(0.12 + 0.88 * float(matrix.strength[sender, receiver]), 3),
            "tip": f"{sender_name} to {receiver_name}: {messages} messages, {data}",
        }
        cells.append(cell)
    each = f" Each row and column is {block} neighbouring ranks." if block > 1 else ""
    all_messages = whole(int(matrix.count.sum()))
    all_data = format_size(int(matrix.bytes.sum()))
    return Figure(
        id="matrix",
        title="Who sends to whom",
        caption=f"Bytes sent by the row's rank to the column's, point to point and one-sided: "
        f"the darker the more, from {format_size(round(matrix.faint))} or less to "
        f"{format_size(matrix.most)}, on a logarithmic scale.{each}",
        layer="matrix",
        panels=(_matrix_chart(cells, size, block),),
        text_summary=f"{all_messages} messages with {all_data} between {profile.ranks} ranks.",
        data_table=_pairs(profile),
    )


def _matrix_chart(cells: Sequence[dict[str, Any]], size: int, block: int) -> Chart:
    """Draw the cells of a matrix in a frame, with the numbers of the ranks along the axes."""
    labelled = _labelled_rows(size)
    across = _matrix_axis("to rank", [0, size], labelled, block)
    up = _matrix_axis("from rank", [size, 0], labelled, block)
    ends: Style = {"x2": "b", "y2": "b", "fill": None, "stroke": colour("line")}
    frame = layer("rect", [{"a": 0, "b": size}], x=across, y=up, **ends)
    place: Style = {
        "x": {"field": "to", "type": "quantitative"},
        "x2": "to_end",
        "y": {"field": "from", "type": "quantitative"},
        "y2": "from_end",
        "fillOpacity": {"field": "opacity", "type": "quantitative", "scale": None},
    }
    filled = layer("rect", cells, tips=True, fill=colour("p1"), **place)
    side = max(150, 26 * size) if size <= _FEW_ROWS else 340
    return plot([frame, filled], side, side)


def _labelled_rows(size: int) -> Sequence[int]:
    """Return the rows that get a label: all if there are few, else some."""
    if size <= _FEW_ROWS:
        return range(size)
    return [round(value - 1) for value in count_ticks([1, size]).values]


def _matrix_axis(title: str, domain: Sequence[int], labelled: Sequence[int], block: int) -> Channel:
    """Return an axis of a matrix; the label of a row is its first rank, at the row's middle."""
    middles = [row + 0.5 for row in labelled]
    labels: list[str] = []
    for row, middle in zip(labelled, middles, strict=True):
        labels.append(f"abs(datum.value - {middle}) < 0.01 ? '{row * block}' : ")
    expression = "".join(labels) + "''"
    options = {"values": middles, "labelExpr": expression, "grid": False, "title": title}
    scale = {"domain": domain, "nice": False}
    return {"field": "a", "type": "quantitative", "scale": scale, "axis": options}


def _pairs(profile: Profile) -> Table:
    """Return the table of the pairs of ranks that send most."""
    table = profile.send_table.sort("bytes", "count", descending=True).head(12)

    def rank(side: str, row: Mapping[str, Any]) -> Field:
        name = rank_name(row[side], profile.ranks_per_cell, profile.ranks)
        return Field(name, row[side])

    rows = Rows(table.iter_rows(named=True))
    rows.column("from", partial(rank, "from"), "text")
    rows.column("to", partial(rank, "to"), "text")
    rows.number("messages", lambda row: row["count"])
    rows.number("data", lambda row: row["bytes"], format_size)
    rows.number("mean (B)", _mean_bytes, plain)
    return rows.table()


def _mean_bytes(row: Mapping[str, Any]) -> float | None:
    if not row["count"]:
        return None
    mean: float = row["bytes"] / row["count"]
    return mean
