"""Every published ratio next to the run's ratios at the same place, inside or outside.

A ratio counts where a run could have missed it. Parameters of a simulated platform are not results:
its computation takes the platform's factor, and a message within a node costs the same on all. Nor
do ratios count that were recorded while other programs ran: they move with the machine's load.
A bound is open to one side, so that much more is inside it: bounds are counted apart.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.judgements.losses import is_disturbed, is_given
from bareline.analysis.numbers.row import Row
from bareline.analysis.words.amounts import Form
from bareline.published.catalogue import conditions
from bareline.published.quantities import Spread
from bareline.report.blocks import Field, Figure, Rows, Table
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.exhibits.base import Exhibit, figure_of, select
from bareline.report.figures.grammar import Chart, both_widths, plot
from bareline.report.figures.marks import diamonds, marks, rows_axis
from bareline.report.figures.rows import boxes, rule_at, value_axis, written
from bareline.report.figures.scales import ratio_ticks
from bareline.report.figures.theme import MarkLook, looks
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import plain

#: A single printed number is taken for this range around it: it was read off or rounded.
SINGLE = 1.25


@dataclass(frozen=True, slots=True)
class Meeting:
    """A cell's ratio, above 1 worse, and a printed range; an end is None where it is open."""

    ratio: float
    low: float | None
    high: float | None
    cell: Row

    @property
    def is_given(self) -> bool:
        """Whether the ratio is a parameter of the simulated platform."""
        return is_given(self.cell)

    @property
    def is_disturbed(self) -> bool:
        """Whether computation was recorded on a busy machine."""
        return is_disturbed(self.cell)

    @property
    def counts(self) -> bool:
        """Whether the run could have missed it, and its load did not."""
        return not (self.is_given or self.is_disturbed)

    @property
    def inside(self) -> bool:
        """Whether the ratio is in the range."""
        low, high = self.low or 0.0, math.inf if self.high is None else self.high
        return low <= self.ratio <= high

    @property
    def is_bound(self) -> bool:
        """Whether one end is open."""
        return self.low is None or self.high is None

    @property
    def off(self) -> float:
        """Times that the ratio is from the middle of the range; at least 1."""
        ends = [end for end in (self.low, self.high) if end]
        middle = math.exp(statistics.fmean(map(math.log, ends)))
        return math.exp(abs(math.log(self.ratio / middle)))


@dataclass(frozen=True, slots=True)
class RatioLine:
    """A published ratio and all results of the run in the places to which it applies."""

    point: PublishedPoint
    meetings: tuple[Meeting, ...]

    @classmethod
    def of(cls, point: PublishedPoint, found: Iterable[tuple[Row, float]]) -> RatioLine:
        """Combine it with cells and their ratios."""
        low, high = range_of(point)
        return cls(point, tuple(Meeting(ratio, low, high, cell) for cell, ratio in found))

    @property
    def counting(self) -> tuple[Meeting, ...]:
        """The meetings that count."""
        return tuple(meeting for meeting in self.meetings if meeting.counts)

    @property
    def inside(self) -> int:
        """Number of counting meetings inside."""
        return sum(meeting.inside for meeting in self.counting)

    @property
    def kind(self) -> str:
        """Describe how it is counted."""
        if not self.counting:
            return "given, not counted" if self.meetings[0].is_given else "busy, not counted"
        return "a bound" if self.meetings[0].is_bound else "a range"

    @property
    def span(self) -> str:
        """From where to where the values reach."""
        low, *_, high = sorted([meeting.ratio for meeting in self.meetings] * 2)
        return plain(low) if low == high else f"{plain(low)} to {plain(high)}"

    @property
    def title(self) -> str:
        """Name benchmark, metric, platform and condition."""
        ratio = self.point.ratio
        what = f"{ratio.benchmark} {ratio.metric.replace('_', ' ')}"
        parts = (what, self.point.platform, conditions(ratio.conditions))
        return ", ".join(filter(None, parts))


def range_of(point: PublishedPoint) -> tuple[float | None, float | None]:
    """Return the range that counts as inside; an end is None where a bound leaves it open."""
    if point.low is not None and point.low == point.high:
        return point.middle / SINGLE, point.middle * SINGLE
    return point.low, point.high


