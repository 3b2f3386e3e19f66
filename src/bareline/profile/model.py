"""The content of a profile, as docs/reference/profile.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import polars as pl

SCHEMA = "bareline.profile"
#: A profile of a hundred thousand ranks is smaller.
LARGEST_BYTES = 64 << 20
#: No job has more ranks.
MOST_RANKS = 1 << 22
#: Rows of the communication matrix at most, as native/pmpi/session.c makes them.
MOST_CELLS = 1024
#: Beyond this, sums of a column would leave 64 bits: no count of bytes or nanoseconds is so large.
_LARGEST = 1 << 60
VERSION = 2
#: Older files lack `ADDED` and call sites; an unknown value is -1.
OLDEST = 1
ADDED = ("processor_ns", "queued_ns", "receives", "awaited_bytes")

_TYPES = {"": pl.Int64, "text": pl.String, "flag": pl.Boolean, "real": pl.Float64}


def _columns(text: str) -> Mapping[str, type[pl.DataType]]:
    """Return the columns that `text` names, with their types; the default type is an integer."""
    named = (word.partition(":") for word in text.split())
    return MappingProxyType({name: _TYPES[kind] for name, _, kind in named})


#: Columns of the tables of a profile; every line of its kind has all of them.
RANK_COLUMNS = _columns(
    """
    rank node host:text processor threads wall_ns compute_ns mpi_ns posix_ns waited_ns paused_ns
    init_ns processor_ns calls voluntary_switches involuntary_switches minor_faults major_faults
    memory_bytes steal_ns queued_ns clock:text clock_source:text dropped untracked
    """
)
CALL_COLUMNS = _columns(
    """
    call:text kind:text region size_low size_high comm_size comm_nodes inter:flag peer:text count
    bytes sent_bytes received_bytes time_ns squares_ns2:real min_ns max_ns waited_ns waited_min_ns
    finished window_ns flight_ns queued_ns receives awaited_bytes ranks rank_min_ns rank_max_ns
    """
)
#: The key of a row of the call table.
CALL_KEYS = tuple(CALL_COLUMNS)[: list(CALL_COLUMNS).index("count")]
SEND_COLUMNS = _columns("from to count bytes")
SITE_COLUMNS = _columns(
    """
    call:text object:text offset function:text file:text line count bytes time_ns max_ns ranks
    rank_min_ns rank_max_ns
    """
)


def why_implausible(frame: pl.DataFrame) -> str:
    """Describe the first column that contains an impossible number, or return "".

    -1 is not impossible: it means an unknown value.
    """
    for name in frame.columns:
        column = frame[name]
        if column.dtype == pl.Int64 and not column.is_between(-1, _LARGEST).all():
            return f"'{name}' is out of range"
    return ""


Mode = Literal["plain", "split"]
_HEAD = ("mode", "ranks", "nodes", "began_unix_ns", "mpi", "thread_level", "command")


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A profile of one run of one MPI program.

    - `complete`: whether the program reached ``MPI_Finalize``; otherwise `ended` is the reason.
    - `mode`: ``split`` if a barrier before every blocking collective separates waiting from
      transfer.
    - `began_unix_ns`: the time at which MPI was ready, in ns since 1970.
    - `mpi`: name and version of the MPI library, as the library reports them.
    - `command`: the program and its arguments, as rank 0 was started.
    - `ranks_per_cell`: number of neighbouring ranks that share a row and a column of the
      communication matrix.
    - `regions`: names of the regions that ``MPI_Pcontrol`` entered, by number; 0 is outside of all
      regions.
    - `rank_table`, `call_table`, `send_table`, `site_table`: frames with the columns of
      `RANK_COLUMNS`, `CALL_COLUMNS`, `SEND_COLUMNS` and `SITE_COLUMNS`.
    """

    path: Path
    complete: bool
    ended: str = ""
    mode: Mode
    ranks: int
    nodes: int
    began_unix_ns: int
    mpi: str
    thread_level: str
    command: str
    ranks_per_cell: int
    regions: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({0: ""}))
    rank_table: pl.DataFrame
    call_table: pl.DataFrame
    send_table: pl.DataFrame
    site_table: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SITE_COLUMNS))

    @cached_property
    def calls(self) -> pl.DataFrame:
        """The call table without the rows for the time between calls."""
        return self.call_table.filter(pl.col("kind") != "compute")

    @cached_property
    def computing_s(self) -> float:
        """The mean computing time of a rank in s, without the time in which it had no core."""
        computing = self.call_table.filter(pl.col("kind") == "compute")
        queued = max(0, int(computing["queued_ns"].clip(0).sum()))
        total = float(self.rank_table["compute_ns"].sum())
        return max(0.0, total - queued) * 1e-9 / self.ranks

    @cached_property
    def cells(self) -> int:
        """The number of rows and of columns of the communication matrix."""
        return -(-self.ranks // self.ranks_per_cell)

    @property
    def title(self) -> str:
        """The name of the program, for a heading."""
        return self.command.split(" ", 1)[0] or "unknown program"

    def header(self) -> dict[str, Any]:
        """Return the fields of the file's first line."""
        header: dict[str, Any] = {
            "type": "profile",
            "schema": SCHEMA,
            "version": VERSION,
            "complete": self.complete,
        }
        if self.ended:
            header["ended"] = self.ended
        for name in _HEAD:
            header[name] = getattr(self, name)
        header["ranks_per_cell"] = self.ranks_per_cell
        header["regions"] = {str(number): name for number, name in self.regions.items()}
        return header
