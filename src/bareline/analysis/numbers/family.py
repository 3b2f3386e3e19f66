"""Test all claims as one family: claims on points, on means over points, and on lost launches.

Measurements in common blocks are tested by exchanging the platforms' names in whole boots (a
permutation test), for all points and means at once. Launches of separate runs are first paired by
their order; a difference that noise may explain is then not certain. A launch is lost if it
exceeded a time limit; the numbers of lost launches are tested in the same family. The probability
that any claim of the family is false is at most 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from bareline import stats
from bareline.analysis.numbers.boots import Boots
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.looks import Looks
from bareline.analysis.numbers.members import Mean, Members, Points, WithLosses, with_losses
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.vocabulary.looks import fewest_blocks
from bareline.vocabulary.verdicts import MIN_LAUNCHES

_ONE_LOOK = Looks()


@dataclass(frozen=True, slots=True)
class Family:
    """The results of a joint test of all points, and of the means over several points.

    - `points`: for each pair the p-value of each point, NaN for a point that was not tested.
    - `by_loss`: 1 or -1 if lost launches alone make a point worse or better; 0 for all other
      points.
    - `means`: the mean of each pair and group; None if fewer than two points have a ratio, or if
      there are too few launches.
    - `exchanged`: the smallest number of blocks, boots or pairs of launches in a test.
    - `short`: the platforms with so few possible exchanges that no row can become certain.
    - `needed`: the number of blocks, boots or pairs of launches that the platforms in `short` need;
      0 if `short` is empty.
    """

    points: list[FloatCube]
    by_loss: list[IntCube]
    means: list[list[Mean | None]]
    exchanged: int
    short: tuple[str, ...]
    needed: int


def family_wise(
    pairs: Sequence[PlatformPair],
    tested: Sequence[BoolCube],
    margin: float,
    groups: Sequence[Sequence[Points]] = (),
    weights: Sequence[FloatCube] | None = None,
    looks: Looks = _ONE_LOOK,
) -> Family:
    """Test all points of all pairs, and means over some of the points, as one family.

    - `tested`: for each pair a mask of the points to test; the p-value of any other point is NaN.
    - `groups`: for each pair the groups of points whose means are tested, such as findings.
    - `weights`: for each pair the factor of each point's test statistic.
    - `looks`: the planned interim analyses. A row is certain if it is certain at any analysis that
      the run has reached.
    """
    if not groups:
        groups = [()] * len(pairs)
    if weights is None:
        weights = [np.ones(mask.shape) for mask in tested]
    members = _members(pairs, tested, groups, weights)
    families = _families(pairs)
    exchange = _exchange(members, families, margin, looks)
    p = _beyond_noise(members, exchange.p)

    short: tuple[str, ...] = ()
    families_count = max(1, len(families))
    needed = _fewest_exchanged(looks, families_count)
    for platform, exchanged in exchange.exchanged.items():
        if exchanged < needed:
            short += (platform,)

    planned_looks = max(1, len(looks.planned))
    tests = with_losses(
        members,
        p,
        stats.CERTAIN_ALPHA,
        partial(stats.holm_of_testable, alpha=stats.LOST_ALPHA / planned_looks),
        spent=looks.spent,
        looks=planned_looks,
    )
    means = []
    for member, p_of_pair, by_loss in zip(members, tests.p, tests.by_loss, strict=True):
        means.append(member.means(p_of_pair, by_loss))
    exchanged = min(exchange.exchanged.values(), default=0)
    if not short:
        needed = 0
    points = _at_points(members, tests)
    return Family(points.points, points.by_loss, means, exchanged, short, needed)


def _at_points(members: Sequence[Members], tests: WithLosses) -> Discoveries:
    """Return for each pair the p-values, and the results of lost launches, of all points."""
    points = []
    by_loss = []
    for member, p_of_pair, loss_of_pair in zip(members, tests.p, tests.by_loss, strict=True):
        points.append(member.at_points(p_of_pair))
        by_loss.append(member.at_points(loss_of_pair, 0))
    return Discoveries(points, by_loss)


def _members(
    pairs: Sequence[PlatformPair],
    tested: Sequence[BoolCube],
    groups: Sequence[Sequence[Points]],
    weights: Sequence[FloatCube],
) -> list[Members]:
    """Return for each pair of platforms the points and means that are tested."""
    members = []
    for pair, mask, groups_of_pair, weight in zip(pairs, tested, groups, weights, strict=True):
        members.append(Members(pair, mask, groups_of_pair, weight))
    return members


@dataclass(frozen=True, slots=True)
class _Exchange:
    """The smallest p-values of a permutation test of blocks over all interim analyses.

    - `exchanged`: for each platform the number of blocks that were exchanged.
    """

    p: list[FloatCube]
    exchanged: dict[str, int]


def _exchange(
    members: Sequence[Members], families: Sequence[_Exchanged], margin: float, looks: Looks
) -> _Exchange:
    """Test points and means by exchanging platforms' names, at each interim analysis made."""
    p = [member.blank() for member in members]
    exchanged: dict[str, int] = {}
    for family in families:
        together = _Together([members[number] for number in family.numbers], family.blocks)
        zone = together.zone(margin)
        for until, alpha in looks.taken:
            rows = together.differences(until)
            joint = stats.family_wise_p(rows, zone, weight=together.weight)
            _share_least(p, family.numbers, _of_all(joint, families, alpha))
            measured = ~np.isnan(rows)
            blocks = int(measured.any(axis=0).sum())
            if blocks:
                exchanged |= dict.fromkeys(together.platforms, blocks)
    return _Exchange(p, exchanged)


