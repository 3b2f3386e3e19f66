"""Who sends to whom in a profile."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.profile.model import Profile
from bareline.profile.summary import (
    communication_matrix,
)
from bareline.report.blocks.figure import Figure
from bareline.report.blocks.table import Field, Rows, Table
from bareline.report.figures.channels import inline, tip
from bareline.report.figures.grammar import alt
from bareline.report.figures.scales import count_ticks
from bareline.report.figures.theme import colour
from bareline.report.profile.sentences import total
from bareline.report.profile.times import rank_name
from bareline.vocabulary.units import format_size, plain

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
