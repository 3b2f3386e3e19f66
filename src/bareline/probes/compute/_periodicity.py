"""What comes back regularly in a series: its frequency, its share, and the spectrum in bands.

A disturbance such as a timer tick is short and regular. Its spectrum is a comb: the fundamental
and its harmonics are about equally strong, and the strongest line may be any of them. So combs
are compared, not lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: Periods that a series must hold of the slowest beat that is looked for.
_PERIODS = 4
#: Lines that a windowed line is spread over.
_SPREAD = 3
#: A comb of half the frequency holds the same lines, one of twice the frequency half of them: the
#: fastest that is about as good as the best is meant.
_AS_GOOD = 0.7
_BANDS_PER_OCTAVE = 2


@dataclass(frozen=True, slots=True)
class Disturbance:
    """A regular disturbance.

    - `frequency_hz`: how often it comes back; 0 where nothing varies.
    - `share`: how much of the series' variance it explains, from 0 to 1. Pure noise has a strongest
      comb, too: its share is a few percent.
    - `spectrum`: upper end of each band in Hz, and its share of the variance.
    """

    frequency_hz: float
    share: float
    spectrum: tuple[tuple[float, float], ...]


def find_period(series: Sequence[float], step_s: float) -> Disturbance:
    """Find the strongest regular disturbance of a series of equal steps.

    - `series`: at least 16 values.
    - `step_s`: time between two of them.
    """
    import numpy as np

    values = np.asarray(series, dtype=float)
    window = np.hanning(values.size)
    power = np.abs(np.fft.rfft((values - values.mean()) * window)) ** 2
    power[:2] = 0  # the mean, and what the window spreads of it
    line_hz = 1 / (values.size * step_s)
    total = float(power.sum())
    if total <= 0:
        return Disturbance(0.0, 0.0, tuple((edge, 0.0) for edge in _edges(power.size, line_hz)))
    power /= total
    lines, scores = _combs(power)
    best = int(np.flatnonzero(scores >= _AS_GOOD * scores.max())[-1])
    # Neighbours that are as good belong to the same comb; the strongest of them is its middle.
    near = slice(max(0, best - 2 * _SPREAD), best + 1)
    best = near.start + int(np.argmax(scores[near]))
    share = min(1.0, max(0.0, float(scores[best])))
    return Disturbance(float(lines[best] * line_hz), share, _bands(power, line_hz))


def _combs(power: Any) -> tuple[Any, Any]:
    """Give fundamentals in lines, and the share of the variance that each one's comb explains."""
    import numpy as np

    last = power.size - 1
    excess = np.convolve(power, np.ones(_SPREAD), mode="same") - _SPREAD * power.mean()
    # From one fundamental to the next, the comb's last harmonic moves by one line.
    count = int(np.log(last / _PERIODS) * last)
    fundamentals = _PERIODS * np.exp(np.arange(count + 1) / last)
    scores = np.zeros(fundamentals.size)
    for harmonic in range(1, last // _PERIODS + 1):
        reach = int(np.searchsorted(fundamentals, (last + 0.5) / harmonic))
        lines = np.rint(harmonic * fundamentals[:reach]).astype(int)
        scores[:reach] += excess[np.minimum(lines, last)]
    return fundamentals, scores


def _edges(lines: int, line_hz: float) -> list[float]:
    """Give the upper ends of the bands: they depend on length and step alone."""
    import math

    octaves = math.log2(lines - 1)
    count = max(1, round(octaves * _BANDS_PER_OCTAVE))
    edges = [2 ** (octaves * (band + 1) / count) * line_hz for band in range(count)]
    return [float(f"{edge:.4g}") for edge in edges]


def _bands(power: Any, line_hz: float) -> tuple[tuple[float, float], ...]:
    import numpy as np

    edges = _edges(power.size, line_hz)
    ends = [*(round(edge / line_hz) + 1 for edge in edges[:-1]), power.size]
    sums = np.add.reduceat(power, [0, *ends[:-1]])
    return tuple(zip(edges, map(float, sums), strict=True))
