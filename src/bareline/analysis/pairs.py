"""Two platforms' values of the same points, turned so that above the baseline is worse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

import numpy as np

from bareline import stats
from bareline.analysis.cube import BoolCube, Cube, FloatCube


def paired_in_blocks(values: FloatCube, base: FloatCube) -> bool:
    """Tell whether two platforms, shape (points, blocks) each, were measured in common blocks.

    One run is enough: what a platform lacks in a block failed or was cut there.
    """
    shared = (~np.isnan(values)).any(axis=0) & (~np.isnan(base)).any(axis=0)
    return bool(shared.any())


def repeated(values: FloatCube, beside: FloatCube, *, but: BoolCube) -> FloatCube:
    """Give a platform without noise its value in every block that another one was measured in.

    A simulation prints the same whenever it is repeated, so a run does not repeat it.

    Parameters
    ----------
    values, beside
        Of the platform without noise and of the other one, shape (points, blocks).
    but
        Where a value is absent for a reason: it exceeded a time limit.
    """
    alike = stats.summarize(values).median[:, None]
    there = np.isnan(values) & ~np.isnan(beside) & ~but
    filled: FloatCube = np.where(there, alike, values)
    return filled


class Pair:
    """A platform and what it is compared with.

    For rates the baseline stands on top, so that a ratio above 1, and a difference above 0, is
    worse.

    Parameters
    ----------
    noiseless
        Platforms that give the same value in every block.

    Attributes
    ----------
    values, base : float array, shape (points, blocks)
        As they were measured.
    paired : bool
        Whether they were measured in common blocks.
    exact : bool
        Neither side has noise: no test, and no least number of launches.
    bounded : bool
        The ratio has an interval.
    """

    exact = False
    bounded = True

    def __init__(
        self, cube: Cube, platform: str, baseline: str, *, noiseless: Collection[str] = ()
    ) -> None:
        self.platform, self.baseline = platform, baseline
        self.values, self.base = cube.of(platform), cube.of(baseline)
        values, base = self.values, self.base
        if platform in noiseless:
            values = repeated(values, self.base, but=cube.lost_on(platform))
        if baseline in noiseless:
            base = repeated(base, self.values, but=cube.lost_on(baseline))
        better = cube.points.get_column("better")
        higher = (better == "higher").to_numpy()[:, None]
        self.directed: BoolCube = (better != "none").to_numpy()
        self._worse = np.where(higher, base, values)
        self._than = np.where(higher, values, base)
        sign = np.where(higher, -1, 1)
        lost, base_lost = cube.lost_on(platform) * sign, cube.lost_on(baseline) * sign
        self.n_lost = np.count_nonzero(lost, axis=-1)
        self.n_base_lost = np.count_nonzero(base_lost, axis=-1)
        self._beyond = {
            "beyond": np.where(higher, base_lost, lost),
            "beyond_baseline": np.where(higher, lost, base_lost),
        }
        self.paired = paired_in_blocks(values, base)

    def ratios(self, *, confidence: float = 0.95) -> stats.Ratio:
        """Give the ratio of every point, with its interval."""
        how = stats.paired_ratio if self.paired else stats.unpaired_ratio
        return how(self._worse, self._than, confidence=confidence, **self._beyond)

    @cached_property
    def ratio(self) -> stats.Ratio:
        """The ratio of every point, with its 95 % interval."""
        return self.ratios()

    @cached_property
    def shift(self) -> stats.Shift:
        """The difference of every point, with its 95 % interval."""
        how = stats.paired_shift if self.paired else stats.unpaired_shift
        return how(self._worse, self._than)

    @cached_property
    def differences(self) -> FloatCube:
        """What is compared in each block: differences of logarithms where all are positive."""
        return stats.differences_of_blocks(self._worse, self._than, **self._beyond)

    @cached_property
    def delta(self) -> FloatCube:
        """Cliff's delta of every point, above 0 is worse."""
        return stats.cliffs_delta(self._worse, self._than)

    def zone(self, margin: float) -> FloatCube:
        """Give the distance from no difference that does not matter, in units of `differences`."""
        return np.where(self.ratio.on_logs, np.log1p(margin), self.tolerance(margin))

    def tolerance(self, margin: float) -> FloatCube:
        """Give the difference that does not matter, in the unit of each point."""
        median = stats.summarize(self._than).median
        tolerance: FloatCube = margin * np.nan_to_num(np.abs(median))
        return tolerance


