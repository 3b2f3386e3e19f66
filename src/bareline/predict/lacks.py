"""What a replay of the base lacks of the traced time, by function and size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bareline.predict.replay import Replayed
from bareline.profile.trace import Trace
from bareline.vocabulary.units import format_value


@dataclass(frozen=True, slots=True)
class Lack:
    """What a replay of the base lacks, or has too much, of one function's calls.

    - `size_bytes`: the largest; sizes up to the power of two above are taken together.
    - `calls`, `traced_s`, `replayed_s`: of a rank.
    - `share`: replayed less traced, of the application's time.
    """

    call: str
    size_bytes: int
    calls: float
    traced_s: float
    replayed_s: float
    share: float

    def __str__(self) -> str:
        of = f" of {format_value(self.size_bytes, 'B')}" if self.size_bytes else ""
        return f"{self.call}{of} ({self.share:+.1%} of the time)"


def lacks_of(trace: Trace, replayed: Replayed, time_s: float) -> tuple[Lack, ...]:
    """Hold what calls take in a replay against what the trace has, the most missing first."""
    found: dict[tuple[str, int], list[float]] = {}
    for stream, taken in zip(trace.streams, replayed.taken_s, strict=True):
        of = len(stream.shapes)
        counts = np.bincount(stream.shape, minlength=of)
        traced = np.bincount(stream.shape, weights=stream.spent_s, minlength=of)
        for number, shape in enumerate(stream.shapes):
            if shape.kind in ("done", "compute"):
                continue
            key = (shape.call, int(shape.size).bit_length())
            entry = found.setdefault(key, [0.0, 0.0, 0.0, 0.0])
            entry[0] = max(entry[0], shape.size)
            for at, values in enumerate((counts, traced, taken), 1):
                entry[at] += float(values[number]) / trace.ranks
    made = [
        Lack(call, int(size), calls, before, after, (after - before) / time_s)
        for (call, _), (size, calls, before, after) in found.items()
    ]
    return tuple(sorted(made, key=lambda one: one.share))