@dataclass(frozen=True, slots=True)
class RangeScore:
    """The number of points inside, of those that count.

    - `counted`, `bounds`: points with a range on both sides, and with a bound on one side.
    - `off`: half of the counted points are at most so many times from the middle of their range.
    - `coin`: how many would be inside by chance: ratios drawn evenly, on a log scale, from `least`
      to `most`, over all that was printed for these platforms.
    """

    inside: int
    counted: int
    bounds_inside: int
    bounds: int
    given: int
    disturbed: int
    off: float
    coin: float
    least: float
    most: float

    @property
    def words(self) -> str:
        """Return the text in sentences."""
        parts = [
            f"{self.inside} of {self.counted} points lie inside what was printed, "
            f"{self.counted - self.inside} outside."
        ]
        if self.counted:
            parts.append(
                f"Half of them are within {self.off:.2g} times of its middle; a coin, drawn "
                f"evenly from {self.least:.3g} to {self.most:.3g} times, would have "
                f"{self.coin:.1f} inside."
            )
        if self.bounds:
            parts.append(f"Of {self.bounds} that meet a bound on one side {self.bounds_inside} do.")
        if self.given:
            parts.append(
                f"{self.given} more are not counted: a simulated platform is given how long it "
                "computes, and what messages cost within a node."
            )
        if self.disturbed:
            parts.append(
                f"{self.disturbed} more are not counted: their computation was recorded while "
                "other programs ran; run it again on a machine at rest."
            )
        return " ".join(parts)


def score(meetings: Sequence[Meeting], printed: Sequence[float] = ()) -> RangeScore:
    """Count the meetings; `printed`: ends of all printed ranges, of those without a value too."""
    given = sum(meeting.is_given for meeting in meetings)
    ranges, bounds = (
        [meeting for meeting in meetings if meeting.counts and meeting.is_bound is bound]
        for bound in (False, True)
    )
    ends = [end for meeting in ranges for end in (meeting.low, meeting.high) if end]
    ends += [end for end in printed if end > 0]
    least, most = (min(ends), max(ends)) if ends else (1.0, 1.0)
    span = math.log(most / least) or 1.0
    return RangeScore(
        inside=sum(meeting.inside for meeting in ranges),
        counted=len(ranges),
        bounds_inside=sum(meeting.inside for meeting in bounds),
        bounds=len(bounds),
        given=given,
        disturbed=len(meetings) - len(ranges) - len(bounds) - given,
        off=statistics.median(meeting.off for meeting in ranges) if ranges else 1.0,
        coin=sum(math.log(m.high / m.low) / span for m in ranges if m.low and m.high),
        least=least,
        most=most,
    )


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Figure]:
    lines = published_lines(document, spec)
    if not lines:
        return
    every = [meeting for line in lines for meeting in line.meetings]
    printed = [end for point in document.published for end in range_of(point) if end is not None]
    found = score(every, printed)
    rows = [
        f"{line.title}: printed {line.point.factor}, here {line.span}, "
        + (f"{line.inside} of {len(line.counting)} inside" if line.counting else line.kind)
        for line in lines[:12]
    ]
    yield figure_of(
        spec,
        title="Printed ratios and this run's",
        what=(spec.probe or "",),
        notes=[
            found.words,
            "Bars: printed ranges, open where only a bound was printed; a single number "
            f"(diamond) counts as the range from 1/{SINGLE:g} to {SINGLE:g} of it.",
            "Hollow marks: simulated." if any(one.cell.simulated for one in every) else "",
        ],
        cells=[one.cell for one in every],
        layer="",
        drawing=both_widths(_panel, document, lines),
        summary=f"{found.words} {'; '.join(rows)}.",
        table=_table(lines, found),
        data=(),
    )


def published_lines(document: Document, spec: ExhibitSpec) -> list[RatioLine]:
    """Return the published ratios with the run's values in the places to which they apply.

    Ranks must agree where the publication names them; a ratio that it gives for no number of ranks
    applies to all. Simulated values are only divided by simulated ones.
    """
    every = [cell for cell in document.cells if cell.median]
    chosen = select(document, spec) if spec.probe or spec.where else every
    wanted = [cell for cell in chosen if cell.median]
    found = []
    for point in document.published:
        if spec.published and point.ratio.part not in spec.published:
            continue
        bases = {cell.place: cell for cell in every if cell.platform == point.baseline}
        pairs = []
        for cell in wanted:
            base = bases.get(cell.place)
            if base is None or base.simulated != cell.simulated:
                continue
            worse = cell.metric.worse(cell.median, base.median)
            if worse is not None and point.about(cell) and _same_ranks(point, cell):
                pairs.append((cell, worse))
        if pairs:
            found.append(RatioLine.of(point, pairs))
    return found


