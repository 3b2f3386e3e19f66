"""Losses of a platform at a place, compared with another platform or with its own peak.

Claims of publications are judged by these losses.
"""

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
    """The ratio by which one platform is worse than another one at a place (case and point).

    - `ratio`: None if it is not known.
    - `reason`: why `ratio` is not known, else empty.
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
    """Whether a row's ratio is only a parameter of a simulated platform.

    This is so for computation, which has the platform's speed factor, and for messages inside a
    node, which cost the same on all simulated platforms.
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
    """Return the factor by which a platform is below its peak.

    - `row`: the platform's share of the peak.
    """
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
    """Mark all losses as given (a parameter) if all of them are simulated and exactly 1."""
    with_ratio = [loss for loss in losses if loss.ratio is not None]
    equal = all(loss.simulated and ratio_of(loss).value == 1.0 for loss in with_ratio)
    if not with_ratio or not equal:
        return list(losses)
    return [replace(loss, given=True) for loss in losses]


def without_noise(row: Row) -> Estimate:
    """Return a row's ratio; a ratio without noise and without a known model error is exact."""
    assert row.ratio is not None
    if row.exact:
        return row.ratio.with_ends()
    return row.ratio


def mean_of(ratios: Iterable[Estimate]) -> Estimate:
    """Return the geometric mean of ratios, with an interval that is valid for dependent ratios.

    Its half-width is the mean of the ratios' half-widths.
    """
    listed = list(ratios)
    middle = _geometric_mean([ratio.value for ratio in listed])
    assert middle is not None
    lo = _geometric_mean([ratio.lo for ratio in listed])
    hi = _geometric_mean([ratio.hi for ratio in listed])
    return Estimate(middle, lo, hi)


def _geometric_mean(ends: Sequence[float | None]) -> float | None:
    """Return the geometric mean of ends of intervals; None if any end is open."""
    closed = [end for end in ends if end]
    if len(closed) < len(ends):
        return None
    mean_of_logs = sum(map(math.log, closed)) / len(closed)
    return math.exp(mean_of_logs)


def ratio_of(loss: PlaceLoss) -> Estimate:
    """Return the ratio of a loss; the loss must have one."""
    assert loss.ratio is not None
    return loss.ratio


def mean_loss(losses: Iterable[PlaceLoss]) -> Estimate:
    """Return the geometric mean of losses, which must all have a ratio."""
    return mean_of(map(ratio_of, losses))
