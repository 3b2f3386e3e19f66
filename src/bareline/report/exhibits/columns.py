"""What the tables of cells share: columns of values, ratios by a publication's rule, verdicts.

After what names a row come its ratio and verdict, which the table is read for, then what was
published, then the values that they rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import fmean
from typing import Self, TypeVar

from bareline.analysis.numbers.row import Estimate, Row, figure
from bareline.report.blocks import Field, Rows, Table
from bareline.report.content.cells import headline_first
from bareline.report.content.document import Document
from bareline.report.content.dots import trial_dots
from bareline.report.content.published import (
    PrintedValue,
    PublishedPoint,
    points_of,
    printed_values,
)
from bareline.report.content.wording import axis_name, metric_name, verdict_tone, verdict_word
from bareline.report.exhibits.base import Chosen, TableRow
from bareline.report.figures.scales import Scale
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import parameter_value, varying
from bareline.vocabulary.units import format_value, plain
from bareline.vocabulary.verdicts import Grade, Verdict, with_sureness

R = TypeVar("R")


class CellRows(Rows[R]):
    """A table of which every row is about one cell."""

    def __init__(
        self,
        rows: Iterable[R],
        cell: Callable[[R], Row],
        group: Callable[[R], object] | None = None,
    ) -> None:
        super().__init__(rows, group)
        self.cell = cell
        self.cells = [*map(cell, self.rows)]

    def platforms(self) -> Self:
        """Add the platforms."""
        return self.platform(lambda row: self.cell(row).platform)

    def parameter(self, name: str) -> Self:
        """Add a parameter, in the order of its numbers where it has any."""
        values = [cell.place.coordinates.get(name) for cell in self.cells]
        fields = [
            Field(parameter_value(name, value), value if isinstance(value, int | float) else None)
            for value in values
        ]
        worded = isinstance(next(iter(values), None), str)
        return self.fields(axis_name(name), fields, "text" if worded else "number")

    def doubted(
        self,
        title: str,
        estimate: Callable[[R], Estimate | None],
        write: Callable[[float], str] = plain,
        *,
        interval: bool = True,
    ) -> Self:
        """Add the figure that the cells' caveats doubt."""
        head = "95 %" if interval else ""
        return self.estimate(
            title, estimate, write, interval=head, caveats=lambda row: self.cell(row).caveats
        )

    def median(self, title: str, scale: Scale, *, interval: bool = True) -> Self:
        """Add the medians, with their intervals."""
        head = scale.titled(title)
        return self.doubted(head, lambda row: self.cell(row).value, scale.show, interval=interval)

    def launches(self) -> Self:
        """Add how many launches there were."""
        return self.number("n", lambda row: self.cell(row).n)

    def verdict(self) -> Self:
        """Add the verdicts."""
        fields = [graded(cell.verdict, cell.grade, few_boots=cell.few_boots) for cell in self.cells]
        return self.fields("verdict", fields, "text")

    def ratio(self) -> Self:
        """Add the ratios to the baseline, with intervals and verdicts."""
        self.fields("ratio", map(_ratio, self.cells))
        return self.interval(lambda row: self.cell(row).ratio).verdict()

    def published(
        self,
        points: Sequence[PublishedPoint],
        title: str = "published ratio",
        write: Callable[[PublishedPoint], str] = attrgetter("factor"),
    ) -> Self:
        """Add the published ratios that speak of the rows' cells, if any does."""
        ratios = [points_of(points, cell) for cell in self.cells] if points else []
        fields = [
            _published(own, cell, write) for own, cell in zip(ratios, self.cells, strict=False)
        ]
        return self.fields(title, fields, "text") if any(ratios) else self

    def printed_values(self, document: Document, parts: Collection[str]) -> Self:
        """Add the values that parts of a publication print of the baseline and of the platform."""
        known = [printed_values(document.roles, cell) if parts else {} for cell in self.cells]

        def of(found: Mapping[str, PrintedValue], platform: str) -> Field:
            value = found.get(platform)
            return Field(value.text if value and value.part in parts else "")

        base = [of(found, document.baseline) for found in known]
        own = [of(found, cell.platform) for found, cell in zip(known, self.cells, strict=True)]
        if any(field.text for field in own):
            self.fields(f"printed, {document.baseline}", base).fields("printed value", own)
        return self


