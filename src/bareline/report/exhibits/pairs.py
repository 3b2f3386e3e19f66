"""Native and virtual side by side: a bar each, and what is lost, as InfiniCloud draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bareline.analysis.cell import Cell, Estimate
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.published import points_for
from bareline.report.content.wording import caveat_notes, sentence_case, verdict_word
from bareline.report.exhibits.barpanel import DIAMONDS, BarExhibit, BarPanel, Bars, Group
from bareline.report.exhibits.degradation import lost
from bareline.report.exhibits.rules import RULES, rule_text, ruled_ratio, ruled_value
from bareline.report.exhibits.table import cells_table
from bareline.report.figures.figure import Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.verdicts import Verdict


class Pairs(BarExhibit):
    """Bars from zero with the performance lost against the baseline beside each."""

    kind = "pairs"
    summary = "native and virtual as bars from zero, with the performance lost beside each"

    def figure(self, document: Document, spec: ExhibitSpec, cells: Sequence[Cell]) -> Figure:
        """Draw the values as the rule of the specification reports them."""
        ruled = [_ruled(document, cell, spec.rule) for cell in cells]
        published = points_for(document.published, spec, cells, document.baseline)
        bars = Bars.around(document, ruled, published=published)
        rule = rule_text(spec.rule, document.baseline)
        note = DIAMONDS if bars.published else ""
        told = _losses(document, bars, spec.rule)
        return Figure(
            id=slug("pairs", cells[0].place.probe, *bars.metrics[:1], spec.title),
            title=spec.title or f"{sentence_case(bars.names)}, and what is lost",
            caption=" ".join(filter(None, [spec.caption, rule, bars.note, note])),
            probe=cells[0].place.probe,
            layer=cells[0].layer,
            panels=tuple(
                _PairPanel(document, bars, chunk, spec.rule).chart()
                for chunk in bars.chunks(len(document.names))
            ),
            wide=True,
            text_summary=f"{cells[0].place.probe}: {'; '.join(told[:12]) or 'nothing to compare'}.",
            caveats=caveat_notes(cells),
            data_table=cells_table(cells, bars.published),
            data=tidy(cells),
        )


def _losses(document: Document, bars: Bars, rule: str) -> list[str]:
    """Say what each platform loses."""
    told = []
    for _, own in bars.groups:
        base = next((cell for cell in own if cell.platform == document.baseline), None)
        for cell in own:
            share = lost(ruled_ratio(document, cell, base, rule))
            if cell is not base and share is not None:
                told.append(f"{cell.platform} loses {share:.1f} %")
            elif cell.verdict == Verdict.NOT_COMPARABLE:
                told.append(f"{cell.platform} is {verdict_word(cell.verdict)}")
    return told


def _ruled(document: Document, cell: Cell, rule: str) -> Cell:
    """Give the cell as a rule reports it: its value, without the interval of the median."""
    if rule not in RULES:
        return cell
    value = ruled_value(document, cell, rule)
    return replace(cell, value=None if value is None else Estimate(value), ratio=None)


class _PairPanel(BarPanel):
    """Bars whose values are followed by what is lost."""

    def __init__(self, document: Document, bars: Bars, groups: Sequence[Group], rule: str) -> None:
        self.rule = rule
        self.bases = {
            id(cell): next((c for c in own if c.platform == document.baseline), None)
            for _, own in groups
            for cell in own
        }
        super().__init__(document, bars, groups)

    def place(self, name: str, cell: Cell | None, y: float) -> None:
        """Add the loss to the number at the end of the row."""
        super().place(name, cell, y)
        if cell is None or cell.value is None or name == self.document.baseline:
            return
        if cell.verdict == Verdict.NOT_COMPARABLE:
            self.bars[-1]["text"] += f"  ({verdict_word(cell.verdict)})"
            return
        ratio = cell.ratio.value if cell.ratio else None
        if self.rule in RULES:
            base = self.bases[id(cell)]
            ratio = None
            if base is not None and base.median and cell.metric.better in ("lower", "higher"):
                better_low = cell.metric.better == "lower"
                worse = cell.value.value / base.median
                ratio = worse if better_low else 1 / worse if worse else None
        share = lost(ratio)
        if share is not None:
            change = f"{-share:+.1f}".replace("-", "\u2212")
            self.bars[-1]["text"] += f"  ({change} %)"


EXHIBIT = Pairs()
