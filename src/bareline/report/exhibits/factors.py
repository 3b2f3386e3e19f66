"""Values, performance factor and performance lost, as Nebula's Table IV prints them."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.analysis.cell import Cell
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.published import beside, points_for
from bareline.report.content.wording import (
    metric_name,
    ratio_interval,
    ratio_text,
    sentence_case,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.rules import RULES, rule_text, ruled_ratio, ruled_value
from bareline.report.exhibits.table import PUBLISHED_COLUMN, published_field, tone_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import format_value


class Factors(Exhibit):
    """One row per benchmark and platform: both values, how many times worse, what is lost."""

    kind = "factors"
    summary = "values, performance factor and performance lost in percent, one row per benchmark"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table: every metric of one probe, or the headline of each of several."""
        alone = spec.probe is not None and "*" not in spec.probe
        cells = [
            cell
            for cell in select(document, spec)
            if cell.metric.better != "none" and (alone or spec.metric or cell.headline)
        ]
        order = list(dict.fromkeys(cell.place for cell in cells))
        cells.sort(key=lambda cell: order.index(cell.place))
        compared = [cell for cell in cells if cell.platform != document.baseline]
        if not any(cell.value is not None for cell in compared):
            return []
        points = points_for(document.published, spec, cells, document.baseline)
        bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
        names = {probe: varying(c.place for c in cells if c.place.probe == probe) for probe in
                 {cell.place.probe for cell in cells}}  # fmt: skip
        rows: list[tuple[Field, ...]] = []
        starts, last = set[int](), compared[0].place
        for cell in compared:
            if cell.place != last and rows:
                starts.add(len(rows))
            last = cell.place
            row = _row(document, spec.rule, cell, bases.get(last), names[cell.place.probe])
            rows.append((*row, published_field(beside(points, cell))))
        ruled = spec.rule in RULES
        told = [rule_text(spec.rule, document.baseline)]
        told.append("Published are only ratios of other systems." if points else "")
        return [
            Figure(
                id=slug("factors", spec.probe or "all", spec.metric or "", spec.title),
                title=spec.title or f"Performance against {document.baseline}",
                caption=" ".join(
                    filter(None, [spec.caption, "A factor above 1 is worse; what is lost is "
                                  "1 - 1/factor of the baseline's performance.", *told])
                ),
                layer=compared[0].layer if len({c.layer for c in compared}) == 1 else "",
                wide=True,
                data_table=DataTable(
                    (*_columns(document.baseline, ruled), PUBLISHED_COLUMN)
                    if points
                    else _columns(document.baseline, ruled),
                    tuple(rows if points else (row[:-1] for row in rows)),
                    frozenset(starts),
                ),
                data=tidy(cells),
            )
        ]  # fmt: skip


def _columns(baseline: str, ruled: bool) -> tuple[Column, ...]:
    return (
        Column("benchmark", "text"),
        Column("platform", "text"),
        Column(baseline),
        Column("value"),
        Column("factor"),
        *(() if ruled else (Column("95 %", "light"),)),
        Column("performance lost (%)"),
        Column("n"),
        Column("verdict", "text"),
    )


def _row(
    document: Document, rule: str, cell: Cell, base: Cell | None, names: Sequence[str]
) -> tuple[Field, ...]:
    ratio = ruled_ratio(document, cell, base, rule)
    own = ruled_value(document, cell, rule)
    other = None if base is None else ruled_value(document, base, rule)
    title = sentence_case(document.probe_titles.get(cell.place.probe, cell.place.probe))
    parts = [title, "" if cell.headline else metric_name(cell.place.metric), cell.place.told(names)]
    tone = tone_of(cell.verdict)
    lost = 100 * (1 - 1 / ratio) if ratio else None
    bounds = ratio_interval(cell.ratio)
    return (
        Field(", ".join(filter(None, parts))),
        Field(cell.platform, platform=cell.platform),
        Field(_shown(other, cell.metric.unit), other),
        Field(_shown(own, cell.metric.unit), own, caveats=cell.caveats),
        Field(ratio_text(ratio), ratio, tone=tone),
        *(() if rule in RULES else (Field(bounds, cell.ratio.lo if cell.ratio else None),)),
        Field("–" if lost is None else f"{lost:.1f}", lost),
        Field(str(cell.n), cell.n),
        Field(verdict_word(cell.verdict), tone=tone),
    )


def _shown(value: float | None, unit: str) -> str:
    return "–" if value is None else format_value(value, unit)


EXHIBIT = Factors()