def _ratio(cell: Row) -> Field:
    if cell.verdict is None:
        # The baseline, or a metric without a good direction, which is never compared.
        return Field("1", 1.0, tone="muted") if cell.metric.better != "none" else Field("")
    ratio = cell.ratio.value if cell.ratio else None
    return Field(figure(ratio), ratio, tone=verdict_tone(cell.verdict))


def graded(verdict: Verdict | None, grade: Grade | None, *, few_boots: bool) -> Field:
    """Write a verdict; what is likely and not certain says so."""
    words = with_sureness(verdict_word(verdict), grade, few_boots=few_boots)
    return Field(words, tone=verdict_tone(verdict))


def loss_words(point: PublishedPoint) -> str:
    """Write a published ratio as the performance that it loses, in percent."""
    ends = [f"{100 * (1 - 1 / end):.3g}" for end in (point.low, point.high) if end]
    if point.low is None or point.high is None:
        return f"{'at most' if point.low is None else 'at least'} {ends[0]}"
    return " to ".join(dict.fromkeys(ends))


def _published(
    points: Sequence[PublishedPoint], cell: Row, write: Callable[[PublishedPoint], str]
) -> Field:
    """Write published ratios; they lead to their sources, and say where else they were measured."""
    if not points:
        return Field("")
    factors: dict[str, list[str]] = {}
    for point in points:
        factors.setdefault(point.elsewhere(cell.place), []).append(write(point))
    parts = [
        "; ".join(dict.fromkeys(own)) + (f" ({there})" if there else "")
        for there, own in factors.items()
    ]
    return Field(
        "; ".join(parts),
        points[0].middle,
        "" if "" in factors else "muted",
        link=points[0].anchor,
        tip="; ".join(dict.fromkeys(point.tip for point in points)),
    )


def cells_table(chosen: Chosen) -> Table:
    """Tabulate cells of one unit: parameters that vary, platform, value, ratio, verdict."""
    cells, scale = chosen.cells, chosen.scale
    names = varying(cell.place for cell in cells)
    metrics = list(dict.fromkeys(cell.place.metric for cell in headline_first(cells)))

    def order(value: Scalar | None) -> tuple[int, float, str]:
        if value is None:
            return (0, 0.0, "")
        return (2, 0.0, value) if isinstance(value, str) else (1, float(value), "")

    def group(cell: Row) -> tuple[object, ...]:
        known = cell.place.coordinates
        return (metrics.index(cell.place.metric), *(order(known.get(name)) for name in names))

    rows = CellRows(sorted(cells, key=group), lambda cell: cell, group)
    if len(metrics) > 1:
        rows.text("metric", lambda cell: metric_name(cell.place.metric))
    for name in names:
        rows.parameter(name)
    what = "median" if len(metrics) > 1 else f"median {metric_name(metrics[0])}"
    rows.platforms()
    if any(cell.verdict for cell in cells):
        rows.ratio().published(chosen.published)
    return rows.median(what, scale).launches().table()


