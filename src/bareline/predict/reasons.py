"""Why a prediction was off: what the measurement says beside the prediction that it contradicts.

Nothing is corrected with it. A reason is named where it is as large as a part of the error that
matters; where none is, that is said, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bareline.predict.applications import Application
from bareline.predict.delta import compute_s
from bareline.predict.prediction import SHORT_S, Case, base_time_s
from bareline.vocabulary.units import format_value

#: Errors below are none that wants a reason; a reason explains at least such a part of one.
_NOTABLE = 0.03
_PART = 0.3


@dataclass(frozen=True, slots=True)
class Reason:
    """Something that may have put a prediction off.

    Attributes
    ----------
    size
        By how much it could, in ln.
    """

    text: str
    size: float


def reasons(
    case: Case, base: Application, target: Application, log_error: float, reproduced: float | None
) -> tuple[str, ...]:
    """Name what is large enough to explain an error, the largest first.

    Parameters
    ----------
    base, target
        The application where it was predicted from and where it was measured.
    log_error
        ln(predicted/measured).
    reproduced
        The replay of the base over its time.
    """
    if abs(log_error) < _NOTABLE:
        return ()
    found = [
        *_computing(case, target, log_error),
        *_launches(base, target),
        *_ladder(case, reproduced),
    ]
    least = _PART * abs(log_error)
    named = [one.text for one in sorted(found, key=lambda one: -one.size) if one.size >= least]
    if base.median_s < SHORT_S:
        named.append(f"it runs for {format_value(base.median_s, 's')} only")
    if case.a.cores is not None or case.b.cores is not None:
        named.append("ranks share cores: who has one when is the scheduler's choice")
    if not named:
        named.append("no measurement tells: the calls themselves took another time than modelled")
    return tuple(named)


def _computing(case: Case, target: Application, log_error: float) -> Iterator[Reason]:
    """Compare the computing that was carried over with the computing that was measured."""
    profile = target.typical.profile
    expected = compute_s(case.profile) * (case.compute.value or 1.0)
    measured = compute_s(profile)
    if expected <= 0 or measured <= 0:
        return
    share = measured / base_time_s(profile)
    moved = -math.log(measured / expected) * share
    # Only in the direction of the error.
    if moved * log_error > 0:
        text = f"computing took {measured / expected:.2f} times what it took on {case.a.platform}"
        yield Reason(f"{text}, which no curve tells", abs(moved))


def _launches(base: Application, target: Application) -> Iterator[Reason]:
    for application in (base, target):
        times = application.times_s
        if len(times) < 2:
            yield Reason(f"{application.platform} has one launch only", _NOTABLE)
            continue
        low, high = np.quantile(times, [0.1, 0.9])
        text = f"its launches on {application.platform} take {format_value(float(low), 's')}"
        yield Reason(f"{text} to {format_value(float(high), 's')}", math.log(high / low) / 2)


def _ladder(case: Case, reproduced: float | None) -> Iterator[Reason]:
    yield Reason("the ladders' launches differ", case.drawn)
    if reproduced is not None:
        text = f"the replay gives {reproduced:.2f} of the time on {case.a.platform}"
        yield Reason(text, abs(math.log(reproduced)))
