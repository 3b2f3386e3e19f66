"""Kinds of bars under each other, a group for each title and a bar for each platform."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot
from bareline.report.content.published import PublishedPoint, points_of
from bareline.report.content.wording import (
    sentence_case,
    summed_up,
    value_words,
    verdict_word,
)
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, by_unit, select
from bareline.report.exhibits.columns import cells_table, in_table_order
from bareline.report.exhibits.rules import RULES, lost, rule_text, ruled_ratio, ruled_value
from bareline.report.figures.rows import Bar, bar_chart
from bareline.report.figures.scales import Scale, Ticks, zero_ticks
from bareline.report.figures.theme import looks
from bareline.report.figures.vega import Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Verdict

#: Metrics from the axis outwards, with their names and how strongly they are filled.
PARTS = (("compute_mean", "computation", 0.62), ("communication_mean", "communication", 0.22))

#: The parts of each platform's total, in the order of `PARTS`.
Parts = Mapping[tuple[str, Place], Sequence[float]]

#: Bars and names together are this wide.
_WIDTH_PX = 312
#: A panel has at most so many bars; further groups continue in the next one.
_MOST_BARS = 27
#: A summary names at most so many losses.
MOST_LOSSES = 12


def drawing(
    document: Document, groups: Mapping[str, Sequence[Bar]], title: str,
    ticks: Callable[[Iterable[float]], Ticks], most: int = 0,
) -> Drawing:  # fmt: skip
    """Draw groups of bars, at most so many groups in a panel, all on one axis."""
    axis = ticks(end for bars in groups.values() for bar in bars for end in bar.ends)
    longest = max(map(len, document.names))
    labels_px = min(170.0, max(76.0, 26 + 6.3 * longest))
    styles = looks(document.names)
    panels = [
        bar_chart(panel, title, axis, styles, _WIDTH_PX - labels_px, labels_px)
        for panel in _divided_evenly(groups, most)
    ]
    return Drawing(panels)


def _divided_evenly(
    groups: Mapping[str, Sequence[Bar]], most: int
) -> list[dict[str, Sequence[Bar]]]:
    """Divide groups into panels of one height, rather than a last one with the rest."""
    items = list(groups.items())
    size = len(items)
    if most:
        panels = math.ceil(len(items) / most)
        size = math.ceil(len(items) / panels)
    return [dict(items[start : start + size]) for start in range(0, len(items), size)]


#: Writes the number at the end of a bar.
WriteValue = Callable[[Row, Scale], str]


def _median_text(cell: Row, unit: Scale) -> str:
    return unit.show(cell.median)


@dataclass(frozen=True, slots=True)
class _Bars:
    """Draws the cells of one figure as bars from zero.

    - `write`: writes the number at a bar's end.
    - `parts`: the parts of each total; a bar without any is one piece.
    """

    chosen: Panel
    write: WriteValue = _median_text
    parts: Parts = field(default_factory=dict)
    dots: Mapping[Row, Sequence[Dot]] = field(default_factory=dict)

    def drawing(self) -> Drawing:
        names = self._names()
        groups = {label: self._group(rows, names) for label, rows in self.chosen.groups.items()}
        most = max(1, _MOST_BARS // len(names))
        return drawing(self.chosen.document, groups, self.chosen.unit.unit, zero_ticks, most)

    def _names(self) -> Sequence[str]:
        """Return the platforms that were to measure any of it.

        A study may give a probe to some roles alone: nothing is missing on the other platforms.
        """
        planned = self.chosen.planned
        return [name for name in self.chosen.document.names if name in planned]

    def _group(self, rows: Sequence[TableRow], names: Sequence[str]) -> list[Bar]:
        cells = {row.cell.platform: row.cell for row in rows}
        base = cells.get(self.chosen.document.baseline)
        return [
            self._bar(cells[name], base) if name in cells else Bar(name, "missing")
            for name in names
        ]

    def _bar(self, cell: Row, base: Row | None) -> Bar:
        unit = self.chosen.unit
        printed = self._printed(cell, base)
        if cell.value is None:
            return Bar(cell.platform, verdict_word(cell.verdict) or "missing", printed=printed)
        parts = [*zip(self.parts.get((cell.platform, cell.place), ()), PARTS, strict=False)]
        words = [f"{name} {self._amount(value)}" for value, (_, name, _) in parts]
        return Bar(
            cell.platform,
            self.write(cell, unit),
            cell.value.times(unit.factor),
            "; ".join([f"{cell.platform}: {value_words(cell, unit)}", *words]),
            cell.simulated,
            self._trials(cell),
            printed,
            [(value * unit.factor, strength) for value, (_, _, strength) in parts],
        )

    def _amount(self, value: float) -> str:
        unit = self.chosen.unit
        return f"{unit.show(value)} {unit.unit}"

    def _trials(self, cell: Row) -> list[tuple[float, str]]:
        """Return the trials in their order, each with its tip."""
        dots = sorted(self.dots.get(cell, ()), key=lambda dot: dot.trial)
        factor = self.chosen.unit.factor
        name = cell.platform
        return [
            (dot.value * factor, f"{name}, trial {dot.trial}: {self._amount(dot.value)}")
            for dot in dots
        ]

    def _printed(self, cell: Row, base: Row | None) -> list[tuple[float, str, str]]:
        """Return the platform's value by each published ratio to the baseline, tip and place."""
        if base is None or not base.median or not cell.metric.directed:
            return []
        factor = self.chosen.unit.factor
        whole = [
            (factor * _changed(base.median, point, cell), point.tip, point.elsewhere(cell.place))
            for point in points_of(self.chosen.published, cell)
        ]
        return [*whole, *self._printed_parts(cell, base)]

    def _printed_parts(self, cell: Row, base: Row) -> Iterator[tuple[float, str, str]]:
        """Yield where each part of a bar would end with a published ratio of that part."""
        parts = self.parts.get((cell.platform, cell.place), ())
        bases = self.parts.get((base.platform, base.place), ())
        start = 0.0
        for value, base_value, (metric, _, _) in zip(parts, bases, PARTS, strict=False):
            part = replace(cell, place=replace(cell.place, metric=metric))
            for point in points_of(self.chosen.published, part):
                end = start + base_value * point.middle
                where = point.elsewhere(cell.place)
                yield end * self.chosen.unit.factor, point.tip, where
            start += value


