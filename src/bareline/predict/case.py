"""The case of a prediction: one application and the measured curves of two platforms."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from bareline.predict.curves.compute import ComputeFactor
from bareline.predict.curves.costs import INPUTS, Costs, mixed
from bareline.predict.curves.platform_curves import PlatformCurves
from bareline.predict.interval import UNREPEATED, half_width
from bareline.predict.replay.delta import delta
from bareline.predict.replay.engine import Replayed, replay
from bareline.predict.replay.reference import ReferenceRun

#: How the change of a replay is applied to the measured time: as a difference, as a ratio, or
#: (carried) as a difference to slower platforms and as a ratio to faster platforms. The time that a
#: replay lacks on the base is mostly waiting: it stays the same where bytes take longer, and
#: shrinks where they take less time.
Form = Literal["carried", "difference", "ratio"]

_DRAWS = 100
#: The fewest launches of an application that show how much its launches differ.
REPEATED = 3


@dataclass(frozen=True)
class PredictionCase:
    """An application that was profiled on a base (A), and the platform (B) to predict it for.

    `compute` is the factor of computing time from A to B.
    """

    base: ReferenceRun
    b: PlatformCurves
    compute: ComputeFactor
    io: float = 1.0
    _replayed: dict[float, Replayed] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def a(self) -> PlatformCurves:
        """The measured curves of the base."""
        return self.base.ladder

    def replayed(self, factor: float) -> Replayed:
        """Return the replay of the trace on B with a factor of computing time.

        Each factor is replayed once, and its result is kept.
        """
        assert self.base.trace is not None
        if factor not in self._replayed:
            self._replayed[factor] = replay(self.base.trace, self.costs(factor)[1])
        return self._replayed[factor]

    @cached_property
    def drawn(self) -> float:
        """The part of the interval's half-width, in ln(time), that the measured curves cause.

        The launches of the curves of both platforms are drawn at random many times. The time for
        each draw is computed by the difference model, without a replay. This model is about as
        sensitive as a replay, and takes a thousandth of the time.
        """
        if min(self.a.n, self.b.n) < 2:
            return 0.0
        rng = np.random.default_rng(1)
        return _log_width(drawn_case(self, rng) for _ in range(_DRAWS))

    @cached_property
    def speeds(self) -> float:
        """The half-width, in ln(time), of predictions that each use one launch of the curves.

        TCP between hosts has two speeds, which differ by launch. A run has one of these speeds, and
        more launches of the curves do not make its speed more certain. The launches of one block on
        A and B are used together, so that a block that is slow on both has no effect.
        """
        launches = min(self.a.n, self.b.n, _DRAWS)
        if launches < 2:
            return 0.0
        return _log_width(self._of_launch(launch) for launch in range(launches))

    def _of_launch(self, launch: int) -> PredictionCase:
        """Return the case with the curves of a single launch on both platforms."""
        chosen = np.array([launch])
        return self.between(self.a.of_launches(chosen), self.b.of_launches(chosen))

    @cached_property
    def change(self) -> float:
        """The sum of the absolute changes of the time by each input, in ln(time).

        An input is a group of costs, e.g. latency or computing. Its change is the change of the
        time if only this input is replaced by the input of B.
        """
        a, b = self.costs(self.compute.hi)
        changes = [delta(self.base.profile, a, mixed(a, b, {name})) for name in INPUTS]
        return math.log1p(sum(map(abs, changes)) / self.base.wall_s)

    @property
    def repeats(self) -> float | None:
        """The half-width, in ln(time), of the application's launches on the base.

        None if there are fewer than three launches.
        """
        times_s = self.base.launches_s
        if len(times_s) < REPEATED:
            return None
        return half_width(np.log(times_s))

    @property
    def launches(self) -> float:
        """The half-width, in ln(time), of single launches of the application, or of the curves.

        The larger half-width is used, because the base may have one speed and the other platform
        two. If the application has too few launches, the half-width of other programs' launches is
        used for the application.
        """
        repeats = UNREPEATED if self.repeats is None else self.repeats
        return max(self.speeds, repeats)

    def between(self, a: PlatformCurves, b: PlatformCurves) -> PredictionCase:
        """Return the case with other curves of the same two platforms."""
        return replace(self, base=replace(self.base, ladder=a), b=b)

    def costs(self, factor: float) -> tuple[Costs, Costs]:
        """Return the costs of calls and computing on A and on B."""
        ranks = self.base.profile.ranks
        before = self.a.beside(ranks)
        after = self.b.beside(ranks)
        b = Costs(self.b, factor, self.io)
        if before is not None and after is not None:
            # The replay multiplies computing times that were traced on A.
            b = replace(b, beside=after.times / before.times - 1, beside_s=before.time_s)
        return Costs(self.a), b


def _log_width(drawn: Iterable[PredictionCase]) -> float:
    """Return the half-width, in ln(time), of the predictions from randomly drawn curves."""
    times = (time_by(case, "delta", "ratio", case.compute.middle) for case in drawn)
    return half_width([math.log(time_s) for time_s in times])


def drawn_case(case: PredictionCase, rng: np.random.Generator) -> PredictionCase:
    """Return the case with the curves of randomly drawn launches.

    A block is a round of launches, one on each platform. The same blocks are drawn on both
    platforms, so that noise which both platforms had in a block has no effect.
    """
    seed = int(rng.integers(2**63))
    a = case.a.resampled(np.random.default_rng(seed))
    b = case.b.resampled(np.random.default_rng(seed))
    return case.between(a, b)


def time_by(case: PredictionCase, model: str, form: Form, factor: float) -> float:
    """Return the time on B that a model predicts, in s.

    - `form`: how the change from the replay on A to the replay on B is applied to the measured time
      on A.
    - `factor`: the factor of computing time from A to B.
    """
    base = case.base
    if model == "delta":
        time_s = base.wall_s + delta(base.profile, *case.costs(factor))
        return base.on_clock(max(time_s, 0.01 * base.wall_s), factor)
    on_a = base.timed_s(base.replayed)
    on_b = base.timed_s(case.replayed(factor))
    if form == "ratio" or (form == "carried" and on_b < on_a):
        return base.time_s * on_b / on_a
    launch_s = base.launch_s
    return base.time_s * max(launch_s + on_b - on_a, 0.01 * launch_s) / launch_s