def columns(chosen: Chosen, names: str, group: Callable[[TableRow], object] | None = None) -> Table:
    """Tabulate rows by the names of their columns."""
    rows = CellRows(chosen.rows, lambda row: row.cell, group)
    ruled, several = chosen.spec.rule in RULES, len(chosen.groups) > 1
    head, tenths, whole = chosen.document.baseline, "{:.1f}".format, "{:.0f}".format
    add: Mapping[str, Callable[[], object]] = {
        "benchmark": lambda: rows.text("benchmark", lambda row: row.title),
        "case": lambda: several and rows.text("case", lambda row: row.title),
        "x": lambda: rows.parameter(chosen.x),
        "platforms": rows.platforms,
        "n": rows.launches,
        "ratio": rows.ratio,
        "verdict": rows.verdict,
        "printed": lambda: rows.published(chosen.published),
        "printed_loss": lambda: rows.published(chosen.published, "published loss (%)", loss_words),
        "printed_values": lambda: rows.printed_values(chosen.document, chosen.spec.published),
        "factor": lambda: rows.estimate(
            "factor",
            lambda row: row.ratio,
            interval="" if ruled else "95 %",
            tone=lambda row: verdict_tone(row.cell.verdict),
        ),
        "lost": lambda: rows.doubted("lost (%)", lambda row: row.shown, tenths, interval=not ruled),
        "lost_share": lambda: rows.estimate(
            "performance lost (%)", lambda row: lost(row.ratio), tenths, interval=""
        ),
        "speed": lambda: rows.doubted("relative performance", lambda row: row.shown),
        "efficiency": lambda: rows.estimate("efficiency (%)", lambda row: row.shown, whole),
        "medians": lambda: rows.median(f"median {chosen.metric}", chosen.scale, interval=False),
        "baseline": lambda: rows.column(head, lambda row: _amount(row, row.base)),
        "compared": lambda: rows.column(
            "value", lambda row: _amount(row, row.value, row.cell.caveats)
        ),
    }
    for name in names.split():
        add[name]()
    return rows.table()


def _amount(row: TableRow, value: float | None, caveats: tuple[Caveat, ...] = ()) -> Field:
    unit = row.cell.metric.unit
    return Field(figure(value, lambda own: format_value(own, unit)), value, caveats=caveats)


#: What stands in a caption when a rule is used.
RULES: Mapping[str, str] = {
    "best-against-worst": (
        "By InfiniCloud's rule: the best trial of {baseline} against the worst trial of the other "
        "platform, so that the loss is the largest that was seen; such a ratio has no interval."
    ),
    "mean": (
        "By the publication's rule: means of the trials instead of medians; the ratio of two means "
        "has no interval here."
    ),
}


def rule_text(rule: str, baseline: str) -> str:
    """Describe which rule an exhibit follows; nothing for bareline's own."""
    return RULES[rule].format(baseline=baseline) if rule in RULES else ""


def ruled_value(document: Document, cell: Row, rule: str) -> float | None:
    """Return what a rule reports of a cell; its median without one, None where nothing is known."""
    if rule not in RULES or cell.value is None:
        return cell.median
    values = [dot.value for dot in trial_dots(document, [cell]).dots]
    if rule == "mean":
        return fmean(values) if values else None
    wants_best = cell.platform == document.baseline
    least = wants_best == (cell.metric.better == "lower")
    return min(values, default=None) if least else max(values, default=None)


def ruled_ratio(document: Document, cell: Row, base: Row | None, rule: str) -> Estimate | None:
    """Return how many times worse a cell is than the baseline's by a rule; none has an interval.

    None without a direction, without the baseline, where either side is missing or zero, and where
    the two are not comparable.
    """
    if cell.verdict is Verdict.NOT_COMPARABLE:
        return None
    if rule not in RULES:
        return cell.ratio
    if base is None:
        return None
    worse = cell.metric.worse(*(ruled_value(document, one, rule) for one in (cell, base)))
    return None if worse is None else Estimate(worse)


def lost(ratio: Estimate | None) -> Estimate | None:
    """Return the performance lost in percent for a ratio; None without one."""
    if ratio is None or not ratio.value:
        return None
    value, *ends = (
        100 * (1 - 1 / end) if end else None for end in (ratio.value, ratio.lo, ratio.hi)
    )
    assert value is not None
    return Estimate(value, *ends)
