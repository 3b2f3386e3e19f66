"""Waterfalls of the causes of a loss: bars, each of which begins where the previous bar ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.breakdown import Breakdown, Piece
from bareline.analysis.numbers.row import with_interval
from bareline.analysis.words.amounts import ratio_words
from bareline.report.content.wording import sentence_case
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value, joined

#: Pieces of less than this share of the baseline's time are not drawn.
_LEAST = 0.005


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """A row of a waterfall: its words, and the begin and length of its bar in percent."""

    name: str
    text: str
    note: str
    start: float
    width: float
    look: str


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The waterfall of one program on one platform."""

    title: str
    platform: str
    summary: str
    bars: tuple[WaterfallBar, ...]
    source: str


def waterfalls(breakdowns: Sequence[Breakdown]) -> list[Waterfall]:
    """Return the waterfall of the worst case of each program and platform, applications first."""
    worst: dict[tuple[str, str], Breakdown] = {}
    for breakdown in breakdowns:
        program = (breakdown.title, breakdown.cell.platform)
        previous = worst.get(program)
        if previous is None or breakdown.ratio.value > previous.ratio.value:
            worst[program] = breakdown
    return [_waterfall(breakdown) for breakdown in sorted(worst.values(), key=_order)]


def _order(breakdown: Breakdown) -> tuple[bool, float]:
    """Return a sort key: applications before other programs, then the largest loss first."""
    return breakdown.cell.layer is not Layer.APP, -breakdown.ratio.value


def _waterfall(breakdown: Breakdown) -> Waterfall:
    cell = breakdown.cell
    case = joined(f"{cell.place.ranks} ranks", cell.place.where, by=" ")
    title = joined(breakdown.title, case)
    return Waterfall(
        title=sentence_case(title),
        platform=cell.platform,
        summary=_summary(breakdown),
        bars=tuple(_bars(breakdown)),
        source=_source(breakdown),
    )


def _bars(breakdown: Breakdown) -> Iterator[WaterfallBar]:
    """Yield the bars of a waterfall from the baseline's time to the platform's time.

    Between them are a bar for each piece of the loss and a bar for the unexplained rest.
    """
    pieces = [piece for piece in breakdown.pieces if abs(piece.extra) >= _LEAST]
    ends = [1.0]
    for piece in pieces:
        ends.append(ends[-1] + piece.extra)
    total = breakdown.ratio.value
    full = max(*ends, total, breakdown.ratio.hi or 0.0)

    def bar(look: str, begin: float, width: float, name: str, text: str) -> WaterfallBar:
        start_percent = 100 * min(begin, begin + width) / full
        width_percent = 100 * abs(width) / full
        return WaterfallBar(name, text, "", start_percent, max(0.4, width_percent), look)

    base_time = format_value(breakdown.base_s, "s")
    yield bar("base", 0.0, 1.0, breakdown.cell.baseline, base_time)
    for piece, begin in zip(pieces, ends, strict=False):
        look = "more" if piece.extra > 0 else "less"
        piece_bar = bar(look, begin, piece.extra, piece.name, _amount(piece))
        yield replace(piece_bar, note=piece.call)
    rest = with_interval(breakdown.residual, write=_signed)
    yield bar("rest", ends[-1], breakdown.residual.value, "not explained", rest)
    yield bar("own", 0.0, total, breakdown.cell.platform, f"{total:.2f} times")


def _summary(breakdown: Breakdown) -> str:
    """Describe how many times longer a program takes, and the largest piece of the loss."""
    words = ratio_words(breakdown.ratio, rate=False)
    largest = breakdown.largest
    if largest is None or largest.extra <= _LEAST:
        return words
    call = f", mostly {largest.call}" if largest.call else ""
    return f"{words}: {largest.name} adds {largest.extra:.2f} of the baseline's time{call}"


def _source(breakdown: Breakdown) -> str:
    """Describe the source of a breakdown, e.g. ``profiles, median over 6 pairs of launches``."""
    launches = breakdown.launches
    if breakdown.source == "replay":
        return f"the replay of its calls, which predicts it as well; {launches} launches"
    source = "profiles" if breakdown.source == "profile" else "the program's own timers"
    if launches == 1:
        return f"{source} of one launch on each side"
    return f"{source}, median over {launches} pairs of launches"


def _amount(piece: Piece) -> str:
    amount = _signed(piece.extra)
    low = _signed(piece.lo)
    high = _signed(piece.hi)
    return amount if low == high else f"{amount} ({low} to {high})"


def _signed(share: float) -> str:
    text = f"{share:+.2f}"
    return text if float(text) else "0.00"
