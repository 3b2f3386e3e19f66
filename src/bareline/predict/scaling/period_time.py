"""The time of a period on a platform, and its parts: computing, messages, collectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from bareline.profile.records import NOBODY, POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace

#: Returns a trace's time on a platform in s.
Run = Callable[[Trace], float]
_Predicate = Callable[[Shape], bool]

COMPUTING = "computing"
MESSAGES = "messages between two ranks"
_MESSAGE_KINDS = (*POINT_TO_POINT, "done", "wait")
#: Periods of the longer replay. The difference from a replay of one period has no start-up.
_PERIODS = 3


@dataclass(frozen=True, slots=True)
class PeriodTime:
    """The time of a period on a platform, in s, and its parts.

    The part of computing is the time of the period without any calls. The rest is divided among
    functions, in proportion to the time that the period saves without each function. The saved
    times do not add up to the rest: without one function the ranks may wait longer in another
    function.
    """

    period_s: float
    parts_s: dict[str, float]

    @classmethod
    def of(cls, trace: Trace, run: Run) -> PeriodTime:
        """Return the time of a trace and the parts of the time."""
        period_s = time_of_period(trace, run)

        def without_s(is_removed: _Predicate) -> float:
            return time_of_period(_without(trace, is_removed), run)

        computing_s = min(without_s(lambda _: True), period_s)
        shapes = shapes_of(trace)
        saved_s: dict[str, float] = {}
        for call in sorted({shape.call for shape in shapes if _blocks_all(shape)}):
            saved_s[call] = max(0.0, period_s - without_s(_is_call(call)))
        if any(shape.kind in POINT_TO_POINT for shape in shapes):
            saved_s[MESSAGES] = max(0.0, period_s - without_s(_is_message))
        whole_s = sum(saved_s.values()) or 1.0
        left_s = period_s - computing_s
        parts_s = {name: left_s * time_s / whole_s for name, time_s in saved_s.items()}
        return cls(period_s, {COMPUTING: computing_s} | parts_s)

    @property
    def computing_s(self) -> float:
        """The part of computing, in s."""
        return self.parts_s[COMPUTING]

    def shares(self) -> dict[str, float]:
        """Return the parts as shares of the period."""
        return {name: part_s / self.period_s for name, part_s in self.parts_s.items()}


def shapes_of(trace: Trace) -> set[Shape]:
    """Return the different calls of all ranks."""
    return set(chain.from_iterable(stream.shapes for stream in trace.streams))


def _blocks_all(shape: Shape) -> bool:
    """Whether a call is a blocking collective."""
    return shape.kind == "collective" and not shape.posts


def _is_message(shape: Shape) -> bool:
    return shape.kind in _MESSAGE_KINDS


def _is_call(name: str) -> _Predicate:
    def is_call(shape: Shape) -> bool:
        return shape.call == name

    return is_call


def time_of_period(trace: Trace, run: Run) -> float:
    """Return the time of one period in s, if several periods follow each other."""

    def repeated(stream: CallStream) -> CallStream:
        return replace(
            stream,
            shape=np.tile(stream.shape, _PERIODS),
            compute_s=np.tile(stream.compute_s, _PERIODS),
            spent_s=np.tile(stream.spent_s, _PERIODS),
        )

    several_s = run(_each(trace, repeated))
    return (several_s - run(trace)) / (_PERIODS - 1)


def _each(trace: Trace, change: Callable[[CallStream], CallStream]) -> Trace:
    return replace(trace, streams=tuple(map(change, trace.streams)))


def resized(trace: Trace, *, computing: float, sizes: float = 1.0) -> Trace:
    """Return the trace with multiplied times of computing and multiplied message sizes.

    Only sizes of messages between two ranks are multiplied.
    """

    def resized_shape(shape: Shape) -> Shape:
        if sizes == 1 or shape.kind not in POINT_TO_POINT:
            return shape
        return replace(
            shape,
            size=round(sizes * shape.size),
            sent=round(sizes * shape.sent),
            received=round(sizes * shape.received),
        )

    def resized_stream(stream: CallStream) -> CallStream:
        shapes = tuple(map(resized_shape, stream.shapes))
        return replace(stream, compute_s=stream.compute_s * computing, shapes=shapes)

    return _each(trace, resized_stream)


_REST = Shape("compute", "compute", False, NOBODY, NOBODY, NOBODY, -1, -1, 0, 0, 0, 0, 0)


def _without(trace: Trace, is_removed: _Predicate) -> Trace:
    """Return the trace without some calls; the computing before the removed calls stays."""

    def reduced(stream: CallStream) -> CallStream:
        stays = np.array([not is_removed(shape) for shape in stream.shapes], bool)[stream.shape]
        ends_s = np.cumsum(stream.compute_s)[stays]
        all_ends_s = np.append(ends_s, stream.compute_s.sum())
        rest = np.int32(len(stream.shapes))
        return replace(
            stream,
            shapes=(*stream.shapes, _REST),
            shape=np.append(stream.shape[stays], rest),
            compute_s=np.diff(all_ends_s, prepend=0.0),
            spent_s=np.append(stream.spent_s[stays], 0.0),
        )

    return _each(trace, reduced)
