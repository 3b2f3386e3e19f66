"""The interval of a prediction: its level, and its half-widths on the scale of ln(time)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from bareline.vocabulary.units import percent

#: The share of the measured medians that an interval should contain: of every prediction, of the
#: shares of a loss, and of a measured factor of computing.
LEVEL = 0.95
#: ``95 %``, as terminal and page print it.
LEVEL_WORDS = percent(LEVEL)
#: The ends of the middle `LEVEL` of some values, as quantiles.
ENDS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
#: The half-width that contains `LEVEL` of a normal distribution, in standard deviations.
DEVIATIONS = NormalDist().inv_cdf(ENDS[1])


def half_width(values: npt.NDArray[np.float64] | list[float]) -> float:
    """Return half of the range that contains the middle 95 % (`LEVEL`) of the values."""
    low, high = np.quantile(values, ENDS)
    return float(high - low) / 2


@dataclass(frozen=True, slots=True)
class ModelError:
    """The error of a model for programs that were not used to build it, as a half-width in ln.

    The error grows with the change that the model predicts: if every call costs the same on both
    platforms, no call can get a wrong time.

    - `per_change`: half-width divided by the predicted change, both in ln(time).
    - `largest`: limit of the half-width.
    """

    per_change: float
    largest: float

    def of(self, change: float) -> float:
        """Return the half-width for changes of calls that add up to `change`, both in ln(time)."""
        return min(self.largest, self.per_change * change)


#: The errors of both models, from the 322 pairs of nine programs between five platforms
#: (`benchmarks/predict_coverage.py`, 29 November 2026, docs/method/prediction.md): the narrowest
#: intervals that contain 95 % of the measured medians.
MODEL_ERRORS: Mapping[str, ModelError] = {
    "replay": ModelError(per_change=0.25, largest=0.25),
    "delta": ModelError(per_change=0.4, largest=0.45),
}
#: Half-width of single launches where an application has too few to show it: the median of the
#: same nine programs.
UNREPEATED = 0.12
