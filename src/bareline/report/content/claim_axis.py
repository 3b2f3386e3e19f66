"""The logarithmic axis on which printed ranges and measured ratios of claims are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bareline.report.content.claim_rows import ClaimRow

#: Width of a drawing and the room at either end, in pixels.
WIDTH = 280.0
_ROOM = 10.0
_TICKS = (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000)


@dataclass(frozen=True, slots=True)
class Axis:
    """The logarithmic axis of all claims; a ratio above 1 is in the direction of the claim."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[ClaimRow]) -> Axis | None:
        """Return an axis that has room for all rows; None if no row has a figure."""
        ends: list[float] = []
        for row in rows:
            ends += _ends_of(row)
        if not ends:
            return None
        low = min(0.8, *ends) / 1.05
        high = max(2.0, *ends) * 1.05
        return cls(low, high)

    def x(self, value: float) -> float:
        """Return the position of a ratio on the axis, in pixels."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return _ROOM + (WIDTH - 2 * _ROOM) * min(1.0, max(0.0, share))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The labelled ratios with their positions; the ratio 1 always has a label.

        The distance of two labels is at least some 28 pixels.
        """
        marked = [(self.x(1.0), "1")]
        for tick in sorted(_TICKS, key=_decades_first):
            x = self.x(tick)
            has_room = all(abs(x - other) >= 28 for other, _ in marked)
            if self.low <= tick <= self.high and has_room:
                marked.append((x, f"{tick:g}"))
        return sorted(marked)

    def bars(self, row: ClaimRow) -> Iterator[tuple[float, float, str]]:
        """Return the printed ranges of a row as position (px), width (px) and CSS class.

        A range that is a single figure is drawn as a narrow bar.
        """
        for bar in row.bars:
            left = self.x(bar.low or self.low)
            right = self.x(bar.high or self.high)
            width = max(4.0, right - left)
            look = "printed" if bar.same else "printed pale"
            yield (left + right - width) / 2, width, look

    def dots(self, row: ClaimRow) -> Iterator[tuple[float, float, float, str, str]]:
        """Yield each measured ratio: its position, the ends of its interval, CSS class and program.

        The position and the ends are in pixels.
        """
        for dot in row.dots:
            x = self.x(dot.ratio.value)
            low = x
            high = x
            if dot.ratio.lo is not None or dot.ratio.hi is not None:
                low = self.x(dot.ratio.lo or self.low)
                high = self.x(dot.ratio.hi or self.high)
            look = "begin" if dot.begins else "own"
            yield x, low, high, look, dot.program


def _ends_of(row: ClaimRow) -> list[float]:
    """Return the positive ends of the printed ranges and of the measured intervals."""
    ends: list[float] = []
    for bar in row.bars:
        ends += [end for end in (bar.low, bar.high) if end]
    for dot in row.dots:
        ends += [end for end in dot.ratio.known if end > 0]
    return ends


def _decades_first(tick: float) -> tuple[bool, float]:
    is_between_decades = math.log10(tick) % 1 > 1e-9
    return is_between_decades, tick
