"""Common columns of the tables of cells: values, ratios by a publication's rule, and verdicts.

The first columns name the row. The next columns are the ratio and the verdict, which are the
purpose of the table. Then come the published values, and the two values of the ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Self, TypeVar

from bareline.analysis.numbers.row import Estimate, Row, figure
from bareline.report.blocks import Field, Kind, Rows, Table, Tone
from bareline.report.content.cells import headline_first
from bareline.report.content.document import Document
from bareline.report.content.printed_values import PrintedValue, printed_values
from bareline.report.content.published import PublishedPoint, points_of, uncompleted
from bareline.report.content.wording import (
    axis_name,
    metric_name,
    sentence_case,
    verdict_tone,
    verdict_word,
)
from bareline.report.exhibits.base import Panel, TableRow
from bareline.report.exhibits.printed import (
    loss_words,
    not_completed,
    percent_words,
    published_field,
)
from bareline.report.exhibits.rules import RULES, lost
from bareline.report.figures.scales import Scale
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import parameter_value, varying
from bareline.vocabulary.units import format_value, plain
from bareline.vocabulary.verdicts import Grade, Verdict, with_sureness

R = TypeVar("R")

_tenths = "{:.1f}".format


class CellRows(Rows[R]):
    """A builder of a table in which every row is about one cell."""

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
        """Add the column of the platforms."""
        return self.platform(lambda row: self.cell(row).platform)

    def parameter(self, name: str) -> Self:
        """Add the column of a parameter; its numbers are sorted as numbers."""
        values = [cell.place.coordinates.get(name) for cell in self.cells]
        fields = []
        for value in values:
            order = value if isinstance(value, int | float) else None
            fields.append(Field(parameter_value(name, value), order))
        kind: Kind = "number"
        if values and isinstance(values[0], str):
            kind = "text"
        return self.fields(axis_name(name), fields, kind)

    def doubted(
        self,
        title: str,
        estimate: Callable[[R], Estimate | None],
        write: Callable[[float], str] = plain,
        *,
        interval: bool = True,
    ) -> Self:
        """Add a column of figures; the caveats of a row's cell become footnotes of its figure."""
        head = "95 %" if interval else ""

        def caveats(row: R) -> tuple[Caveat, ...]:
            return self.cell(row).caveats

        return self.estimate(title, estimate, write, interval=head, caveats=caveats)

    def median(self, title: str, scale: Scale, *, interval: bool = True) -> Self:
        """Add the column of the medians and, if `interval`, the column of their intervals."""
        head = scale.titled(title)
        return self.doubted(head, lambda row: self.cell(row).value, scale.show, interval=interval)

    def launches(self) -> Self:
        """Add the column of the numbers of launches."""
        return self.number("n", lambda row: self.cell(row).n)

    def verdict(self) -> Self:
        """Add the column of the verdicts."""
        fields = [graded(cell.verdict, cell.grade, few_boots=cell.few_boots) for cell in self.cells]
        return self.fields("verdict", fields, "text")

    def ratio(self) -> Self:
        """Add the columns of the ratios to the baseline, with intervals and verdicts."""
        self.fields("ratio", map(_ratio, self.cells))
        return self.interval(lambda row: self.cell(row).ratio).verdict()

    def published(
        self,
        points: Sequence[PublishedPoint],
        title: str = "published ratio",
        write: Callable[[PublishedPoint], str] = attrgetter("factor"),
    ) -> Self:
        """Add a column of the published ratios of the rows' cells; no column if there are none."""
        ratios = [points_of(points, cell) for cell in self.cells]
        if not any(ratios):
            return self
        fields = []
        for of_cell, cell in zip(ratios, self.cells, strict=True):
            field = published_field(of_cell, cell, write)
            if not of_cell:
                lacking = uncompleted(points, cell)
                if lacking:
                    field = not_completed(lacking)
            fields.append(field)
        return self.fields(title, fields, "text")

    def printed_values(self, document: Document, parts: Collection[str]) -> Self:
        """Add columns with the printed values of the baseline and of the platform.

        - `parts`: the parts of publications that print the values.
        """
        if not parts:
            return self

        def field(values: Mapping[str, PrintedValue], platform: str) -> Field:
            value = values.get(platform)
            if value is None or value.part not in parts:
                return Field("")
            return Field(value.text)

        base_fields = []
        own_fields = []
        for cell in self.cells:
            values = printed_values(document.roles, cell)
            base_fields.append(field(values, document.baseline))
            own_fields.append(field(values, cell.platform))
        if any(printed.text for printed in own_fields):
            self.fields(f"printed, {document.baseline}", base_fields)
            self.fields("printed value", own_fields)
        return self


def _ratio(cell: Row) -> Field:
    if cell.verdict is None:
        # This is the baseline, or a metric without a better direction, which is never compared.
        if cell.metric.better == "none":
            return Field("")
        return Field("1", 1.0, tone="muted")
    ratio = None
    if cell.ratio:
        ratio = cell.ratio.value
    return Field(figure(ratio), ratio, tone=verdict_tone(cell.verdict))


def graded(verdict: Verdict | None, grade: Grade | None, *, few_boots: bool) -> Field:
    """Format a verdict, with the word "likely" if it is likely and not certain."""
    words = with_sureness(verdict_word(verdict), grade, few_boots=few_boots)
    return Field(words, tone=verdict_tone(verdict))


