"""The errors of a replay, and checks whether profile, curves and replay suffice to predict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bareline.predict.curves.platform_curves import Gap, PlatformCurves, refuse_gaps
from bareline.predict.replay.engine import Replayed
from bareline.profile.model import Profile
from bareline.profile.records import NO_CALLS
from bareline.profile.summary import DISTURBED, queued_share
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.units import format_value, significant


def check_base(profile: Profile, *, openly_shared: bool = False) -> None:
    """Refuse a profile that depends more on its machine than on the program.

    - `openly_shared`: whether the platform has fewer cores than ranks by design. The models take
      such shared cores into account.

    Raises AnalysisError: the profile is unfinished or split, or ranks had no core for too long.
    """
    where = str(profile.path)
    if not profile.complete:
        raise AnalysisError(f"the profile is unfinished: {profile.ended}", where=where)
    if profile.mode == "split":
        raise AnalysisError(
            "a profile with --split contains additional barriers, so that it cannot be replayed",
            where=where,
            hint="profile without --split",
        )
    queued = queued_share(profile)
    if queued > DISTURBED and not openly_shared:
        raise AnalysisError(
            f"the ranks waited for a core during {queued:.1%} of their time, so that the"
            " profile cannot be the base of a prediction",
            where=where,
            hint="profile on a quiet machine with a core per rank",
        )


def check_ladders(profile: Profile, *ladders: PlatformCurves) -> None:
    """Refuse ladders (measured curves) that lack a needed curve or have an unusable one.

    Raises LadderGaps: a curve is missing or unusable; the error has each ``[[measure]]`` to add.
    """
    for ladder in ladders:
        refuse_gaps(ladder.platform, ladder.gaps(ladder.needs(profile)))


def _apart(spread: float) -> str:
    """Format the spread of launches: in per cent, or as a factor if it is thousands of per cent."""
    return f"{spread:.0%}" if spread < 10 else f"{significant(spread)} times their median"


def refuse_contradictions(profile: Profile, ladder: PlatformCurves, drawn: float) -> None:
    """Refuse curves whose launches contradict each other.

    Raises LadderGaps: the launches of a curve contradict each other.
    """
    gaps = [
        Gap(
            f"the launches of {curve.key} differ by {_apart(curve.spread)}, which moves the "
            f"prediction by {math.expm1(drawn):.0%}",
            "\n\n".join(need.measures(curve.key.nodes)),
        )
        for need, curve in ladder.used(profile)
        if curve.contradicts
    ]
    refuse_gaps(ladder.platform, gaps)


@dataclass(frozen=True, slots=True)
class CallLack:
    """The time that the replay on the base lacks in one function's calls, compared with the trace.

    - `size_bytes`: the largest size; all sizes up to a power of two are one group.
    - `calls`, `traced_s`, `replayed_s`: number and times of the calls, as the mean over the ranks.
    - `share`: replayed minus traced time, as a share of the application's time.
    """

    call: str
    size_bytes: int
    calls: float
    traced_s: float
    replayed_s: float
    share: float

    def __str__(self) -> str:
        size = f" of {format_value(self.size_bytes, 'B')}" if self.size_bytes else ""
        return f"{self.call}{size} ({self.share:+.1%} of the time)"


def lacks_of(trace: Trace, replayed: Replayed, time_s: float) -> tuple[CallLack, ...]:
    """Return the replay's error by function and size; groups that lack most time come first."""
    sums: dict[tuple[str, int], _CallSum] = {}
    for stream, taken_s in zip(trace.streams, replayed.taken_s, strict=True):
        counts = np.bincount(stream.shape, minlength=len(stream.shapes))
        values = np.stack([counts, stream.spent_by_shape_s, taken_s], axis=1) / trace.ranks
        for shape, (calls, traced_s, replayed_s) in zip(
            stream.shapes, values.tolist(), strict=True
        ):
            if shape.kind in NO_CALLS:
                continue
            key = (shape.call, int(shape.size).bit_length())
            call_sum = sums.setdefault(key, _CallSum())
            call_sum.size_bytes = max(call_sum.size_bytes, int(shape.size))
            call_sum.calls += calls
            call_sum.traced_s += traced_s
            call_sum.replayed_s += replayed_s
    lacks = [call_sum.lack(call, time_s) for (call, _), call_sum in sums.items()]
    return tuple(sorted(lacks, key=lambda lack: lack.share))


@dataclass(slots=True)
class _CallSum:
    """The number and the times of a rank's calls to a function, for one group of sizes."""

    size_bytes: int = 0
    calls: float = 0.0
    traced_s: float = 0.0
    replayed_s: float = 0.0

    def lack(self, call: str, time_s: float) -> CallLack:
        """Return the time that the replay lacks, with its share of the application's time."""
        share = (self.replayed_s - self.traced_s) / time_s
        return CallLack(call, self.size_bytes, self.calls, self.traced_s, self.replayed_s, share)
