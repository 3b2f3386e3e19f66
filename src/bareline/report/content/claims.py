"""Printed beside measured: what a publication claims, and whether a run says the same."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bareline.analysis.judgements.claims import ClaimStatus, Outcome, PlaceLoss, Replication
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.row import Estimate, with_interval
from bareline.analysis.words.comparison import Comparison
from bareline.published.catalogue import publications
from bareline.published.findings import ClaimCheck, PublishedFinding
from bareline.published.model import PublishedStudy
from bareline.published.ratios import PublishedRatio, published_ratios
from bareline.report.blocks import Field, Rows, Table, Tone
from bareline.report.content.published import same_place, where_printed
from bareline.report.content.wording import outermost
from bareline.vocabulary.place import Place
from bareline.vocabulary.units import count, listing

#: Claims that stand open; the others are folded.
OPEN = 12
_BETTER = " times better"
_TONES: Mapping[ClaimStatus, Tone] = {
    ClaimStatus.YES: "bold",
    ClaimStatus.NO: "worse",
    ClaimStatus.CANNOT_TELL: "muted",
    ClaimStatus.NOT_MEASURED: "muted",
}


@dataclass(frozen=True, slots=True)
class PrintedRange:
    """A printed range; `same` where the run measured at its ranks and nodes."""

    low: float | None
    high: float | None
    same: bool
    where: str


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim of a publication beside what was measured.

    - `sides`: who is compared with whom here; empty where nobody is.
    - `why`: why it is not measured, or what is to be known of what is.
    - `bars`, `dots`: drawn toward the claim: above 1 is what the publication says. Of a growth the
      first and the last of either.
    """

    claim: str
    source: str
    sides: str
    printed: str
    measured: str
    where: str
    status: ClaimStatus
    why: str
    bars: tuple[PrintedRange, ...] = ()
    dots: tuple[Estimate, ...] = ()

    @property
    def comparable(self) -> bool:
        """Whether it stands open: the run has something to say to it."""
        return self.status is not ClaimStatus.NOT_MEASURED

    @property
    def elsewhere(self) -> str:
        """Say where the printed figure was measured, if that is not where the run did."""
        places = [bar.where for bar in self.bars if not bar.same]
        return " → ".join(dict.fromkeys(places))


@dataclass(frozen=True, slots=True)
class Claims:
    """All claims of a study's publications: those that stand open, and the others."""

    open: tuple[ClaimRow, ...]
    folded: tuple[ClaimRow, ...]

    @property
    def rows(self) -> tuple[ClaimRow, ...]:
        """All of them."""
        return (*self.open, *self.folded)


def claims_of(comparison: Comparison) -> Claims:
    """Give a row for every claim of the publications that a study repeats; none for others."""
    if comparison.alone:
        return Claims((), ())
    roles = comparison.records.runs[0].header.study.get("role", {})
    casts = _casts(roles, set(comparison.records.platforms))
    if not casts:
        return Claims((), ())
    cells = comparison.cells_in(unprofiled(comparison.points))
    rows = []
    for name, cast in casts.items():
        if study := publications().get(name):
            replication = Replication(cells, comparison.baseline, cast, comparison.margin)
            ratios = published_ratios(study)
            rows += [
                _row(study, finding, replication, ratios, comparison.margin, cast)
                for finding in study.findings
            ]
    comparable = [row for row in rows if row.comparable]
    others = [row for row in rows if not row.comparable]
    return Claims(tuple(comparable[:OPEN]), (*comparable[OPEN:], *others))


def _casts(roles: Mapping[str, Mapping[str, Any]], here: set[str]) -> dict[str, dict[str, str]]:
    """Give who took the part of each platform, for each publication that has anybody."""
    casts: dict[str, dict[str, str]] = {}
    for role in roles.values():
        for reference in role.get("published", ()):
            publication, _, platform = reference.partition(":")
            cast = casts.setdefault(publication, {})
            if role.get("platform") in here:
                cast.setdefault(platform, str(role["platform"]))
    return casts


