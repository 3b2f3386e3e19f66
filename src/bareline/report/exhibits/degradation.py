"""How much performance each application loses, in percent, by ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bareline.analysis.amounts import with_interval
from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, beside, points_for
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.barpanel import row_panel
from bareline.report.exhibits.base import Exhibit, grouped_by, select, titled
from bareline.report.exhibits.columns import CellRows
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio
from bareline.report.figures.figure import Chart, DataTable, Figure
from bareline.report.figures.scales import signed_ticks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying

_LOST = "1 - 1/factor of the baseline's performance; left of zero is a gain."
DIAMONDS = (
    "Diamonds: what the publication lost, pale where it was measured elsewhere than here, which "
    "is written beside."
)


@dataclass(frozen=True, slots=True)
class _Loss:
    """What a cell loses against the baseline, in percent."""

    title: str
    cell: Cell
    lost: Estimate | None

    @property
    def told(self) -> str:
        """The loss, or why there is none."""
        if self.lost is None:
            return verdict_word(self.cell.verdict) or "missing"
        return f"{self.lost.value:.1f} %"


class Degradation(Exhibit):
    """Bars of performance lost from zero, one per application, ranks and platform."""

    kind = "degradation"
    summary = "performance lost in percent by application and ranks, one bar per platform"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw one figure over all probes; the headline metric of each without another."""
        cells = [
            cell
            for cell in select(document, spec)
            if cell.metric.directed and (spec.metric or cell.headline)
        ]
        bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
        names = varying(cell.place for cell in cells)
        found = [
            _Loss(
                titled(document, cell, names, metric=False),
                cell,
                lost(ruled_ratio(document, cell, bases.get(cell.place), spec.rule)),
            )
            for cell in cells
            if cell.platform != document.baseline
        ]
        if not any(one.lost for one in found):
            return []
        losses = [one for own in grouped_by(found, _title).values() for one in own]
        points = points_for(document.published, spec, cells, document.baseline)
        metrics = {metric_name(one.cell.place.metric) for one in losses}
        what = f", {metrics.pop()}" if len(metrics) == 1 else ""
        told = [f"{one.title} on {one.cell.platform} {one.told}" for one in losses]
        return [
            self.figure(
                spec,
                spec.probe or "all",
                spec.metric or "",
                title=f"Performance lost against {document.baseline}{what}",
                notes=[_LOST, rule_text(spec.rule, document.baseline), DIAMONDS if points else ""],
                cells=cells,
                panels=[_panel(document, losses, points)],
                published=points,
                summary=f"Performance lost: {'; '.join(told[:12])}.",
                table=_table(spec.rule, losses, points),
            )
        ]


def _title(one: _Loss) -> str:
    return one.title


def _panel(document: Document, losses: Sequence[_Loss], points: Sequence[PublishedPoint]) -> Chart:
    printed = {
        (one.cell.platform, one.cell.place): [
            (share.value, point.tip, point.elsewhere(one.cell.place))
            for point in beside(points, one.cell)
            if (share := lost(Estimate(point.middle)))
        ]
        for one in losses
    }
    values = [end for one in losses if one.lost for end in one.lost.known]
    values += [value for own in printed.values() for value, *_ in own]
    panel = row_panel(document, signed_ticks(values))
    for title, own in grouped_by(losses, _title).items():
        panel.head(title)
        for one in own:
            cell = one.cell
            if one.lost is None:
                y = panel.empty(cell.platform, one.told)
            else:
                amount = with_interval(one.lost, "%", "{:.1f}".format)
                y = panel.bar(
                    cell.platform,
                    one.lost,
                    text=f"{one.lost.value:.1f}",
                    tip=f"{cell.platform}: {amount} lost, n = {cell.n}",
                    hollow=cell.simulated,
                )
            for value, tip, there in printed[cell.platform, cell.place]:
                panel.diamond(cell.platform, value, y, tip, elsewhere=there)
    return panel.chart("performance lost (%)")


def _table(rule: str, losses: Sequence[_Loss], points: Sequence[PublishedPoint]) -> DataTable:
    rows = (
        CellRows(losses, lambda one: one.cell, _title)
        .text("benchmark", _title)
        .platforms()
        .value("lost (%)", lambda one: one.lost.value if one.lost else None, "{:.1f}".format)
    )
    if rule not in RULES:
        rows.interval(lambda one: one.lost, "{:.1f}".format)
    return rows.verdict().published(points).launches().table()


EXHIBIT = Degradation()
