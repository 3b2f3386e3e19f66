"""How well a run's ratios meet the printed ones: inside or outside, how far off, beside a coin.

A ratio counts where a run could have missed it. What a simulated platform was given is not found:
its computation takes the platform's factor, and a message within a node costs the same on all. Nor
does what was recorded while other programs ran: it moves with the machine's load.
A bound is open to one side, so that much more lies inside it: bounds are counted apart.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.cell import Cell
from bareline.vocabulary.caveats import codes
from bareline.vocabulary.model import Layer

#: Metrics of simulated programs that the platform's factor of computation makes.
_COMPUTATION = frozenset({"compute", "compute_mean"})


def given(cell: Cell) -> bool:
    """Tell whether a value's ratio is a parameter of the simulated platform."""
    if not cell.simulated:
        return False
    within = 1 in (cell.place.nodes, cell.place.used)
    return cell.place.metric in _COMPUTATION or (within and cell.layer is Layer.MPI)


def disturbed(cell: Cell) -> bool:
    """Tell whether computation was recorded on a busy machine."""
    return "recorded-busy" in codes(cell.caveats)


@dataclass(frozen=True, slots=True)
class Meeting:
    """A run's ratio beside a printed range; an end is None where a bound leaves it open."""

    ratio: float
    low: float | None
    high: float | None
    is_given: bool = False
    is_disturbed: bool = False

    @property
    def counts(self) -> bool:
        """Whether the run could have missed it, and its load did not."""
        return not (self.is_given or self.is_disturbed)

    @property
    def inside(self) -> bool:
        """Whether the ratio lies in the range."""
        return (self.low is None or self.ratio >= self.low) and (
            self.high is None or self.ratio <= self.high
        )

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
class Score:
    """What is inside, of what counts.

    - `inside`, `counted`: points with a range on both sides.
    - `bounds_inside`, `bounds`: points with a bound on one side.
    - `given`, `disturbed`: points that are not counted.
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
    def told(self) -> str:
        """Say it in sentences."""
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


def score(meetings: Sequence[Meeting], printed: Sequence[float] = ()) -> Score:
    """Count them.

    - `printed`: ends of all ranges that were printed, of points that nothing stands beside too.
    """
    found = [meeting for meeting in meetings if meeting.counts]
    given = sum(meeting.is_given for meeting in meetings)
    ranges = [meeting for meeting in found if not meeting.is_bound]
    bounds = [meeting for meeting in found if meeting.is_bound]
    ends = [end for meeting in ranges for end in (meeting.low, meeting.high) if end]
    ends += [end for end in printed if end > 0]
    least, most = (min(ends), max(ends)) if ends else (1.0, 1.0)
    span = math.log(most / least) or 1.0
    return Score(
        inside=sum(meeting.inside for meeting in ranges),
        counted=len(ranges),
        bounds_inside=sum(meeting.inside for meeting in bounds),
        bounds=len(bounds),
        given=given,
        disturbed=len(meetings) - len(found) - given,
        off=statistics.median(meeting.off for meeting in ranges) if ranges else 1.0,
        coin=sum(_width(meeting) / span for meeting in ranges),
        least=least,
        most=most,
    )


def _width(meeting: Meeting) -> float:
    assert meeting.low and meeting.high
    return math.log(meeting.high / meeting.low)
