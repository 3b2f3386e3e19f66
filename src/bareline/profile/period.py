"""One period of a program: the calls of every rank between two recurrences of a sequence.

A program that steps through time repeats the same calls. The longest stretch of a trace that
repeats itself (`recurrence`) is cut at a collective of all ranks. One period is kept, with its mean
times, and the calls before and after are counted. If only the sizes of messages differ between
periods (particles that move), the mean sizes and their spread are kept. For calls to files and for
output, only the mean sizes are kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
)

from bareline.profile.model import MOST_RANKS, Profile
from bareline.profile.records import ANYBODY, NOBODY, POINT_TO_POINT, Shape
from bareline.profile.recurrence import FILES, Cut, find_cuts
from bareline.profile.summary import DISTURBED, queued_share
from bareline.profile.trace import CallStream, Trace
from bareline.vocabulary.documents import OUTPUT, DocumentError, parse_json
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import read_bounded, replace_file, step_to_read
from bareline.vocabulary.sanitize import LONGEST_NAME
from bareline.vocabulary.validation_errors import problem_of

_SCHEMA = "bareline.period"
_VERSION = 2
#: No call lasts longer.
_MOST_S = 1e9
#: No count or size in a file is larger.
_MOST_NUMBER = 1 << 53
_AGAIN = "make it again with `bareline profile --period -o FILE -- mpirun ...`"


@dataclass(frozen=True, slots=True)
class ProgramPeriod:
    """One period of all ranks.

    - `trace`: the calls of the period; times are means over all its recurrences.
    - `repeats`: the number of recurrences in the whole run.
    - `calls`: the number of calls of rank 0 in the period.
    - `beside`: the number of calls of rank 0 outside of all periods.
    - `shared`: whether ranks had no core for so long that the times are useless.
    - `spread`: the mean deviation of message sizes from their means, as a share of the bytes.
    """

    trace: Trace
    repeats: int
    calls: int
    beside: int
    shared: bool
    spread: float = 0.0

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.trace.ranks

    @property
    def compute_s(self) -> float:
        """The mean time that a rank computes in a period, in s."""
        return float(sum(stream.compute_s.sum() for stream in self.trace.streams)) / self.ranks

    @property
    def time_s(self) -> float:
        """The duration of a period on the slowest rank, in s."""
        return max(
            float((stream.compute_s + stream.spent_s).sum()) for stream in self.trace.streams
        )


def period_file(profile: Path) -> Path:
    """Return the path of the period of a profile."""
    return profile.with_name(f"{profile.name}.period")


def find_period(trace: Trace, profile: Profile) -> ProgramPeriod:
    """Return the period of a trace.

    Raises ProfileError: no sequence of calls repeats, or the ranks do not repeat it together.
    """
    if trace.why_partial:
        raise ProfileError(
            f"the trace contains no complete period: {trace.why_partial}", where=str(trace.path)
        )
    cuts = find_cuts(trace)
    periods = [
        _mean_period(stream, cut, cuts.whole)
        for stream, cut in zip(trace.streams, cuts.ranks, strict=True)
    ]
    streams = tuple(period.stream for period in periods)
    period_trace = Trace(trace.path, trace.ranks, trace.began_unix_ns, trace.command, streams)
    _check_closed(period_trace)
    calls = len(streams[0].shape)
    off_mean = sum(period.bytes_off_mean for period in periods)
    moved = sum(period.moved_bytes for period in periods)
    return ProgramPeriod(
        trace=period_trace,
        repeats=cuts.repeats,
        calls=calls,
        beside=len(trace.streams[0].shape) - cuts.repeats * calls,
        shared=queued_share(profile) > DISTURBED,
        spread=off_mean / max(1.0, moved),
    )


@dataclass(frozen=True, slots=True)
class _MeanPeriod:
    """The mean of the recurrences of one rank's period.

    - `bytes_off_mean`: by how many bytes the messages of a period differ from their means.
    - `moved_bytes`: the bytes of all messages of a period.
    """

    stream: CallStream
    bytes_off_mean: float
    moved_bytes: float


def _mean_period(stream: CallStream, cut: Cut, repeats: int) -> _MeanPeriod:
    """Return the mean of `repeats` recurrences of a rank's calls, beginning at a cut."""
    span = slice(cut.begin, cut.begin + repeats * cut.calls)
    recurrences = (repeats, cut.calls)
    numbers = stream.shape[span].reshape(recurrences)
    first = numbers[0]
    amounts_of_shapes = [(shape.size, shape.sent, shape.received) for shape in stream.shapes]
    amounts = np.array(amounts_of_shapes)[numbers]
    means = amounts.mean(axis=0)
    shapes: dict[Shape, int] = {}
    mean_numbers = []
    rounded_means = means.round().astype(int).tolist()
    for number, (size, sent, received) in zip(first.tolist(), rounded_means, strict=True):
        shape = replace(stream.shapes[number], size=size, sent=sent, received=received)
        mean_numbers.append(shapes.setdefault(shape, len(shapes)))
    mean_stream = CallStream(
        rank=stream.rank,
        shapes=tuple(shapes),
        shape=np.array(mean_numbers, np.int32),
        compute_s=stream.compute_s[span].reshape(recurrences).mean(axis=0),
        spent_s=stream.spent_s[span].reshape(recurrences).mean(axis=0),
        finished=True,
        lost=0,
    )
    is_message = np.array([shape.kind not in FILES for shape in stream.shapes])[first]
    off_mean = np.abs(amounts - means)[..., 0].mean(axis=0)
    bytes_off_mean = float(off_mean[is_message].sum())
    moved_bytes = float(means[is_message, 0].sum())
    return _MeanPeriod(mean_stream, bytes_off_mean, moved_bytes)