def _same_ranks(point: PublishedPoint, cell: Row) -> bool:
    ranks = point.ratio.conditions.get("ranks", cell.place.ranks)
    if isinstance(ranks, Spread):
        # "all plotted": a label without a number applies to all that was plotted.
        numbers = {ranks.low, ranks.high, ranks.above, ranks.inferred}
        return numbers == {None} or ranks.holds(cell.place.ranks)
    return cell.place.ranks in (ranks if isinstance(ranks, list) else [ranks])


def _panel(document: Document, lines: Sequence[RatioLine], *, narrow: bool) -> Chart:
    """Draw a row for each; `narrow` writes its name above it, not at its left."""
    styles = looks(document.names)
    ends = [e for one in lines for e in (*range_of(one.point), one.point.middle) if e]
    ticks = ratio_ticks([*ends, *(one.ratio for line in lines for one in line.meetings)])
    least, most = ticks.domain
    bars: list[dict[str, Any]] = []
    dots: list[dict[str, Any]] = []
    above, width, left = (18, 300, 0) if narrow else (0, 380, -300)
    for place, line in enumerate(lines):
        (low, high), point = range_of(line.point), line.point
        y, look = (place + 0.5) * 20 + place * above + above, styles[point.platform]
        span = {"x": low or least, "end": high or most, "top": y - 6, "bottom": y + 6, "y": y}
        name = {"text": line.title, "at": y - above, "middle": point.middle}
        bars.append({**span, **name, "colour": look.colour, "tip": point.tip})
        dots += _dots(line, y, look)
    height = (20 + above) * len(lines)
    x, up = value_axis(ticks, log=True), rows_axis(height)
    layers = (
        rule_at(1.0, x),
        boxes(bars, x, rows_axis(height, "top"), fillOpacity=0.22),
        diamonds([{**row, "x": row["middle"]} for row in bars], x, up, size=52),
        marks(dots, x, up),
        written(bars, left, rows_axis(height, "at"), limit=width if narrow else 290),
    )
    return plot(layers, width, height, "times worse than the baseline (log)")


def _dots(line: RatioLine, y: float, look: MarkLook) -> Iterator[dict[str, Any]]:
    names = varying(meeting.cell.place for meeting in line.meetings)
    for meeting in line.meetings:
        at = ", ".join(filter(None, [line.point.platform, meeting.cell.place.words_of(names)]))
        word = "inside" if meeting.inside else "outside"
        word += ", given to the simulation" if meeting.is_given else ""
        amount = Form.of(meeting.ratio, meeting.cell.rate).text(meeting.ratio)
        tip = f"{at}: {amount}, {word}"
        ink = look.ink(hollow=meeting.cell.simulated)
        yield {"x": meeting.ratio, "y": y, **ink, "tip": tip}


def _table(lines: Sequence[RatioLine], whole: RangeScore) -> Table:
    def printed(line: RatioLine) -> Field:
        point = line.point
        return Field(point.factor, point.middle, link=point.anchor, tip=point.tip)

    def here(line: RatioLine) -> Field:
        doubts = dict.fromkeys(one for meeting in line.meetings for one in meeting.cell.caveats)
        return Field(line.span, line.meetings[0].ratio, caveats=tuple(doubts))

    def outside(line: RatioLine) -> int:
        return len(line.counting) - line.inside

    def off(line: RatioLine) -> float | None:
        times = [meeting.off for meeting in line.counting]
        return statistics.median(times) if times else None

    blank, left_out = Field(""), whole.counted - whole.inside
    counts = (Field(str(whole.inside), whole.inside), Field(str(left_out), left_out))
    foot = (*counts, Field(plain(whole.off), whole.off), blank, blank)
    return (
        Rows(lines)
        .text("published", lambda line: line.title, wrap=True)
        .platform(lambda line: line.point.platform)
        .column("printed ratio", printed)
        .column("here", here)
        .number("inside", lambda line: line.inside)
        .number("outside", outside, tone=lambda line: "" if outside(line) else "muted")
        .number("times off", off, plain, absent="")
        .text("counts as", lambda line: line.kind)
        .text("source", lambda line: line.point.source)
        .table(foot=(Field("all ranges"), blank, blank, blank, *foot))
    )


EXHIBIT = Exhibit(
    "against-published",
    "published ratios, the run's own at the same places, and how many lie inside",
    _shown,
)
