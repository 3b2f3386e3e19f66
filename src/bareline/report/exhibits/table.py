"""Medians with their intervals and ratios, one row per value and platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import headline_first, tidy
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import (
    axis_name,
    interval,
    metric_name,
    ratio_interval,
    ratio_text,
    sentence_case,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.figures.figure import Column, DataTable, Field, Figure, Tone
from bareline.report.figures.scales import Scale, unit_scale
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import parameter_value, varying
from bareline.vocabulary.verdicts import Verdict

_TONES: Mapping[Verdict | None, Tone] = MappingProxyType(
    {
        Verdict.SLOWER: "worse",
        Verdict.FASTER: "better",
        Verdict.FAILED: "muted",
        Verdict.MISSING: "muted",
        Verdict.DOES_NOT_FIT: "muted",
        Verdict.SKIPPED: "muted",
        Verdict.NOT_COMPARABLE: "muted",
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
            groups.setdefault((cell.place.probe, cell.metric.unit), []).append(cell)
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
        return ", ".join(dict.fromkeys(metric_name(cell.place.metric) for cell in cells))


def cells_table(cells: Sequence[Cell], published: Sequence[PublishedPoint] = ()) -> DataTable:
    """Tabulate cells of one unit: parameters that vary, platform, value, ratio, verdict.

    Parameters
    ----------
    published
        Published ratios; those that speak of a cell stand in its row.
    """
    scale = unit_scale((cell.median for cell in cells), cells[0].metric.unit)
    names = varying(cell.place for cell in cells)
    order = list(dict.fromkeys(cell.place.metric for cell in headline_first(cells)))
    metrics = len(order) > 1

    def group(cell: Cell) -> tuple[object, ...]:
        known = cell.place.coordinates
        return (order.index(cell.place.metric), *(_orderable(known.get(name)) for name in names))

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


def tone_of(verdict: Verdict | None) -> Tone:
    """Give the ink of a ratio: coloured only when the verdict says slower or faster."""
    return _TONES.get(verdict, "")


def _columns(
    cell: Cell, names: Sequence[str], metrics: bool, scale: Scale, compared: bool
) -> tuple[Column, ...]:
    heads = [Column("metric", "text")] if metrics else []
    for name in names:
        number = not isinstance(cell.place.coordinates.get(name), str)
        heads.append(Column(axis_name(name), "number" if number else "text"))
    median = "median" if metrics else f"median {metric_name(cell.place.metric)}"
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
    known = cell.place.coordinates
    heads = [Field(metric_name(cell.place.metric))] if metrics else []
    for name in names:
        value = known.get(name)
        heads.append(
            Field(parameter_value(name, value), value if isinstance(value, int | float) else None)
        )
    return (
        *heads,
        Field(cell.platform, platform=cell.platform),
        Field(scale.show(cell.median), cell.median, caveats=cell.caveats),
        Field(interval(scale, cell.value), cell.value.lo if cell.value else None),
        Field(str(cell.n), cell.n),
        *(ratio_fields(cell) if compared else ()),
    )


def ratio_fields(cell: Cell) -> tuple[Field, Field, Field]:
    """Give ratio, interval and verdict as a table shows them."""
    if not cell.verdict:
        # The baseline, or a metric without a good direction, which is never compared.
        one = Field("1", 1.0, tone="muted") if cell.metric.better != "none" else Field("")
        return (one, Field(""), Field(""))
    tone = tone_of(cell.verdict)
    return (
        Field(
            ratio_text(cell.ratio.value if cell.ratio else None),
            cell.ratio.value if cell.ratio else None,
            tone=tone,
        ),
        Field(ratio_interval(cell.ratio), cell.ratio.lo if cell.ratio else None),
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
