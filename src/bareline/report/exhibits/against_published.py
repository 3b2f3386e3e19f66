"""The exhibit that compares every published ratio with the run's ratios of the same case."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import Form
from bareline.published.quantities import Spread
from bareline.report.blocks import Field, Figure, Rows, Table, Tone
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.exhibits.base import Exhibit, figure_of, select
from bareline.report.exhibits.printed_ranges import (
    SINGLE,
    RangeComparison,
    RangeScore,
    RatioLine,
    range_of,
    score,
)
from bareline.report.figures.marks import diamonds, marks, rows_axis
from bareline.report.figures.rows import boxes, rule_at, value_axis, written
from bareline.report.figures.scales import Ticks, ratio_ticks
from bareline.report.figures.theme import MarkLook, looks
from bareline.report.figures.vega import Chart, Datum, both_widths, plot
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import Place, varying
from bareline.vocabulary.units import plain


def _figures(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    lines = published_lines(document, spec)
    if not lines:
        return
    comparisons: list[RangeComparison] = []
    for line in lines:
        comparisons += line.comparisons
    cells = [comparison.cell for comparison in comparisons]
    printed: list[float] = []
    for point in document.published:
        printed += [end for end in range_of(point) if end is not None]
    result = score(comparisons, printed)
    simulated_note = ""
    if any(cell.simulated for cell in cells):
        simulated_note = "Hollow marks: simulated."
    words = "; ".join(_line_words(line) for line in lines[:12])
    yield figure_of(
        spec,
        title="Printed ratios and this run's",
        what=(spec.probe or "",),
        notes=[
            result.words,
            "Bars: printed ranges, open where only a bound was printed; a single number "
            f"(diamond) counts as the range from 1/{SINGLE:g} to {SINGLE:g} of it.",
            simulated_note,
        ],
        cells=cells,
        layer="",
        drawing=both_widths(_panel, document, lines),
        summary=f"{result.words} {words}.",
        table=_table(lines, result),
        data=(),
    )


def _line_words(line: RatioLine) -> str:
    """Describe a published ratio, and how many of the run's ratios are inside its range."""
    verdict = line.kind
    if line.counting:
        verdict = f"{line.inside} of {len(line.counting)} inside"
    return f"{line.title}: printed {line.point.factor}, here {line.span}, {verdict}"


def published_lines(document: Document, spec: ExhibitSpec) -> list[RatioLine]:
    """Return the published ratios, each with the run's ratios of the cases to which it applies.

    If the publication names a number of ranks, the run's ranks must agree; otherwise the ratio
    applies to all ranks. Simulated values are divided only by simulated values.
    """
    measured = [cell for cell in document.cells if cell.median]
    wanted = measured
    if spec.probe or spec.where:
        wanted = [cell for cell in select(document, spec) if cell.median]
    lines = [_line(point, wanted, measured) for point in _points(document, spec)]
    return [line for line in lines if line.comparisons]


def _points(document: Document, spec: ExhibitSpec) -> list[PublishedPoint]:
    """Return the published ratios for an exhibit.

    If the exhibit names parts of publications, only the ratios of these parts are returned.
    """
    if not spec.published:
        return list(document.published)
    return [point for point in document.published if point.ratio.part in spec.published]


def _line(point: PublishedPoint, wanted: Sequence[Row], measured: Sequence[Row]) -> RatioLine:
    """Return a published ratio and the run's ratios of the cases to which it applies."""
    bases = {cell.place: cell for cell in measured if cell.platform == point.baseline}
    return RatioLine.of(point, _ratios_at(point, wanted, bases))


def _ratios_at(
    point: PublishedPoint, cells: Sequence[Row], bases: Mapping[Place, Row]
) -> Iterator[tuple[Row, float]]:
    """Yield each cell to which a published ratio applies, and the ratio that the run measured."""
    for cell in cells:
        base = bases.get(cell.place)
        if base is None or base.simulated != cell.simulated:
            continue
        worse = cell.metric.worse(cell.median, base.median)
        if worse is not None and point.about(cell) and _same_ranks(point, cell):
            yield cell, worse


def _same_ranks(point: PublishedPoint, cell: Row) -> bool:
    """Whether a ratio is printed for a cell's number of ranks, or without any number of ranks."""
    ranks = point.ratio.conditions.get("ranks", cell.place.ranks)
    if isinstance(ranks, Spread):
        # "all plotted": a label without a number applies to all that was plotted.
        numbers = {ranks.low, ranks.high, ranks.above, ranks.inferred}
        return numbers == {None} or ranks.holds(cell.place.ranks)
    if isinstance(ranks, list):
        return cell.place.ranks in ranks
    return cell.place.ranks == ranks


@dataclass(frozen=True, slots=True)
class _Sizes:
    """The lengths of a drawing in px, and the position (`left`) at which the rows' names begin."""

    name_above: float
    width: float
    left: float
    name_limit: float

    @property
    def pitch(self) -> float:
        """The height of a row, including its name."""
        return _PITCH_PX + self.name_above


