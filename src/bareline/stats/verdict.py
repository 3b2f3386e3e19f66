"""Verdicts: slower, faster, equivalent or inconclusive, against a declared margin.

A ratio above 1 means worse. With a margin of 2 % the zone of equivalence is 1/1.02 .. 1.02.

* ``equivalent``: the whole interval is inside the zone. The difference may be real, but it is too
  small to matter.
* ``slower``: the interval is above 1, the estimate is above the zone, and the adjusted p-value
  rejects "no difference". ``faster`` mirrors it.
* ``inconclusive``: every other case: the launches do not decide it, e.g. if there are fewer than
  six.

Two other rules were rejected. A rule that the whole interval must be beyond the zone would control
the error of "worse by more than the margin" instead of "worse". But a measured 3 % loss with an
interval of 1.8 % to 4.2 % would be undecided, although the loss is not in doubt and the interval
next to the verdict shows its size. A rule with the p-value alone would call losses of 0.1 %
"slower" whenever noise is low.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bareline.stats.family import ALPHA
from bareline.stats.launch_array import BoolArray, FloatArray
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, MIN_LAUNCHES, Verdict


def judge(
    ratio: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    n: ArrayLike,
    p_adjusted: ArrayLike,
    *,
    margin: ArrayLike = DEFAULT_MARGIN,
    alpha: float = ALPHA,
) -> NDArray[np.object_]:
    """Return the verdicts of ratios, an object array of the broadcast shape.

    - `ratio`, `lo`, `hi`: estimate and interval; above 1 is worse. NaN bounds give "inconclusive".
    - `n`: the number of launches on the side that has fewer.
    - `p_adjusted`: p-values adjusted inside their family; NaN gives "inconclusive" or "equivalent".
    - `margin`: relative difference that does not matter: 0.02 is 2 %.
    - `alpha`: family-wise error of "slower" and "faster".

    Raises ValueError: a margin is negative.
    """
    upper = 1.0 + _checked(margin, "margin")
    return _judge((ratio, lo, hi), n, p_adjusted, (1.0 / upper, np.ones(()), upper), alpha)


def judge_shift(
    shift: ArrayLike,
    lo: ArrayLike,
    hi: ArrayLike,
    n: ArrayLike,
    p_adjusted: ArrayLike,
    *,
    tolerance: ArrayLike,
    alpha: float = ALPHA,
) -> NDArray[np.object_]:
    """Return the verdicts of differences, for cases that have no ratio (zeros, see `ratio`).

    - `shift`, `lo`, `hi`: estimate and interval in the metric's unit; above 0 is worse.
    - `n`, `p_adjusted`, `alpha`: as in `judge`.
    - `tolerance`: difference that does not matter, in the metric's unit: the margin times |median
      of the baseline|, which is 0 if that median is 0.

    Raises ValueError: a tolerance is negative.
    """
    upper = _checked(tolerance, "tolerance")
    return _judge((shift, lo, hi), n, p_adjusted, (-upper, np.zeros(()), upper), alpha)


def _judge(
    interval: tuple[ArrayLike, ArrayLike, ArrayLike],
    n: ArrayLike,
    p_adjusted: ArrayLike,
    zone: tuple[FloatArray, FloatArray, FloatArray],
    alpha: float,
) -> NDArray[np.object_]:
    middle, below, above, p = (
        np.asarray(given, dtype=np.float64) for given in (*interval, p_adjusted)
    )
    lower, null, upper = zone
    enough: BoolArray = np.asarray(n) >= MIN_LAUNCHES
    rejected = enough & (p <= alpha)
    verdict = np.select(
        [
            enough & (below >= lower) & (above <= upper),
            rejected & (below > null) & (middle > upper),
            rejected & (above < null) & (middle < lower),
        ],
        [1, 2, 3],
        default=0,
    )
    return np.asarray(_VERDICTS[np.atleast_1d(verdict)].reshape(verdict.shape))


_VERDICTS = np.array(
    [Verdict.INCONCLUSIVE, Verdict.EQUIVALENT, Verdict.SLOWER, Verdict.FASTER], dtype=object
)


def _checked(width: ArrayLike, name: str) -> FloatArray:
    checked = np.asarray(width, dtype=np.float64)
    if not (checked >= 0).all():
        raise ValueError(f"{name}: expected numbers of at least 0, got {width!r}")
    return checked
