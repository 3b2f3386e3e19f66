"""Native and virtual side by side: a bar each, and what is lost, as InfiniCloud draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bareline.report.content.anchors import slug
from bareline.report.content.cells import Cell, headline_first, tidy
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_for
from bareline.report.content.wording import caveat_notes, metric_name, sentence_case
from bareline.report.exhibits.bars import DIAMONDS, BarPanel, chunks, expected, grouped
from bareline.report.exhibits.base import Exhibit, select
from bareline.report.exhibits.degradation import lost
from bareline.report.exhibits.rules import RULES, rule_text, ruled_ratio, ruled_value
from bareline.report.exhibits.table import cells_table
from bareline.report.figures.figure import Figure
from bareline.report.figures.scales import Scale, Ticks, unit_scale, zero_ticks
from bareline.store.header import ExhibitSpec


class Pairs(Exhibit):
    """Bars from zero with the performance lost against the baseline beside each."""

    kind = "pairs"
    summary = "native and virtual as bars from zero, with the performance lost beside each"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure per probe and unit in which anything is compared."""
        groups: dict[tuple[str, str], list[Cell]] = {}
        for cell in select(document, spec):
            groups.setdefault((cell.probe, cell.unit), []).append(cell)
        return [
            _figure(document, spec, cells)
            for cells in groups.values()
            if any(cell.value is not None for cell in cells)
        ]


def _figure(document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
    ruled = [_ruled(document, cell, spec.rule) for cell in cells]
    scale = unit_scale((cell.value for cell in ruled), cells[0].unit)
    metrics = list(dict.fromkeys(cell.metric for cell in headline_first(cells)))
    groups = grouped(ruled, several=len(metrics) > 1)
    published = points_for(document.published, spec, cells, document.baseline)
    values = [v for cell in ruled for v in (cell.value, cell.hi) if v is not None]
    values += [value for _, own in groups for *_, value in expected(document, own, published)]
    ticks = zero_ticks(value * scale.factor for value in values)
    panels = [
        _PairPanel(document, chunk, scale, ticks, published, spec.rule).chart()
        for chunk in chunks(groups, len(document.names))
    ]
    names = ", ".join(metric_name(metric) for metric in metrics)
    told = []
    for _, own in groups:
        base = next((cell for cell in own if cell.platform == document.baseline), None)
        for cell in own:
            share = lost(ruled_ratio(document, cell, base, spec.rule))
            if cell is not base and share is not None:
                told.append(f"{cell.platform} loses {share:.1f} %")
    return Figure(
        id=slug("pairs", cells[0].probe, *metrics[:1], spec.title),
        title=spec.title or f"{sentence_case(names)}, and what is lost",
        caption=" ".join(
            filter(
                None,
                [
                    spec.caption,
                    rule_text(spec.rule, document.baseline),
                    DIAMONDS if published else "",
                ],
            )
        ),
        probe=cells[0].probe,
        layer=cells[0].layer,
        panels=tuple(panels),
        wide=True,
        text_summary=f"{cells[0].probe}: {'; '.join(told[:12]) or 'nothing to compare'}.",
        caveats=caveat_notes(cells),
        data_table=cells_table(cells, published),
        data=tidy(cells),
    )


def _ruled(document: Document, cell: Cell, rule: str) -> Cell:
    """Give the cell as a rule reports it: its value, without the interval of the median."""
    if rule not in RULES:
        return cell
    value = ruled_value(document, cell, rule)
    return replace(cell, value=value, lo=None, hi=None, ratio=None, ratio_lo=None, ratio_hi=None)


class _PairPanel(BarPanel):
    """Bars whose values are followed by what is lost."""

    def __init__(
        self,
        document: Document,
        groups: Sequence[tuple[str, list[Cell]]],
        scale: Scale,
        ticks: Ticks,
        published: Sequence[PublishedPoint],
        rule: str,
    ) -> None:
        self.rule = rule
        self.bases = {
            id(cell): next((c for c in own if c.platform == document.baseline), None)
            for _, own in groups
            for cell in own
        }
        super().__init__(document, groups, scale, ticks, published)

    def place(self, name: str, cell: Cell | None, y: float) -> None:
        """Add the loss to the number at the end of the row."""
        super().place(name, cell, y)
        if cell is None or cell.value is None or name == self.document.baseline:
            return
        ratio = cell.ratio
        if self.rule in RULES:
            base = self.bases[id(cell)]
            ratio = None
            if base is not None and base.value and cell.better in ("lower", "higher"):
                better_low = cell.better == "lower"
                ratio = cell.value / base.value if better_low else base.value / cell.value
        share = lost(ratio)
        if share is not None:
            change = f"{-share:+.1f}".replace("-", "\u2212")
            self.bars[-1]["text"] += f"  ({change} %)"


EXHIBIT = Pairs()
