"""Losses of a platform at a place, against another one or its own peak: the basis of claims."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bareline.analysis.numbers.row import Estimate, Row
from bareline.vocabulary.caveats import codes
from bareline.vocabulary.model import Layer
from bareline.vocabulary.place import Place


@dataclass(frozen=True, slots=True)
class PlaceLoss:
    """How many times worse one platform is than another at a place.

    - `ratio`: None where it is not known; `reason` is then the reason.
    - `given`: the ratio is a parameter of the simulated platforms, not a finding.
    - `disturbed`: computation was recorded on a busy machine.
    """

    place: Place
    ratio: Estimate | None
    reason: str = ""
    against: str = ""
    simulated: bool = False
    given: bool = False
    disturbed: bool = False


def is_given(row: Row) -> bool:
    """Whether a row's ratio is a parameter of a simulated platform.

    Its computation takes the platform's factor, and a message inside a node costs the same on all.
    """
    place = row.place
    inside_node = row.layer is Layer.MPI and 1 in (place.nodes, place.used)
    if not row.simulated:
        return False
    return place.metric in ("compute", "compute_mean") or inside_node


def is_disturbed(row: Row) -> bool:
    """Whether a row's computation was recorded while other programs ran."""
    return "recorded-busy" in codes(row.caveats)


def below_peak(row: Row, against: str) -> PlaceLoss:
    """Return how many times below its peak a share is."""
    if row.value is None or row.value.value <= 0:
        return PlaceLoss(row.place, None, f"{row.platform}: no share of the peak", against)
    if row.exact:
        share = row.value.with_ends()
    else:
        share = row.value
    return PlaceLoss(
        row.place,
        share.inverse(),
        against=against,
        simulated=row.simulated,
        disturbed=is_disturbed(row),
    )


def same_figures_are_given(losses: Sequence[PlaceLoss]) -> list[PlaceLoss]:
    """Mark simulated losses that are exactly 1 everywhere: both platforms have the same figures."""
    with_ratio = [loss for loss in losses if loss.ratio is not None]
    equal = all(loss.simulated and ratio_of(loss).value == 1.0 for loss in with_ratio)
    if not with_ratio or not equal:
        return list(losses)
    return [replace(loss, given=True) for loss in losses]


def without_noise(row: Row) -> Estimate:
    """Return a row's ratio; where it has no noise and no model's error is known, as exact."""
    assert row.ratio is not None
    if row.exact:
        return row.ratio.with_ends()
    return row.ratio


def mean_of(ratios: Iterable[Estimate]) -> Estimate:
    """Return the geometric mean; its half-width is the mean of theirs, dependent or not."""
    listed = list(ratios)
    middle = _geometric_mean([ratio.value for ratio in listed])
    assert middle is not None
    lo = _geometric_mean([ratio.lo for ratio in listed])
    hi = _geometric_mean([ratio.hi for ratio in listed])
    return Estimate(middle, lo, hi)


def _geometric_mean(ends: Sequence[float | None]) -> float | None:
    """Return the geometric mean; None if any end is open."""
    closed = [end for end in ends if end]
    if len(closed) < len(ends):
        return None
    mean_of_logs = sum(map(math.log, closed)) / len(closed)
    return math.exp(mean_of_logs)


def ratio_of(loss: PlaceLoss) -> Estimate:
    """Return the ratio of a loss that has one."""
    assert loss.ratio is not None
    return loss.ratio


def mean_loss(losses: Iterable[PlaceLoss]) -> Estimate:
    """Return the geometric mean of losses that all have a ratio."""
    return mean_of(map(ratio_of, losses))
