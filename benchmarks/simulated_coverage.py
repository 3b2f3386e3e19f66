"""Coverage by simulation: how often the intervals hold a planted truth.

`benchmarks/interval_coverage.py` prints these simulations as tables of the statistics' appendix;
a quick version of them is a test. A launch's value is a planted factor times noise; `DISTRIBUTIONS`
are kinds of noise that benchmarks show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from bareline.stats.family import ALPHA, holm
from bareline.stats.flips import family_wise_p
from bareline.stats.launch_array import BoolArray, FloatArray
from bareline.stats.ratio import Ratio, differences_of_blocks, paired_ratio, unpaired_ratio
from bareline.stats.summary import reached, summarize
from bareline.vocabulary.verdicts import DEFAULT_MARGIN, MIN_LAUNCHES

Shape = tuple[int, ...]
RatioOf = Callable[[FloatArray, FloatArray], Ratio]

PLANTED_RATIO = 1.2


@dataclass(frozen=True, slots=True)
class Distribution:
    """Noise with a known median.

    Attributes
    ----------
    name : str
    draw : callable
        ``draw(rng, shape)`` gives independent positive factors.
    median : float
        Of one draw.
    """

    name: str
    draw: Callable[[np.random.Generator, Shape], FloatArray]
    median: float


@dataclass(frozen=True, slots=True)
class Share:
    """A simulated probability."""

    value: float
    simulations: int

    @property
    def standard_error(self) -> float:
        """Monte-Carlo standard error of the value."""
        return math.sqrt(self.value * (1.0 - self.value) / self.simulations)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What adaptive stopping does.

    Attributes
    ----------
    mean_launches : float
    not_reached : Share
        Cases that spent the whole budget without reaching the target.
    median, ratio : Share
        Coverage of the two intervals at the moment of stopping.
    """

    mean_launches: float
    not_reached: Share
    median: Share
    ratio: Share


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction does to families of comparisons.

    Attributes
    ----------
    false_claims : Share
        Families with a rejected point that has no difference.
    found : Share
        Points with a difference that are rejected.
    """

    false_claims: Share
    found: Share


def normal(sigma: float) -> Distribution:
    """Return normal noise with relative standard deviation `sigma`."""
    return Distribution(
        f"normal, {100 * sigma:g} %",
        lambda rng, shape: 1.0 + sigma * rng.standard_normal(shape),
        1.0,
    )


def _two_modes(rng: np.random.Generator, shape: Shape) -> FloatArray:
    slow = rng.random(shape) < 0.4
    return np.where(slow, 1.1, 1.0) + 0.01 * rng.standard_normal(shape)


def _mixture_median() -> float:
    """Return the median of `_two_modes`: there the two modes' distribution functions add to 1/2."""
    cdf = NormalDist().cdf
    low, high = 1.0, 1.1
    while (middle := (low + high) / 2.0) not in (low, high):
        below = 0.6 * cdf((middle - 1.0) / 0.01) + 0.4 * cdf((middle - 1.1) / 0.01)
        low, high = (middle, high) if below < 0.5 else (low, middle)
    return middle


DISTRIBUTIONS = (
    normal(0.03),
    Distribution("lognormal, 10 %", lambda rng, shape: rng.lognormal(0.0, 0.1, shape), 1.0),
    Distribution(
        "heavy tails",
        lambda rng, shape: np.exp(0.02 * rng.standard_t(3, shape)),
        1.0,
    ),
    Distribution(
        "one-sided delays",
        lambda rng, shape: 1.0 + rng.exponential(0.05, shape),
        1.0 + 0.05 * math.log(2.0),
    ),
    Distribution("two modes", _two_modes, _mixture_median()),
)


def median_coverage(
    noise: Distribution, n: int, simulations: int, rng: np.random.Generator
) -> Share:
    """Return how often the order-statistic interval of n launches holds the true median."""
    found = summarize(noise.draw(rng, (simulations, n)))
    return _share((found.lo <= noise.median) & (noise.median <= found.hi))


def ratio_coverage(
    noise: Distribution, n: int, simulations: int, rng: np.random.Generator, ratio_of: RatioOf
) -> Share:
    """Return how often the interval of `ratio_of` holds the ratio of two scaled platforms."""
    values = PLANTED_RATIO * noise.draw(rng, (simulations, n))
    return _holds(ratio_of(values, noise.draw(rng, (simulations, n))), PLANTED_RATIO)


def unlike_truth(
    pair: tuple[Distribution, Distribution],
    draws: int,
    rng: np.random.Generator,
    ratio_of: RatioOf,
) -> float:
    """Return what the ratio converges to where noise differs in shape, not only in scale.

    That is, of the paired ratio, the pseudomedian of a block's difference of logarithms, and of the
    unpaired one the median of that difference.
    """
    logs = np.log(pair[0].draw(rng, (2, draws))) - np.log(pair[1].draw(rng, (2, draws)))
    return float(np.exp(np.median(logs.mean(axis=0) if ratio_of is paired_ratio else logs)))


def unlike_coverage(
    pair: tuple[Distribution, Distribution],
    truth: float,
    shape: tuple[int, int],
    rng: np.random.Generator,
    ratio_of: RatioOf,
) -> Share:
    """Return how often the interval holds `truth`; `shape` is simulations and launches."""
    return _holds(ratio_of(pair[0].draw(rng, shape), pair[1].draw(rng, shape)), truth)