def family_wise(
    pairs: Sequence[Pair], tested: Sequence[BoolCube], margin: float
) -> list[FloatCube]:
    """Give p-values that hold over all points of all pairs together.

    Parameters
    ----------
    tested
        Which points of each pair are asked about; the others get NaN.
    """
    found = _jointly(pairs, tested, stats.family_wise_p, stats.holm, margin)
    kinds = len({pair.paired for pair in pairs})
    return [np.minimum(1.0, kinds * p) for p in found]


def discoveries(
    pairs: Sequence[Pair], tested: Sequence[BoolCube], margin: float
) -> list[FloatCube]:
    """Give q-values over all points of all pairs together: the false discovery rate.

    Parameters
    ----------
    tested
        As for `family_wise`.
    """
    return _jointly(pairs, tested, stats.false_discovery_q, stats.false_discovery, margin)


def _jointly(
    pairs: Sequence[Pair],
    tested: Sequence[BoolCube],
    by_flips: Callable[[FloatCube, FloatCube], FloatCube],
    by_p: Callable[[FloatCube], FloatCube],
    margin: float,
) -> list[FloatCube]:
    """Ask about all points in blocks at once, and about all others at once."""
    found = [
        np.where(asked & pair.exact, 0.0, np.nan) for pair, asked in zip(pairs, tested, strict=True)
    ]
    for paired in (True, False):
        own = [
            number for number, pair in enumerate(pairs) if pair.paired is paired and not pair.exact
        ]
        if not own:
            continue
        if paired:
            rows = [pairs[number].differences[tested[number]] for number in own]
            zones = [pairs[number].zone(margin)[tested[number]] for number in own]
            joint = by_flips(np.concatenate(rows), np.concatenate(zones))
        else:
            joint = by_p(np.concatenate([pairs[number].ratio.p[tested[number]] for number in own]))
        ends = np.cumsum([np.count_nonzero(tested[number]) for number in own])[:-1]
        for number, part in zip(own, np.split(joint, ends), strict=True):
            found[number][tested[number]] = part
    return found


def certainly_beyond(
    pairs: Sequence[Pair], tested: Sequence[BoolCube], limit: float, *, above: bool
) -> list[BoolCube]:
    """Tell of which points the ratio certainly lies above, or below, a limit.

    The probability of any false "certainly" among all points of all pairs is at most 5 %. A point
    without a ratio is never certain.

    Parameters
    ----------
    tested
        As for `family_wise`.
    """
    asked = [mask & pair.ratio.on_logs for pair, mask in zip(pairs, tested, strict=True)]
    found = [np.zeros(mask.shape, dtype=np.bool_) for mask in asked]
    sign = 1.0 if above else -1.0
    in_blocks = [number for number, pair in enumerate(pairs) if pair.paired]
    total = sum(int(np.count_nonzero(mask)) for mask in asked)
    level = stats.CERTAIN_ALPHA if len(in_blocks) in (0, len(pairs)) else stats.CERTAIN_ALPHA / 2
    if in_blocks:
        rows = [sign * (pairs[k].differences[asked[k]] - np.log(limit)) for k in in_blocks]
        p = stats.family_wise_p(np.concatenate(rows), side="above")
        ends = np.cumsum([row.shape[0] for row in rows])[:-1]
        for number, part in zip(in_blocks, np.split(p, ends), strict=True):
            found[number][asked[number]] = part <= level
    for number, pair in enumerate(pairs):
        if not pair.paired and total:
            # Bonferroni: one side of an interval at the level of all rows together.
            bounds = pair.ratios(confidence=1.0 - 2.0 * level / total)
            beyond = bounds.lo > limit if above else bounds.hi < limit
            found[number] = asked[number] & beyond
    return found
