"""Native and virtual side by side: a bar each, and what is lost, as InfiniCloud draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import sentence_case, verdict_word
from bareline.report.exhibits.barpanel import BarExhibit, Bars
from bareline.report.exhibits.columns import cells_table
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio, ruled_value
from bareline.report.figures.figure import Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.verdicts import Verdict


class Pairs(BarExhibit):
    """Bars from zero with the performance lost against the baseline beside each."""

    kind = "pairs"
    summary = "native and virtual as bars from zero, with the performance lost beside each"

    def draw(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the values as the rule of the specification reports them."""
        published = points_for(document.published, spec, cells, document.baseline)
        ruled = _ruled(document, spec.rule, cells)
        bars = _Bars.around(document, ruled, published=published)
        told = [words for _, own in bars.groups for cell in own if (words := _told(cell))]
        probe = cells[0].place.probe
        return self.figure(
            spec,
            probe,
            *bars.metrics[:1],
            title=f"{sentence_case(bars.names)}, and what is lost",
            notes=[rule_text(spec.rule, document.baseline), *bars.notes],
            cells=cells,
            probe=probe,
            panels=bars.panels(),
            published=published,
            summary=f"{probe}: {'; '.join(told[:12]) or 'nothing to compare'}.",
            table=cells_table(cells, published),
        )


@dataclass(frozen=True, slots=True)
class _Bars(Bars):
    """Bars whose values are followed by what is lost."""

    def told(self, cell: Cell) -> str:
        """Write value and loss."""
        value, share = self.scale.show(cell.median), lost(cell.ratio)
        if cell.verdict is Verdict.NOT_COMPARABLE:
            return f"{value}  ({verdict_word(cell.verdict)})"
        if share is None:
            return value
        change = f"{-share.value:+.1f}".replace("-", "\u2212")
        # The last space is slack: a reader's font may be wider than the one that was measured.
        return f"{value}  ({change} %)\u2003"


def _ruled(document: Document, rule: str, cells: Sequence[Cell]) -> list[Cell]:
    """Give cells as a rule reports them: their values, without the intervals of the medians."""
    if rule not in RULES:
        return list(cells)
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    found = []
    for cell in cells:
        value, base = ruled_value(document, cell, rule), bases.get(cell.place)
        ratio = None if cell is base else ruled_ratio(document, cell, base, rule)
        shown = None if value is None else Estimate(value)
        found.append(replace(cell, value=shown, ratio=ratio))
    return found


def _told(cell: Cell) -> str:
    """Say what a platform loses."""
    share = lost(cell.ratio)
    if share is not None:
        return f"{cell.platform} loses {share.value:.1f} %"
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return f"{cell.platform} is {verdict_word(cell.verdict)}"
    return ""


EXHIBIT = Pairs()
