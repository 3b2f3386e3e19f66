"""Simulated platforms: values without noise, whose error is the model's.

The same simulation gives the same value, so one trial is all that there is to know: no sample, no
test. What is uncertain is the model, and a calibrated platform knows how far it lay from the
measurements that it was calibrated with. That error, not a spread, makes the interval of a
simulated value; where it is not known there is none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import Cube
from bareline.analysis.numbers.pairs import Pair
from bareline.analysis.numbers.records import Records

_ERROR = "sim.calibration_error_ratio"


def model_errors(records: Records) -> Mapping[str, float]:
    """Give the platforms whose every value is simulated, each with its model's error.

    The error is relative, the median of what calibration found; NaN where none is known.
    """
    clocks = (
        records.trials.filter(pl.col("status") == "measured")
        .group_by("platform")
        .agg((pl.col("clock") == "simulated").all().alias("simulated"))
    )
    names = clocks.filter("simulated").get_column("platform").to_list()
    errors = {}
    for name in names:
        error = records.facts.get(name, {}).get(_ERROR)
        errors[name] = float(error) if isinstance(error, int | float) else np.nan
    return errors


class SimulatedPair(Pair):
    """Two simulated platforms: exact within their models.

    The errors of both models add up; where one is not known the ratio has no interval, and its
    verdict is that of the models as they are.
    """

    exact = True

    def __init__(self, cube: Cube, platform: str, baseline: str, error: float) -> None:
        super().__init__(cube, platform, baseline)
        self._error = error
        self.bounded = not np.isnan(error)

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Give the ratio of every point; its interval is the models' error."""
        worse, than = stats.summarize(self._worse), stats.summarize(self._than)
        there = (worse.n > 0) & (than.n > 0)
        positive = there & (worse.median > 0) & (than.median > 0)
        ratio = np.divide(
            worse.median, than.median, out=np.full(worse.median.shape, np.nan), where=positive
        )
        known = 0.0 if np.isnan(self._error) else self._error
        return stats.Ratio(
            ratio=ratio,
            lo=ratio / (1 + known),
            hi=ratio * (1 + known),
            p=np.where(positive, 0.0, np.nan),
            n=worse.n,
            n_baseline=than.n,
            level=np.full(ratio.shape, np.nan),
            on_logs=positive | ~there,
            nearest=np.full(ratio.shape, np.nan),
        )


def pair_of(records: Records, errors: Mapping[str, float], platform: str, baseline: str) -> Pair:
    """Give a platform beside its baseline: as samples, or exact where both are simulated."""
    if platform in errors and baseline in errors:
        error = errors[platform] + errors[baseline]
        return SimulatedPair(records.cube, platform, baseline, error)
    return Pair(records.cube, platform, baseline, noiseless=errors)
