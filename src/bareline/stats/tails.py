"""Probabilities in a sample's tail: by counting, and beyond the sample by an exponential tail.

Counting in a few hundred random orders gives probabilities down to a few in a thousand. Scores are
logarithms of likelihood ratios, whose tails fall exponentially. So beyond a threshold the tail is
assumed to be exponential. Its scale is the mean excess: the mean distance of the scores above the
threshold from the threshold. The scale is at least 1, the mean excess of the logarithm of a
likelihood ratio.

References
----------
T. A. Knijnenburg, L. F. A. Wessels, M. J. T. Reinders, I. Shmulevich, Fewer permutations, more
accurate P-values, Bioinformatics 25 (2009), doi:10.1093/bioinformatics/btp211.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.stats.launch_array import FloatArray

#: The share of highest values that give the tail, and the fewest values above one to count it.
_TAIL_SHARE = 0.05
_COUNTED = 10


@dataclass(frozen=True, slots=True)
class Tail:
    """The distribution of a score if nothing changed, from a sample of the score.

    - `ordered`: the sample, ascending.
    - `threshold`: the score at which the exponential tail begins.
    - `mean_excess`: the scale of the tail.
    - `share`: the probability to be above the threshold.
    """

    ordered: FloatArray
    threshold: float
    mean_excess: float
    share: float

    @classmethod
    def of(cls, sample: FloatArray) -> Tail:
        """Return the distribution from which a sample, shape (n,), was drawn."""
        ordered = np.sort(sample)
        above = max(_COUNTED, int(ordered.size * _TAIL_SHARE))
        threshold = float(ordered[-above - 1])
        mean_excess = float(np.mean(ordered[-above:] - threshold))
        return cls(ordered, threshold, max(mean_excess, 1.0), above / (ordered.size + 1.0))

    def log_p(self, score: FloatArray) -> FloatArray:
        """Return the natural logarithm of the probability of a score of at least `score`."""
        size = self.ordered.size
        at_least = size - np.searchsorted(self.ordered, score * (1.0 - 1e-9), side="left")
        counted = np.log((1.0 + at_least) / (size + 1.0))
        beyond = math.log(self.share) - (score - self.threshold) / self.mean_excess
        continued = np.minimum(beyond, math.log((1.0 + _COUNTED) / (size + 1.0)))
        return np.where(at_least >= _COUNTED, counted, continued)