def cells_table(chosen: Panel) -> Table:
    """Return a table of cells of one unit: varying parameters, platform, ratio, verdict, value.

    The first column is the benchmark if there are several probes. The next one is the metric if
    there are several metrics.
    """
    cells = chosen.cells
    order = _CellOrder.of(cells, chosen.x)
    rows = CellRows(sorted(cells, key=order.key), lambda cell: cell, order.key)
    if len(order.probes) > 1:
        rows.text("benchmark", lambda cell: _probe_title(chosen.document, cell.place.probe))
    if len(order.metrics) > 1:
        rows.text("metric", lambda cell: metric_name(cell.place.metric))
    for name in order.names:
        rows.parameter(name)
    rows.platforms()
    if any(cell.verdict for cell in cells):
        rows.ratio().published(chosen.published)
    title = "median"
    if len(order.metrics) == 1:
        title = f"median {metric_name(order.metrics[0])}"
    return rows.median(title, chosen.scale).launches().table()


def _probe_title(document: Document, probe: str) -> str:
    title = document.probe_titles.get(probe, probe)
    return sentence_case(title)


def in_table_order(rows: Sequence[TableRow]) -> list[TableRow]:
    """Sort rows as `cells_table` sorts them, so that a drawing and its table have one order."""
    order = _CellOrder.of([row.cell for row in rows])
    return sorted(rows, key=lambda row: order.key(row.cell))


@dataclass(frozen=True, slots=True)
class _CellOrder:
    """The sort order of a table's rows: by probe, by metric, then by the parameters that vary."""

    probes: Sequence[str]
    metrics: Sequence[str]
    names: Sequence[str]

    @classmethod
    def of(cls, cells: Sequence[Row], x: str = "") -> Self:
        """Return the order of the given cells.

        - `x`: the parameter of the axis, which is a column even if it has only one value.
        """
        probes = dict.fromkeys(cell.place.probe for cell in cells)
        metrics = dict.fromkeys(cell.place.metric for cell in headline_first(cells))
        names = list(varying(cell.place for cell in cells))
        if x not in names and any(x in cell.place.coordinates for cell in cells):
            names.append(x)
        return cls(list(probes), list(metrics), names)

    def key(self, cell: Row) -> tuple[object, ...]:
        place = cell.place
        coordinates = place.coordinates
        values = [_value_order(coordinates.get(name)) for name in self.names]
        return (self.probes.index(place.probe), self.metrics.index(place.metric), *values)


def _value_order(value: Scalar | None) -> tuple[int, float, str]:
    """Return a sort key for the values of one parameter: missing values, numbers, then texts."""
    if value is None:
        return (0, 0.0, "")
    if isinstance(value, str):
        return (2, 0.0, value)
    return (1, float(value), "")


def columns(chosen: Panel, names: str, group: Callable[[TableRow], object] | None = None) -> Table:
    """Return a table of a panel's rows with the named columns."""
    table = _Columns(chosen, group)
    for name in names.split():
        table.add(name)
    return table.rows.table()


class _Columns:
    """The columns of a table of cells; each method adds the column of its name."""

    def __init__(self, chosen: Panel, group: Callable[[TableRow], object] | None) -> None:
        self.chosen = chosen
        self.rows = CellRows(chosen.rows, lambda row: row.cell, group)
        self.is_ruled = chosen.spec.rule in RULES

    def add(self, name: str) -> None:
        """Add the column with the given name."""
        method: Callable[[], None] = getattr(self, f"_{name}")
        method()

    def _benchmark(self) -> None:
        self.rows.text("benchmark", lambda row: row.title)

    def _case(self) -> None:
        if len(self.chosen.groups) > 1:
            self.rows.text("case", lambda row: row.title)

    def _x(self) -> None:
        self.rows.parameter(self.chosen.x)

    def _platforms(self) -> None:
        self.rows.platforms()

    def _n(self) -> None:
        self.rows.launches()

    def _ratio(self) -> None:
        self.rows.ratio()

    def _verdict(self) -> None:
        # A verdict belongs to bareline's own ratio, and not to a ratio by a publication's rule.
        if not self.is_ruled:
            self.rows.verdict()

    def _printed(self) -> None:
        self.rows.published(self.chosen.published)

    def _printed_loss(self) -> None:
        self.rows.published(self.chosen.published, "published loss (%)", loss_words)

    def _printed_percent(self) -> None:
        fields = [Field(percent_words(self.chosen.published, row.cell)) for row in self.chosen.rows]
        if any(field.text for field in fields):
            self.rows.fields("published loss", fields)

    def _printed_values(self) -> None:
        self.rows.printed_values(self.chosen.document, self.chosen.spec.published)

    def _factor(self) -> None:
        if self.is_ruled:
            self.rows.estimate("factor", lambda row: row.ratio, interval="")
            return

        def tone(row: TableRow) -> Tone:
            return verdict_tone(row.cell.verdict)

        self.rows.estimate("factor", lambda row: row.ratio, tone=tone)

    def _lost(self) -> None:
        has_interval = not self.is_ruled
        self.rows.doubted("lost (%)", lambda row: row.shown, _tenths, interval=has_interval)

    def _lost_share(self) -> None:
        title = "performance lost (%)"
        self.rows.estimate(title, lambda row: lost(row.ratio), _tenths, interval="")

    def _speed(self) -> None:
        self.rows.doubted("relative performance", lambda row: row.shown)

    def _efficiency(self) -> None:
        self.rows.estimate("efficiency (%)", lambda row: row.shown, "{:.0f}".format)

    def _medians(self) -> None:
        self.rows.median(f"median {self.chosen.metric}", self.chosen.scale, interval=False)

    def _baseline(self) -> None:
        baseline = self.chosen.document.baseline
        self.rows.column(baseline, lambda row: _amount(row, row.base))

    def _compared(self) -> None:
        self.rows.column("value", lambda row: _amount(row, row.value, row.cell.caveats))


def _amount(row: TableRow, value: float | None, caveats: tuple[Caveat, ...] = ()) -> Field:
    text = "–"
    if value is not None:
        text = format_value(value, row.cell.metric.unit)
    return Field(text, value, caveats=caveats)
