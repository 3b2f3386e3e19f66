"""The recurrence of a trace: the distance at which a rank's calls repeat, and the common cut.

A call of a period may occur several times in it, so that the distance between equal calls is
ambiguous. The calls that repeat at each distance are counted over the whole sequence, for all
distances at once, by a Fourier transform of a random sign per kind of call. The likeliest distances
are then compared call by call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bareline.profile.records import POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.errors import ProfileError

#: Kinds of calls that write and read; their sizes may differ between periods.
FILES = ("mpi-io", "posix-io")
#: Distances that are compared: the most frequent ones of equal calls, and the likeliest of all.
_MOST_LAGS = 400
_LIKELIEST = 64
#: Random signs for each kind of call: more of them tell distances apart with less noise.
_TURNS = 2
#: The recurring part must have this share of the calls, or of the time.
_MOST = 0.25
_NO_PERIOD = "trace a program that repeats its steps, with more steps; --trace keeps the calls"


@dataclass(frozen=True, slots=True)
class Cut:
    """The index of the call at which a rank's first period begins, and the calls per period."""

    begin: int
    calls: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of all ranks, which divide their calls into periods.

    - `repeats`: the number of periods in the run.
    - `whole`: the number of complete periods after the cuts.
    """

    ranks: tuple[Cut, ...]
    repeats: int
    whole: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The calls from `begin` to before `end`, which repeat themselves every `lag` calls."""

    begin: int
    end: int
    lag: int

    @property
    def length(self) -> int:
        return self.end - self.begin

    @property
    def repeats(self) -> int:
        """The number of complete periods in the stretch."""
        return self.length // self.lag


@dataclass(frozen=True, slots=True)
class _Recurrence:
    """The recurrence of one rank's calls.

    - `collectives`: the indices of the rank's calls that are collectives of all ranks.
    """

    collectives: npt.NDArray[np.intp]
    stretch: _Stretch

    @property
    def passed(self) -> int:
        """The number of collectives of all ranks before the stretch."""
        return int(np.searchsorted(self.collectives, self.stretch.begin))

    def collectives_from(self, begin: int) -> int:
        """Return the number of collectives of all ranks in the period that begins at a call."""
        end = begin + self.stretch.lag
        is_inside = (self.collectives >= begin) & (self.collectives < end)
        return int(np.sum(is_inside))

    def cut(self, passed: int) -> Cut:
        """Return the cut after a collective of all ranks: the one with index `passed`, from 0."""
        stretch = self.stretch
        if not self.collectives_from(stretch.begin):
            # No collective recurs: each rank is cut at its own first call.
            return Cut(stretch.begin, stretch.lag)
        if passed < len(self.collectives):
            return Cut(int(self.collectives[passed]) + 1, stretch.lag)
        return Cut(stretch.end, stretch.lag)


def find_cuts(trace: Trace) -> Cuts:
    """Return the cuts of the ranks.

    The bytes that a program writes or reads may differ from period to period. If calls recur only
    when the sizes of messages are ignored, the cuts are made without the sizes.

    Raises ProfileError: no sequence of calls repeats, or the ranks do not repeat it together.
    """
    try:
        return _cuts(_without_sizes(trace, FILES))
    except ProfileError:
        return _cuts(_without_sizes(trace, (*FILES, *POINT_TO_POINT)))


def _without_sizes(trace: Trace, kinds: tuple[str, ...]) -> Trace:
    """Return the trace without the sizes of calls of some kinds."""
    streams = [_sizeless(stream, kinds) for stream in trace.streams]
    return replace(trace, streams=tuple(streams))


def _sizeless(stream: CallStream, kinds: tuple[str, ...]) -> CallStream:
    """Return a rank's calls without the sizes of calls of some kinds."""
    shapes: dict[Shape, int] = {}
    numbers = []
    for shape in stream.shapes:
        if shape.kind in kinds:
            shape = replace(shape, size=0, sent=0, received=0, element=0)
        numbers.append(shapes.setdefault(shape, len(shapes)))
    number_of = np.array(numbers, np.int32)
    return replace(stream, shapes=tuple(shapes), shape=number_of[stream.shape])