def _row(
    study: PublishedStudy, finding: PublishedFinding, replication: Replication,
    ratios: Sequence[PublishedRatio], margin: float, cast: Mapping[str, str],
) -> ClaimRow:  # fmt: skip
    source = f"{study.publication.short}, {study.part(finding.part).label}"
    if not finding.checks:
        return ClaimRow(
            finding.words, source, "", "", "", "", ClaimStatus.NOT_MEASURED, finding.unmeasured
        )
    tried = [
        (check, replication.outcome(check, _at_any(_printed(check, check.printed, ratios))))
        for check in finding.checks
    ]
    check, outcome = next(
        (one for one in tried if one[1].status is not ClaimStatus.NOT_MEASURED), tried[0]
    )
    first = _bar(check, _printed(check, check.printed_first, ratios), outcome.first_losses)
    last = _bar(check, _printed(check, check.printed, ratios), outcome.losses)
    dots = [_toward(check, dot) for dot in (outcome.first, outcome.own) if dot is not None]
    measured = " → ".join(map(with_interval, dots)) if outcome.own is not None else ""
    losses = (*outcome.first_losses, *outcome.losses)
    # It must never pass for a measured time.
    simulated = "simulated" if any(loss.simulated for loss in losses) else ""
    return ClaimRow(
        claim=finding.words,
        source=source,
        sides=_sides(check, outcome, cast),
        printed=_printed_words(check, first, last),
        measured=measured + (_BETTER if measured and check.expect == "better" else ""),
        where=_where(outcome),
        status=_weakened(check, outcome, first, last, margin),
        why="; ".join(filter(None, [simulated, outcome.reason])),
        bars=tuple(bar for bar in (first, last) if bar is not None),
        dots=tuple(dots),
    )


def claims_table(rows: Sequence[ClaimRow], *, sources: bool) -> Table:
    """Lay claims out; `sources` adds where each stands, and where it was measured."""
    table = Rows(rows).text("claim", lambda row: row.claim)
    if sources:
        table.text("source", lambda row: row.source)
    table.text(
        "printed",
        lambda row: f"{row.printed} ({row.elsewhere})" if row.elsewhere else row.printed,
    )
    table.text("measured here", lambda row: row.measured)
    if sources:
        table.text("where", lambda row: "; ".join(filter(None, [row.sides, row.where, row.why])))
    same = lambda row: Field(row.status.value, tone=_TONES.get(row.status, ""))  # noqa: E731
    return table.column("same direction?", same, "text").table()


def _printed(
    check: ClaimCheck, names: Sequence[str], ratios: Sequence[PublishedRatio]
) -> list[PublishedRatio]:
    return [
        ratio
        for ratio in ratios
        if ratio.platform == check.platform
        and ratio.baseline in check.against
        and not set(names).isdisjoint(ratio.results)
    ]


def _at_any(printed: Sequence[PublishedRatio]) -> Callable[[Place], bool]:
    return lambda place: any(same_place(ratio, place) for ratio in printed)


def _bar(
    check: ClaimCheck, printed: Sequence[PublishedRatio], losses: Sequence[PlaceLoss]
) -> PrintedRange | None:
    if not printed:
        return None
    low = outermost(min, (ratio.span.low for ratio in printed))
    high = outermost(max, (ratio.span.high for ratio in printed))
    if check.expect == "better":
        low, high = (1 / high if high else None), (1 / low if low else None)
    same = bool(losses) and all(_at_any(printed)(loss.place) for loss in losses)
    places = dict.fromkeys(filter(None, map(where_printed, printed)))
    return PrintedRange(low, high, same, listing([*places]) or "ranks not printed")


def _printed_words(check: ClaimCheck, first: PrintedRange | None, last: PrintedRange | None) -> str:
    bars = [_span(bar) for bar in (first, last) if bar is not None]
    if first is not None and last is None:
        bars.append("no figure")
    if not bars:
        return check.expect if check.expect in ("equal", "better") else "no figure"
    if check.expect == "equal":
        return f"{bars[-1]}, called equal"
    return " → ".join(bars) + (_BETTER if check.expect == "better" else "")


def _span(bar: PrintedRange) -> str:
    if bar.low is None or bar.high is None:
        end, word = (bar.high, "at most") if bar.low is None else (bar.low, "at least")
        return f"{word} {end or 0.0:.3g}"
    low, high = (f"{end:.3g}" if end >= 1.1 else f"{end:.2f}" for end in (bar.low, bar.high))
    return low if low == high else f"{low} to {high}"


