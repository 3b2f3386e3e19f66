"""Kinds of bars under each other, a group for each title and a bar for each platform."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.report.content.document import Document
from bareline.report.content.dots import Dot
from bareline.report.content.published import points_of
from bareline.report.content.wording import (
    distinct_parts,
    metric_name,
    sentence_case,
    summed_up,
    value_words,
    verdict_word,
)
from bareline.report.exhibits.base import (
    Chosen,
    Declared,
    TableRow,
    by_unit,
    grouped_by,
    labelled,
    select,
    titled,
)
from bareline.report.exhibits.columns import (
    RULES,
    cells_table,
    columns,
    lost,
    rule_text,
    ruled_ratio,
    ruled_value,
)
from bareline.report.figures.grammar import Drawing
from bareline.report.figures.rows import Bar, bar_chart
from bareline.report.figures.scales import Scale, Ticks, signed_ticks, zero_ticks
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.verdicts import Verdict

#: What the parts of `stacked` add up to, up to the ranks' different ends.
TOTAL = "time"
#: Metrics from the axis outwards, with their names and how strongly they are filled.
PARTS = (("compute_mean", "computation", 0.62), ("communication_mean", "communication", 0.22))

#: The parts of each platform's total, in the order of `PARTS`.
Parts = Mapping[tuple[str, Place], Sequence[float]]


def drawing(
    document: Document, groups: Mapping[str, Sequence[Bar]], title: str,
    ticks: Callable[[Iterable[float]], Ticks], most: int = 0,
) -> Drawing:  # fmt: skip
    """Draw groups of bars, at most so many groups in a panel, all on one axis."""
    axis = ticks(end for bars in groups.values() for bar in bars for end in bar.ends)
    # As much room at the left as the platforms' names need, of 312 px for names and bars together.
    labels_px = min(170.0, max(76.0, 26 + 6.3 * max(map(len, document.names))))
    how = (title, axis, looks(document.names), 312 - labels_px, labels_px)
    every = list(groups.items())
    # Panels of one height, rather than a last one with what is left.
    each = math.ceil(len(every) / math.ceil(len(every) / most)) if most else len(every)
    chunks = [dict(every[start : start + each]) for start in range(0, len(every), each)]
    return Drawing([bar_chart(chunk, *how) for chunk in chunks])


def medians(
    chosen: Chosen, text: Callable[[Row, Scale], str] | None = None, parts: Parts | None = None
) -> Drawing:
    """Draw the rows' values from zero, with the trials behind them and what was published."""
    document, dots = chosen.document, grouped_by(chosen.trials.dots, lambda dot: dot.cell)
    names: Sequence[str] = document.names
    if parts:  # only who was asked: the study may give programs to some roles alone
        names = [name for name in names if name in {row.cell.platform for row in chosen.rows}]
    groups = {}
    for label, rows in chosen.groups.items():
        cells = {row.cell.platform: row.cell for row in rows}
        groups[label] = [
            _bar(chosen, cells[name], cells.get(document.baseline), dots, text, parts or {})
            if name in cells
            else Bar(name, "missing")
            for name in names
        ]
    # At most 27 bars in a panel; further groups go on in the next one.
    return drawing(document, groups, chosen.unit.unit, zero_ticks, max(1, 27 // len(names)))


def _bar(
    chosen: Chosen, cell: Row, base: Row | None, dots: Mapping[Row, Sequence[Dot]],
    text: Callable[[Row, Scale], str] | None, parts: Parts,
) -> Bar:  # fmt: skip
    unit, name = chosen.unit, cell.platform

    def amount(value: float) -> str:
        return f"{unit.show(value)} {unit.unit}"

    # What a platform would have measured here with the published ratio to the baseline.
    middle = base.median if base and cell.metric.directed else None
    printed = [
        (
            unit.factor * (middle / point.middle if cell.rate else middle * point.middle),
            point.tip,
            point.elsewhere(cell.place),
        )
        for point in points_of(chosen.published, cell)
        if middle
    ]
    if cell.value is None:
        return Bar(name, verdict_word(cell.verdict) or "missing", printed=printed)
    own = [*zip(parts.get((name, cell.place), ()), PARTS, strict=False)]
    divided = [f"{part} {amount(value)}" for value, (_, part, _) in own]
    return Bar(
        name,
        text(cell, unit) if text else unit.show(cell.median),
        cell.value.times(unit.factor),
        "; ".join([f"{name}: {value_words(cell, unit)}", *divided]),
        cell.simulated,
        [
            (one.value * unit.factor, f"{name}, trial {one.trial}: {amount(one.value)}")
            for one in sorted(dots.get(cell, ()), key=lambda dot: dot.trial)
        ],
        printed,
        [(value * unit.factor, strength) for value, (*_, strength) in own],
    )


def trial_notes(chosen: Chosen) -> tuple[str, ...]:
    """Describe what must be known of trials and diamonds."""
    return chosen.trials.note, _EXPECTED if chosen.published else ""


def _valued(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    for chosen in by_unit(document, spec):
        if any(cell.value is not None for cell in chosen.cells):
            metric = chosen.rows[0].cell.place.metric
            yield replace(chosen, what=(chosen.probe, metric))


def _amount(cell: Row, unit: Scale) -> str:
    if cell.value is None:
        return f"{cell.platform} {verdict_word(cell.verdict) or 'missing'}"
    return f"{cell.platform} {unit.show(cell.median)} {unit.unit}"


def _medians_summary(chosen: Chosen) -> str:
    words = {
        label: [_amount(row.cell, chosen.unit) for row in rows]
        for label, rows in chosen.groups.items()
    }
    return f"{chosen.probe}, medians. {summed_up(words)}"


def _ruled(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose cells as a rule reports them: their values, without the intervals of the medians."""
    cells = select(document, spec)
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}

    def ruled(cell: Row) -> Row:
        base, value = bases.get(cell.place), ruled_value(document, cell, spec.rule)
        ratio = None if cell is base else ruled_ratio(document, cell, base, spec.rule)
        return replace(cell, value=None if value is None else Estimate(value), ratio=ratio)

    for chosen in _valued(document, spec):
        rows = chosen.rows
        if spec.rule in RULES:
            rows = [replace(row, cell=ruled(row.cell)) for row in rows]
        yield replace(chosen, rows=rows)


def _with_loss(cell: Row, unit: Scale) -> str:
    value, share = unit.show(cell.median), lost(cell.ratio)
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return f"{value}  ({verdict_word(cell.verdict)})"
    if share is None:
        return value
    change = f"{-share.value:+.1f}".replace("-", "\u2212")
    # The last space is slack: a reader's font may be wider than the one that was measured.
    return f"{value}  ({change} %)\u2003"


def _losses_summary(chosen: Chosen) -> str:
    losses = []
    for cell in (row.cell for rows in chosen.groups.values() for row in rows):
        if share := lost(cell.ratio):
            losses.append(f"{cell.platform} loses {share.value:.1f} %")
        elif cell.verdict is Verdict.NOT_COMPARABLE:
            losses.append(f"{cell.platform} is {verdict_word(cell.verdict)}")
    return f"{chosen.probe}: {'; '.join(losses[:12]) or 'nothing to compare'}."


def _divided(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    metrics = (TOTAL, *(metric for metric, *_ in PARTS))
    asked = [spec.model_copy(update={"metric": metric}) for metric in metrics]
    cells = [cell for one in asked for cell in select(document, one)]
    known = {place.probe for _, place in parts_of(cells)}
    every = [cell for cell in cells if cell.place.probe in known and cell.place.metric == TOTAL]
    for totals in grouped_by(every, lambda cell: cell.layer).values():
        places = {cell.place for cell in totals}
        shown = [
            cell
            for cell in document.cells
            if cell.place.metric in metrics and replace(cell.place, metric=TOTAL) in places
        ]
        probes = list(dict.fromkeys(cell.place.probe for cell in totals))
        rows, probe = labelled(totals), probes[0]
        if len(probes) > 1:
            # What is compared stands together: all on the fewest ranks first.
            titles = distinct_parts([document.probe_titles.get(name, name) for name in probes])
            shorts, probe = dict(zip(probes, titles, strict=True)), ""
            parts = [(row, (shorts[row.cell.place.probe], row.title)) for row in rows]
            rows = [replace(row, title=", ".join(filter(None, names))) for row, names in parts]
            rows.sort(key=lambda row: row.cell.place.ranks)
        what = probe or spec.probe or totals[0].layer
        yield Chosen(document, spec, shown, rows, what=(what,), probe=probe)


def parts_of(cells: Iterable[Row]) -> Parts:
    """Return the parts of the totals of which all are known."""
    known = {(cell.platform, cell.place): cell.median for cell in cells}
    found = {}
    for platform, place in known:
        own = [known.get((platform, replace(place, metric=metric))) for metric, *_ in PARTS]
        if place.metric == TOTAL and None not in own:
            found[platform, place] = [value for value in own if value is not None]
    return found


def _parts_summary(chosen: Chosen) -> str:
    divided, unit = parts_of(chosen.cells), chosen.unit

    def words(rows: Sequence[TableRow]) -> Iterator[str]:
        for cell in (row.cell for row in rows):
            if split := divided.get((cell.platform, cell.place)):
                share = 100 * split[-1] / sum(split) if sum(split) else 0.0
                yield f"{_amount(cell, unit)}, {share:.0f} % of it communication"

    groups = {label: words(rows) for label, rows in chosen.groups.items()}
    return f"{chosen.what[0]}, median times. {summed_up(groups)}"


def _degraded(document: Document, spec: ExhibitSpec) -> Iterator[Chosen]:
    """Choose the losses of all probes; of the headline metric of each without another."""
    cells = [
        cell
        for cell in select(document, spec)
        if cell.metric.directed and (spec.metric or cell.headline)
    ]
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    names = varying(cell.place for cell in cells)

    def row(cell: Row) -> TableRow:
        share = lost(ruled_ratio(document, cell, bases.get(cell.place), spec.rule))
        return TableRow(cell, titled(document, cell, names, metric=False), share)

    rows = [row(cell) for cell in cells if cell.platform != document.baseline]
    if any(row.shown for row in rows):
        rows = [row for own in grouped_by(rows, lambda row: row.title).values() for row in own]
        what = (spec.probe or "all", spec.metric or "")
        yield Chosen(document, spec, cells, rows, what=what)


def _losses(chosen: Chosen) -> Drawing:
    """Draw the performance lost; left of zero is a gain."""

    def bar(row: TableRow) -> Bar:
        cell, share = row.cell, row.shown
        printed = [
            (printed.value, point.tip, point.elsewhere(cell.place))
            for point in points_of(chosen.published, cell)
            if (printed := lost(Estimate(point.middle)))
        ]
        if share is None:
            return Bar(cell.platform, _loss_words(row), printed=printed)
        amount = with_interval(share, "%", "{:.1f}".format)
        tip = f"{cell.platform}: {amount} lost, n = {cell.n}"
        return Bar(cell.platform, f"{share.value:.1f}", share, tip, cell.simulated, printed=printed)

    groups = {title: [*map(bar, rows)] for title, rows in chosen.groups.items()}
    return drawing(chosen.document, groups, "performance lost (%)", signed_ticks)


def _loss_words(row: TableRow) -> str:
    if row.shown is None:
        return verdict_word(row.cell.verdict) or "missing"
    return f"{row.shown.value:.1f} %"


def _degradation_title(chosen: Chosen) -> str:
    metrics = {metric_name(row.cell.place.metric) for row in chosen.rows}
    what = f", {metrics.pop()}" if len(metrics) == 1 else ""
    return f"Performance lost against {chosen.document.baseline}{what}"


def _degradation_summary(chosen: Chosen) -> str:
    losses = [f"{row.title} on {row.cell.platform} {_loss_words(row)}" for row in chosen.rows]
    return f"Performance lost: {'; '.join(losses[:12])}."


#: What a diamond on an axis of values means, and on one of losses.
_PALE = "measured elsewhere than here, which is written beside."
_EXPECTED = (
    f"Diamonds: the baseline's value changed by the published ratio, pale where that was {_PALE}"
)
_PRINTED = f"Diamonds: what the publication lost, pale where it was {_PALE}"

EXHIBITS = (
    Declared(
        kind="bars",
        summary="single numbers as bars from zero, with every trial as a dot",
        query=_valued,
        columns=cells_table,
        mark=medians,
        notes=trial_notes,
        words=_medians_summary,
    ),
    Declared(
        kind="pairs",
        summary="native and virtual as bars from zero, with the performance lost beside each",
        query=_ruled,
        columns=cells_table,
        title=lambda chosen: f"{sentence_case(chosen.metric)}, and the loss",
        mark=lambda chosen: medians(chosen, _with_loss),
        notes=lambda chosen: (
            rule_text(chosen.spec.rule, chosen.document.baseline),
            *trial_notes(chosen),
        ),
        words=_losses_summary,
    ),
    Declared(
        kind="stacked",
        summary="computation and communication stacked to the time, one bar per platform",
        query=_divided,
        columns=cells_table,
        title=lambda _: "Computation and communication",
        mark=lambda chosen: medians(chosen, parts=parts_of(chosen.cells)),
        notes=lambda chosen: (
            "Dark: computation; light: communication, waiting included (means over the ranks, "
            "which add up to the time). The line across is the median time, the dots are the "
            "trials.",
            chosen.trials.note,
        ),
        words=_parts_summary,
    ),
    Declared(
        kind="degradation",
        summary="performance lost in percent by application and ranks, one bar per platform",
        query=_degraded,
        columns=lambda chosen: columns(
            chosen, "benchmark platforms lost verdict printed_loss n", lambda row: row.title
        ),
        title=_degradation_title,
        mark=_losses,
        notes=lambda chosen: (
            "1 - 1/factor of the baseline's performance; left of zero is a gain.",
            rule_text(chosen.spec.rule, chosen.document.baseline),
            _PRINTED if chosen.published else "",
        ),
        words=_degradation_summary,
    ),
)
