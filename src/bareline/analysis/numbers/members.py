"""Claims on a pair's points, on means over several points, and on launches lost to limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.pairs import PlatformPair, mean_of
from bareline.analysis.numbers.row import Estimate, finite
from bareline.vocabulary.verdicts import Verdict

Points = IntCube  #: Of one finding, by their rows in the cube.


@dataclass(frozen=True, slots=True)
class Mean:
    """The comparison of several points together: the mean of their logarithms.

    - `n`: values behind it: blocks, or boots where launches share one.
    - `p`: the p-value over all of its family.
    - `lost`, `base_lost`: launches of its cases that exceeded their limit.
    - `by_loss`: 1 or -1 where lost launches alone make it certainly worse or better, else 0.
    - `verdict`: open until `bareline.analysis.judgements.decide` decides it; certain or none.
    """

    ratio: Estimate
    n: int
    points: int
    p: float
    lost: int
    tried: int
    base_lost: int
    base_tried: int
    by_loss: int
    verdict: Verdict = Verdict.INCONCLUSIVE


class Members:
    """The tested points of a pair, and after them the means over groups of these points."""

    def __init__(
        self, pair: PlatformPair, tested: BoolCube, groups: Sequence[Points], weight: FloatCube
    ) -> None:
        self.pair = pair
        self.rows = np.flatnonzero(tested)
        self._weight = weight
        on_logs = pair.ratio.on_logs if groups else np.zeros(tested.shape, dtype=np.bool_)
        self.groups = [own[tested[own]] for own in groups]
        self._whole = [own[on_logs[own]] for own in self.groups]
        self._told = [at for at, own in enumerate(self._whole) if own.size > 1]

    @property
    def size(self) -> int:
        """The number of points and means."""
        return self.rows.size + len(self._told)

    def blank(self) -> FloatCube:
        """Return a p-value for every member: 0 without noise, else NaN."""
        return np.full(self.size, 0.0 if self.pair.exact else np.nan)

    def _with_means(self, points: FloatCube, of: Callable[[Points], Any]) -> FloatCube:
        means = np.array([of(self._whole[at]) for at in self._told], dtype=np.float64)
        return np.concatenate([points, means.reshape(len(means), *points.shape[1:])])

    def differences(self, blocks: IntCube, until: int | None = None) -> FloatCube:
        """Return the differences of all members in blocks that are exchanged together.

        - `until`: the number of a run's first blocks that count, as in a planned look; None: all.
        """
        own = stats.collapsed(self.pair.differences_until(until), blocks)
        return self._with_means(own[self.rows], lambda points: mean_of(own[points]))

    def within_noise(self) -> BoolCube:
        """Return for each member of two separate runs whether noise may explain its distance."""
        return np.concatenate([
            self.pair.within_noise(self.rows),
            [self.pair.mean_within_noise(self._whole[at]) for at in self._told],
        ]).astype(np.bool_)  # fmt: skip

    def zone(self, margin: float) -> FloatCube:
        """Return the distance from no difference that does not matter, of all members."""
        return self._with_means(self.pair.zone(margin)[self.rows], lambda _: np.log1p(margin))

    @property
    def weight(self) -> FloatCube:
        """The factor of each member's statistic: a mean represents many points.

        Among fifty noisy points one is often as extreme as their mean by some exchange of six
        blocks. The sixth root gives the mean of fifty points, 5 % slower with 5 % of noise, 99
        instead of 82 % of certainty, and takes 1 % from a lone loss (simulated).
        """
        return self._with_means(
            self._weight[self.rows],
            lambda points: self._weight[points].max() * points.size ** (1 / 6),
        )

    def at_points(self, members: Any, nothing: float = np.nan) -> Any:
        """Return the members' values at all points of the cube, `nothing` at other points."""
        found = np.full(self.pair.directed.shape, nothing, dtype=members.dtype)
        found[self.rows] = members[: self.rows.size]
        return found

    def means(self, p: FloatCube, by_loss: IntCube) -> list[Mean | None]:
        """Return the mean over every group."""
        found: list[Mean | None] = [None] * len(self.groups)
        for at, own_p, loss in zip(
            self._told, p[self.rows.size :], by_loss[self.rows.size :], strict=True
        ):
            if not np.isnan(own_p):  # else there are too few launches
                found[at] = self._mean(self._whole[at], float(own_p), int(loss))
        return found

    def _mean(self, points: Points, p: float, by_loss: int) -> Mean | None:
        """Return the mean over points; None where a side has no value of them at all."""
        pair = self.pair
        ratio, lo, hi, n = self._interval(points)
        if finite(ratio) is None:
            return None
        cases, at = np.unique(pair.case[points], return_inverse=True)
        counts = []
        for marks in (marks for side in pair.ended for marks in side):
            of_cases = np.zeros((cases.size, marks.shape[-1]), dtype=np.bool_)  # each case once
            np.logical_or.at(of_cases, at, marks[points])
            counts.append(int(of_cases.sum()))
        lo = 0.0 if pair.base_lost[points].any() else lo
        hi = np.inf if pair.lost[points].any() else hi
        return Mean(
            ratio=Estimate(ratio, finite(lo) or None, finite(hi)),
            n=n,
            points=points.size,
            p=p,
            lost=counts[0],
            tried=counts[1],
            base_lost=counts[2],
            base_tried=counts[3],
            by_loss=by_loss,
        )

    def _interval(self, points: Points) -> tuple[float, float, float, int]:
        pair = self.pair
        if pair.exact:
            logs = np.log([of[points] for of in (pair.ratio.ratio, pair.ratio.lo, pair.ratio.hi)])
            ratio, lo, hi = np.exp(np.nanmean(logs, axis=-1)).tolist()
            return ratio, lo, hi, int(pair.ratio.n[points].min())
        if pair.paired:
            row = mean_of(stats.collapsed(pair.differences[points], pair.boots.groups))
            shift = stats.paired_shift(row, np.where(np.isnan(row), np.nan, 0.0))
        else:
            shift = stats.unpaired_shift(*pair.means_of(points), groups=pair.boots.groups)
        ends = np.exp([float(shift.shift), float(shift.lo), float(shift.hi)]).tolist()
        return (*ends, int(min(shift.n, shift.n_baseline)))

    def over(self) -> tuple[FloatCube, FloatCube, list[bytes]]:
        """Return the shares of launches that both sides lost, of all members, and their p-values.

        Points of one case that were lost in the same launches are one test.
        """
        pair, groups = self.pair, self.pair.boots.groups
        sides = [np.where(tried, lost, np.nan) for lost, tried in pair.ended]
        names = [
            b"%d:" % pair.case[row] + b"|".join(side[row].tobytes() for side in sides)
            for row in self.rows.tolist()
        ]
        own, base = (stats.collapsed(side, groups) for side in sides)
        return (
            self._with_means(own[self.rows], lambda points: mean_of(own[points])),
            self._with_means(base[self.rows], lambda points: mean_of(base[points])),
            [*names, *(b"mean %d" % at for at in self._told)],
        )


