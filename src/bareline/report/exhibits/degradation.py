"""The exhibit with bars of the lost performance, relative to the baseline.

The bars are grouped by application and number of ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.report.blocks import Figure
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint, points_of
from bareline.report.content.wording import metric_name, verdict_word
from bareline.report.exhibits.bars import MOST_LOSSES, PALE, drawing
from bareline.report.exhibits.base import Exhibit, Panel, TableRow, select, titled
from bareline.report.exhibits.columns import columns
from bareline.report.exhibits.rules import lost, rule_text, ruled_ratio
from bareline.report.figures.rows import Bar, PrintedMark
from bareline.report.figures.scales import signed_ticks
from bareline.report.figures.vega import Drawing
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.place import varying

#: The meaning of a diamond.
_PRINTED = f"Diamonds: the publication's loss, pale where it was {PALE}"


def _degradation(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    chosen = _degraded(document, spec)
    if chosen is None:
        return
    diamonds = _PRINTED if chosen.published else ""
    yield chosen.figure(
        title=_degradation_title(chosen),
        table=columns(
            chosen, "benchmark platforms lost verdict printed_loss n", lambda row: row.title
        ),
        drawing=_losses(chosen),
        notes=(
            "1 - 1/factor of the baseline's performance; left of zero is a gain.",
            rule_text(spec.rule, document.baseline),
            diamonds,
        ),
        summary=_degradation_summary(chosen),
    )


def _degraded(document: Document, spec: ExhibitSpec) -> Panel | None:
    """Return the losses of all probes; None if no loss is known.

    Unless the exhibit names a metric, the headline metric of each probe is used.
    """
    cells = []
    for cell in select(document, spec):
        if cell.metric.directed and (spec.metric or cell.headline):
            cells.append(cell)
    bases = {cell.place: cell for cell in cells if cell.platform == document.baseline}
    names = varying(cell.place for cell in cells)
    rows = []
    for cell in cells:
        if cell.platform != document.baseline:
            ratio = ruled_ratio(document, cell, bases.get(cell.place), spec.rule)
            title = titled(document, cell, names, metric=False)
            rows.append(TableRow(cell, title, lost(ratio)))
    if not any(row.shown for row in rows):
        return None
    together: list[TableRow] = []
    for group in grouped_by(rows, lambda row: row.title).values():
        together += group
    subject = (spec.probe or "all", spec.metric or "")
    return Panel(document, spec, cells, together, what=subject)


def _losses(chosen: Panel) -> Drawing:
    """Draw the performance lost; bars left of zero are gains."""
    groups = {}
    for title, rows in chosen.groups.items():
        groups[title] = [_loss_bar(chosen.published, row) for row in rows]
    return drawing(chosen.document, groups, "performance lost (%)", signed_ticks)


def _loss_bar(published: Sequence[PublishedPoint], row: TableRow) -> Bar:
    cell = row.cell
    printed = []
    for point in points_of(published, cell):
        loss = lost(Estimate(point.middle))
        if loss:
            printed.append(PrintedMark(loss.value, point.tip, point.elsewhere(cell.place)))
    share = row.shown
    if share is None:
        return Bar(cell.platform, _loss_words(row), printed=printed)
    amount = with_interval(share, "%", "{:.1f}".format)
    tip = f"{cell.platform}: {amount} lost, n = {cell.n}"
    return Bar(cell.platform, f"{share.value:.1f}", share, tip, cell.simulated, printed=printed)


def _loss_words(row: TableRow) -> str:
    if row.shown is None:
        return verdict_word(row.cell.verdict) or "missing"
    return f"{row.shown.value:.1f} %"


def _degradation_title(chosen: Panel) -> str:
    title = f"Performance lost against {chosen.baseline}"
    metrics = {metric_name(row.cell.place.metric) for row in chosen.rows}
    if len(metrics) != 1:
        return title
    return f"{title}, {metrics.pop()}"


def _degradation_summary(chosen: Panel) -> str:
    rows = chosen.rows[:MOST_LOSSES]
    losses = [f"{row.title} on {row.platform} {_loss_words(row)}" for row in rows]
    return f"Performance lost: {'; '.join(losses)}."


EXHIBIT = Exhibit(
    "degradation",
    "performance lost in percent by application and ranks, one bar per platform",
    _degradation,
)
