"""Every published ratio beside what the run found at the same place, counted inside and outside."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.numbers.cell import Cell
from bareline.published.catalogue import conditions
from bareline.published.quantities import Spread
from bareline.report.blocks.table import Field, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.score import Meeting, Score, disturbed, given, score
from bareline.report.exhibits.base import Kind, Shown, select
from bareline.report.figures.grammar import Chart, Drawing, alt, heading
from bareline.report.figures.marks import diamonds, marks, rows_axis
from bareline.report.figures.rows import boxes, rule_at, value_axis, written
from bareline.report.figures.scales import ratio_ticks
from bareline.report.figures.theme import Look, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import plain

PLOT_PX, NARROW_PX = 380, 300
LABELS_PX = 300
PITCH_PX = 20
#: A single printed number is taken for this range around it: it was read off or rounded.
SINGLE = 1.25


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of the run as a ratio to the published baseline's stand-in, above 1 is worse."""

    cell: Cell
    ratio: float


@dataclass(frozen=True, slots=True)
class Line:
    """A published ratio and everything of the run that was found where it holds.

    `low` and `high` are the range that counts as inside; None where a bound leaves it open.
    """

    point: PublishedPoint
    pairs: tuple[Pair, ...]

    @property
    def low(self) -> float | None:
        """Lower end of what counts as inside."""
        return self._single[0] if self._is_single else self.point.low

    @property
    def high(self) -> float | None:
        """Upper end of what counts as inside."""
        return self._single[1] if self._is_single else self.point.high

    @property
    def _is_single(self) -> bool:
        return self.point.low is not None and self.point.low == self.point.high

    @property
    def _single(self) -> tuple[float, float]:
        return self.point.middle / SINGLE, self.point.middle * SINGLE

    @property
    def meetings(self) -> tuple[Meeting, ...]:
        """Its values beside its range, in the order of `pairs`."""
        return tuple(
            Meeting(pair.ratio, self.low, self.high, given(pair.cell), disturbed(pair.cell))
            for pair in self.pairs
        )

    @property
    def counting(self) -> tuple[Meeting, ...]:
        """Those that count."""
        return tuple(meeting for meeting in self.meetings if meeting.counts)

    @property
    def inside(self) -> int:
        """Number of them inside."""
        return sum(meeting.inside for meeting in self.counting)

    @property
    def outside(self) -> int:
        """Number of them outside."""
        return len(self.counting) - self.inside

    @property
    def kind(self) -> str:
        """Say what it counts as."""
        if not self.counting:
            return "given, not counted" if self.meetings[0].is_given else "busy, not counted"
        return "a bound" if None in (self.low, self.high) else "a range"

    @property
    def span(self) -> str:
        """From where to where the values reach."""
        low, high = min(p.ratio for p in self.pairs), max(p.ratio for p in self.pairs)
        return plain(low) if low == high else f"{plain(low)} to {plain(high)}"

    @property
    def title(self) -> str:
        """Name benchmark, metric, platform and condition."""
        ratio = self.point.ratio
        at = conditions(ratio.conditions)
        what = f"{ratio.benchmark} {ratio.metric.replace('_', ' ')}"
        return f"{what}, {self.point.platform}{f', {at}' if at else ''}"


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Draw all published ratios that the run has values for; named ones only, if any are."""
    lines = published_lines(document, spec)
    if not lines:
        return
    pairs = [pair for line in lines for pair in line.pairs]
    told = _score(document, lines).told
    rows = [
        f"{line.title}: printed {line.point.told}, here {line.span}, "
        + (f"{line.inside} of {len(line.counting)} inside" if line.counting else line.kind)
        for line in lines[:12]
    ]
    yield Shown(
        title="What was printed, and what this run found",
        what=(spec.probe or "",),
        notes=[
            told,
            "Bars: printed ranges, open where only a bound was printed; a single number "
            f"(diamond) counts as the range from 1/{SINGLE:g} to {SINGLE:g} of it.",
            "Hollow marks: simulated." if any(p.cell.simulated for p in pairs) else "",
        ],
        cells=[pair.cell for pair in pairs],
        layer="",
        drawing=Drawing(
            [_panel(document, lines, narrow=False)], narrow=[_panel(document, lines, narrow=True)]
        ),
        summary=f"{told} {'; '.join(rows)}.",
        table=_table(document, lines),
        data=(),
    )


def published_lines(document: Document, spec: ExhibitSpec) -> list[Line]:
    """Give the published ratios with the run's values where they hold.

    Ranks must agree where the publication names them; a ratio that it gives for no number of ranks
    holds for all. Simulated values are only divided by simulated ones.
    """
    every = [cell for cell in document.cells if cell.median]
    chosen = set(map(id, select(document, spec))) if spec.probe or spec.where else None
    parts = set(spec.published)
    found = []
    for point in document.published:
        if parts and point.ratio.part not in parts:
            continue
        bases = {cell.place: cell for cell in every if cell.platform == point.baseline}
        pairs = []
        for cell in every:
            base = bases.get(cell.place)
            wanted = chosen is None or id(cell) in chosen
            if base is None or not wanted or base.simulated != cell.simulated:
                continue
            worse = cell.metric.worse(cell.median, base.median)
            if worse is not None and point.about(cell) and _same_ranks(point, cell):
                pairs.append(Pair(cell, worse))
        if pairs:
            found.append(Line(point, tuple(pairs)))
    return found


def _same_ranks(point: PublishedPoint, cell: Cell) -> bool:
    told = point.ratio.conditions.get("ranks")
    if told is None:
        return True
    if isinstance(told, Spread):
        # "all plotted": a label without a number holds for whatever was plotted.
        numbers = (told.low, told.high, told.above, told.inferred)
        return all(number is None for number in numbers) or told.holds(cell.place.ranks)
    return cell.place.ranks in told if isinstance(told, list) else cell.place.ranks == told


def _panel(document: Document, lines: Sequence[Line], *, narrow: bool) -> Chart:
    """Draw a row for each; `narrow` writes what it is above it, not at its left."""
    styles = looks(document.names)
    ends = [e for line in lines for e in (line.low, line.high, line.point.middle) if e]
    ticks = ratio_ticks([*ends, *(pair.ratio for line in lines for pair in line.pairs)])
    least, most = ticks.domain
    bars: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    above, width = (PITCH_PX - 2, NARROW_PX) if narrow else (0, PLOT_PX)
    for place, line in enumerate(lines):
        y, look = (place + 0.5) * PITCH_PX + place * above + above, styles[line.point.platform]
        bars.append(
            {
                "x": line.low or least,
                "end": line.high or most,
                "top": y - 6,
                "bottom": y + 6,
                "y": y,
                "middle": line.point.middle,
                "text": line.title,
                "at": y - above,
                "colour": look.colour,
                "tip": line.point.tip,
            }
        )
        dots += _dots(line, y, look)
    height = (PITCH_PX + above) * len(lines)
    x, up = value_axis(ticks, log=True), rows_axis(height)
    return alt.layer(
        rule_at(1.0, x),
        boxes(bars, x, rows_axis(height, "top"), fillOpacity=0.22),
        diamonds([{**row, "x": row["middle"]} for row in bars], x, up, size=52),
        marks(dots, x, up),
        written(bars, 0, rows_axis(height, "at"), limit=width)
        if narrow
        else written(bars, -LABELS_PX, up, limit=LABELS_PX - 10),
    ).properties(
        width=width, height=height, title=heading("times worse than the baseline (log)", width)
    )


def _dots(line: Line, y: float, look: Look) -> Iterator[dict[str, Any]]:
    """Lay out the run's own ratios beside a published one."""
    names = varying(pair.cell.place for pair in line.pairs)
    for pair, meeting in zip(line.pairs, line.meetings, strict=True):
        at = pair.cell.place.told(names)
        word = "inside" if meeting.inside else "outside"
        word += ", given to the simulation" if meeting.is_given else ""
        yield {
            "x": pair.ratio, "y": y, **look.ink(hollow=pair.cell.simulated),
            "tip": f"{line.point.platform}{f', {at}' if at else ''}: "
            f"{plain(pair.ratio)} times worse, {word}",
        }  # fmt: skip


