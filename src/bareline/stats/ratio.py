"""How many times worse or better: the Hodges-Lehmann ratio of two platforms.

Times and rates are compared by their ratio, and their noise is multiplicative. So the shift is
estimated on logarithms and converted back: ``exp(shift(log values - log baseline))``. The ratio is
values divided by baseline. If higher values of a metric are better, the arguments must be
exchanged; then a ratio above 1 also means worse.

Zeros. A logarithm needs positive values, yet zero is a legitimate count (retransmissions, page
faults). A case with any value that is not positive is compared in the metric's unit instead: `p`
tests the shift in this unit. `ratio` is then the quotient of the two medians, and NaN if one of
them is not positive. `lo` and `hi` are NaN, because a quotient whose denominator may be zero has no
bounded interval. `on_logs` marks these cases with false; `paired_shift` and `unpaired_shift` give
their difference with its interval, and `judge_shift` their verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bareline.stats.launch_array import (
    BoolArray,
    FloatArray,
    IntArray,
    as_launch_array,
    require_same_blocks,
    require_same_cases,
)
from bareline.stats.lost import LostBounds, nearest_differences, paired_bounds, unpaired_bounds
from bareline.stats.shift import (
    ROUNDING,
    Shift,
    paired_shift,
    rounding_of,
    unpaired_shift,
)
from bareline.stats.summary import summarize


@dataclass(frozen=True, slots=True)
class Ratio:
    """Ratios of a stack of cases; every field has the shape of the stack's leading axes.

    - `ratio`: values divided by baseline; NaN without data, or if a median is not positive.
    - `lo`, `hi`: the interval of `ratio`; NaN with fewer than 6 launches on a side, or if `on_logs`
      is false.
    - `p`, `n`, `n_baseline`, `level`: as in a `Shift`.
    - `on_logs`: false for cases with a value that is not positive.
    - `nearest`: if lost launches leave the ratio open at one end, the bound at its other end. A
      bound of 1 or more is a lower bound, a bound below 1 is an upper bound. NaN for all other
      cases.
    """

    ratio: FloatArray
    lo: FloatArray
    hi: FloatArray
    p: FloatArray
    n: IntArray
    n_baseline: IntArray
    level: FloatArray
    on_logs: BoolArray
    nearest: FloatArray


def paired_ratio(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    confidence: float = 0.95,
    beyond: ArrayLike = 0,
    beyond_baseline: ArrayLike = 0,
    floor: ArrayLike = 0.0,
    groups: IntArray | None = None,
) -> Ratio:
    """Return the paired ratio of `values` to `baseline`, by signed-rank inversion.

    - `values`, `baseline`: shape (..., n); the same position on the last axis is the same block. A
      block with NaN in one of them is left out.
    - `beyond`, `beyond_baseline`: shape (..., n); marks launches that were lost to a limit and have
      no value: 1 if the value would be larger than all measured values, -1 if it would be smaller,
      0 for other launches. The rank statistics need only this order. A bound that lost launches
      leave open is infinite.
    - `floor`: shape (..., n); for a block with one lost launch, the least absolute value of the
      logarithm of its ratio; 0 if nothing is known.
    - `groups`: shape (n,); the boot of each block, as for `paired_shift`.
    """
    first, second = _complete_blocks(values, baseline, beyond, beyond_baseline)
    ratio = _ratio(first, second, paired_shift, confidence, groups)
    lost = (beyond, beyond_baseline)
    return _with_lost(ratio, (first, second), lost, floor, paired_bounds, confidence, groups)


def unpaired_ratio(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    confidence: float = 0.95,
    beyond: ArrayLike = 0,
    beyond_baseline: ArrayLike = 0,
    groups: IntArray | None = None,
) -> Ratio:
    """Return the two-sample ratio of platforms that share no blocks, by Mann-Whitney inversion.

    - `values`, `baseline`: shapes (..., n) and (..., m); independent launches.
    - `beyond`, `beyond_baseline`, `groups`: as for `paired_ratio`.
    """
    first = as_launch_array(values)
    second = as_launch_array(baseline, "baseline")
    ratio = _ratio(first, second, unpaired_shift, confidence, groups)
    lost = (beyond, beyond_baseline)
    return _with_lost(ratio, (first, second), lost, 0.0, unpaired_bounds, confidence, groups)


def _ratio(
    first: FloatArray,
    second: FloatArray,
    shift_of: Callable[..., Shift],
    confidence: float,
    groups: IntArray | None,
) -> Ratio:
    require_same_cases(first, second)
    on_logs = _all_positive(first, second)
    shift = shift_of(
        _logarithm(first),
        _logarithm(second),
        confidence=confidence,
        rounding=ROUNDING,
        groups=groups,
    )
    ratio = np.asarray(np.exp(shift.shift))
    p = shift.p.copy()
    level = shift.level.copy()
    n = shift.n.copy()
    n_baseline = shift.n_baseline.copy()
    off = ~on_logs
    if off.any():
        plain = shift_of(first[off], second[off], confidence=confidence, groups=groups)
        ratio[off] = _quotient_of_medians(first[off], second[off])
        p[off] = plain.p
        level[off] = np.nan
        n[off] = plain.n
        n_baseline[off] = plain.n_baseline
    return Ratio(
        ratio=ratio,
        lo=np.where(on_logs, np.exp(shift.lo), np.nan),
        hi=np.where(on_logs, np.exp(shift.hi), np.nan),
        p=p,
        n=n,
        n_baseline=n_baseline,
        level=level,
        on_logs=on_logs,
        nearest=np.full(ratio.shape, np.nan),
    )


def _with_lost(
    ratio: Ratio,
    stacks: tuple[FloatArray, FloatArray],
    lost: tuple[ArrayLike, ArrayLike],
    floor: ArrayLike,
    bounds_of: Callable[..., LostBounds],
    confidence: float,
    groups: IntArray | None,
) -> Ratio:
    """Return the ratio with new bounds for the cases with launches lost to a time limit."""
    signs = [
        np.where(np.isnan(stack), np.broadcast_to(np.asarray(sign), stack.shape), 0)
        for stack, sign in zip(stacks, lost, strict=True)
    ]
    affected = ratio.on_logs & ((signs[0] != 0).any(axis=-1) | (signs[1] != 0).any(axis=-1))
    if not affected.any():
        return ratio
    logs = [_logarithm(stack[affected]) for stack in stacks]
    floors = np.broadcast_to(np.asarray(floor, dtype=np.float64), stacks[0].shape)[affected]
    beyond = (sign[affected] for sign in signs)
    bounds = bounds_of(*logs, *beyond, floors, confidence=confidence, groups=groups)
    changed = replace(ratio, **{name: getattr(ratio, name).copy() for name in _BOUNDED})
    with np.errstate(over="ignore"):
        changed.ratio[affected] = np.exp(bounds.shift)
        changed.nearest[affected] = np.exp(bounds.nearest)
        changed.lo[affected] = np.exp(bounds.lo)
        changed.hi[affected] = np.exp(bounds.hi)
    changed.p[affected] = bounds.p
    changed.level[affected] = bounds.level
    changed.n[affected] = bounds.n
    changed.n_baseline[affected] = bounds.n_baseline
    return changed


_BOUNDED = ("ratio", "lo", "hi", "p", "level", "n", "n_baseline", "nearest")


def differences_of_blocks(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    beyond: ArrayLike = 0,
    beyond_baseline: ArrayLike = 0,
    floor: ArrayLike = 0.0,
) -> FloatArray:
    """Return the differences that `paired_ratio` tests for the same arguments, shape (..., n).

    They are differences of logarithms, or of the values in cases with a value that is not positive.
    A block with a launch that was lost to a limit counts with its least possible difference.
    """
    first, second = _complete_blocks(values, baseline, beyond, beyond_baseline)
    on_logs = _all_positive(first, second)
    logs = _logarithm(first) - _logarithm(second)
    rounding = np.where(on_logs, ROUNDING, rounding_of(first, second))[..., None]
    differences = np.where(on_logs[..., None], logs, first - second)
    differences = np.where(np.abs(differences) <= rounding, 0.0, differences)
    signs = [
        np.broadcast_to(np.asarray(sign), differences.shape) for sign in (beyond, beyond_baseline)
    ]
    lost = np.isnan(differences) & ((signs[0] != 0) | (signs[1] != 0))
    affected = lost.any(axis=-1)
    if affected.any():
        stacks = [
            np.where(on_logs[affected, None], _logarithm(stack[affected]), stack[affected])
            for stack in (first, second)
        ]
        floors = np.where(on_logs[..., None], np.asarray(floor, dtype=np.float64), 0.0)
        floors = np.broadcast_to(floors, differences.shape)[affected]
        beyond, beyond_baseline = (np.asarray(sign[affected]) for sign in signs)
        nearest = nearest_differences(stacks[0], stacks[1], beyond, beyond_baseline, floors)
        differences[affected] = np.where(lost[affected], nearest, differences[affected])
    return differences


def _complete_blocks(
    values: ArrayLike, baseline: ArrayLike, beyond: ArrayLike = 0, beyond_baseline: ArrayLike = 0
) -> tuple[FloatArray, FloatArray]:
    """Return both arrays, with NaN in both if a value is absent and not lost to a limit."""
    first = as_launch_array(values)
    second = as_launch_array(baseline, "baseline")
    require_same_blocks(first, second)
    no_first = np.isnan(first) & (np.asarray(beyond) == 0)
    no_second = np.isnan(second) & (np.asarray(beyond_baseline) == 0)
    broken = no_first | no_second
    return np.where(broken, np.nan, first), np.where(broken, np.nan, second)


def _all_positive(first: FloatArray, second: FloatArray) -> BoolArray:
    return np.asarray(~((first <= 0).any(axis=-1) | (second <= 0).any(axis=-1)))


def _logarithm(stack: FloatArray) -> FloatArray:
    return np.log(stack, out=np.full(stack.shape, np.nan), where=stack > 0)


def _quotient_of_medians(first: FloatArray, second: FloatArray) -> FloatArray:
    above = summarize(first).median
    below = summarize(second).median
    defined = (above > 0) & (below > 0)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=defined)
