"""Classes of sizes: points of one class behave alike, and are told together.

Most MPI libraries change from their eager to their rendezvous protocol somewhere between the first
two classes of messages. The caches of a core hold a working set below 1 MiB on most processors, no
cache one from 64 MiB.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bareline.vocabulary.model import parse_point
from bareline.vocabulary.place import Place

#: Upper ends of the classes of small and of middle-sized messages, in bytes.
SMALL_BYTES = 8 << 10
LARGE_BYTES = 256 << 10


class Size(StrEnum):
    """How large the messages, or the data, of a class are."""

    SMALL = "small"
    MIDDLE = "middle"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class SizeClass:
    """Sizes from `low` to below `high`, in bytes, of the parameter that holds them."""

    parameter: str
    size: Size
    words: str
    low: float
    high: float

    def holds(self, place: Place) -> bool:
        """Return whether a place's size is of this class."""
        size = parse_point(place.point).get(self.parameter)
        return isinstance(size, int) and self.low <= size < self.high

    @property
    def of_messages(self) -> bool:
        """Whether it is messages that are so large."""
        return self.parameter == "size_bytes"


CLASSES: tuple[SizeClass, ...] = (
    SizeClass("size_bytes", Size.SMALL, "below 8 KiB", 0, SMALL_BYTES),
    SizeClass("size_bytes", Size.MIDDLE, "from 8 to 256 KiB", SMALL_BYTES, LARGE_BYTES),
    SizeClass("size_bytes", Size.LARGE, "from 256 KiB", LARGE_BYTES, math.inf),
    SizeClass("working_set_bytes", Size.SMALL, "below 1 MiB", 0, 1 << 20),
    SizeClass("working_set_bytes", Size.MIDDLE, "from 1 to 64 MiB", 1 << 20, 64 << 20),
    SizeClass("working_set_bytes", Size.LARGE, "from 64 MiB", 64 << 20, math.inf),
)


def classes(places: Sequence[Place]) -> Iterator[tuple[SizeClass | None, list[int]]]:
    """Split the numbers of places into classes of sizes; None for those without a common size."""
    delivered = [number for number, place in enumerate(places) if place.point]
    points = [parse_point(places[number].point) for number in delivered]
    names = dict.fromkeys(kind.parameter for kind in CLASSES)
    common = next((name for name in names if points and all(name in p for p in points)), None)
    if common is None:
        yield None, list(range(len(places)))
        return
    for kind in CLASSES:
        chosen = [n for n in delivered if kind.parameter == common and kind.holds(places[n])]
        if chosen:
            yield kind, chosen
    if len(delivered) < len(places):
        yield None, [number for number in range(len(places)) if not places[number].point]
