"""Where the time of a profile goes, rank by rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from bareline.profile.model import Profile
from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Rows, Table
from bareline.report.figures.channels import heading, inline, raw, tip
from bareline.report.figures.figure import Chart
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import Scale, unit_scale, zero_ticks
from bareline.report.figures.theme import colour
from bareline.report.profile.tables import split_table
from bareline.vocabulary.units import format_size, format_value

_RANK_BARS = 48


#: Parts of a rank's time and their colours; a part's place in the bar tells them apart too.
_PARTS = {
    "computing": "baseline",
    "waiting": "p5",
    "MPI": "p1",
    "files": "p3",
}


def split_figure(profile: Profile) -> Figure:
    """Divide the mean rank's time into computing, MPI and files."""
    return Figure(id="split", title="Time per rank", layer="time", data_table=split_table(profile))


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


def _rank_bars(
    table: pl.DataFrame, names: Mapping[int, str], scale: Scale
) -> tuple[list[dict[str, Any]], float]:
    """Lay the parts of each rank's time end to end; give the bars and the longest end."""
    bars, longest = [], 0.0
    for row in table.iter_rows(named=True):
        parts = {
            "computing": row["compute_ns"],
            "waiting": row["waited_ns"],
            "MPI": row["mpi_ns"] - row["waited_ns"],
            "files": row["posix_ns"],
        }
        begin = 0.0
        for part, time_ns in parts.items():
            end = begin + time_ns * scale.factor * 1e-9
            text = f"{names[row['rank']]}: {part} {format_value(time_ns * 1e-9, 's')}"
            place = {"rank": row["rank"], "begin": begin, "end": end}
            bars.append({**place, "colour": colour(_PARTS[part]), "tip": text})
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
        .properties(
            width=430, height=max(40, 11 * table.height), title=heading(scale.titled("time"), 430)
        )
    )
    return chart


def _shade(part: str) -> str:
    return {"computing": "grey", "waiting": "yellow", "MPI": "blue", "files": "green"}[part]


def _has(profile: Profile, part: str) -> bool:
    column = {"waiting": "waited_ns", "files": "posix_ns", "MPI": "mpi_ns"}.get(part, "compute_ns")
    return int(profile.rank_table[column].sum()) > 0


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
