"""The records of a rank in a trace (native/pmpi/trace.h): its calls, and their times."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: By default a trace takes 64 MB: some 13 million calls.
MOST_BYTES = 512 << 20
_MOST_CALLS = 32 << 20
_MOST_SHAPES = 1 << 20
#: As the rank of a call: MPI_PROC_NULL, or no such argument.
NOBODY = -2
#: As the rank of a call: any or an unknown one.
ANYBODY = -1
#: Kinds of calls that move messages between two ranks.
POINT_TO_POINT = ("send", "receive", "send-receive")
#: Kinds of records that are not calls: the end of the program, and computing alone.
NO_CALLS = ("done", "compute")


@dataclass(frozen=True, slots=True)
class Shape:
    """The arguments of a call; many calls share one shape.

    - `call`, `kind`: the function and its kind. The kind ``done`` is a request that the next call
      completes; the request was posted `to` posts ago. If its `root` is 1, `from_` and
      `receive_tag` are the result of a receive from any source or with any tag. In this result,
      `NOBODY` means that the receive was cancelled.
    - `to`, `from_`, `root`: ranks of ``MPI_COMM_WORLD``, or `NOBODY`, `ANYBODY`.
    - `send_tag`, `receive_tag`: tags; -1 is any.
    - `comm`: a number for the group of members of the communicator.
    - `comm_size`: the number of these members.
    - `size`, `sent`, `received`: bytes, as in a profile.
    - `element`: bytes of one element of the datatype; 0 if it is unknown or the call has no
      datatype.
    """

    call: str
    kind: str
    posts: bool
    to: int
    from_: int
    root: int
    send_tag: int
    receive_tag: int
    comm: int
    comm_size: int
    size: int
    sent: int
    received: int
    element: int = 0

    def is_possible(self, ranks: int) -> bool:
        """Whether a job of `ranks` ranks can have made a call with these values."""
        if self.kind == "done":
            return self.to >= 0 and NOBODY <= self.from_ < ranks
        ends = (self.to, self.from_, self.root)
        amounts = (self.size, self.sent, self.received, self.element)
        return (
            all(NOBODY <= end < ranks for end in ends)
            and self.comm_size <= ranks
            and all(amount <= 1 << 60 for amount in amounts)  # no call moves more bytes
        )


class TooMany(Exception):
    """Raised if a trace has more records than are read."""

    def __init__(self) -> None:
        super().__init__(f"more than {_MOST_CALLS:,} calls of {_MOST_SHAPES:,} kinds")


@dataclass(slots=True)
class Room:
    """The numbers of calls and shapes that may still be read."""

    calls: int = _MOST_CALLS
    shapes: int = _MOST_SHAPES


#: Shapes, their number for each record, and two codes of time for each record.
Records = tuple[list[Shape], npt.NDArray[np.int32], npt.NDArray[np.uint16]]
#: Values of a shape in a stream, by the version of the trace.
VALUES_BY_VERSION = {1: 12, 2: 13}
LATEST_VERSION = max(VALUES_BY_VERSION)
#: Reader of a stream: its bytes, the names of calls, the number of ranks, the remaining room, the
#: version of its trace.
Decode = Callable[[bytes, list[list[str]], int, Room, int], Records]


def make_shape(values: Sequence[int], names: list[list[str]], ranks: int) -> Shape:
    """Return the kind of call with the given values; raise ValueError if it is impossible."""
    name, kind = ("done", "done") if values[0] == 0 else names[values[0]]
    shape = Shape(name, kind, bool(values[1]), *values[2:])
    if not shape.is_possible(ranks):
        raise ValueError
    return shape


def _signed(value: int) -> int:
    return value >> 1 ^ -(value & 1)


@dataclass(slots=True)
class _Reader:
    """A reader of the bytes of a stream, beginning at an offset."""

    stream: bytes
    offset: int = 0

    def number(self) -> int:
        """Return the next number: 7 bits in a byte, the last byte is below 0x80."""
        value = 0
        for shift in range(0, 64, 7):
            byte = self.stream[self.offset]
            self.offset += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if value >= 1 << 64:
                    raise ValueError
                return value
        raise ValueError

    def code(self) -> int:
        """Return the next code of a time, which has two bytes."""
        code = self.stream[self.offset] | self.stream[self.offset + 1] << 8
        self.offset += 2
        return code


def decode(
    stream: bytes, names: list[list[str]], ranks: int, room: Room, version: int = LATEST_VERSION
) -> Records:
    """Decode the stream of a rank's calls, and return their records.

    Raises TooMany: there are more records than `room` allows.
    Raises LookupError, ArithmeticError, ValueError: the stream is damaged.
    """
    shapes: list[Shape] = []
    numbers = array("i")
    codes = array("H")
    reader = _Reader(stream)
    end = len(stream)
    while reader.offset < end:
        shape_number = reader.number() - 1
        if shape_number < 0:
            shape_number = len(shapes)
            values = [reader.number() for _ in range(VALUES_BY_VERSION[version])]
            values[2:7] = map(_signed, values[2:7])
            shapes.append(make_shape(values, names, ranks))
            room.shapes -= 1
        room.calls -= 1
        if room.calls < 0 or room.shapes < 0:
            raise TooMany
        numbers.append(shape_number)
        if shapes[shape_number].kind == "done":
            codes.extend((0, 0))
        else:
            codes.extend((reader.code(), reader.code()))
    return shapes, np.frombuffer(numbers, np.int32), np.frombuffer(codes, np.uint16)
