"""The kinds of exhibits with horizontal bars: a group for each title, a bar for each platform."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot
from bareline.report.content.published import PublishedPoint, points_of
from bareline.report.content.wording import sentence_case, summed_up, value_words, verdict_word
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, by_unit, cells_of, select
from bareline.report.exhibits.columns import cells_table, in_table_order
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio, ruled_value
from bareline.report.figures.rows import Bar, Groups, Part, PrintedMark, bar_chart
from bareline.report.figures.scales import Scale, Ticks, zero_ticks
from bareline.report.figures.theme import looks
from bareline.report.figures.vega import Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Verdict

#: Metrics of the parts of a bar from the axis outwards, each with its name and its opacity.
PARTS = (("compute_mean", "computation", 0.62), ("communication_mean", "communication", 0.22))

#: The parts of each platform's total, in the order of `PARTS`.
Parts = Mapping[tuple[str, Place], Sequence[float]]

#: The width of bars and names together.
_WIDTH_PX = 312
#: A panel has at most this many bars; further groups are in the next panel.
_MOST_BARS = 27
#: A summary names at most so many losses.
MOST_LOSSES = 12


def drawing(
    document: Document,
    groups: Groups,
    title: str,
    ticks: Callable[[Iterable[float]], Ticks],
    most: int = 0,
) -> Drawing:
    """Return the drawing of groups of bars on one axis, with at most `most` groups per panel.

    If `most` is 0, one panel has all groups.
    """
    ends: list[float] = []
    for bars in groups.values():
        for bar in bars:
            ends += bar.ends
    axis = ticks(ends)
    longest = max(map(len, document.names))
    labels_px = min(170.0, max(76.0, 26 + 6.3 * longest))
    plot_px = _WIDTH_PX - labels_px
    styles = looks(document.names)
    panels = []
    for panel in _divided_evenly(groups, most):
        panels.append(bar_chart(panel, title, axis, styles, plot_px, labels_px))
    return Drawing(panels)


def _divided_evenly(groups: Groups, most: int) -> Iterator[Groups]:
    """Yield the groups of each panel, so that all panels have about the same height."""
    items = list(groups.items())
    size = len(items)
    if most:
        panels = math.ceil(len(items) / most)
        size = math.ceil(len(items) / panels)
    for start in range(0, len(items), size):
        yield dict(items[start : start + size])


#: Writes the number at the end of a bar.
WriteValue = Callable[[Row, Scale], str]


def _median_text(cell: Row, unit: Scale) -> str:
    return unit.show(cell.median)


@dataclass(frozen=True, slots=True)
class _Bars:
    """A painter of one figure's cells as bars that begin at zero.

    - `write`: formats the number at the end of a bar.
    - `parts`: for a bar that is divided into pieces, the parts of its total.
    """

    chosen: Panel
    write: WriteValue = _median_text
    parts: Parts = field(default_factory=dict)
    dots: Mapping[Row, Sequence[Dot]] = field(default_factory=dict)

    @property
    def unit(self) -> Scale:
        return self.chosen.unit

    def drawing(self) -> Drawing:
        names = self._names()
        groups = {}
        for label, rows in self.chosen.groups.items():
            groups[label] = self._group(rows, names)
        most = max(1, _MOST_BARS // len(names))
        return drawing(self.chosen.document, groups, self.unit.unit, zero_ticks, most)

    def _names(self) -> Sequence[str]:
        """Return the platforms on which cells of the figure were planned.

        A study may plan a probe for some of its platforms only. Then the figure has no "missing"
        bars for the other platforms.
        """
        planned = self.chosen.planned
        return [name for name in self.chosen.document.names if name in planned]

    def _group(self, rows: Sequence[TableRow], names: Sequence[str]) -> list[Bar]:
        cells = {row.platform: row.cell for row in rows}
        base = cells.get(self.chosen.baseline)
        bars = []
        for name in names:
            if name in cells:
                bars.append(self._bar(cells[name], base))
            else:
                bars.append(Bar(name, "missing"))
        return bars

    def _bar(self, cell: Row, base: Row | None) -> Bar:
        printed = self._printed(cell, base)
        if cell.value is None:
            reason = verdict_word(cell.verdict) or "missing"
            return Bar(cell.platform, reason, printed=printed)
        parts: list[Part] = []
        words = [f"{cell.platform}: {value_words(cell, self.unit)}"]
        for value, (_, name, strength) in zip(self._parts_of(cell), PARTS, strict=False):
            parts.append((value * self.unit.factor, strength))
            words.append(f"{name} {self._amount(value)}")
        return Bar(
            cell.platform,
            self.write(cell, self.unit),
            cell.value.times(self.unit.factor),
            "; ".join(words),
            cell.simulated,
            self._trials(cell),
            printed,
            parts,
        )

    def _parts_of(self, cell: Row) -> Sequence[float]:
        return self.parts.get((cell.platform, cell.place), ())

    def _amount(self, value: float) -> str:
        return f"{self.unit.show(value)} {self.unit.unit}"

    def _trials(self, cell: Row) -> list[tuple[float, str]]:
        """Return the values of a cell's trials in their order, each with its tooltip."""
        trials = []
        for dot in sorted(self.dots.get(cell, ()), key=lambda dot: dot.trial):
            tip = f"{cell.platform}, trial {dot.trial}: {self._amount(dot.value)}"
            trials.append((dot.value * self.unit.factor, tip))
        return trials

    def _printed(self, cell: Row, base: Row | None) -> list[PrintedMark]:
        """Return a platform's values that follow from its published ratios to the baseline."""
        if base is None or not base.median or not cell.metric.directed:
            return []
        marks = []
        for point in points_of(self.chosen.published, cell):
            value = self.unit.factor * _changed(base.median, point, cell)
            marks.append(PrintedMark(value, point.tip, point.elsewhere(cell.place)))
        marks += self._printed_parts(cell, base)
        return marks

    def _printed_parts(self, cell: Row, base: Row) -> Iterator[PrintedMark]:
        """Yield marks where a bar's parts would end at their published ratios to the baseline."""
        bases = self._parts_of(base)
        start = 0.0
        for index, value in enumerate(self._parts_of(cell)[: len(bases)]):
            metric, _, _ = PARTS[index]
            place = replace(cell.place, metric=metric)
            part = replace(cell, place=place)
            for point in points_of(self.chosen.published, part):
                end = start + bases[index] * point.middle
                yield PrintedMark(end * self.unit.factor, point.tip, point.elsewhere(cell.place))
            start += value