_PITCH_PX = 20
_NARROW = _Sizes(name_above=18, width=300, left=0, name_limit=300)
_WIDE = _Sizes(name_above=0, width=380, left=-300, name_limit=290)


def _panel(document: Document, lines: Sequence[RatioLine], *, narrow: bool) -> Chart:
    """Draw a row for each published ratio.

    The name of a ratio is at the left of its row or, if `narrow`, above the row.
    """
    styles = looks(document.names)
    sizes = _NARROW if narrow else _WIDE
    ticks = ratio_ticks(_axis_values(lines))
    bars: list[Datum] = []
    dots: list[Datum] = []
    for place, line in enumerate(lines):
        y = place * sizes.pitch + sizes.name_above + _PITCH_PX / 2
        look = styles[line.point.platform]
        bars.append(_bar(line, y, y - sizes.name_above, ticks, look))
        dots += _dots(line, y, look)
    height = sizes.pitch * len(lines)
    x = value_axis(ticks, log=True)
    up = rows_axis(height)
    middles = [{**row, "x": row["middle"]} for row in bars]
    layers = (
        rule_at(1.0, x),
        boxes(bars, x, rows_axis(height, "top"), fillOpacity=0.22),
        diamonds(middles, x, up, size=52),
        marks(dots, x, up),
        written(bars, sizes.left, rows_axis(height, "at"), limit=sizes.name_limit),
    )
    return plot(layers, sizes.width, height, "times worse than the baseline (log)")


def _axis_values(lines: Sequence[RatioLine]) -> list[float]:
    """Return the ends and middles of all printed ranges, and the ratios of the run."""
    values: list[float] = []
    for line in lines:
        low, high = range_of(line.point)
        values += [end for end in (low, high, line.point.middle) if end]
        values += [comparison.ratio for comparison in line.comparisons]
    return values


def _bar(line: RatioLine, y: float, name_y: float, ticks: Ticks, look: MarkLook) -> Datum:
    """Return the bar of a printed range; a range with an open end reaches the end of the axis."""
    low, high = range_of(line.point)
    least, most = ticks.domain
    return {
        "x": low or least,
        "end": high or most,
        "top": y - 6,
        "bottom": y + 6,
        "y": y,
        "text": line.title,
        "at": name_y,
        "middle": line.point.middle,
        "colour": look.colour,
        "tip": line.point.tip,
    }


def _dots(line: RatioLine, y: float, look: MarkLook) -> Iterator[Datum]:
    """Yield the marks of the run's ratios."""
    names = varying(comparison.cell.place for comparison in line.comparisons)
    for comparison in line.comparisons:
        cell = comparison.cell
        ratio = comparison.ratio
        subject = line.point.platform
        place = cell.place.words_of(names)
        if place:
            subject = f"{subject}, {place}"
        verdict = "inside" if comparison.inside else "outside"
        if comparison.is_given:
            verdict += ", given to the simulation"
        amount = Form.of(ratio, cell.rate).text(ratio)
        ink = look.ink(hollow=cell.simulated)
        yield {"x": ratio, "y": y, **ink, "tip": f"{subject}: {amount}, {verdict}"}


def _table(lines: Sequence[RatioLine], whole: RangeScore) -> Table:
    rows = Rows(lines).text("published", lambda line: line.title, wrap=True)
    rows.platform(lambda line: line.point.platform)
    rows.column("printed ratio", _printed)
    rows.column("here", _here)
    rows.number("inside", lambda line: line.inside)
    rows.number("outside", _outside, tone=_outside_tone)
    rows.number("times off", _times_off, plain, absent="")
    rows.text("counts as", lambda line: line.kind)
    rows.text("source", lambda line: line.point.source)
    return rows.table(foot=_foot(whole))


def _printed(line: RatioLine) -> Field:
    point = line.point
    return Field(point.factor, point.middle, link=point.anchor, tip=point.tip)


def _here(line: RatioLine) -> Field:
    caveats: dict[Caveat, None] = {}
    for comparison in line.comparisons:
        caveats.update(dict.fromkeys(comparison.cell.caveats))
    return Field(line.span, line.comparisons[0].ratio, caveats=tuple(caveats))


def _outside(line: RatioLine) -> int:
    return len(line.counting) - line.inside


def _outside_tone(line: RatioLine) -> Tone:
    return "" if _outside(line) else "muted"


def _times_off(line: RatioLine) -> float | None:
    if not line.counting:
        return None
    return statistics.median(comparison.off for comparison in line.counting)


def _foot(whole: RangeScore) -> tuple[Field, ...]:
    """Return the last row of the table, with the sums over all ranges."""
    outside = whole.counted - whole.inside
    blank = Field("")
    return (
        Field("all ranges"),
        blank,
        blank,
        blank,
        Field(str(whole.inside), whole.inside),
        Field(str(outside), outside),
        Field(plain(whole.off), whole.off),
        blank,
        blank,
    )


EXHIBIT = Exhibit(
    "against-published",
    "published ratios, the run's own at the same places, and how many are inside",
    _figures,
)
