"""Medians with their intervals and ratios, one row per value and platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bareline.report.content.anchors import slug
from bareline.report.content.cells import Cell, headline_first, tidy, varying
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import (
    interval,
    metric_name,
    parameter_name,
    parameter_value,
    ratio_interval,
    ratio_text,
    sentence_case,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure, Tone
from bareline.report.figures.scales import Scale, unit_scale
from bareline.store.header import ExhibitSpec
from bareline.vocabulary.model import Scalar

_TONES: Mapping[str, Tone] = MappingProxyType(
    {
        "slower": "worse",
        "faster": "better",
        "failed": "muted",
        "missing": "muted",
        "does-not-fit": "muted",
        "skipped": "muted",
        "not-comparable": "muted",
    }
)


#: Head of the column that `published_field` fills.
PUBLISHED_COLUMN = Column("published ratio", "text")
_RATIO_COLUMNS = (Column("ratio"), Column("95 %", "light"), Column("verdict", "text"))


class Table(Exhibit):
    """The numbers themselves, for whoever wants to check them."""

    kind = "table"
    summary = "medians with intervals, ratios and verdicts, one row per value and platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table per probe and unit, so that the unit can stand in the head."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            groups.setdefault((cell.probe, cell.unit), []).append(cell)
        return [
            Figure(
                id=slug("table", probe, unit, spec.title),
                title=spec.title or sentence_case(self._metrics(cells)),
                caption=spec.caption,
                probe=probe,
                layer=cells[0].layer,
                wide=True,
                data_table=cells_table(
                    cells, points_for(document.published, spec, cells, document.baseline)
                ),
                data=tidy(cells),
            )
            for (probe, unit), cells in groups.items()
        ]

    @staticmethod
    def _metrics(cells: Sequence[Cell]) -> str:
        return ", ".join(dict.fromkeys(metric_name(cell.metric) for cell in cells))


def cells_table(cells: Sequence[Cell], published: Sequence[PublishedPoint] = ()) -> DataTable:
    """Tabulate cells of one unit: parameters that vary, platform, value, ratio, verdict.

    Parameters
    ----------
    published
        Published ratios; those that speak of a cell stand in its row.
    """
    scale = unit_scale((cell.value for cell in cells), cells[0].unit)
    names = varying(cells)
    order = list(dict.fromkeys(cell.metric for cell in headline_first(cells)))
    metrics = len(order) > 1

    def group(cell: Cell) -> tuple[object, ...]:
        known = cell.coordinates
        return (order.index(cell.metric), *(_orderable(known.get(name)) for name in names))

    ordered = sorted(cells, key=group)
    compared = any(cell.verdict for cell in cells)
    rows = [_row(cell, names, metrics, scale, compared) for cell in ordered]
    told = [published_field(beside(published, cell)) for cell in ordered]
    if any(field.text for field in told):
        rows = [(*row, field) for row, field in zip(rows, told, strict=True)]
    keys = [group(cell) for cell in ordered]
    starts = frozenset(i for i in range(1, len(keys)) if keys[i] != keys[i - 1])
    columns = _columns(cells[0], names, metrics, scale, compared)
    if rows and len(rows[0]) > len(columns):
        columns = (*columns, PUBLISHED_COLUMN)
    return DataTable(columns, tuple(rows), starts)


def published_field(points: Sequence[PublishedPoint]) -> Field:
    """Write published ratios for a row of a table; they lead to their sources."""
    if not points:
        return Field("")
    return Field(
        "; ".join(dict.fromkeys(point.told for point in points)),
        points[0].middle,
        link=points[0].anchor,
        tip="; ".join(dict.fromkeys(point.tip for point in points)),
    )


def tone_of(verdict: str) -> Tone:
    """Give the ink of a ratio: coloured only when the verdict says slower or faster."""
    return _TONES.get(verdict, "")


def _columns(
    cell: Cell, names: Sequence[str], metrics: bool, scale: Scale, compared: bool
) -> tuple[Column, ...]:
    heads = [Column("metric", "text")] if metrics else []
    for name in names:
        number = not isinstance(cell.coordinates.get(name), str)
        heads.append(Column(parameter_name(name), "number" if number else "text"))
    median = "median" if metrics else f"median {metric_name(cell.metric)}"
    return (
        *heads,
        Column("platform", "text"),
        Column(scale.titled(median)),
        Column("95 %", "light"),
        Column("n"),
        *_RATIO_COLUMNS[: 3 * compared],
    )


def _row(
    cell: Cell, names: Sequence[str], metrics: bool, scale: Scale, compared: bool
) -> tuple[Field, ...]:
    known = cell.coordinates
    heads = [Field(metric_name(cell.metric))] if metrics else []
    for name in names:
        value = known.get(name)
        heads.append(
            Field(parameter_value(name, value), value if isinstance(value, int | float) else None)
        )
    return (
        *heads,
        Field(cell.platform, platform=cell.platform),
        Field(scale.show(cell.value), cell.value, caveats=cell.caveats),
        Field(interval(scale, cell.lo, cell.hi), cell.lo),
        Field(str(cell.n), cell.n),
        *(ratio_fields(cell) if compared else ()),
    )


def ratio_fields(cell: Cell) -> tuple[Field, Field, Field]:
    """Give ratio, interval and verdict as a table shows them."""
    if not cell.verdict:
        # The baseline, or a metric without a good direction, which is never compared.
        one = Field("1", 1.0, tone="muted") if cell.better != "none" else Field("")
        return (one, Field(""), Field(""))
    tone = tone_of(cell.verdict)
    return (
        Field(ratio_text(cell.ratio), cell.ratio, tone=tone),
        Field(ratio_interval(cell.ratio_lo, cell.ratio_hi), cell.ratio_lo),
        Field(verdict_word(cell.verdict), tone=tone),
    )


def _orderable(value: Scalar | None) -> tuple[int, float, str]:
    """Order what is absent first, then numbers, then texts."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (2, 0.0, value)
    return (1, float(value), "")


EXHIBIT = Table()