def _changed(value: float, point: PublishedPoint, cell: Row) -> float:
    """Return the baseline's value times a published ratio; a rate is divided by the ratio."""
    if cell.rate:
        return value / point.middle
    return value * point.middle


def medians(chosen: Panel, write: WriteValue = _median_text, parts: Parts | None = None) -> Drawing:
    """Return the drawing of bars from zero, with dots of trials and marks of published values."""
    dots = grouped_by(chosen.trials.dots, lambda dot: dot.cell)
    return _Bars(chosen, write, parts or {}, dots).drawing()


def trial_notes(chosen: Panel) -> tuple[str, ...]:
    """Return the notes on the dots of trials and on the diamonds of published ratios."""
    diamonds = _EXPECTED if chosen.published else ""
    return chosen.trials.note, diamonds


def _valued(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield the panels in which at least one cell has a value."""
    for chosen in by_unit(document, spec):
        if all(cell.value is None for cell in chosen.cells):
            continue
        metric = chosen.rows[0].cell.place.metric
        rows = in_table_order(chosen.rows)
        yield replace(chosen, rows=rows, what=(chosen.probe, metric))


def _bars(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _valued(document, spec):
        yield chosen.figure(
            title=sentence_case(chosen.metric),
            table=cells_table(chosen),
            drawing=medians(chosen),
            notes=trial_notes(chosen),
            summary=_medians_summary(chosen),
        )


def amount_words(cell: Row, unit: Scale) -> str:
    """Format a platform and its median, or the reason why it has no median."""
    if cell.value is None:
        reason = verdict_word(cell.verdict) or "missing"
        return f"{cell.platform} {reason}"
    return f"{cell.platform} {unit.show(cell.median)} {unit.unit}"


def _medians_summary(chosen: Panel) -> str:
    words = {}
    for label, rows in chosen.groups.items():
        words[label] = [amount_words(cell, chosen.unit) for cell in cells_of(rows)]
    return f"{chosen.probe}, medians. {summed_up(words)}"


def _pairs(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _ruled(document, spec):
        rule = rule_text(spec.rule, document.baseline)
        yield chosen.figure(
            title=f"{sentence_case(chosen.metric)}, and the loss",
            table=cells_table(chosen),
            drawing=medians(chosen, _with_loss),
            notes=(rule, *trial_notes(chosen)),
            summary=_losses_summary(chosen),
        )


def _ruled(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Yield panels whose values follow the exhibit's rule, e.g. means; they have no intervals."""
    bases: dict[Place, Row] = {}
    for cell in select(document, spec):
        if cell.platform == document.baseline:
            bases[cell.place] = cell
    for chosen in _valued(document, spec):
        rows = chosen.rows
        if spec.rule in RULES:
            rows = [_by_rule(chosen, row, bases.get(row.cell.place)) for row in rows]
        yield replace(chosen, rows=rows)


def _by_rule(chosen: Panel, row: TableRow, base: Row | None) -> TableRow:
    """Return a row with value and ratio by the exhibit's rule, e.g. from means, not medians."""
    document = chosen.document
    rule = chosen.spec.rule
    cell = row.cell
    is_base = cell is base
    value = ruled_value(document, cell, rule, is_base=is_base)
    estimate = None if value is None else Estimate(value)
    ratio = None if is_base else ruled_ratio(document, cell, base, rule)
    return replace(row, cell=replace(cell, value=estimate, ratio=ratio))


def _with_loss(cell: Row, unit: Scale) -> str:
    """Format a value and its loss; the loss of a time is a ratio, the loss of a rate in percent."""
    value = unit.show(cell.median)
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return f"{value}  ({verdict_word(cell.verdict)})"
    share = lost(cell.ratio)
    if share is None or cell.ratio is None:
        return value
    if not cell.rate:
        # A barrier of 21 µs instead of 5.8 µs takes 3.6 times as long; "72 % lost" would mislead.
        return f"{value}  ({plain(cell.ratio.value)}\u00a0×)\u2003"
    change = f"{-share.value:+.1f}".replace("-", "\u2212")
    # The last space is slack: a reader's font may be wider than the measured font.
    return f"{value}  ({change} %)\u2003"


def _losses_summary(chosen: Panel) -> str:
    losses: list[str] = []
    for rows in chosen.groups.values():
        words = map(_loss_summary, cells_of(rows))
        losses += filter(None, words)
    text = "; ".join(losses[:MOST_LOSSES]) or "nothing to compare"
    return f"{chosen.probe}: {text}."


def _loss_summary(cell: Row) -> str:
    """Format the loss of a cell; empty if the cell is not compared."""
    share = lost(cell.ratio)
    if share is not None and cell.ratio is not None:
        if cell.rate:
            return f"{cell.platform} loses {share.value:.1f} %"
        return f"{cell.platform} takes {plain(cell.ratio.value)} times as long"
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return f"{cell.platform} is {verdict_word(cell.verdict)}"
    return ""


#: The meaning of a diamond on an axis of values.
PALE = "measured elsewhere than here, which is written beside."
_EXPECTED = (
    f"Diamonds: the baseline's value changed by the published ratio, pale where that was {PALE}"
)

EXHIBITS = (
    Exhibit("bars", "single numbers as bars from zero, with every trial as a dot", _bars),
    Exhibit(
        "pairs",
        "native and virtual as bars from zero, with the performance lost beside each",
        _pairs,
    ),
)
