"""Reading of traces with compiled code, which is much faster than Python."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from bareline.build.native import load_library
from bareline.profile.records import (
    LATEST_VERSION,
    VALUES_BY_VERSION,
    Records,
    Room,
    Shape,
    TooMany,
    decode,
    make_shape,
)
from bareline.profile.trace import Trace
from bareline.profile.trace import read_trace as read_in_python
from bareline.vocabulary.errors import BarelineError

#: Results of the compiled decoding.
_DAMAGED = 1
_TOO_MANY = 2


class _Stream(ctypes.Structure):  # `struct bl_stream` of native/replay/replay.h
    _fields_ = (
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_int64),
        ("most_records", ctypes.c_int64),
        ("most_shapes", ctypes.c_int64),
        ("values", ctypes.c_int64),
        ("numbers", ctypes.c_void_p),
        ("codes", ctypes.c_void_p),
        ("shapes", ctypes.c_void_p),
        ("records", ctypes.c_int64),
        ("shape_count", ctypes.c_int64),
    )


def read_trace(path: Path) -> Trace:
    """Return a trace that compiled code has decoded.

    Raises the errors of `profile.trace.read_trace`.
    """
    return read_in_python(path, read_records)


def read_records(
    stream: bytes, names: list[list[str]], ranks: int, room: Room, version: int = LATEST_VERSION
) -> Records:
    """Return the records of one rank's calls, decoded by compiled code.

    If the compiled code is missing, `profile.records.decode` returns the same records.
    """
    try:
        library = load_library()
    except BarelineError:
        return decode(stream, names, ranks, room, version)
    values_of_shape = VALUES_BY_VERSION[version]
    request = _Stream(stream, len(stream), room.calls, room.shapes, values_of_shape)

    def decode_into_request() -> None:
        status = library.bl_replay_decode(ctypes.byref(request))
        if status:
            raise {_TOO_MANY: TooMany, _DAMAGED: ValueError}[status]

    decode_into_request()  # counts the records and shapes
    numbers = np.empty(request.records, np.int32)
    codes = np.empty(2 * request.records, np.uint16)
    shapes = np.empty((request.shape_count, values_of_shape), np.uint64)
    request.numbers = numbers.ctypes.data
    request.codes = codes.ctypes.data
    request.shapes = shapes.ctypes.data
    decode_into_request()
    room.calls -= len(numbers)
    room.shapes -= len(shapes)
    # Five values of a shape may be below zero.
    signed = shapes[:, 2:7].view(np.int64).tolist()
    made: list[Shape] = []
    for unsigned_values, signed_values in zip(shapes.tolist(), signed, strict=True):
        values = [*unsigned_values[:2], *signed_values, *unsigned_values[7:]]
        made.append(make_shape(values, names, ranks))
    return made, numbers, codes