def _table(document: Document, lines: Sequence[Line]) -> Table:
    def printed(line: Line) -> Field:
        point = line.point
        return Field(point.told, point.middle, link=point.anchor, tip=point.tip)

    def here(line: Line) -> Field:
        doubts = dict.fromkeys(one for pair in line.pairs for one in pair.cell.caveats)
        return Field(line.span, line.pairs[0].ratio, caveats=tuple(doubts))

    def off(line: Line) -> Field:
        times = [meeting.off for meeting in line.counting]
        return (
            Field(plain(statistics.median(times)), statistics.median(times)) if times else Field("")
        )

    return (
        Rows(lines)
        .text("published", lambda line: line.title, wrap=True)
        .platform(lambda line: line.point.platform)
        .column("printed ratio", printed)
        .column("here", here)
        .number("inside", lambda line: line.inside)
        .number(
            "outside", lambda line: line.outside, tone=lambda line: "" if line.outside else "muted"
        )
        .column("times off", off)
        .text("counts as", lambda line: line.kind)
        .text("source", lambda line: line.point.source)
        .table(foot=_foot(_score(document, lines)))
    )


def _score(document: Document, lines: Sequence[Line]) -> Score:
    every = [Line(point, ()) for point in document.published]
    ends = [end for line in every for end in (line.low, line.high) if end is not None]
    return score([meeting for line in lines for meeting in line.meetings], ends)


def _foot(whole: Score) -> tuple[Field, ...]:
    outside = whole.counted - whole.inside
    counts = (Field(str(whole.inside), whole.inside), Field(str(outside), outside))
    off, blank = Field(plain(whole.off), whole.off), Field("")
    return (Field("all ranges"), blank, blank, blank, *counts, off, blank, blank)


EXHIBIT = Kind(
    "against-published",
    "published ratios, the run's own at the same places, and how many lie inside",
    _shown,
)
