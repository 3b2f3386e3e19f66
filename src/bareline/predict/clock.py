"""An application's own clock, and what it leaves out of the time of a profile and a replay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bareline.profile.trace import Stream


@dataclass(frozen=True, slots=True)
class Clock:
    """An application's time by its own clock, which is what a comparison compares.

    - `launch_s`: of the profiled launch.
    - `median_s`: of all launches.
    """

    launch_s: float
    median_s: float


def left_out(stream: Stream, left_s: float) -> tuple[float, npt.NDArray[np.float64]]:
    """Give what a clock leaves out of a rank's trace: its share of computing, and of each shape.

    It lies at both ends (setting up, perhaps an iteration that is not timed, and verification),
    where the cut leaves as little in calls as any; a call that is cut counts in part.

    - `left_s`: how much that is, in s.
    """
    of = len(stream.shapes)
    if left_s <= 0 or not stream.shape.size:
        return 0.0, np.zeros(of)
    ends = np.cumsum(stream.compute_s + stream.spent_s)
    starts = ends - stream.spent_s
    knots = np.column_stack([starts, ends]).ravel()
    spent = np.cumsum(np.column_stack([0 * starts, stream.spent_s]).ravel())
    timed_s = max(0.0, ends[-1] - left_s)
    begins = np.concatenate([[0.0], knots, knots - timed_s]).clip(0.0, ends[-1] - timed_s)
    in_calls = np.interp(begins + timed_s, knots, spent) - np.interp(begins, knots, spent)
    chosen = int(np.argmax(in_calls))
    begin, end = begins[chosen], begins[chosen] + timed_s
    least = np.finfo(float).tiny  # a call that takes no time is whole or not there
    within = np.minimum(ends, end) - np.maximum(starts, begin) + least
    timed = np.clip(within / (stream.spent_s + least), 0.0, 1.0)
    calls = np.bincount(stream.shape, minlength=of)
    counted = np.bincount(stream.shape, weights=timed, minlength=of)
    computed = float(stream.compute_s.sum())
    computing = (timed_s - in_calls[chosen]) / computed if computed else 1.0
    return float(np.clip(1 - computing, 0.0, 1.0)), 1 - counted / np.maximum(calls, 1)
