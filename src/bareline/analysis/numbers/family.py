"""The family of all claims: points, means over several points, and lost launches.

Measurements in common blocks are tested by exchanging names in whole boots, all points and means
at once. Launches of separate runs are paired by their order first; a difference within their noise
is not certain. The launches that either side lost to a limit are tested in the same family. The
chance of any false claim in the family is at most 5 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bareline import stats
from bareline.analysis.numbers.cube import BoolCube, FloatCube, IntCube
from bareline.analysis.numbers.looks import Looks
from bareline.analysis.numbers.members import Mean, Members, Points, with_losses
from bareline.analysis.numbers.pairs import PlatformPair
from bareline.vocabulary.looks import fewest_blocks
from bareline.vocabulary.verdicts import MIN_LAUNCHES

_ONE_LOOK = Looks()


@dataclass(frozen=True, slots=True)
class Family:
    """Certain points, and certain means over several points, as one family.

    - `points`: for each pair the p-value of each point, NaN where a point was not tested.
    - `by_loss`: 1 or -1 where lost launches alone make a point worse or better, else 0.
    - `means`: for each pair and group; None below two points with a ratio, or with few launches.
    - `exchanged`: the fewest blocks, boots or pairs of launches that are exchanged together.
    - `short`: the platforms with too few possible exchanges for any certain row.
    - `needed`: the number of blocks, boots or pairs of launches that they need; 0 without any.
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
    """Test all points of all pairs, and means over some of them, as one family.

    - `tested`: the points of each pair to test; the remaining points get NaN.
    - `groups`: for each pair the points of each mean to test: the points of a finding.
    - `weights`: for each pair the factors of its points' statistics.
    - `looks`: a row is certain if it is certain at any planned look that was reached.
    """
    asked = groups or [()] * len(pairs)
    weighed = weights or [np.ones(mask.shape) for mask in tested]
    members = [Members(*one) for one in zip(pairs, tested, asked, weighed, strict=True)]
    families = _families(pairs)
    kinds = max(1, len(families))
    p = [member.blank() for member in members]
    counts: dict[str, int] = {}
    for blocks, numbers in families:
        zone = np.concatenate([members[number].zone(margin) for number in numbers])
        weight = np.concatenate([members[number].weight for number in numbers])
        for until, alpha in looks.taken:
            rows = np.concatenate([members[k].differences(blocks, until) for k in numbers])
            joint = stats.family_wise_p(rows, zone, weight=weight)
            _share_least(p, numbers, joint * kinds * (stats.CERTAIN_ALPHA / alpha))
            exchanged = int((~np.isnan(rows)).any(axis=0).sum())
            counts.update({pairs[number].platform: exchanged for number in numbers if exchanged})
    p = [
        np.where(~np.isnan(own) & member.within_noise(), 1.0, np.minimum(1.0, own))
        for member, own in zip(members, p, strict=True)
    ]
    needed = fewest_blocks(min(alpha for _, alpha in looks.taken or ((0, looks.spent),)) / kinds)
    short = tuple(platform for platform, exchanged in counts.items() if exchanged < needed)
    p, by_loss = with_losses(
        members,
        p,
        stats.CERTAIN_ALPHA,
        partial(stats.holm_of_testable, alpha=stats.LOST_ALPHA / max(1, len(looks.planned))),
        spent=looks.spent,
        looks=max(1, len(looks.planned)),
    )
    return Family(
        points=[member.at_points(own) for member, own in zip(members, p, strict=True)],
        by_loss=[member.at_points(own, 0) for member, own in zip(members, by_loss, strict=True)],
        means=[
            member.means(own, loss) for member, own, loss in zip(members, p, by_loss, strict=True)
        ],
        exchanged=min(counts.values(), default=0),
        short=short,
        needed=needed if short else 0,
    )


def discoveries(
    pairs: Sequence[PlatformPair], tested: Sequence[BoolCube], margin: float
) -> tuple[list[FloatCube], list[IntCube]]:
    """Return q-values (false discovery rate) for `Family.points` and `Family.by_loss`."""
    members = [Members(*of, (), np.ones(of[1].shape)) for of in zip(pairs, tested, strict=True)]
    q = [member.blank() for member in members]
    for blocks, numbers in _families(pairs, apart=False):
        rows = [members[number].differences(blocks) for number in numbers]
        zones = [members[number].zone(margin) for number in numbers]
        _share(q, numbers, stats.false_discovery_q(np.concatenate(rows), np.concatenate(zones)))
    unpaired = [number for number, pair in enumerate(pairs) if not (pair.paired or pair.exact)]
    if unpaired:
        joint = np.concatenate([pairs[number].ratio.p[tested[number]] for number in unpaired])
        _share(q, unpaired, stats.false_discovery(joint))
    q, by_loss = with_losses(
        members,
        q,
        stats.ALPHA,
        lambda p, least: stats.false_discovery(np.where(least <= stats.LOST_ALPHA, p, np.nan)),
    )
    return (
        [member.at_points(own) for member, own in zip(members, q, strict=True)],
        [member.at_points(own, 0) for member, own in zip(members, by_loss, strict=True)],
    )