def with_losses(
    members: Sequence[Members],
    p: list[FloatCube],
    alpha: float,
    adjust: Callable[[FloatCube, FloatCube], FloatCube],
    *,
    spent: float | None = None,
    looks: int = 1,
) -> tuple[list[FloatCube], list[IntCube]]:
    """Combine the test of lost launches with p-values, which are compared with `alpha`.

    Both have a share of the error, once any loss could be certain by its numbers alone.

    - `spent`: the error that p-values spend at `alpha`, if it differs from `alpha`.
    - `looks`: the number of looks at the data.
    """
    counted, worse, first = _counted(members)
    own = np.flatnonzero(first == np.arange(first.size))
    adjusted = np.full(first.size, np.nan)
    adjusted[own] = adjust(counted.p[own], counted.least[own])
    adjusted = looks * adjusted[first]
    ends = np.cumsum([member.size for member in members])[:-1]
    by_loss = np.split(np.where(adjusted <= stats.LOST_ALPHA, worse, 0), ends)
    if np.isnan(adjusted).all():
        return p, by_loss
    both = [
        np.fmin(
            np.minimum(1.0, given * ((spent or alpha) / stats.BESIDE_LOST_ALPHA)),
            np.minimum(1.0, lost * (alpha / stats.LOST_ALPHA)),
        )
        for given, lost in zip(p, np.split(adjusted, ends), strict=True)
    ]
    return both, by_loss


def _counted(members: Sequence[Members]) -> tuple[stats.Exceedance, IntCube, IntCube]:
    """Test the lost launches of all members.

    Returns the test, the side that lost more (1, -1 or 0), and for each member the number of the
    first member with the same pattern of losses.
    """
    p, least, worse, names = [], [], [], []
    for number, member in enumerate(members):
        if member.pair.exact or not any(lost.any() for lost, _ in member.pair.ended):
            p.append(np.full(member.size, np.nan))
            least.append(p[-1])
            worse.append(np.zeros(member.size, dtype=np.int64))
            names += [b"%d/%d" % (number, at) for at in range(member.size)]
            continue
        own, base, patterns = member.over()
        found = stats.exceedance(own, base)
        p.append(found.p)
        least.append(found.least)
        apart = np.nan_to_num(mean_of(own.T) - mean_of(base.T))
        worse.append(np.sign(apart).astype(np.int64))
        names += [b"%d/" % number + name for name in patterns]
    known: dict[bytes, int] = {}
    first = np.array([known.setdefault(name, at) for at, name in enumerate(names)], dtype=np.int64)
    return stats.Exceedance(np.concatenate(p), np.concatenate(least)), np.concatenate(worse), first
