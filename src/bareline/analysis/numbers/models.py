"""Platforms that are models: simulated platforms, and platforms with an emulated processor.

A repeated simulation returns the same value, so there are no samples to test. The facts of a
calibrated platform contain the error of its model against the calibration's measurements. This
error, not a spread, is the interval of a simulated value; if the error is unknown, the value has no
interval.

A hypervisor that translates every instruction makes computation tens to hundreds of times slower.
The ratio to real hardware then does not show the cost of a cloud. Tables contain these values
without a verdict.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import polars as pl

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, Cube
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.analysis.numbers.records import Records
from bareline.vocabulary.caveats import Caveat, codes
from bareline.vocabulary.facts import unlike_builds
from bareline.vocabulary.model import PROCESSOR_LAYERS, Scalar
from bareline.vocabulary.verdicts import MIN_LAUNCHES

EMULATED = "emulated processor"
#: The caveat of a trial on an emulated processor.
EMULATED_CPU = "emulated-cpu"
_ERROR = "sim.calibration_error_ratio"


def is_emulated(facts: Mapping[str, Scalar], caveats: Iterable[Caveat] = ()) -> bool:
    """Whether a processor is emulated, according to its platform's facts or its trials' caveats.

    Two sources are needed: an imported run has no facts, and a measurement of a single platform has
    no caveats.
    """
    if facts.get("cpu.emulated") is True:
        return True
    return EMULATED_CPU in codes(caveats)


def emulated_platforms(records: Records) -> set[str]:
    """Return the names of the platforms with an emulated processor."""
    is_marked = pl.col("caveats").list.contains(EMULATED_CPU)
    marked = records.trials.filter(is_marked)
    named = {name for name, facts in records.facts.items() if is_emulated(facts)}
    marked_platforms = marked.get_column("platform").unique()
    return named | set(marked_platforms)


def unlike_processors(
    points: pl.DataFrame, pair: PlatformPair, emulated: Collection[str]
) -> BoolCube:
    """Return the points that are not compared because a processor is emulated.

    If the baseline is real hardware, a run makes only a few launches on an emulated processor. Two
    emulated platforms of such a run are therefore not compared either.

    - `points`: the points of the pair's values.
    """
    layers = [layer.value for layer in PROCESSOR_LAYERS]
    computes = points.get_column("layer").is_in(layers).to_numpy()
    launches = np.minimum(pair.ratio.n, pair.ratio.n_baseline)
    emulated_sides = (pair.platform in emulated) + (pair.baseline in emulated)
    unlike: BoolCube = computes & (launches > 0) & (emulated_sides > 0)
    if emulated_sides == 2:
        unlike &= launches < MIN_LAUNCHES
    return unlike


def model_errors(records: Records) -> Mapping[str, float]:
    """Return the relative model errors of fully simulated platforms; NaN for an unknown error."""
    measured = records.trials.filter(status="measured")
    all_simulated = (pl.col("clock") == "simulated").all()
    clocks = measured.group_by("platform").agg(all_simulated)
    errors = {}
    for name in clocks.filter("clock").get_column("platform"):
        facts = records.facts.get(name, {})
        error = facts.get(_ERROR)
        errors[name] = float(error) if isinstance(error, int | float) else np.nan
    return errors


class SimulatedPair(PlatformPair):
    """Two simulated platforms; the interval of a ratio is the sum of the two models' errors.

    There is no interval if one of the errors is unknown.
    """

    exact = True

    def __init__(self, cube: Cube, platform: str, baseline: str, error: float) -> None:
        super().__init__(cube, platform, baseline)
        self._error = error
        self.bounded = not np.isnan(error)

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Return the ratio of every point; its interval is the sum of the models' errors."""
        worse = stats.summarize(self._worse)
        than = stats.summarize(self._than)
        there = (worse.n > 0) & (than.n > 0)
        positive = there & (worse.median > 0) & (than.median > 0)
        ratio = np.full(worse.median.shape, np.nan)
        np.divide(worse.median, than.median, out=ratio, where=positive)
        error = 0.0
        if not np.isnan(self._error):
            error = self._error
        return stats.Ratio(
            ratio=ratio,
            lo=ratio / (1 + error),
            hi=ratio * (1 + error),
            p=np.where(positive, 0.0, np.nan),
            n=worse.n,
            n_baseline=than.n,
            level=np.full(ratio.shape, np.nan),
            on_logs=positive | ~there,
            nearest=np.full(ratio.shape, np.nan),
        )


def pair_of(
    records: Records, errors: Mapping[str, float], platform: str, baseline: str
) -> PlatformPair:
    """Return a platform with its baseline: a `SimulatedPair` if the two platforms are simulated."""
    if platform in errors and baseline in errors:
        error = errors[platform] + errors[baseline]
        return SimulatedPair(records.cube, platform, baseline, error)
    pair = PlatformPair(records.cube, platform, baseline, noiseless=errors)
    facts = records.facts
    facts_here = facts.get(platform, {})
    facts_there = facts.get(baseline, {})
    pair.unlike_build = unlike_builds(facts_here, facts_there)
    return pair