def block_drift_coverage(
    noise: Distribution, n: int, simulations: int, rng: np.random.Generator, drift: float
) -> Share:
    """Return the paired ratio's coverage under drift, with randomised blocks.

    Every launch is `drift` slower than the first one once more than the launch before; the two
    launches of a block are in random order.
    """
    order = rng.integers(0, 2, (simulations, n))
    slot = 2 * np.arange(n) + order
    other = 2 * np.arange(n) + 1 - order
    values = PLANTED_RATIO * noise.draw(rng, slot.shape) * (1.0 + drift * slot)
    baseline = noise.draw(rng, slot.shape) * (1.0 + drift * other)
    return _holds(paired_ratio(values, baseline), PLANTED_RATIO)


def sequence_drift_coverage(
    noise: Distribution, n: int, simulations: int, rng: np.random.Generator, drift: float
) -> Share:
    """Return the unpaired ratio's coverage under drift, with all of A before all of B."""
    shape = (simulations, n)
    values = PLANTED_RATIO * noise.draw(rng, shape) * (1.0 + drift * np.arange(n))
    baseline = noise.draw(rng, shape) * (1.0 + drift * np.arange(n, 2 * n))
    return _holds(unpaired_ratio(values, baseline), PLANTED_RATIO)


def stopped_coverage(
    noise: Distribution,
    simulations: int,
    rng: np.random.Generator,
    *,
    target: float = 0.02,
    budget: int = 30,
) -> Stopped:
    """Return what stopping as soon as both platforms have reached `target` does to coverage."""
    values = PLANTED_RATIO * noise.draw(rng, (simulations, budget))
    baseline = noise.draw(rng, (simulations, budget))
    launches = np.full(simulations, budget)
    running = np.ones(simulations, dtype=np.bool_)
    for n in range(MIN_LAUNCHES, budget + 1):
        done = running & reached(values[:, :n], target) & reached(baseline[:, :n], target)
        launches[done] = n
        running &= ~done
    for stack in (values, baseline):
        stack[np.arange(budget) >= launches[:, None]] = np.nan
    median = summarize(baseline)
    return Stopped(
        mean_launches=float(launches.mean()),
        not_reached=_share(running),
        median=_share((median.lo <= noise.median) & (noise.median <= median.hi)),
        ratio=_holds(paired_ratio(values, baseline), PLANTED_RATIO),
    )


def family_corrections(
    n: int,
    simulations: int,
    rng: np.random.Generator,
    *,
    slower: int,
    shared: float,
    points: int = 24,
) -> tuple[Correction, Correction]:
    """Return what Holm's correction and joint flips do to families of `points` message sizes.

    Parameters
    ----------
    slower : int
        At so many points the platform is 10 % slower, at the others equal.
    shared : float
        Part of the noise's variance that all points of a launch have in common; the noise of a
        launch is 3 %.
    """
    shift = np.where(np.arange(points) < slower, 0.1, 0.0)[:, None]
    logs = [
        0.03
        * (
            math.sqrt(shared) * rng.standard_normal((simulations, 1, n))
            + math.sqrt(1.0 - shared) * rng.standard_normal((simulations, points, n))
        )
        for _ in range(2)
    ]
    values, baseline = np.exp(shift + logs[0]), np.exp(logs[1])
    p = paired_ratio(values, baseline).p

    def correction(adjusted: list[FloatArray]) -> Correction:
        rejected = np.stack(adjusted) <= ALPHA
        return Correction(_share(rejected[:, slower:].any(axis=-1)), _share(rejected[:, :slower]))

    by_flips = [
        family_wise_p(differences_of_blocks(*family), math.log1p(DEFAULT_MARGIN))
        for family in zip(values, baseline, strict=True)
    ]
    return correction([holm(family) for family in p]), correction(by_flips)


def lost_coverage(
    noise: Distribution,
    n: int,
    simulations: int,
    rng: np.random.Generator,
    *,
    lost: float = 0.2,
    counted: bool,
) -> Share:
    """Return the coverage of the paired ratio where a platform's slowest launches are lost.

    Parameters
    ----------
    lost : float
        Probability of a launch to exceed the platform's limit.
    counted : bool
        Count lost launches as slower than all that were measured, instead of leaving them out.
    """
    values = PLANTED_RATIO * noise.draw(rng, (simulations, n))
    baseline = noise.draw(rng, (simulations, n))
    limit = PLANTED_RATIO * np.quantile(noise.draw(rng, (1_000_000,)), 1.0 - lost)
    beyond = values > limit
    measured = np.where(beyond, np.nan, values)
    found = paired_ratio(measured, baseline, beyond=beyond.astype(int) if counted else 0)
    return _share(
        ((found.lo <= PLANTED_RATIO) & (found.hi >= PLANTED_RATIO))[found.n >= MIN_LAUNCHES]
    )


def _holds(found: Ratio, truth: float) -> Share:
    return _share((found.lo <= truth) & (truth <= found.hi))


def _share(hits: np.bool_ | BoolArray) -> Share:
    return Share(float(hits.mean()) if hits.size else math.nan, hits.size)
