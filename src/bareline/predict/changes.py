"""The calls of a program that become slower or faster on another platform."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import TypedDict

from bareline.analysis.numbers.records import Records
from bareline.predict.curves.platform_curves import PlatformCurves, read_ladder
from bareline.predict.curves.requirements import CurveNeed, required_curves
from bareline.predict.questions import layout_of
from bareline.profile.files import read_profile

#: The curve of several messages in flight concerns the same calls as the ping-pong.
_SAME_CALLS = "mpi.bandwidth"


class CallChange(TypedDict):
    """The time of a kind of calls on both platforms, at the largest size that the program uses.

    - `rate`: calls of a rank per second of the profiled program.
    - `base_s`, `time_s`: time of one call on the base and on the other platform.
    - `adds`: an upper limit of the time that the calls add, as a share of the program's time. It is
      `rate` times the difference of `time_s` and `base_s`. Calls that overlap add less, but only a
      replay shows how much.
    """

    probe: str
    ranks: int
    nodes: int
    size_bytes: float
    rate: float
    base_s: float
    time_s: float
    adds: float


def call_changes(profile: Path, ladder: Records, base: str, to: str) -> list[CallChange]:
    """Return the change of each kind of calls between the base and a platform, largest first."""
    program = read_profile(profile)
    a = read_ladder(ladder, base, layout_of(ladder, base, program))
    b = read_ladder(ladder, to, layout_of(ladder, to, program))
    changes: list[CallChange] = []
    for need in required_curves(program, spread=b.layout.nodes > 1):
        change = _change(need, a, b)
        if change is not None:
            changes.append(change)
    return sorted(changes, key=lambda change: -abs(change["adds"]))


def _change(need: CurveNeed, a: PlatformCurves, b: PlatformCurves) -> CallChange | None:
    """Return the change of the calls of one curve.

    None if the curve is optional, or if a platform does not have the curve.
    """
    if need.optional or need.probe == _SAME_CALLS:
        return None
    before = a.curve(need.probe, need.ranks, need.nodes_on(a.layout))
    after = b.curve(need.probe, need.ranks, need.nodes_on(b.layout))
    if before is None or after is None:
        return None
    base_s = before.at(need.largest)
    time_s = after.at(need.largest)
    return CallChange(
        probe=need.probe,
        ranks=need.ranks,
        nodes=need.nodes_on(b.layout),
        size_bytes=need.largest,
        rate=need.rate,
        base_s=base_s,
        time_s=time_s,
        adds=need.rate * (time_s - base_s),
    )
