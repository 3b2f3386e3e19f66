"""Computation and communication of a program stacked to its time, one bar per platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.wording import caveat_notes
from bareline.report.exhibits.barpanel import BarPanel, Bars, Group
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.table import cells_table
from bareline.report.figures.channels import inline, raw
from bareline.report.figures.figure import Figure
from bareline.report.figures.scales import Scale
from bareline.report.figures.theme import colour
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import listing

#: What the parts add up to, up to the ranks' different ends.
TOTAL = "time"
#: Metrics from the axis outwards, with their names and how strongly they are filled.
PARTS = (("compute_mean", "computation", 0.62), ("communication_mean", "communication", 0.22))
_LEGEND = (
    "Dark: computation; light: communication, waiting included (means over the ranks, which add "
    "up to the time). The line across is the median time, the dots are the trials."
)

#: A platform and what its value belongs to.
_Key = tuple[str, str, str, int, int, int, str]


class Stacked(Exhibit):
    """One bar per platform and parameters, divided into computation and communication."""

    kind = "stacked"
    summary = "computation and communication stacked to the time, one bar per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure for each probe that tells its parts."""
        totals: dict[str, list[Cell]] = {}
        for cell in select(document, spec.model_copy(update={"metric": TOTAL})):
            totals.setdefault(cell.place.probe, []).append(cell)
        parts = {
            metric: {
                _key(cell): cell.median
                for cell in select(document, spec.model_copy(update={"metric": metric}))
                if cell.median is not None
            }
            for metric, _, _ in PARTS
        }
        return [
            _figure(document, spec, cells, parts)
            for cells in totals.values()
            if any(_parts_of(cell, parts) for cell in cells)
        ]


def _key(cell: Cell) -> _Key:
    return (cell.platform, *cell.place.case, cell.place.point)


def _parts_of(cell: Cell, parts: Mapping[str, Mapping[_Key, float]]) -> list[float]:
    """Give the parts of a time in the order of `PARTS`; none unless all are known."""
    found = [parts[metric].get(_key(cell)) for metric, _, _ in PARTS]
    return [value for value in found if value is not None] if None not in found else []


def _figure(
    document: Document,
    spec: ExhibitSpec,
    cells: Sequence[Cell],
    parts: Mapping[str, Mapping[_Key, float]],
) -> Figure:
    sums = [sum(_parts_of(cell, parts)) for cell in cells]
    bars = Bars.around(document, cells, others=sums)
    panels = [
        _StackPanel(document, bars, chunk, parts).chart()
        for chunk in bars.chunks(len(document.names))
    ]
    metrics = (TOTAL, *(metric for metric, _, _ in PARTS))
    totals = {_key(total) for total in cells}
    shown = [
        cell for cell in document.cells if cell.place.metric in metrics and _key(cell) in totals
    ]
    return Figure(
        id=slug("stacked", cells[0].place.probe, spec.title),
        title=spec.title or "Computation and communication",
        caption=" ".join(filter(None, [spec.caption, _LEGEND, bars.note])),
        probe=cells[0].place.probe,
        layer=cells[0].layer,
        panels=tuple(panels),
        wide=True,
        text_summary=_summary(bars.groups, bars.scale, parts),
        caveats=caveat_notes(shown),
        data_table=cells_table(shown),
        data=tidy(shown),
    )


class _StackPanel(BarPanel):
    """Bars whose fill is divided into parts."""

    def __init__(
        self,
        document: Document,
        bars: Bars,
        groups: Sequence[Group],
        parts: Mapping[str, Mapping[_Key, float]],
    ) -> None:
        self.parts = parts
        self.pieces: list[dict[str, Any]] = []
        super().__init__(document, bars, groups)

    def place(self, name: str, cell: Cell | None, y: float) -> None:
        """Divide the bar, and tell the parts in its tooltip."""
        super().place(name, cell, y)
        if cell is None or cell.value is None:
            return
        start, told = 0.0, []
        bar = self.bars[-1]
        values = _parts_of(cell, self.parts)
        for value, (_, part, strength) in zip(values, PARTS if values else (), strict=True):
            end = start + value * self.scale.factor
            piece = {"zero": start, "x": end, "strength": strength, "simulated": cell.simulated}
            self.pieces.append({**bar, **piece})
            told.append(f"{part} {self.scale.show(value)} {self.scale.unit}")
            start = end
        bar["tip"] = "; ".join([bar["tip"], *told])

    def fills(self) -> list[alt.Chart]:
        """Draw one layer per part; simulated times are outlined only."""
        drawn = []
        for _, _, strength in PARTS:
            for simulated in (False, True):
                rows = [
                    {name: value for name, value in piece.items() if name != "tip"}
                    for piece in self.pieces
                    if (piece["strength"], piece["simulated"]) == (strength, simulated)
                ]
                if not rows:
                    continue
                style: dict[str, Any] = {"fillOpacity": strength, "strokeOpacity": 0.7}
                if simulated:
                    style |= {"fillOpacity": 0, "strokeDash": [3, 2]}
                stroke = raw(alt.Stroke, "colour") if simulated else alt.value(colour("paper"))
                drawn.append(
                    alt.Chart(inline(rows))
                    .mark_rect(aria=False, **style)
                    .encode(
                        x=self.x("zero"),
                        x2=alt.X2(field="x"),
                        y=self.y("top"),
                        y2=alt.Y2(field="bottom"),
                        fill=raw(alt.Fill, "colour"),
                        stroke=stroke,
                    )
                )
        return drawn


def _summary(
    groups: Sequence[Group],
    scale: Scale,
    parts: Mapping[str, Mapping[_Key, float]],
) -> str:
    told = []
    for label, cells in groups[:6]:
        values = []
        for cell in cells:
            split = _parts_of(cell, parts)
            if cell.value is None or not split:
                continue
            share = 100 * split[-1] / sum(split) if sum(split) else 0.0
            values.append(
                f"{cell.platform} {scale.show(cell.median)} {scale.unit}, "
                f"{share:.0f} % of it communication"
            )
        told.append(f"{label + ': ' if label else ''}{listing(values)}")
    rest = f" And {len(groups) - 6} more groups." if len(groups) > 6 else ""
    return f"{groups[0][1][0].place.probe}, median times. {'; '.join(told)}.{rest}"


EXHIBIT = Stacked()