def calls_of(stream: CallStream) -> Iterator[Shape]:
    """Yield a rank's calls in their order."""
    return (stream.shapes[number] for number in stream.shape.tolist())


def is_closed(trace: Trace) -> bool:
    """Whether every message and request of a period both begins and ends in the period."""
    try:
        _check_closed(trace)
    except ProfileError:
        return False
    return True


def _check_closed(trace: Trace) -> None:
    """Refuse a period with a message or request that crosses its begin or end."""
    sent: Counter[tuple[int, int]] = Counter()
    for stream in trace.streams:
        _check_requests(trace, stream)
        for shape in calls_of(stream):
            if shape.kind in POINT_TO_POINT:
                sent[stream.rank, shape.to] += shape.to != NOBODY
                sent[shape.from_, stream.rank] -= shape.from_ != NOBODY
    for (sender, receiver), left in sent.items():
        if left:
            raise _open(
                trace,
                f"messages from rank {sender} to rank {receiver} end in another period",
            )


def _check_requests(trace: Trace, stream: CallStream) -> None:
    """Refuse a rank that completes a request from before the period, or names no partner."""
    posts = 0
    for shape in calls_of(stream):
        if shape.kind == "done":
            if shape.to >= posts:
                raise _open(
                    trace, f"rank {stream.rank} completes a request that began before the period"
                )
            continue
        posts += shape.posts
        if shape.kind in POINT_TO_POINT and ANYBODY in (shape.to, shape.from_):
            raise _open(trace, f"a call of {shape.call} does not name the rank of its partner")


def _open(trace: Trace, why: str) -> ProfileError:
    return ProfileError(f"the period is not complete: {why}", where=str(trace.path))


# As a file ----------------------------------------------------------------------------------------


def write_period(period: ProgramPeriod, path: Path) -> None:
    """Write a period, completely or not at all.

    Raises ProfileError: the file cannot be written.
    """
    trace = period.trace
    head = {
        "schema": _SCHEMA,
        "version": _VERSION,
        **{name: getattr(trace, name) for name in ("ranks", "began_unix_ns", "command")},
        **{name: getattr(period, name) for name in _COUNTED},
    }
    lines = [json.dumps(head)]
    for stream in trace.streams:
        row = {
            "rank": stream.rank,
            "shapes": [list(asdict(shape).values()) for shape in stream.shapes],
            "calls": stream.shape.tolist(),
            "compute_s": stream.compute_s.tolist(),
            "spent_s": stream.spent_s.tolist(),
        }
        lines.append(json.dumps(row))
    try:
        replace_file(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise ProfileError(
            f"cannot be written: {error.strerror}", where=str(path), hint="choose another -o"
        ) from error


_COUNTED = ("repeats", "calls", "beside", "shared", "spread")

_Name = Annotated[str, Field(strict=True, max_length=LONGEST_NAME)]
_Number = Annotated[int, Field(strict=True, ge=-_MOST_NUMBER, le=_MOST_NUMBER)]
_Amount = Annotated[int, Field(strict=True, ge=0, le=_MOST_NUMBER)]
_Seconds = Annotated[float, Field(strict=True, ge=-_MOST_S, le=_MOST_S)]
_Index = Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]
#: Values of a shape in the first version, which had no elements.
_VALUES_BEFORE = 13


def _with_element(values: Any) -> Any:
    """Return the values of a kind of call, with 0 for an element size that the file lacks."""
    if isinstance(values, list) and len(values) == _VALUES_BEFORE:
        return [*values, 0]
    return values


