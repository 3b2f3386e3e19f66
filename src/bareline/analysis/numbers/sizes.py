"""Classes of sizes: points of one class behave similarly and are reported together.

Most MPI libraries change from the eager to the rendezvous protocol near the limit between the first
two classes of message sizes. A working set below 1 MiB fits into the caches of a core on most
processors; a working set of 64 MiB or more does not fit into any cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

from bareline.vocabulary.model import Scalar, parse_point

#: Upper ends of the classes of small and of middle-sized messages, in bytes.
SMALL_BYTES = 8 << 10
LARGE_BYTES = 256 << 10


class Size(StrEnum):
    """The name of a class of message sizes or data sizes."""

    SMALL = "small"
    MIDDLE = "middle"
    LARGE = "large"


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The sizes of a parameter from `low` to below `high`, in bytes."""

    parameter: str
    size: Size
    words: str
    low: float
    high: float

    def holds(self, size: object) -> bool:
        """Whether a size is in this class."""
        if not isinstance(size, int):
            return False
        return self.low <= size < self.high


CLASSES: tuple[SizeClass, ...] = (
    SizeClass("size_bytes", Size.SMALL, "below 8 KiB", 0, SMALL_BYTES),
    SizeClass("size_bytes", Size.MIDDLE, "from 8 to 256 KiB", SMALL_BYTES, LARGE_BYTES),
    SizeClass("size_bytes", Size.LARGE, "from 256 KiB", LARGE_BYTES, math.inf),
    SizeClass("working_set_bytes", Size.SMALL, "below 1 MiB", 0, 1 << 20),
    SizeClass("working_set_bytes", Size.MIDDLE, "from 1 to 64 MiB", 1 << 20, 64 << 20),
    SizeClass("working_set_bytes", Size.LARGE, "from 64 MiB", 64 << 20, math.inf),
)


def classes(points: Sequence[str]) -> Iterator[tuple[SizeClass | None, list[int]]]:
    """Yield each class of sizes (None: points without a size) and the indices of its points.

    - `points`: the texts of points in the form of `format_point`; empty for a point without a
      value.
    """
    delivered = {}
    for point in points:
        if point:
            delivered[point] = parse_point(point)
    parameter = _common_parameter(list(delivered.values()))
    if parameter is None:
        yield None, list(range(len(points)))
        return
    sizes = {point: parameters[parameter] for point, parameters in delivered.items()}
    kinds = [kind for kind in CLASSES if kind.parameter == parameter]
    for kind in kinds:
        points_of_class = {point for point in sizes if kind.holds(sizes[point])}
        numbers = _numbers(points, points_of_class)
        if numbers:
            yield kind, numbers
    missing = _numbers(points, {""})
    if missing:
        yield None, missing


def _common_parameter(delivered: Sequence[Mapping[str, Scalar]]) -> str | None:
    """Return the size parameter that all points have; None if there is none."""
    if not delivered:
        return None
    for name in dict.fromkeys(kind.parameter for kind in CLASSES):
        if all(name in parameters for parameters in delivered):
            return name
    return None


def _numbers(points: Sequence[str], chosen: Set[str]) -> list[int]:
    return [number for number, point in enumerate(points) if point in chosen]
