"""The counters of the ranks in a journal: a part of the file (a slice) for each rank.

A slice has a sheet for each thread of its rank, and a sheet has rows of calls and of messages.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bareline.profile import journal_layout as layout

#: One element of a structured array: numpy has no static type for its fields.
Record: TypeAlias = Any
Records: TypeAlias = npt.NDArray[Any]

_NO_ROWS = np.empty(0, layout.ROW)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The counters of one thread.

    - `head`: the totals of the thread, a record of `layout.SHEET`.
    - `rows`: the rows in use, records of `layout.ROW`.
    - `cells`: the messages to each cell of ranks, records of `layout.CELL`; None without messages.
    """

    head: Record
    rows: Records
    cells: Records | None


@dataclass(frozen=True, slots=True)
class Slice:
    """The counters of one rank.

    - `head`: a record of `layout.SLICE`.
    - `offset`: position of the slice in the file, in bytes.
    """

    file: mmap.mmap
    head: Record
    offset: int

    @property
    def rank(self) -> int:
        """The number of the rank."""
        return int(self.head["rank"])

    @property
    def state(self) -> int:
        """The state that the rank reached: one of `layout.BEGUN`."""
        return int(self.head["state"])

    @property
    def ns_per_tick(self) -> float:
        """The duration of one tick of the rank's clock, in ns."""
        if not self.head["counter"]:
            return 1.0
        first = self.head["prepared"]
        last = self.head["seen"]
        ticks = int(last["ticks"]) - int(first["ticks"])
        if ticks <= 0:
            return 1.0
        return (int(last["ns"]) - int(first["ns"])) / ticks

    def sheets(self, cells: int) -> Iterator[Sheet]:
        """Yield the sheet of each thread.

        - `cells`: the number of columns of the communication matrix.
        """
        # A place that appears twice would be counted twice, and a circle would never end.
        read_places: set[int] = set()
        places = self.head["sheet_at"][: int(self.head["sheets"])]
        for place in map(int, places):
            if not self._is_new(place, read_places):
                continue
            head = read_record(self.file, layout.SHEET, self.offset + place)
            if head is None:
                continue
            read_places.add(place)
            rows = list(self._chunks(head, read_places))
            yield Sheet(head, np.concatenate([_NO_ROWS, *rows]), self._cells(head, cells))

    def _is_new(self, place: int, read_places: set[int]) -> bool:
        """Whether the offset `place` is inside of the slice and was not read before."""
        return 0 < place < layout.SLICE_BYTES and place not in read_places

    def _chunks(self, sheet: Record, read_places: set[int]) -> Iterator[Records]:
        """Yield, for each chunk of a sheet, its rows that are in use."""
        left = int(sheet["rows"])
        for place in map(int, sheet["chunk_at"]):
            count = min(layout.CHUNK_ROWS, left)
            left -= layout.CHUNK_ROWS
            if count <= 0:
                return
            if not self._is_new(place, read_places):
                continue
            rows = read_records(self.file, layout.ROW, self.offset + place, count)
            if rows is not None:
                read_places.add(place)
                in_use = rows["what"] != 0
                yield rows[in_use]

    def _cells(self, sheet: Record, count: int) -> Records | None:
        place = int(sheet["cells_at"])
        if not place:
            return None
        return read_records(self.file, layout.CELL, self.offset + place, count)


def read_slices(file: mmap.mmap, ranks: int) -> Iterator[Slice]:
    """Yield the slice of each rank that has begun to count.

    Raises ValueError: the counters of a rank are in the place of another rank.
    """
    for rank in range(ranks):
        offset = layout.PIECE_BYTES + rank * layout.SLICE_BYTES
        if offset >= len(file):
            return
        head = read_record(file, layout.SLICE, offset)
        if head is None or head["state"] not in layout.BEGUN:
            continue
        if head["rank"] != rank:
            raise ValueError("the counters of one rank are stored in the place of another rank")
        yield Slice(file, head, offset)


def read_record(file: mmap.mmap, kind: np.dtype[Any], offset: int) -> Record | None:
    """Return one structure; None if the file ends before the end of the structure."""
    records = read_records(file, kind, offset, 1)
    if records is None:
        return None
    return records[0]


def read_records(file: mmap.mmap, kind: np.dtype[Any], offset: int, count: int) -> Records | None:
    """Return `count` structures; None if the file ends before the end of the last structure."""
    end = offset + count * kind.itemsize
    if end > len(file):
        return None
    # Copied: the file is closed when the profile is read.
    return np.frombuffer(file, kind, count, offset).copy()


def text_of(field: bytes) -> str:
    """Return the text of a field, which ends with a zero byte."""
    return field.partition(b"\0")[0].decode(errors="replace")