def _cuts(trace: Trace) -> Cuts:
    """Return the cuts of all ranks, each after the same collective of all ranks.

    It is the first collective at which the calls of every rank repeat themselves.
    `Cuts.repeats` does not depend on where a period begins. A cut after a collective in the middle
    of periods loses the beginning of the first period and the end of the last period.
    """
    recurrences = []
    for stream in trace.streams:
        stretch = _longest(stream)
        if stretch is None:
            raise ProfileError(
                "no sequence of calls repeats for at least a quarter of all calls or of the time",
                where=str(trace.path),
                hint=_NO_PERIOD,
            )
        recurrences.append(_Recurrence(_collectives(stream, trace.ranks), stretch))
    recurrences = _in_step(recurrences)
    passed = max(recurrence.passed for recurrence in recurrences)
    cuts = [recurrence.cut(passed) for recurrence in recurrences]
    whole = []
    inside = set()
    for cut, recurrence in zip(cuts, recurrences, strict=True):
        whole.append((recurrence.stretch.end - cut.begin) // cut.calls)
        inside.add(recurrence.collectives_from(cut.begin))
    if min(whole) < 2 or len(inside) > 1:
        raise ProfileError(
            "the ranks do not repeat the same sequence of calls together",
            where=str(trace.path),
            hint=_NO_PERIOD,
        )
    repeats = min(recurrence.stretch.repeats for recurrence in recurrences)
    return Cuts(tuple(cuts), repeats, min(whole))


def _in_step(recurrences: list[_Recurrence]) -> list[_Recurrence]:
    """Return the recurrences; periods are lengthened so that all contain equally many collectives.

    Only collectives of all ranks count. A rank that writes every fourth step has a longer period
    than the other ranks.
    """
    counts = [each.collectives_from(each.stretch.begin) for each in recurrences]
    if min(counts) < 1:
        return recurrences
    whole = math.lcm(*counts)
    aligned = []
    for recurrence, count in zip(recurrences, counts, strict=True):
        stretch = recurrence.stretch
        lag = stretch.lag * (whole // count)
        if 2 * lag <= stretch.length:
            stretch = replace(stretch, lag=lag)
        aligned.append(replace(recurrence, stretch=stretch))
    return aligned


def _longest(stream: CallStream) -> _Stretch | None:
    """Return the longest sequence of calls that repeats itself.

    If it repeats at several distances, the shortest distance is used. None if too few calls repeat.

    If loops are nested, the outer loop is found.
    """
    numbers = stream.shape
    best: _Stretch | None = None
    # The shortest comes first: two periods also recur, but not over a longer stretch.
    for lag in _lags(numbers):
        stretch = _longest_at(numbers, lag)
        is_longer = best is None or stretch.length > best.length
        if is_longer and stretch.repeats >= 2:
            best = stretch
    if best is None:
        return None
    taken_s = stream.compute_s + stream.spent_s
    recurs_s = taken_s[best.begin : best.end].sum()
    has_most_calls = best.length >= _MOST * len(numbers)
    has_most_time = recurs_s >= _MOST * taken_s.sum()
    if has_most_calls or has_most_time:
        return best
    return None


def _longest_at(numbers: npt.NDArray[np.int32], lag: int) -> _Stretch:
    """Return the longest sequence of calls that repeats itself every `lag` calls."""
    differs = np.flatnonzero(numbers[lag:] != numbers[:-lag])
    edges = np.concatenate(([-1], differs, [len(numbers) - lag]))
    longest = int(np.argmax(np.diff(edges)))
    begin = int(edges[longest]) + 1
    end = int(edges[longest + 1]) + lag
    return _Stretch(begin, end, lag)


def _lags(numbers: npt.NDArray[np.int32]) -> list[int]:
    """Return the distances at which calls may repeat, in rising order."""
    order = np.argsort(numbers, kind="stable")
    is_next_equal = np.diff(numbers[order]) == 0
    apart = np.diff(order)[is_next_equal]
    distances, counts = np.unique(apart, return_counts=True)
    # Of equally frequent distances the shortest are taken.
    order_by_count = np.argsort(-counts, kind="stable")
    frequent = distances[order_by_count[:_MOST_LAGS]].tolist()
    return sorted({*frequent, *_likeliest(numbers)})


def _likeliest(numbers: npt.NDArray[np.int32]) -> list[int]:
    """Return the distances at which the largest shares of all calls recur.

    A call recurs at the distance d if the call d calls later is equal.
    """
    count = len(numbers)
    if count < 4:
        return []
    kinds = int(numbers.max()) + 1
    rng = np.random.default_rng(1)
    equal_calls = np.zeros(count)
    for _ in range(_TURNS):
        sign_of_kind = rng.choice([-1.0, 1.0], size=kinds)
        transformed = np.fft.rfft(sign_of_kind[numbers], 2 * count)
        power = transformed * transformed.conj()
        equal_calls += np.fft.irfft(power)[:count]
    # Relative to the overlap at each distance; a period recurs at least once.
    distances = np.arange(1, count // 2 + 1)
    shares = equal_calls[distances] / (count - distances)
    # Multiples of a period are as likely as the period: of equal shares, the shortest counts.
    likeliest = np.argsort(-np.round(shares, 1), kind="stable")
    return [int(lag) for lag in distances[likeliest[:_LIKELIEST]]]


def _collectives(stream: CallStream, ranks: int) -> npt.NDArray[np.intp]:
    """Return the indices of a rank's calls that are collectives of all ranks."""
    of_all = [shape.kind == "collective" and shape.comm_size == ranks for shape in stream.shapes]
    return np.flatnonzero(np.array(of_all)[stream.shape])