def _of_all(p: FloatCube, families: Sequence[_Exchanged], alpha: float) -> FloatCube:
    """Correct p-values for all families, and for this interim analysis's error probability."""
    return p * len(families) * (stats.CERTAIN_ALPHA / alpha)


@dataclass(frozen=True, slots=True)
class _Together:
    """Points and means of pairs whose blocks are exchanged together, one pair after the other."""

    members: Sequence[Members]
    blocks: IntCube

    @property
    def platforms(self) -> list[str]:
        """The platform of each pair."""
        return [member.pair.platform for member in self.members]

    @property
    def weight(self) -> FloatCube:
        """The factor of each test statistic: of the points, and of the means, member by member."""
        weights = [member.weight for member in self.members]
        return np.concatenate(weights)

    def zone(self, margin: float) -> FloatCube:
        """Return for each row of `differences` the distance from 0 that does not matter."""
        zones = [member.zone(margin) for member in self.members]
        return np.concatenate(zones)

    def differences(self, until: int | None = None) -> FloatCube:
        """Return the differences between the platforms, one row for each point or mean.

        - `until`: use only this number of first blocks of a run; None: all blocks.
        """
        rows = [member.differences(self.blocks, until) for member in self.members]
        return np.concatenate(rows)


def _beyond_noise(members: Sequence[Members], p: Sequence[FloatCube]) -> list[FloatCube]:
    """Return p-values of at most 1; 1 if noise may explain a difference of two separate runs."""
    limited = []
    for member, p_of_pair in zip(members, p, strict=True):
        explained = ~np.isnan(p_of_pair) & member.within_noise()
        limited_p = np.minimum(1.0, p_of_pair)
        limited.append(np.where(explained, 1.0, limited_p))
    return limited


def _fewest_exchanged(looks: Looks, families: int) -> int:
    """Return the smallest number of exchanged blocks with which any row can become certain."""
    errors_of_looks = [alpha for _, alpha in looks.taken]
    errors = errors_of_looks or [looks.spent]
    return fewest_blocks(min(errors) / families)


class Discoveries(NamedTuple):
    """For each pair: the q-value of each point, and the result of the point's lost launches.

    - `by_loss`: 1 or -1 if lost launches alone make a point worse or better, else 0.
    """

    points: list[FloatCube]
    by_loss: list[IntCube]


def discoveries(
    pairs: Sequence[PlatformPair], tested: Sequence[BoolCube], margin: float
) -> Discoveries:
    """Return the q-values (false discovery rate) of points, and the results of lost launches."""
    members = []
    for pair, mask in zip(pairs, tested, strict=True):
        members.append(Members(pair, mask, (), np.ones(mask.shape)))
    q = [member.blank() for member in members]
    for family in _families(pairs, apart=False):
        together = _Together([members[number] for number in family.numbers], family.blocks)
        zone = together.zone(margin)
        q_of_family = stats.false_discovery_q(together.differences(), zone)
        _share(q, family.numbers, q_of_family)
    unpaired = []
    p_of_unpaired = []
    for number, pair in enumerate(pairs):
        if not pair.paired and not pair.exact:
            unpaired.append(number)
            p_of_unpaired.append(pair.ratio.p[tested[number]])
    if unpaired:
        joint = np.concatenate(p_of_unpaired)
        q_of_unpaired = stats.false_discovery(joint)
        _share(q, unpaired, q_of_unpaired)
    tests = with_losses(members, q, stats.ALPHA, _discoveries_of_losses)
    return _at_points(members, tests)


def _discoveries_of_losses(p: FloatCube, least: FloatCube) -> FloatCube:
    """Return the q-values of lost launches; tests that can never be significant are left out."""
    could_be_certain = least <= stats.LOST_ALPHA
    testable = np.where(could_be_certain, p, np.nan)
    return stats.false_discovery(testable)


