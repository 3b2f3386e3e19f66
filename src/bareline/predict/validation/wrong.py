"""The most wrong term of a prediction: calls and computing, compared with measurements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bareline.predict.applications import Application
from bareline.predict.case import PredictionCase
from bareline.profile.records import NO_CALLS, POINT_TO_POINT, Shape
from bareline.profile.trace import Trace
from bareline.vocabulary.units import format_value

#: The error, as a share of the measured time, from which on a term is named.
_OFF = 0.005
COMPUTING = "computing"


@dataclass(frozen=True, slots=True)
class WrongTerm:
    """The term of a prediction with the largest error.

    - `name`: computing, messages up to a size, waits for them, or a collective up to a size.
    - `predicted_s`: time of a rank in the replay.
    - `measured_s`: time of a rank in the trace of the typical launch.
    - `share`: predicted minus measured time, as a share of the measured time.
    """

    name: str
    predicted_s: float
    measured_s: float
    share: float

    @property
    def too_long_s(self) -> float:
        """The predicted minus the measured time of the term, in s."""
        return self.predicted_s - self.measured_s

    def __str__(self) -> str:
        return f"{self.name} ({self.share:+.1%} of the time)"


def wrong_term(case: PredictionCase, target: Application) -> WrongTerm | None:
    """Return the term with the largest error; None without traces, or if all errors are small.

    A replay of the base's trace gives the predicted terms, a trace on the target gives the measured
    terms.
    """
    measured = target.typical.trace
    if case.base.trace is None or measured is None or case.compute.value is None:
        return None
    replayed = case.replayed(case.compute.value)
    predicted = terms_of(case.base.trace, replayed.taken_s, sum(replayed.compute_s))
    spent = [stream.spent_by_shape_s for stream in measured.streams]
    computed_s = sum(float(stream.compute_s.sum()) for stream in measured.streams)
    actual = terms_of(measured, spent, computed_s)
    time_s = target.typical.time_s
    names = {*predicted, *actual}
    differences = {name: predicted.get(name, 0.0) - actual.get(name, 0.0) for name in names}
    name = max(differences, key=lambda term: abs(differences[term]))
    share = differences[name] / time_s
    if abs(share) < _OFF:
        return None
    return WrongTerm(name, predicted.get(name, 0.0), actual.get(name, 0.0), share)


def terms_of(
    trace: Trace, taken_s: Sequence[npt.NDArray[np.float64]], computed_s: float
) -> Mapping[str, float]:
    """Return the mean time of a rank for each term (computing, or a kind of calls), in s.

    - `taken_s`: the time in calls of each rank, by shape.
    - `computed_s`: the computing time of all ranks.
    """
    seconds = defaultdict(float, {COMPUTING: computed_s / trace.ranks})
    for stream, of_shapes in zip(trace.streams, taken_s, strict=True):
        for shape, shape_s in zip(stream.shapes, of_shapes, strict=True):
            if shape.kind not in NO_CALLS:
                seconds[_term(shape)] += float(shape_s) / trace.ranks
    return seconds


def _term(shape: Shape) -> str:
    """Return the name of a call's term; sends and receives of one size have the same term."""
    if shape.kind == "wait":
        return "waits for messages"
    function = "messages" if shape.kind in POINT_TO_POINT else shape.call
    if shape.size <= 0:
        return function
    largest = 1 << (int(shape.size) - 1).bit_length()
    return f"{function} up to {format_value(largest, 'B')}"
