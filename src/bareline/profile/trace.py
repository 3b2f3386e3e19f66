"""The trace of a profiled run: the calls of each rank's main thread, in their order.

native/pmpi/trace.h describes the file; the journal of a killed run is read in the same way.
"""

from __future__ import annotations

import base64
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from bareline.profile import journal_layout as layout
from bareline.profile.model import MOST_RANKS
from bareline.profile.records import (
    LATEST_VERSION,
    MOST_BYTES,
    VALUES_BY_VERSION,
    Decode,
    Records,
    Room,
    Shape,
    TooMany,
)
from bareline.profile.records import decode as decode_in_python
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import open_regular, stands, step_to_read

MAGIC = b"BLTRACE\0"
_STREAM_AT = 4096
_AGAIN = "trace the program again"
#: How a trace gets more room: by hand, and in a study's measure.
RAISE = 'raise --limit, or write profile = { trace = "256MB" } into the measure'
_SHORTER = "trace fewer steps of the program, or less with --limit"
_HEAD = layout.struct(
    """
    magic:S8 version:u4 ranks:u4 slice_size:u8 began_unix_ns:i8 calls:u4 names_length:u4
    command:S512 names:S32768
    """,
)
_SLICE = layout.struct(
    """
    state:u4 rank:u4 counter:u4 shapes:u4 prepared:moment began:moment seen:moment used:u8 calls:u8
    lost:u8
    """,
    moment=layout.MOMENT,
)


@dataclass(frozen=True, slots=True)
class CallStream:
    """The calls of one rank.

    - `shape`: for each record, the index of its shape in `shapes`.
    - `compute_s`: time before each call, without the time in which the rank had no core.
    - `lost`: the number of calls that did not fit into the trace; all calls before them are
      complete.
    """

    rank: int
    shapes: tuple[Shape, ...]
    shape: npt.NDArray[np.int32]
    compute_s: npt.NDArray[np.float64]
    spent_s: npt.NDArray[np.float64]
    finished: bool
    lost: int

    @property
    def spent_by_shape_s(self) -> npt.NDArray[np.float64]:
        """The time in calls of each shape, in s; array shape (len(shapes),)."""
        spent_s = np.bincount(self.shape, weights=self.spent_s, minlength=len(self.shapes))
        return np.asarray(spent_s, np.float64)


@dataclass(frozen=True, slots=True)
class Trace:
    """The traces of all ranks of a run."""

    path: Path
    ranks: int
    began_unix_ns: int
    command: str
    streams: tuple[CallStream, ...]

    @property
    def why_partial(self) -> str:
        """The reason why the trace cannot be replayed; empty if it can."""
        if len(self.streams) < self.ranks:
            return f"{self.ranks - len(self.streams)} of {self.ranks} ranks left no stream"
        lost = sum(stream.lost for stream in self.streams)
        if lost:
            return f"it is full or was interrupted: {lost} calls are missing ({RAISE})"
        if not all(stream.finished for stream in self.streams):
            return "the program ended before MPI_Finalize"
        return ""


def trace_of(profile: Path) -> Path:
    """Return the path of a profile's trace.

    The trace of ``app.profile`` is ``app.trace``; the trace of ``app.p8`` is ``app.p8.trace``.
    """
    if profile.suffix in ("", ".profile"):
        return profile.with_suffix(".trace")
    return profile.with_name(f"{profile.name}.trace")


def read_trace(path: Path, decode: Decode = decode_in_python) -> Trace:
    """Return the trace in a file, or the partial trace of a program that crashed.

    - `path`: the trace; its journal is in the same folder.

    Raises ProfileError: the file is missing, damaged, cut off, or of another version.
    """
    journal = path.with_name(f"{path.name}.journal")
    if not stands(path) and stands(journal):
        path = journal
    try:
        with open_regular(path) as file:
            if file.read(len(MAGIC)) != MAGIC:
                return _read(path, _unpacked(path, file), decode)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _read(path, content, decode)
    except (OSError, ValueError) as error:
        raise ProfileError(
            f"the trace cannot be read: {getattr(error, 'strerror', None) or error}",
            where=str(path),
            hint=step_to_read(
                error, "make one with `bareline profile --trace -o FILE -- mpirun ...`"
            ),
        ) from error


def _refused(path: Path, reason: str, hint: str = _AGAIN) -> ProfileError:
    return ProfileError(reason, where=str(path), hint=hint)


def _unpacked(path: Path, file: BinaryIO) -> bytes:
    if os.fstat(file.fileno()).st_size > MOST_BYTES:
        raise _refused(path, f"the trace is larger than {MOST_BYTES >> 20} MiB", _SHORTER)
    file.seek(0)
    text = file.read(MOST_BYTES)
    try:
        content = base64.b64decode(text, validate=True)
        if content.startswith(b"\x1f\x8b"):  # compressed, as a run stores it
            content = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(content, MOST_BYTES)
        return content
    except (ValueError, zlib.error) as error:
        whole = text.startswith(base64.b64encode(MAGIC)[:8])
        reason = "the trace is damaged or cut off" if whole else "the file is not a bareline trace"
        raise _refused(path, reason) from error