def _weakened(
    check: ClaimCheck, outcome: Outcome, first: PrintedRange | None, last: PrintedRange | None,
    margin: float,
) -> ClaimStatus:  # fmt: skip
    """Say "weaker" of what is certainly less than is printed."""
    # Where ranks or nodes differ, less than half of the factor on a log scale: losses grow with
    # both, but 1.2 is not what 16 was printed to say.
    status = outcome.status
    if status is not ClaimStatus.YES or check.expect == "equal" or outcome.change is None:
        return status
    if last is None or last.low is None:
        return status
    least, same = last.low, last.same
    if outcome.first is not None:
        if first is None or first.high is None:
            return status
        least, same = least / first.high, same and first.same
    if not same:
        least = math.sqrt(max(least, 1.0))
    most = _toward(check, outcome.change).hi
    return ClaimStatus.WEAKER if most is not None and most * (1 + margin) < least else status


def _toward(check: ClaimCheck, ratio: Estimate) -> Estimate:
    return ratio.inverse() if check.expect == "better" else ratio


def _sides(check: ClaimCheck, outcome: Outcome, cast: Mapping[str, str]) -> str:
    against = {loss.against for loss in outcome.losses}
    others = [cast[name] for name in check.against if name in against and name in cast]
    return f"{cast[check.platform]} against {listing(others)}" if against else ""


def _where(outcome: Outcome) -> str:
    groups = [group for group in (outcome.first_losses, outcome.losses) if group]
    text = " → ".join(dict.fromkeys(map(_ranks, groups)))
    if outcome.of > 1:
        return f"{text}, the least clear of {outcome.of}"
    if (several := len(outcome.losses)) > 1:
        probes = {loss.place.probe for loss in outcome.losses}
        of = count(len(probes), "program") if len(probes) > 1 else count(several, "point")
        text += f", mean of {of}"
    return text


def _ranks(losses: Sequence[PlaceLoss]) -> str:
    ranks = sorted({loss.place.ranks for loss in losses})
    nodes = {loss.place.ran_on for loss in losses} - {0}
    span = str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]} to {ranks[-1]}"
    text = f"{span} rank{'s' if span != '1' else ''}"
    return f"{text} on {count(nodes.pop(), 'node')}" if len(nodes) == 1 else text


#: Width of a drawing and the room at either end, in pixels.
WIDTH, _ROOM = 280.0, 10.0
_TICKS = (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000)


@dataclass(frozen=True, slots=True)
class Axis:
    """The log axis that all claims share: above 1 is what the publication says."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[ClaimRow]) -> Axis | None:
        """Choose its ends so that all rows fit; None where none has a figure."""
        ends = (end for row in rows for bar in row.bars for end in (bar.low, bar.high))
        known = [end for end in ends if end]
        known += [end for row in rows for dot in row.dots for end in dot.known if end > 0]
        return cls(min(0.8, *known) / 1.05, max(2.0, *known) * 1.05) if known else None

    def x(self, value: float) -> float:
        """Give the place of a ratio."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return _ROOM + (WIDTH - 2 * _ROOM) * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Ratios that are marked, at least some 28 pixels apart, 1 among them."""
        found = [(self.x(1.0), "1")]
        for tick in sorted(_TICKS, key=lambda tick: (math.log10(tick) % 1 > 1e-9, tick)):
            at = self.x(tick)
            if self.low <= tick <= self.high and all(abs(at - other) >= 28 for other, _ in found):
                found.append((at, f"{tick:g}"))
        return sorted(found)

    def bars(self, row: ClaimRow) -> Iterator[tuple[float, float, str]]:
        """Give the printed ranges of a row as x, width and look; one figure is a narrow bar."""
        for bar in row.bars:
            left, right = self.x(bar.low or self.low), self.x(bar.high or self.high)
            width = max(4.0, right - left)
            yield (left + right - width) / 2, width, "printed" if bar.same else "printed pale"

    def dots(self, row: ClaimRow) -> Iterator[tuple[float, float, float, str]]:
        """Give the measured ratios of a row: dot, ends of its whisker, and look."""
        for number, dot in enumerate(row.dots):
            at = low = high = self.x(dot.value)
            if dot.lo is not None or dot.hi is not None:
                low, high = self.x(dot.lo or self.low), self.x(dot.hi or self.high)
            yield at, low, high, "begin" if len(row.dots) == 2 and number == 0 else "own"