def certainly_beyond(
    pairs: Sequence[PlatformPair],
    tested: Sequence[BoolCube],
    weights: Sequence[FloatCube],
    limit: float,
    *,
    above: bool,
    looks: Looks = _ONE_LOOK,
) -> list[BoolCube]:
    """Return the points whose ratio is certainly above, or below, a limit.

    The probability of any false "certainly" among all points of all pairs is at most 5 %. A point
    without a ratio is never certain. `tested` and `weights` are as for `family_wise`.
    """
    points = [
        np.flatnonzero(mask & pair.ratio.on_logs) for pair, mask in zip(pairs, tested, strict=True)
    ]
    p = [np.full(own.size, np.nan) for own in points]
    families = _families(pairs, exact=True)
    for blocks, numbers in families:
        weight = np.concatenate([weights[number][points[number]] for number in numbers])
        for until, alpha in looks.taken:
            rows = []
            for number in numbers:
                logs = pairs[number].differences_until(until)[points[number]] - np.log(limit)
                rows.append(stats.collapsed(logs if above else -logs, blocks))
            joint = stats.family_wise_p(np.concatenate(rows), side="above", weight=weight)
            _share_least(p, numbers, joint * len(families) * (stats.CERTAIN_ALPHA / alpha))
    found = []
    for pair, own, p_of_pair in zip(pairs, points, p, strict=True):
        if pair.exact and not pair.paired:  # there is nothing to exchange, and nothing to test
            certain = pair.ratio.lo[own] > limit if above else pair.ratio.hi[own] < limit
        else:
            certain = (p_of_pair <= stats.CERTAIN_ALPHA) & ~pair.within_noise(own, limit)
        beyond = np.zeros(pair.ratio.on_logs.shape, dtype=np.bool_)
        beyond[own[certain]] = True
        found.append(beyond)
    return found


def _families(
    pairs: Sequence[PlatformPair], *, exact: bool = False, apart: bool = True
) -> list[tuple[IntCube, list[int]]]:
    """Return the groups of blocks that are exchanged together, and the numbers of their pairs.

    - `exact`: also pairs without noise.
    - `apart`: also pairs of separate runs, whose launches are paired by their order.

    Blocks that share a boot in any pair go together. Where that leaves a pair fewer than six groups
    that has more by itself, pairs with unlike boots are families of their own. The claims of a pair
    with few boots are about these boots, which bind no other pair.
    """
    numbers = [
        number for number, pair in enumerate(pairs) if _is_exchanged(pair, exact=exact, apart=apart)
    ]
    if not numbers:
        return []
    partitions = [pairs[k].boots.groups for k in numbers]
    blocks = partitions[0].size
    boots = [pairs[k].boots for k in numbers]
    binding = [own.groups for own in boots if own.count is not None and not own.few]
    at = np.tile(np.arange(blocks), len(binding))
    label = np.concatenate(
        [np.empty(0, np.int64), *(g + n * blocks for n, g in enumerate(binding))]
    )
    common = stats.grouped(blocks, at, label.astype(np.int64))
    if all(_enough(pairs[k], common) for k in numbers):
        return [(common, numbers)]
    found: dict[bytes, tuple[IntCube, list[int]]] = {}
    for k, groups in zip(numbers, partitions, strict=True):
        found.setdefault(groups.tobytes(), (groups, []))[1].append(k)
    return list(found.values())


def _is_exchanged(pair: PlatformPair, *, exact: bool, apart: bool) -> bool:
    if pair.paired:
        return exact or not pair.exact
    return apart and not pair.exact


def _enough(pair: PlatformPair, common: IntCube) -> bool:
    there = pair.tried.any(axis=0) & pair.base_tried.any(axis=0)
    if not pair.paired:
        there = ~np.isnan(pair.differences).all(axis=0)
    own, joint = (np.unique(groups[there]).size for groups in (pair.boots.groups, common))
    return bool(joint >= min(own, MIN_LAUNCHES))


def _share_least(parts: list[FloatCube], numbers: Sequence[int], joint: FloatCube) -> None:
    """Keep for each member the smallest p-value of all looks; NaN counts as none."""
    looked = [np.empty(0)] * len(parts)
    for number in numbers:
        looked[number] = parts[number]
    _share(looked, numbers, joint)
    for number in numbers:
        parts[number] = np.fmin(parts[number], looked[number])


def _share(parts: list[FloatCube], numbers: Sequence[int], joint: FloatCube) -> None:
    ends = np.cumsum([parts[number].size for number in numbers])[:-1]
    for number, part in zip(numbers, np.split(joint, ends), strict=True):
        parts[number] = part