def _read(path: Path, content: mmap.mmap | bytes, decode: Decode) -> Trace:
    if content[: len(MAGIC)] != MAGIC:
        raise _refused(path, "the file is not a bareline trace")
    if len(content) < layout.PIECE_BYTES:
        raise _refused(path, "the trace is cut off")
    head: Any = np.frombuffer(content, _HEAD, 1).copy()[0]
    version = int(head["version"])
    ranks = int(head["ranks"])
    if version not in VALUES_BY_VERSION:
        reason = (
            f"the trace is of version {version}, but this bareline reads only up to "
            f"{LATEST_VERSION}"
        )
        raise _refused(path, reason)
    names = [line.rsplit(" ", 1) for line in head["names"].decode(errors="replace").splitlines()]
    if not 1 <= ranks <= MOST_RANKS:
        raise _refused(path, f"the trace is damaged: it names {ranks} ranks")
    room = Room()
    try:
        places = _slices(path, content, ranks, int(head["slice_size"]))
        rank_streams = [
            _stream(
                content, *place, ranks, lambda stream: decode(stream, names, ranks, room, version)
            )
            for place in places
        ]
    except TooMany as error:
        raise _refused(path, f"the trace contains {error}", _SHORTER) from error
    except (LookupError, ArithmeticError, ValueError) as error:
        raise _refused(path, "the trace is damaged") from error
    streams = tuple(stream for stream in rank_streams if stream is not None)
    if [stream.rank for stream in streams] != sorted({stream.rank for stream in streams}):
        raise _refused(path, "the trace is damaged: a rank appears twice")
    command = head["command"].decode(errors="replace")
    return Trace(path, ranks, int(head["began_unix_ns"]), command, streams)


def _slices(
    path: Path, content: mmap.mmap | bytes, ranks: int, distance: int
) -> Iterator[tuple[int, int]]:
    """Yield the begin and the length of each rank's part of the file."""
    offset = layout.PIECE_BYTES
    if distance and distance < _STREAM_AT:
        raise ValueError
    for rank in range(ranks):
        if distance:
            offset = layout.PIECE_BYTES + rank * distance
            if offset >= len(content):
                return
            yield offset, min(distance, len(content) - offset)
            continue
        length = int.from_bytes(content[offset : offset + 8], "little")
        offset += 8
        if offset + length > len(content) or length < _STREAM_AT:
            raise _refused(path, "the trace is cut off")
        yield offset, length
        offset += length


def _stream(
    content: mmap.mmap | bytes,
    offset: int,
    length: int,
    ranks: int,
    read: Callable[[bytes], Records],
) -> CallStream | None:
    if length < _STREAM_AT:
        return None
    slice_: Any = np.frombuffer(content[offset : offset + _STREAM_AT], _SLICE, 1)[0]
    if slice_["state"] not in layout.BEGUN:
        return None
    used = int(slice_["used"])
    if _STREAM_AT + used > length or used > MOST_BYTES or slice_["rank"] >= ranks:
        raise IndexError
    stream = content[offset + _STREAM_AT : offset + _STREAM_AT + used]
    shapes, numbers, codes = read(stream)
    ended = len(numbers) > 0 and shapes[numbers[-1]].kind == "compute"
    seconds = (_TICKS * (_ns_per_tick(slice_) * 1e-9))[codes].reshape(-1, 2)
    return CallStream(
        rank=int(slice_["rank"]),
        shapes=tuple(shapes),
        shape=numbers,
        compute_s=seconds[:, 0],
        spent_s=seconds[:, 1],
        finished=ended and slice_["state"] == layout.FINISHED,
        lost=int(slice_["lost"]),
    )


def _ns_per_tick(slice_: Any) -> float:
    if not slice_["counter"]:
        return 1.0
    ticks = int(slice_["seen"]["ticks"]) - int(slice_["prepared"]["ticks"])
    ns = int(slice_["seen"]["ns"]) - int(slice_["prepared"]["ns"])
    if ticks <= 0 or ns <= 0:
        raise ValueError
    return ns / ticks


#: Codes of time (native/pmpi/trace.c, time_code), and the middle of the range of each.
_CODES = np.arange(1 << 16)
_SHIFTS = np.maximum(_CODES // 1024 - 1, 0)
_MIDDLES = (_CODES - 1024 * _SHIFTS + 0.5) * np.exp2(_SHIFTS)
_TICKS = np.where(_CODES < 2048, _CODES, _MIDDLES).astype(float)
