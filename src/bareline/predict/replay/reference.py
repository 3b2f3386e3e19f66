"""The base of a prediction: the profiled program, its time by its own clock, and its replay."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from bareline.predict.curves.costs import Costs
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.replay.engine import Replayed, replay
from bareline.predict.replay.validity import CallLack, lacks_of
from bareline.profile.model import Profile
from bareline.profile.trace import CallStream, Trace


@dataclass(frozen=True, slots=True)
class ApplicationClock:
    """The times of an application by its own clock, which comparisons use.

    - `launch_s`: the time of the profiled launch.
    - `median_s`: the median of the launches.
    - `launches_s`: the time of each launch.
    """

    launch_s: float
    median_s: float
    launches_s: tuple[float, ...] = ()


def base_time_s(profile: Profile) -> float:
    """Return the time of the slowest rank in s, without times in which counting was stopped."""
    return float(_walls_ns(profile).max()) * 1e-9


def _walls_ns(profile: Profile) -> npt.NDArray[np.int64]:
    ranks = profile.rank_table
    return (ranks["wall_ns"] - ranks["paused_ns"]).to_numpy()


@dataclass(frozen=True)
class ReferenceRun:
    """A profiled program on its platform: the common part of its predictions for all platforms.

    - `clock`: the application's own clock; None if the program has none, or was launched by hand.
    """

    profile: Profile
    trace: Trace | None
    ladder: PlatformCurves
    clock: ApplicationClock | None = None

    @cached_property
    def wall_s(self) -> float:
        """The time of the profiled launch from ``MPI_Init`` to ``MPI_Finalize``, in s."""
        return base_time_s(self.profile)

    @property
    def launch_s(self) -> float:
        """The time of the profiled launch in s, by the application's own clock if it has one."""
        return self.clock.launch_s if self.clock else self.wall_s

    @property
    def time_s(self) -> float:
        """The time of the application in s: the median by its own clock if that is known."""
        return self.clock.median_s if self.clock else self.wall_s

    @property
    def launches_s(self) -> tuple[float, ...]:
        """The time of each launch by the application's own clock; empty if one launch is known."""
        return self.clock.launches_s if self.clock else ()

    @cached_property
    def replayed(self) -> Replayed:
        """The replay of the trace with the curves of its own platform."""
        assert self.trace is not None
        return replay(self.trace, Costs(self.ladder))

    @property
    def is_replayed(self) -> bool:
        """Whether the replay was already made."""
        return "replayed" in self.__dict__

    @property
    def reproduced(self) -> float:
        """The replayed time of the launch divided by its measured time."""
        return self.replayed.time_s / self.wall_s

    @cached_property
    def lacks(self) -> tuple[CallLack, ...]:
        """The time that the replay lacks compared with the trace, by function and size."""
        assert self.trace is not None
        return lacks_of(self.trace, self.replayed, self.wall_s)

    @cached_property
    def _left_out(self) -> tuple[int, float, npt.NDArray[np.float64]]:
        """The slowest rank's index among the streams, and the shares that the clock omits there."""
        assert self.trace is not None
        slowest = int(np.argmax(_walls_ns(self.profile)))
        rank = int(self.profile.rank_table["rank"][slowest])
        position = [stream.rank for stream in self.trace.streams].index(rank)
        left_s = self.wall_s - self.launch_s
        return position, *left_out(self.trace.streams[position], left_s)

    def timed_s(self, replayed: Replayed) -> float:
        """Return the part of a replay's time that the application's own clock counts, in s."""
        position, computing, calls = self._left_out
        computing_s = computing * replayed.compute_s[position]
        calls_s = float(calls @ replayed.taken_s[position])
        before_s = computing_s + calls_s
        return float(max(replayed.time_s - before_s, 0.01 * replayed.time_s))

    def on_clock(self, time_s: float, factor: float) -> float:
        """Return the time by the application's clock for a time between MPI_Init and MPI_Finalize.

        The time outside of the clock is assumed to be computing, because no replay shows it.
        """
        if self.clock is None:
            return time_s
        outside_s = max(0.0, self.wall_s - self.launch_s)
        inside_s = max(time_s - factor * outside_s, 0.01 * self.launch_s)
        return inside_s * self.clock.median_s / self.launch_s


def left_out(stream: CallStream, left_s: float) -> tuple[float, npt.NDArray[np.float64]]:
    """Return the shares of a rank's computing and calls that the program's own clock leaves out.

    The result has one share for computing, and one share for the calls of each shape. The clock is
    the application's own clock.

    - `left_s`: the time to leave out, in s.

    This time is at both ends of the run: setting up, perhaps an iteration that is not timed, and
    verification. It is divided between begin and end so that it contains the least time in calls. A
    call that is only partly outside of the clock counts in part.
    """
    n_shapes = len(stream.shapes)
    if left_s <= 0 or not stream.shape.size:
        return 0.0, np.zeros(n_shapes)
    ends = np.cumsum(stream.compute_s + stream.spent_s)
    starts = ends - stream.spent_s
    knots = np.column_stack([starts, ends]).ravel()
    spent = np.cumsum(np.column_stack([0 * starts, stream.spent_s]).ravel())
    timed_s = max(0.0, ends[-1] - left_s)
    last_begin = ends[-1] - timed_s
    begins = np.concatenate([[0.0], knots, knots - timed_s]).clip(0.0, last_begin)
    spent_before_end = np.interp(begins + timed_s, knots, spent)
    in_calls = spent_before_end - np.interp(begins, knots, spent)
    chosen = int(np.argmax(in_calls))
    begin = begins[chosen]
    end = begin + timed_s
    least = np.finfo(float).tiny  # a call that takes no time is whole or not there
    within = np.minimum(ends, end) - np.maximum(starts, begin) + least
    timed = np.clip(within / (stream.spent_s + least), 0.0, 1.0)
    calls = np.bincount(stream.shape, minlength=n_shapes)
    counted = np.bincount(stream.shape, weights=timed, minlength=n_shapes)
    computed = float(stream.compute_s.sum())
    computing = (timed_s - in_calls[chosen]) / computed if computed else 1.0
    return float(np.clip(1 - computing, 0.0, 1.0)), 1 - counted / np.maximum(calls, 1)