def _changed(value: float, point: PublishedPoint, cell: Row) -> float:
    """Return the baseline's value, worse by a published ratio."""
    return value / point.middle if cell.rate else value * point.middle


def medians(chosen: Panel, write: WriteValue = _median_text, parts: Parts | None = None) -> Drawing:
    """Draw the rows' values from zero, with the trials behind them and published values."""
    dots = grouped_by(chosen.trials.dots, lambda dot: dot.cell)
    return _Bars(chosen, write, parts or {}, dots).drawing()


def trial_notes(chosen: Panel) -> tuple[str, ...]:
    """Return the notes on trials and diamonds."""
    return chosen.trials.note, _EXPECTED if chosen.published else ""


def _valued(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose the figures in which anything has a value."""
    for chosen in by_unit(document, spec):
        if any(cell.value is not None for cell in chosen.cells):
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
    """Format a platform and its median, or why it has none."""
    if cell.value is None:
        return f"{cell.platform} {verdict_word(cell.verdict) or 'missing'}"
    return f"{cell.platform} {unit.show(cell.median)} {unit.unit}"


def _medians_summary(chosen: Panel) -> str:
    words = {}
    for label, rows in chosen.groups.items():
        words[label] = [amount_words(row.cell, chosen.unit) for row in rows]
    return f"{chosen.probe}, medians. {summed_up(words)}"


def _pairs(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    for chosen in _ruled(document, spec):
        yield chosen.figure(
            title=f"{sentence_case(chosen.metric)}, and the loss",
            table=cells_table(chosen),
            drawing=medians(chosen, _with_loss),
            notes=(rule_text(spec.rule, document.baseline), *trial_notes(chosen)),
            summary=_losses_summary(chosen),
        )


def _ruled(document: Document, spec: ExhibitSpec) -> Iterator[Panel]:
    """Choose cells as a rule reports them: their values, without the intervals of the medians."""
    cells = select(document, spec)
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}

    def ruled(row: TableRow) -> TableRow:
        cell = row.cell
        base = bases.get(cell.place)
        value = ruled_value(document, cell, spec.rule, is_base=cell is base)
        ratio = None if cell is base else ruled_ratio(document, cell, base, spec.rule)
        estimate = None if value is None else Estimate(value)
        return replace(row, cell=replace(cell, value=estimate, ratio=ratio))

    for chosen in _valued(document, spec):
        rows = chosen.rows
        if spec.rule in RULES:
            rows = [ruled(row) for row in rows]
        yield replace(chosen, rows=rows)


def _with_loss(cell: Row, unit: Scale) -> str:
    """Format a value with its loss: a rate's in percent, a time's as times that of the baseline."""
    value = unit.show(cell.median)
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return f"{value}  ({verdict_word(cell.verdict)})"
    share = lost(cell.ratio)
    if share is None or cell.ratio is None:
        return value
    if not cell.rate:
        # A barrier of 21 µs instead of 5.8 µs takes 3.6 times as long; nothing lost 72 % of it.
        return f"{value}  ({plain(cell.ratio.value)}\u00a0×)\u2003"
    change = f"{-share.value:+.1f}".replace("-", "\u2212")
    # The last space is slack: a reader's font may be wider than the measured font.
    return f"{value}  ({change} %)\u2003"


def _losses_summary(chosen: Panel) -> str:
    losses: list[str] = []
    for rows in chosen.groups.values():
        losses += filter(None, (_loss_summary(row.cell) for row in rows))
    text = "; ".join(losses[:MOST_LOSSES]) or "nothing to compare"
    return f"{chosen.probe}: {text}."


def _loss_summary(cell: Row) -> str:
    """Format the loss of a cell; empty where nothing is compared."""
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