#: As `Shape` has them: names, whether it posts, two ends, root, two tags, communicator, amounts,
#: element.
_ShapeValues = tuple[
    _Name,
    _Name,
    StrictBool,
    _Number,
    _Number,
    _Number,
    _Number,
    _Number,
    _Amount,
    _Amount,
    _Amount,
    _Amount,
    _Amount,
    _Amount,
]
_Shape = Annotated[_ShapeValues, BeforeValidator(_with_element)]


class _Head(BaseModel):
    """The first line of a period file."""

    model_config = ConfigDict(frozen=True)
    schema_name: Annotated[str, Field(alias="schema", pattern=f"^{re.escape(_SCHEMA)}$")]
    version: Annotated[int, Field(strict=True, ge=1, le=_VERSION)]
    ranks: Annotated[int, Field(strict=True, ge=1, le=MOST_RANKS)]
    began_unix_ns: Annotated[int, Field(strict=True, ge=-(1 << 63), lt=1 << 63)]
    command: Annotated[str, Field(strict=True)]
    repeats: Annotated[int, Field(strict=True, ge=1, le=_MOST_NUMBER)]
    calls: _Amount
    beside: _Amount
    shared: StrictBool
    spread: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = 0.0


class _Row(BaseModel):
    """The line of a rank in a period file."""

    model_config = ConfigDict(frozen=True)
    rank: _Amount
    shapes: list[_Shape]
    calls: Annotated[
        list[Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]], Field(min_length=1)
    ]
    compute_s: list[_Seconds]
    spent_s: list[_Seconds]


def read_period(path: Path) -> ProgramPeriod:
    """Return the period that a file contains.

    Raises
    ------
    ProfileError
        The file is missing, damaged, too large or of another version; line and key are named.
    """
    try:
        lines = read_bounded(path, OUTPUT.size_bytes).splitlines()
    except OSError as error:
        raise ProfileError(
            f"the period cannot be read: {error.strerror}",
            where=str(path),
            hint=step_to_read(error, _AGAIN),
        ) from error
    head = _line(_Head, path, lines, 1)
    # Compared before anything is made for as many ranks as the first line claims.
    ranks = len(lines) - 1
    if head.ranks != ranks:
        raise _not_read(path, 1, f"'ranks' is {head.ranks}, but the file has {ranks} ranks")
    streams = tuple(_stream(path, lines, rank, ranks) for rank in range(ranks))
    trace = Trace(path, ranks, head.began_unix_ns, head.command, streams)
    period = ProgramPeriod(trace, **{name: getattr(head, name) for name in _COUNTED})
    _check_closed(trace)
    return period


_Line = TypeVar("_Line", _Head, _Row)


def _line(model: type[_Line], path: Path, lines: Sequence[bytes], number: int) -> _Line:
    if not lines:
        raise _not_read(path, number, "the list of calls is empty")
    try:
        return model.model_validate(parse_json(lines[number - 1], OUTPUT))
    except ValidationError as error:
        problem = problem_of(error)
        raise _not_read(path, number, f"'{problem.key}': {problem.clause}") from error
    except DocumentError as error:
        raise _not_read(path, number, str(error)) from error


def _stream(path: Path, lines: Sequence[bytes], rank: int, ranks: int) -> CallStream:
    """Return the calls of a rank.

    Raises ProfileError: the line contains impossible calls.
    """
    number = rank + 2
    row = _line(_Row, path, lines, number)
    if row.rank != rank:
        raise _not_read(path, number, f"'rank' is {row.rank}, but must be {rank}")
    shapes = tuple(Shape(*values) for values in row.shapes)
    for index, shape in enumerate(shapes):
        # A request is posted by its call, not by its completion.
        if not shape.is_possible(ranks) or (shape.kind == "done" and shape.posts):
            raise _not_read(
                path,
                number,
                f"'shapes.{index}': such a call is not possible in a job of {ranks} ranks",
            )
    if not len(row.calls) == len(row.compute_s) == len(row.spent_s):
        raise _not_read(path, number, "'calls', 'compute_s' and 'spent_s' differ in length")
    largest = max(row.calls)
    if largest >= len(shapes):
        why = f"'calls' contains the index {largest}, but 'shapes' has only {len(shapes)} entries"
        raise _not_read(path, number, why)
    return CallStream(
        rank=row.rank,
        shapes=shapes,
        shape=np.array(row.calls, np.int32),
        compute_s=np.array(row.compute_s, float),
        spent_s=np.array(row.spent_s, float),
        finished=True,
        lost=0,
    )


def _not_read(path: Path, number: int, reason: str) -> ProfileError:
    return ProfileError(
        f"this version of bareline cannot read the file as the profile of a period: {reason}",
        where=f"{path}, line {number}",
        hint=_AGAIN,
    )
