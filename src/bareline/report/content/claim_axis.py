"""The log axis on which printed ranges and measured ratios of claims are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bareline.report.content.claim_rows import ClaimRow

#: Width of a drawing and the room at either end, in pixels.
WIDTH, _ROOM = 280.0, 10.0
_TICKS = (0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10000)


@dataclass(frozen=True, slots=True)
class Axis:
    """The log axis that all claims share: above 1 is the direction that the publication claims."""

    low: float
    high: float

    @classmethod
    def of(cls, rows: Sequence[ClaimRow]) -> Axis | None:
        """Choose its ends so that all rows fit; None where none has a figure."""
        ends = (end for row in rows for bar in row.bars for end in (bar.low, bar.high))
        known = [end for end in ends if end]
        dots = [dot.ratio for row in rows for dot in row.dots]
        known += [end for dot in dots for end in dot.known if end > 0]
        return cls(min(0.8, *known) / 1.05, max(2.0, *known) * 1.05) if known else None

    def x(self, value: float) -> float:
        """Return the place of a ratio, in pixels."""
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
        """Return the printed ranges of a row as x, width and look; one figure is a narrow bar."""
        for bar in row.bars:
            left = self.x(bar.low or self.low)
            right = self.x(bar.high or self.high)
            width = max(4.0, right - left)
            yield (left + right - width) / 2, width, "printed" if bar.same else "printed pale"

    def dots(self, row: ClaimRow) -> Iterator[tuple[float, float, float, str, str]]:
        """Return the measured ratios of a row: dot, ends of its whisker, look and program."""
        for dot in row.dots:
            at = low = high = self.x(dot.ratio.value)
            if dot.ratio.lo is not None or dot.ratio.hi is not None:
                low = self.x(dot.ratio.lo or self.low)
                high = self.x(dot.ratio.hi or self.high)
            yield at, low, high, "begin" if dot.begins else "own", dot.program
