"""The recurrence of a trace: how far apart each rank's calls repeat, and where all ranks are cut.

A call of a period may occur several times in it, so that the distance between equal calls is
ambiguous. Calls that repeat at a distance are counted over the whole sequence for all distances at
once, by the transform of a random sign for each kind of call; the likeliest distances are compared
call by call.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from bareline.profile.records import POINT_TO_POINT, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.errors import ProfileError

#: Calls that write and read; how much may differ from one period to the next.
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
    """Where the first period of a rank begins in its calls, and how many calls one has."""

    begin: int
    calls: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """The cuts of all ranks; `repeats`: periods of the run, `whole`: those behind the cuts."""

    ranks: tuple[Cut, ...]
    repeats: int
    whole: int


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Calls from `begin` to before `end` that repeat themselves after `lag` calls."""

    begin: int
    end: int
    lag: int

    @property
    def length(self) -> int:
        return self.end - self.begin


def find_cuts(trace: Trace) -> Cuts:
    """Return where the ranks are cut; raises ProfileError: nothing repeats, or not in step.

    How much is written or read may differ from period to period. Where the rest recurs only
    without the sizes of messages, it is cut so.
    """
    plain = replace(trace, streams=tuple(_sizeless(stream, FILES) for stream in trace.streams))
    try:
        return _cuts(plain)
    except ProfileError:
        kinds = (*FILES, *POINT_TO_POINT)
        return _cuts(
            replace(trace, streams=tuple(_sizeless(stream, kinds) for stream in trace.streams))
        )


def _sizeless(stream: CallStream, kinds: tuple[str, ...]) -> CallStream:
    """Return a rank's calls, without sizes for calls of some kinds."""
    shapes: dict[Shape, int] = {}
    numbers = []
    for shape in stream.shapes:
        if shape.kind in kinds:
            shape = replace(shape, size=0, sent=0, received=0, element=0)
        numbers.append(shapes.setdefault(shape, len(shapes)))
    return replace(stream, shapes=tuple(shapes), shape=np.array(numbers, np.int32)[stream.shape])


def _cuts(trace: Trace) -> Cuts:
    """Return the cuts of ranks behind the first collective of all from which each repeats itself.

    `repeats` is how many follow wherever one begins: a cut behind a collective in their middle
    loses the beginning of the first and the end of the last.
    """
    stretches = [longest for stream in trace.streams if (longest := _longest(stream)) is not None]
    if len(stretches) < len(trace.streams):
        raise ProfileError(
            "no sequence of calls recurs for a quarter of the calls or of the time",
            where=str(trace.path),
            hint=_NO_PERIOD,
        )
    anchors = [_collectives(stream, trace.ranks) for stream in trace.streams]
    aligned = list(zip(anchors, _in_step(anchors, stretches), strict=True))
    passed = max(int(np.searchsorted(anchor, stretch.begin)) for anchor, stretch in aligned)
    cuts = []
    repeats = []
    inside = set()
    for anchor, stretch in aligned:
        begin = int(anchor[passed]) + 1 if passed < len(anchor) else stretch.end
        if not _count(anchor, stretch.begin, stretch.lag):
            begin = stretch.begin  # no collective recurs: each from its own first call
        cuts.append(Cut(begin, stretch.lag))
        repeats.append((stretch.end - begin) // stretch.lag)
        inside.add(_count(anchor, begin, stretch.lag))
    if min(repeats) < 2 or len(inside) > 1:
        raise ProfileError(
            "the ranks do not repeat their calls in step", where=str(trace.path), hint=_NO_PERIOD
        )
    return Cuts(
        tuple(cuts),
        min(stretch.length // stretch.lag for _, stretch in aligned),
        min(repeats),
    )


def _count(anchor: npt.NDArray[np.intp], begin: int, calls: int) -> int:
    """Return the number of collectives of all ranks within so many calls."""
    return int(np.sum((anchor >= begin) & (anchor < begin + calls)))


def _in_step(anchors: list[npt.NDArray[np.intp]], stretches: list[_Stretch]) -> list[_Stretch]:
    """Return stretches whose periods have as many collectives of all ranks.

    A rank that writes every fourth step repeats itself later than the other ranks.
    """
    counts = [
        _count(anchor, stretch.begin, stretch.lag)
        for anchor, stretch in zip(anchors, stretches, strict=True)
    ]
    if min(counts) < 1:
        return stretches
    whole = math.lcm(*counts)
    return [
        replace(stretch, lag=stretch.lag * (whole // count))
        if stretch.lag * (whole // count) * 2 <= stretch.length
        else stretch
        for stretch, count in zip(stretches, counts, strict=True)
    ]


def _longest(stream: CallStream) -> _Stretch | None:
    """Return the longest stretch that repeats itself, at the shortest distance that gives it.

    Of loops in loops that is the outer one.
    """
    numbers = stream.shape
    best: _Stretch | None = None
    # From the shortest on: twice a period also repeats itself, over no longer a stretch.
    for lag in _lags(numbers):
        differs = np.flatnonzero(numbers[lag:] != numbers[:-lag])
        edges = np.concatenate(([-1], differs, [len(numbers) - lag]))
        longest = int(np.argmax(np.diff(edges)))
        begin = int(edges[longest]) + 1
        end = int(edges[longest + 1]) + lag
        if end - begin >= 2 * lag and (best is None or end - begin > best.length):
            best = _Stretch(begin, end, lag)
    if best is None:
        return None
    taken_s = stream.compute_s + stream.spent_s
    most = best.length >= _MOST * len(numbers)
    recurs_s = taken_s[best.begin : best.end].sum()
    return best if most or recurs_s >= _MOST * taken_s.sum() else None


def _lags(numbers: npt.NDArray[np.int32]) -> list[int]:
    """Return distances at which calls may repeat, rising."""
    order = np.argsort(numbers, kind="stable")
    apart = np.diff(order)[np.diff(numbers[order]) == 0]
    values, counts = (each.tolist() for each in np.unique(apart, return_counts=True))
    near = Counter(dict(zip(values, counts, strict=True))).most_common(_MOST_LAGS)
    return sorted({lag for lag, _ in near} | set(_likeliest(numbers)))


def _likeliest(numbers: npt.NDArray[np.int32]) -> list[int]:
    """Return the distances at which most calls of the whole sequence are the same."""
    count = len(numbers)
    if count < 4:
        return []
    rng = np.random.default_rng(1)
    alike = np.zeros(count)
    for _ in range(_TURNS):
        signs = rng.choice([-1.0, 1.0], size=int(numbers.max()) + 1)[numbers]
        transformed = np.fft.rfft(signs, 2 * count)
        alike += np.fft.irfft(transformed * transformed.conj())[:count]
    # Relative to the overlap at each distance; a period recurs at least once.
    half = count // 2
    shares = alike[1 : half + 1] / np.arange(count - 1, count - half - 1, -1)
    # Multiples of a period are as likely as it is: among equals, to a tenth, the shortest count.
    likeliest = np.argsort(-np.round(shares, 1), kind="stable")[:_LIKELIEST]
    return [1 + int(lag) for lag in likeliest]


def _collectives(stream: CallStream, ranks: int) -> npt.NDArray[np.intp]:
    kinds = [shape.kind == "collective" and shape.comm_size == ranks for shape in stream.shapes]
    return np.flatnonzero(np.array(kinds)[stream.shape])
