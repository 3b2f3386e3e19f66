"""Every single trial as a number, sorted, as the studies print their bandwidth trials."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.report.cells import Cell, varying
from bareline.report.document import Document, ExhibitSpec, slug
from bareline.report.dots import trial_dots
from bareline.report.exhibits.base import Column, DataTable, Exhibit, Field, Figure, select
from bareline.report.scales import Scale, unit_scale
from bareline.report.wording import count, describe, metric_name

#: Most rows of a table; beyond, trials are thinned evenly over their order.
MOST_TRIALS = 100


class Trials(Exhibit):
    """One column per platform, one row per rank of the sorted trials, the median last."""

    kind = "trials"
    summary = "all individual trials of a metric, sorted, a column per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe, metric and point."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            groups.setdefault((cell.probe, cell.metric), []).append(cell)
        drawn = []
        for cells in groups.values():
            names = varying(cells)
            points: dict[str, list[Cell]] = {}
            for cell in cells:
                points.setdefault(describe(cell, names), []).append(cell)
            drawn += [
                _figure(document, spec, label, own)
                for label, own in points.items()
                if any(cell.value is not None for cell in own)
            ]
        return drawn


def _figure(document: Document, spec: ExhibitSpec, label: str, cells: Sequence[Cell]) -> Figure:
    scale = unit_scale((cell.value for cell in cells), cells[0].unit)
    table, note = _table(document, cells, scale)
    title = spec.title or f"All trials of {scale.titled(metric_name(cells[0].metric))}"
    return Figure(
        id=slug("trials", cells[0].probe, cells[0].metric, label, spec.title),
        title=f"{title}, {label}" if label else title,
        caption=" ".join(filter(None, [spec.caption, note])),
        probe=cells[0].probe,
        layer=cells[0].layer,
        wide=True,
        data_table=table,
    )


def _table(document: Document, cells: Sequence[Cell], scale: Scale) -> tuple[DataTable, str]:
    present = {cell.platform: cell for cell in cells}
    names = [name for name in document.names if name in present]
    dots = trial_dots(document, cells, MOST_TRIALS * len(cells))
    values = {
        name: sorted(dot.value for dot in dots.dots if dot.cell.platform == name) for name in names
    }
    rows = []
    for index in range(max(map(len, values.values()), default=0)):
        row = [Field(str(index + 1), index + 1)]
        for name in names:
            own = values[name]
            known = own[index] if index < len(own) else None
            row.append(Field("" if known is None else scale.show(known), known))
        rows.append(tuple(row))
    medians = [Field("median", "")]
    counts = []
    for name in names:
        cell = present[name]
        medians.append(
            Field(scale.show(cell.value) if cell.value is not None else cell.verdict,
                  caveats=cell.caveats)
        )  # fmt: skip
        if cell.n_failed:
            counts.append(f"{name}: {count(cell.n_failed, 'further trial')} failed")
    columns = (Column("trial, sorted"), *(Column(name) for name in names))
    note = ". ".join(filter(None, [dots.note.replace("drawn as dots", "listed"), *counts]))
    return DataTable(columns, tuple(rows), foot=tuple(medians)), note


EXHIBIT = Trials()
