"""A trace's records, read by native/replay: a hundred times as fast as in Python."""

from __future__ import annotations

import ctypes

import numpy as np
import numpy.typing as npt

from bareline.build.library import load_library

#: A stream so long is worth building the library.
_WORTH_BYTES = 4 << 20
_READ, _DAMAGED, _TOO_MANY = 0, 1, 2
#: Values of a shape in a stream.
RAW_VALUES = 12


class _Stream(ctypes.Structure):
    """`struct bl_stream` of native/replay/replay.h."""

    _fields_ = (
        ("bytes", ctypes.c_char_p),
        ("length", ctypes.c_int64),
        ("most_records", ctypes.c_int64),
        ("most_shapes", ctypes.c_int64),
        ("numbers", ctypes.c_void_p),
        ("codes", ctypes.c_void_p),
        ("shapes", ctypes.c_void_p),
        ("records", ctypes.c_int64),
        ("shape_count", ctypes.c_int64),
    )


class Full(Exception):
    """A stream holds more records or shapes than are read."""


def library(*, build: bool) -> ctypes.CDLL | None:
    """Give the library that reads traces and steps through them; None where there is none.

    Parameters
    ----------
    build
        So much is to do that building it is worth some seconds.
    """
    return load_library(build=False) or (load_library(build=True) if build else None)


def reader(length: int) -> ctypes.CDLL | None:
    """Give what reads a stream of so many bytes; None where Python does."""
    return library(build=length >= _WORTH_BYTES)


def decode(
    library: ctypes.CDLL, stream: bytes, most_records: int, most_shapes: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint16], list[list[int]]]:
    """Give the number of its shape for each record, two codes of time each, and the raw shapes.

    Raises
    ------
    Full
        There are more than that.
    ValueError
        It is damaged.
    """
    found = _Stream(stream, len(stream), most_records, most_shapes)
    _check(library.bl_replay_decode(ctypes.byref(found)))
    numbers = np.empty(found.records, np.int32)
    codes = np.empty(2 * found.records, np.uint16)
    shapes = np.empty((found.shape_count, RAW_VALUES), np.uint64)
    found.numbers, found.codes, found.shapes = (one.ctypes.data for one in (numbers, codes, shapes))
    _check(library.bl_replay_decode(ctypes.byref(found)))
    # The five after the first two may be below zero.
    raw = [
        [*values[:2], *(value - (1 << 64) * (value >> 63) for value in values[2:7]), *values[7:]]
        for values in shapes.tolist()
    ]
    return numbers, codes, raw


def _check(status: int) -> None:
    if status == _TOO_MANY:
        raise Full
    if status == _DAMAGED:
        raise ValueError