def certainly_beyond(
    pairs: Sequence[PlatformPair],
    tested: Sequence[BoolCube],
    weights: Sequence[FloatCube],
    limit: float,
    *,
    above: bool,
    looks: Looks = _ONE_LOOK,
) -> list[BoolCube]:
    """Return for each pair the points whose ratio is certainly above, or below, a limit.

    The probability of any false "certainly" among all points of all pairs is at most 5 %. A point
    without a ratio is never certain. `tested` and `weights` are as for `family_wise`.
    """
    points = []
    p = []
    for pair, mask in zip(pairs, tested, strict=True):
        with_ratio = np.flatnonzero(mask & pair.ratio.on_logs)
        points.append(with_ratio)
        p.append(np.full(with_ratio.size, np.nan))
    families = _families(pairs, exact=True)
    for family in families:
        weight = np.concatenate([weights[number][points[number]] for number in family.numbers])
        for until, alpha in looks.taken:
            rows = []
            for number in family.numbers:
                differences = pairs[number].differences_until(until)[points[number]]
                distances = differences - np.log(limit)
                if not above:
                    distances = -distances
                rows.append(stats.collapsed(distances, family.blocks))
            joint = stats.family_wise_p(np.concatenate(rows), side="above", weight=weight)
            _share_least(p, family.numbers, _of_all(joint, families, alpha))
    beyond = []
    for pair, of_pair, p_of_pair in zip(pairs, points, p, strict=True):
        certain = _certain(pair, of_pair, p_of_pair, limit, above=above)
        marks = np.zeros(pair.ratio.on_logs.shape, dtype=np.bool_)
        marks[of_pair[certain]] = True
        beyond.append(marks)
    return beyond


def _certain(
    pair: PlatformPair, points: Points, p: FloatCube, limit: float, *, above: bool
) -> BoolCube:
    """Return which points of a pair are certainly above, or below, a limit."""
    if not pair.exact or pair.paired:
        within_noise = pair.within_noise(points, limit)
        return (p <= stats.CERTAIN_ALPHA) & ~within_noise
    # There is nothing to exchange, and nothing to test.
    if above:
        return pair.ratio.lo[points] > limit
    return pair.ratio.hi[points] < limit


class _Exchanged(NamedTuple):
    """Pairs whose blocks are exchanged together.

    - `blocks`: the group of each block; the blocks of a group are exchanged together.
    - `numbers`: the numbers of the pairs.
    """

    blocks: IntCube
    numbers: list[int]


def _families(
    pairs: Sequence[PlatformPair], *, exact: bool = False, apart: bool = True
) -> list[_Exchanged]:
    """Return the families of pairs: the pairs of a family exchange the same groups of blocks.

    - `exact`: also include pairs without noise.
    - `apart`: also include pairs of separate runs, whose launches are paired by their order.

    Blocks that share a boot in any pair are in one group. A pair may then have fewer than six
    groups, although its own boots would give more. In this case pairs with different boots are
    separate families, so that a pair with few boots does not limit the remaining pairs.
    """
    numbers = []
    for number, pair in enumerate(pairs):
        if _is_exchanged(pair, exact=exact, apart=apart):
            numbers.append(number)
    if not numbers:
        return []
    boots = [pairs[number].boots for number in numbers]
    common = _common_boots(boots)
    if all(_enough(pairs[number], common) for number in numbers):
        return [_Exchanged(common, numbers)]
    families: dict[bytes, _Exchanged] = {}
    for number in numbers:
        groups = pairs[number].boots.groups
        family = families.setdefault(groups.tobytes(), _Exchanged(groups, []))
        family.numbers.append(number)
    return list(families.values())


def _common_boots(boots: Sequence[Boots]) -> IntCube:
    """Return the group of each block: blocks that share a boot in any pair are in one group."""
    blocks = boots[0].groups.size
    binding = []
    for part in boots:
        if part.count is not None and not part.few:
            binding.append(part.groups)
    numbers_of_blocks = np.arange(blocks)
    block_numbers = np.tile(numbers_of_blocks, len(binding))
    labels = [np.empty(0, np.int64)]
    for number, groups in enumerate(binding):
        labels.append(groups + number * blocks)
    boots_of_blocks = np.concatenate(labels).astype(np.int64)
    return stats.grouped(blocks, block_numbers, boots_of_blocks)


def _is_exchanged(pair: PlatformPair, *, exact: bool, apart: bool) -> bool:
    if pair.paired:
        return exact or not pair.exact
    return apart and not pair.exact


def _enough(pair: PlatformPair, common: IntCube) -> bool:
    """Whether `common` divides a pair's blocks into six groups, or as many as its boots form."""
    blocks = pair.exchanged_blocks
    alone = np.unique(pair.boots.groups[blocks]).size
    joint = np.unique(common[blocks]).size
    return bool(joint >= min(alone, MIN_LAUNCHES))


def _share_least(parts: list[FloatCube], numbers: Sequence[int], joint: FloatCube) -> None:
    """Replace each p-value by its value in `joint` if that is smaller or the p-value is NaN."""
    looked = [np.empty(0)] * len(parts)
    for number in numbers:
        looked[number] = parts[number]
    _share(looked, numbers, joint)
    for number in numbers:
        least = np.fmin(parts[number], looked[number])
        parts[number] = least


def _share(parts: list[FloatCube], numbers: Sequence[int], joint: FloatCube) -> None:
    """Split `joint`, and write the pieces to the elements `numbers` of `parts`."""
    sizes = [parts[number].size for number in numbers]
    ends = np.cumsum(sizes)[:-1]
    shares = np.split(joint, ends)
    for number, part in zip(numbers, shares, strict=True):
        parts[number] = part
