"""Why programs take longer: a waterfall for each, as bars that begin where the one before ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from bareline.analysis.judgements.breakdown import Breakdown, Piece
from bareline.analysis.numbers.row import with_interval
from bareline.analysis.words.amounts import ratio_words
from bareline.report.content.wording import sentence_case
from bareline.vocabulary.model import Layer
from bareline.vocabulary.units import format_value

#: Pieces of less than this share of the baseline's time are not drawn.
_LEAST = 0.005


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """A row of a waterfall: its words, and where its bar begins and how long it is, in percent."""

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
    """Return one waterfall for each program and platform, of its worst case; applications first."""
    worst: dict[tuple[str, str], Breakdown] = {}
    for one in breakdowns:
        known = worst.get((one.title, one.cell.platform))
        if known is None or one.ratio.value > known.ratio.value:
            worst[one.title, one.cell.platform] = one
    order = sorted(
        worst.values(), key=lambda one: (one.cell.layer is not Layer.APP, -one.ratio.value)
    )
    return [_steps(one) for one in order]


def _steps(one: Breakdown) -> Waterfall:
    pieces = [piece for piece in one.pieces if abs(piece.extra) >= _LEAST]
    ends = list(accumulate((piece.extra for piece in pieces), initial=1.0))
    full = max(*ends, one.ratio.value, one.ratio.hi or 0.0)

    def bar(name: str, text: str, note: str, begin: float, width: float, look: str) -> WaterfallBar:
        start, size = 100 * min(begin, begin + width) / full, 100 * abs(width) / full
        return WaterfallBar(name, text, note, start, max(0.4, size), look)

    bars = [bar(one.cell.baseline, format_value(one.base_s, "s"), "", 0.0, 1.0, "base")]
    for piece, begin in zip(pieces, ends, strict=False):
        look = "more" if piece.extra > 0 else "less"
        bars.append(bar(piece.name, _amount(piece), piece.call, begin, piece.extra, look))
    left = with_interval(one.residual, write=_signed)
    bars.append(bar("not explained", left, "", ends[-1], one.residual.value, "rest"))
    total = f"{one.ratio.value:.2f} times"
    bars.append(bar(one.cell.platform, total, "", 0.0, one.ratio.value, "own"))
    summary, largest = ratio_words(one.ratio, rate=False), one.largest
    if largest is not None and largest.extra > _LEAST:
        via = f", mostly {largest.call}" if largest.call else ""
        summary += f": {largest.name} adds {largest.extra:.2f} of the baseline's time{via}"
    case = " ".join(filter(None, [f"{one.cell.place.ranks} ranks", one.cell.place.where]))
    title = sentence_case(", ".join(filter(None, [one.title, case])))
    return Waterfall(title, one.cell.platform, summary, tuple(bars), _source(one))


def _source(one: Breakdown) -> str:
    """Describe the source of the pieces, e.g. ``profiles, median over 6 pairs of launches``."""
    if one.source == "replay":
        return f"the replay of its calls, which predicts it as well; {one.launches} launches"
    what = "profiles" if one.source == "profile" else "the program's own timers"
    pairs = f", median over {one.launches} pairs of launches"
    return what + (" of one launch on each side" if one.launches == 1 else pairs)


def _amount(piece: Piece) -> str:
    ends = (_signed(piece.lo), _signed(piece.hi))
    return _signed(piece.extra) + (f" ({' to '.join(ends)})" if ends[0] != ends[1] else "")


def _signed(share: float) -> str:
    text = f"{share:+.2f}"
    return text if float(text) else "0.00"
