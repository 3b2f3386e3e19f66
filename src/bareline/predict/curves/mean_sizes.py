"""The mean message size of each MPI function of a program, for benchmarks at these sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bareline.predict.curves.requirements import curve_size
from bareline.profile.model import Profile
from bareline.profile.records import POINT_TO_POINT
from bareline.vocabulary.collectives import collective_of

#: Sizes are whole numbers of elements of this size, as reductions need them.
_ELEMENT_BYTES = 8


@dataclass(frozen=True, slots=True)
class MeanSize:
    """The mean size of a function's messages in bytes, as benchmarks count sizes.

    The size of a collective is the amount for each rank, as in OSU and IMB.
    """

    call: str
    bytes: float
    time_ns: int

    @property
    def rounded_bytes(self) -> int:
        """The nearest size that is a whole number of elements, at least one element."""
        return max(1, round(self.bytes / _ELEMENT_BYTES)) * _ELEMENT_BYTES


def mean_sizes(profile: Profile) -> list[MeanSize]:
    """Return the mean size of each function that sends messages, the largest time first."""
    counts: dict[str, int] = {}
    totals: dict[str, float] = {}
    times: dict[str, int] = {}
    for row in profile.calls.iter_rows(named=True):
        if not row["bytes"] or not row["count"]:
            continue
        size = row["bytes"] / row["count"]
        collective = collective_of(row["call"])
        if row["kind"] == "collective" and collective is not None:
            size = curve_size(collective, size, row["comm_size"])
        elif row["kind"] not in POINT_TO_POINT:
            continue
        call = row["call"]
        counts[call] = counts.get(call, 0) + row["count"]
        totals[call] = totals.get(call, 0.0) + row["count"] * size
        times[call] = times.get(call, 0) + row["time_ns"]
    means = [MeanSize(call, totals[call] / counts[call], times[call]) for call in counts]
    return sorted(means, key=lambda mean: (-mean.time_ns, mean.call))


def sweep_sizes(means: Sequence[MeanSize], most: int) -> list[int]:
    """Return at most `most` sizes for a sweep, ascending; sizes with most time have priority."""
    sizes = list(dict.fromkeys(mean.rounded_bytes for mean in means))
    return sorted(sizes[:most])
