"""Values, performance factor and performance lost, as Nebula's Table IV prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import metric_name, sentence_case
from bareline.report.exhibits.base import Exhibit, select, titled
from bareline.report.exhibits.columns import CellRows, tone_of
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio, ruled_value
from bareline.report.figures.figure import Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
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
        """Give a table of every metric of one probe, or of the headline of each of several.

        Where a publication is repeated, what it prints stands in its order, and the rest in a
        second table.
        """
        alone = spec.probe is not None and "*" not in spec.probe
        cells = [
            cell
            for cell in select(document, spec)
            if cell.metric.better != "none" and (alone or spec.metric or cell.headline)
        ]
        points = points_for(document.published, spec, cells, document.baseline)
        printed = _printed(cells, points)
        cells = [c for c in cells if c.place in printed or c.place.probe not in spec.also]
        if not spec.published or not printed:
            return self._table(document, spec, cells, points)
        told = sorted(
            (c for c in cells if c.place in printed),
            key=lambda c: (printed[c.place], c.place.probe in spec.also),
        )
        rest = [cell for cell in cells if cell.place not in printed]
        return [
            *self._table(document, spec, told, points),
            *(
                replace(one, folded=True)
                for one in self._table(document, spec, rest, points, label="what is not printed")
            ),
        ]

    def _table(
        self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell],
        points: Sequence[PublishedPoint], label: str = "",
    ) -> list[Figure]:  # fmt: skip
        factors = _factors(document, spec, cells)
        if not any(one.cell.value is not None for one in factors):
            return []
        rows = (
            CellRows(factors, lambda one: one.cell, lambda one: one.cell.place)
            .text("benchmark", lambda one: one.title)
            .platforms()
            .column("factor", _factor)
        )
        if spec.rule not in RULES:
            rows.interval(lambda one: one.ratio)
        rows.verdict().published(points).number("performance lost (%)", _lost, "{:.1f}".format)
        rows.column(document.baseline, lambda one: _shown(one.cell, one.base))
        rows.column("value", lambda one: _shown(one.cell, one.value, doubted=True)).launches()
        return [
            self.figure(
                spec,
                spec.probe or "all",
                spec.metric or "",
                title=f"Performance against {document.baseline}",
                label=label,
                notes=[
                    "A factor above 1 is worse; what is lost is 1 - 1/factor of the baseline's "
                    "performance.",
                    rule_text(spec.rule, document.baseline),
                    "Published are only ratios of other systems; in brackets where they were "
                    "measured, if not on as many ranks and nodes."
                    if points and not label
                    else "",
                ],
                cells=cells,
                table=rows.table(),
            )
        ]


def _printed(cells: Sequence[Cell], points: Sequence[PublishedPoint]) -> dict[Place, int]:
    """Give the places of which something is printed, each with its number in the publication."""
    found: dict[Place, int] = {}
    for cell in cells:
        for number, point in enumerate(points):
            if point.about(cell):
                # What several probes measure stands together, under the first of them.
                first = next(
                    n for n, p in enumerate(points) if p.ratio.results == point.ratio.results
                )
                found[cell.place] = min(first, found.get(cell.place, number))
                break
    return found


def _factors(document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> list[_Factor]:
    """Lay every cell beside the baseline's; those of a place follow each other."""
    rule = spec.rule
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
                _title(document, spec, cell, names[cell.place.probe]),
                cell,
                None if base is None else ruled_value(document, base, rule),
                ruled_value(document, cell, rule),
                ruled_ratio(document, cell, base, rule),
            )
        )
    return found


def _title(document: Document, spec: ExhibitSpec, cell: Cell, names: Sequence[str]) -> str:
    """Name a row: among the metrics of one probe by its metric, a further probe's with its name."""
    if spec.also and cell.place.probe == spec.probe:
        return sentence_case(metric_name(cell.place.metric))
    title = titled(document, cell, names)
    return f"{title} ({cell.place.probe})" if cell.place.probe in spec.also else title


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
