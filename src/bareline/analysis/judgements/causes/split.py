"""What of a program's time is computation and what communication: a profile or its own clock.

What a program does not use is not its cause: a slow network costs a program without messages
nothing, however slow it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from bareline.analysis.numbers.cell import Cell, Estimate
from bareline.analysis.numbers.profiled import kept_profiles
from bareline.analysis.numbers.records import Records
from bareline.profile.files import read_profile
from bareline.profile.summary import time_split
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.model import format_point, parse_point
from bareline.vocabulary.place import Place

#: Parts of a program's time by its own clock: means over the ranks, which add up to its time.
COMPUTING, COMMUNICATING = "compute_mean", "communication_mean"

_Case = tuple[str, str, int, int, int]


@dataclass(frozen=True, slots=True)
class Split:
    """How a program divides its time on the baseline.

    - `computing`, `communicating`: shares of the time; what is neither is files.
    - `source`: who tells it, in words.
    - `own_computing`, `own_communicating`: times worse that the parts themselves are, where the
      program tells it.
    """

    computing: float
    communicating: float
    source: str
    own_computing: Estimate | None = None
    own_communicating: Estimate | None = None


class Splits:
    """The splits of the programs of a comparison; profiles are read when they are asked for.

    - `cells`: as of `bareline.analysis.judgements.comparison.Comparison.cells`.
    """

    def __init__(self, records: Records, cells: Iterable[Cell], baseline: str) -> None:
        self._records = records
        self._cells = cells
        self._baseline = baseline
        self._profiles: dict[_Case, Split | None] = {}

    def of(self, platform: str, place: Place) -> Split | None:
        """Give the split of a program on the baseline; None where nothing tells it."""
        own = self._by_clock.get((platform, place.case))
        if place.ranks == 1:
            return own or Split(1.0, 0.0, "with one rank")
        return own or self._profiled(place)

    @cached_property
    def _by_clock(self) -> dict[tuple[str, _Case], Split]:
        """What programs say of themselves, by platform and case."""
        found: dict[tuple[str, _Case], dict[str, tuple[float, Estimate | None]]] = {}
        for cell in self._cells:
            if cell.place.metric in (COMPUTING, COMMUNICATING) and cell.base is not None:
                own = found.setdefault((cell.platform, cell.place.case), {})
                own[cell.place.metric] = (cell.base.value, cell.ratio)
        splits = {}
        for key, own in found.items():
            total = sum(value for value, _ in own.values())
            if len(own) == 2 and total > 0:
                (computes, computing), (talks, talking) = own[COMPUTING], own[COMMUNICATING]
                source = f"by its own clock on {self._baseline}"
                splits[key] = Split(computes / total, talks / total, source, computing, talking)
        return splits

    def _profiled(self, place: Place) -> Split | None:
        """Give what the baseline's profiles of a case say, measured beside it or as it."""
        params = {**parse_point(place.params), "profile": True}
        case = (place.probe, format_point(params), *place.case[2:])
        if case not in self._profiles:
            self._profiles[case] = self._read(case)
        return self._profiles[case]

    def _read(self, case: _Case) -> Split | None:
        shares = []
        for path in kept_profiles(self._records, self._baseline, case).values():
            try:
                parts = {part.what: part.share for part in time_split(read_profile(path))}
            except ProfileError:
                continue  # a cause is worth no damaged profile's failure; `show` says so
            computing, files = (parts.get(name, 0.0) for name in ("computing", "files (POSIX)"))
            shares.append((computing, max(0.0, 1.0 - computing - files)))
        if not shares:
            return None
        computing, communicating = (_median(own) for own in zip(*shares, strict=True))
        return Split(computing, communicating, f"by its profile on {self._baseline}")


def _median(values: Iterable[float]) -> float:
    return float(median(values))
