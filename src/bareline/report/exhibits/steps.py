"""What each step of a ladder brings, as a cloud's network tests are usually told.

One row per platform in the order of the steps: its value, and how many times better it is than
the step before and than the first one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from bareline.analysis.cell import Cell, read_cells
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.wording import (
    interval,
    metric_name,
    ratio_interval,
    ratio_text,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.table import tone_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying

#: Comparisons by what they are about.
_Lookup = Mapping[tuple[str, ...], Cell]


class Steps(Exhibit):
    """Improvement factors: above 1 is better, whatever the metric's direction."""

    kind = "steps"
    summary = "one row per platform: its value, and the improvement over the step before"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe, metric and point; none unless the study is a ladder."""
        compared = document.comparison
        if not compared.is_ladder:
            return []
        before, first = _lookup(compared.from_before), _lookup(compared.from_first)
        groups: dict[tuple[str, ...], list[Cell]] = {}
        for cell in select(document, spec):
            if cell.metric.better != "none":
                groups.setdefault(_what(cell), []).append(cell)
        every = [cell for cells in groups.values() for cell in cells]
        names = varying(cell.place for cell in every)
        return [
            _figure(document, spec, cells[0].place.told(names), cells, before, first)
            for cells in groups.values()
        ]


def _what(cell: Cell) -> tuple[str, ...]:
    return tuple(str(part) for part in (*cell.place.series, cell.place.point))


def _lookup(comparison: pl.DataFrame) -> _Lookup:
    return {(cell.platform, *_what(cell)): cell for cell in read_cells(None, comparison)}


def _figure(
    document: Document,
    spec: ExhibitSpec,
    label: str,
    cells: Sequence[Cell],
    before: _Lookup,
    first: _Lookup,
) -> Figure:
    scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
    present = {cell.platform: cell for cell in cells}
    order = [name for name in (*document.names[1:], document.baseline) if name in present]
    rows = tuple(
        _row(
            present[name],
            scale,
            *(steps.get((name, *_what(cells[0]))) for steps in (before, first)),
        )
        for name in order
    )
    title = spec.title or f"{metric_name(cells[0].place.metric)}, step by step"
    return Figure(
        id=slug("steps", cells[0].place.probe, cells[0].place.metric, label, spec.title),
        title=f"{title}, {label}" if label else title,
        caption=spec.caption or "An improvement above 1 is better than the step it refers to.",
        probe=cells[0].place.probe,
        layer=cells[0].layer,
        wide=True,
        data_table=DataTable(_columns(cells[0], scale), rows),
        data=tidy(cells),
    )


def _columns(cell: Cell, scale: Scale) -> tuple[Column, ...]:
    return (
        Column("platform", "text"),
        Column(scale.titled(f"median {metric_name(cell.place.metric)}")),
        Column("95 %", "light"),
        Column("n"),
        Column("× the step before"),
        Column("95 %", "light"),
        Column("× the first step"),
        Column("95 %", "light"),
    )


def _row(cell: Cell, scale: Scale, before: Cell | None, first: Cell | None) -> tuple[Field, ...]:
    return (
        Field(cell.platform, platform=cell.platform),
        Field(scale.show(cell.median), cell.median, caveats=cell.caveats),
        Field(interval(scale, cell.value), cell.value.lo if cell.value else None),
        Field(str(cell.n), cell.n),
        *_improvement(before),
        *_improvement(first),
    )


def _improvement(step: Cell | None) -> tuple[Field, Field]:
    """Write a comparison the other way round: how many times better."""
    if step is None:
        return (Field("", tone="muted"), Field(""))
    if not step.ratio or not step.ratio.value:
        return (Field(verdict_word(step.verdict), tone="muted"), Field(""))
    better = step.ratio.inverse()
    tone = tone_of(step.verdict)
    return (Field(ratio_text(better.value), better.value, tone=tone), Field(ratio_interval(better)))


EXHIBIT = Steps()
