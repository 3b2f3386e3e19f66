"""Values, performance factor and performance lost, as Nebula's Table IV prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.exhibits.base import Exhibit, select, titled
from bareline.report.exhibits.columns import CellRows, tone_of
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio, ruled_value
from bareline.report.figures.figure import Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import format_value, plain


@dataclass(frozen=True, slots=True)
class _Factor:
    """A cell and the baseline's at the same place, as a rule reports them."""

    title: str
    cell: Cell
    base: float | None
    value: float | None
    ratio: Estimate | None


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
        factors = _factors(document, spec.rule, cells)
        if not any(one.cell.value is not None for one in factors):
            return []
        points = points_for(document.published, spec, cells, document.baseline)
        rows = (
            CellRows(factors, lambda one: one.cell, lambda one: one.cell.place)
            .text("benchmark", lambda one: one.title)
            .platforms()
            .column(document.baseline, lambda one: _shown(one.cell, one.base))
            .column("value", lambda one: _shown(one.cell, one.value, doubted=True))
            .column("factor", _factor)
        )
        if spec.rule not in RULES:
            rows.interval(lambda one: one.ratio)
        rows.number("performance lost (%)", _lost, "{:.1f}".format).launches().verdict()
        return [
            self.figure(
                spec,
                spec.probe or "all",
                spec.metric or "",
                title=f"Performance against {document.baseline}",
                notes=[
                    "A factor above 1 is worse; what is lost is 1 - 1/factor of the baseline's "
                    "performance.",
                    rule_text(spec.rule, document.baseline),
                    "Published are only ratios of other systems." if points else "",
                ],
                cells=cells,
                table=rows.published(points).table(),
            )
        ]


def _factors(document: Document, rule: str, cells: Sequence[Cell]) -> list[_Factor]:
    """Lay every cell beside the baseline's; those of a place follow each other."""
    order = {place: number for number, place in enumerate(dict.fromkeys(c.place for c in cells))}
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    names = {
        probe: varying(cell.place for cell in cells if cell.place.probe == probe)
        for probe in {cell.place.probe for cell in cells}
    }
    found = []
    for cell in sorted(cells, key=lambda cell: order[cell.place]):
        if cell.platform == document.baseline:
            continue
        base = bases.get(cell.place)
        found.append(
            _Factor(
                titled(document, cell, names[cell.place.probe]),
                cell,
                None if base is None else ruled_value(document, base, rule),
                ruled_value(document, cell, rule),
                ruled_ratio(document, cell, base, rule),
            )
        )
    return found


def _shown(cell: Cell, value: float | None, *, doubted: bool = False) -> Field:
    text = "–" if value is None else format_value(value, cell.metric.unit)
    return Field(text, value, caveats=cell.caveats if doubted else ())


def _factor(one: _Factor) -> Field:
    ratio = one.ratio.value if one.ratio else None
    return Field("–" if ratio is None else plain(ratio), ratio, tone=tone_of(one.cell.verdict))


def _lost(one: _Factor) -> float | None:
    share = lost(one.ratio)
    return share.value if share else None


EXHIBIT = Factors()
