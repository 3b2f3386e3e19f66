"""The layout of a journal file, as native/pmpi/journal.h and table.h define it.

If one of these three files changes, all must change, together with `VERSION`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MAGIC = b"BLJRNL\n\0"
VERSION = 2
PIECE_BYTES = 65536
SLICE_BYTES = 8 << 20
CHUNK_ROWS = 512
BIN = 1 << 63
BEGUN = RUNNING, FINISHED, ABORTED, ENDING = 1, 2, 3, 4
PLACES = ("none", "self", "same-node", "other-node", "unknown")


def struct(text: str, **nested: np.dtype[Any]) -> np.dtype[Any]:
    """Return a structure with the fields and types in `text`, in the order of the C headers."""
    named = (word.split(":") for word in text.split())
    return np.dtype([(name, nested.get(kind, kind)) for name, kind in named])


HEAD = struct(
    """
    magic:S8 version:u4 ranks:u4 ranks_per_cell:u4 cells:u4 split:u4 calls:u4 names_length:u4
    row_size:u4 began_unix_ns:i8 library:S256 names:S32768
    """,
)
MOMENT = struct("ticks:u8 ns:i8")
CLASS = struct("size:i4 nodes:i4 inter:i4")
SLICE = struct(
    """
    state:u4 abort_code:i4 rank:u4 node:u4 pid:i4 counter:u4 prepared:moment began:moment
    seen:moment sheets:u4 classes:u4 sheet_at:(64,)u8 class:classes host:S64 clock_source:S32
    command:S512
    """,
    moment=MOMENT,
    classes=np.dtype((CLASS, (512,))),
)
SHEET = struct("main:u4 rows:u4 chunk_at:(32,)u8 cells_at:u8 dropped:u8 untracked:u8 paused:u8")
CELL = struct("count:u8 bytes:u8")
ROW = struct(
    """
    what:u8 size:u8 count:u8 bytes:u8 sent:u8 received:u8 time:u8 squares:f8 shortest:u8 longest:u8
    waited:u8 waited_least:u8 finished:u8 window:u8 flight:u8 queued:u8 receives:u8 awaited:u8
    """,
)
