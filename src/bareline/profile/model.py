"""What a profile holds, as docs/reference/profile.md describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import polars as pl

SCHEMA = "bareline.profile"
#: A profile of a hundred thousand ranks takes less.
LARGEST_BYTES = 64 << 20
#: No job has more ranks.
MOST_RANKS = 1 << 22
#: Rows of the communication matrix at most, as native/pmpi/session.c makes them.
MOST_CELLS = 1024
#: Beyond this, sums of a column would leave 64 bits: no count of bytes or nanoseconds is so large.
_LARGEST = 1 << 60
VERSION = 2
#: Older files lack `ADDED` and call sites; what they do not tell is -1.
OLDEST = 1
ADDED = ("processor_ns", "queued_ns", "receives", "awaited_bytes")

#: Columns of the tables of a profile; every line of its kind has all of them.
RANK_COLUMNS: Mapping[str, type[pl.DataType]] = MappingProxyType(
    {
        "rank": pl.Int64,
        "node": pl.Int64,
        "host": pl.String,
        "processor": pl.Int64,
        "threads": pl.Int64,
        "wall_ns": pl.Int64,
        "compute_ns": pl.Int64,
        "mpi_ns": pl.Int64,
        "posix_ns": pl.Int64,
        "waited_ns": pl.Int64,
        "paused_ns": pl.Int64,
        "init_ns": pl.Int64,
        "processor_ns": pl.Int64,
        "calls": pl.Int64,
        "voluntary_switches": pl.Int64,
        "involuntary_switches": pl.Int64,
        "minor_faults": pl.Int64,
        "major_faults": pl.Int64,
        "memory_bytes": pl.Int64,
        "steal_ns": pl.Int64,
        "queued_ns": pl.Int64,
        "clock": pl.String,
        "clock_source": pl.String,
        "dropped": pl.Int64,
        "untracked": pl.Int64,
    }
)
#: What tells the rows of the call table apart.
CALL_KEYS = (
    "call",
    "kind",
    "region",
    "size_low",
    "size_high",
    "comm_size",
    "comm_nodes",
    "inter",
    "peer",
)
CALL_COLUMNS: Mapping[str, type[pl.DataType]] = MappingProxyType(
    {
        "call": pl.String,
        "kind": pl.String,
        "region": pl.Int64,
        "size_low": pl.Int64,
        "size_high": pl.Int64,
        "comm_size": pl.Int64,
        "comm_nodes": pl.Int64,
        "inter": pl.Boolean,
        "peer": pl.String,
        "count": pl.Int64,
        "bytes": pl.Int64,
        "sent_bytes": pl.Int64,
        "received_bytes": pl.Int64,
        "time_ns": pl.Int64,
        "squares_ns2": pl.Float64,
        "min_ns": pl.Int64,
        "max_ns": pl.Int64,
        "waited_ns": pl.Int64,
        "waited_min_ns": pl.Int64,
        "finished": pl.Int64,
        "window_ns": pl.Int64,
        "flight_ns": pl.Int64,
        "queued_ns": pl.Int64,
        "receives": pl.Int64,
        "awaited_bytes": pl.Int64,
        "ranks": pl.Int64,
        "rank_min_ns": pl.Int64,
        "rank_max_ns": pl.Int64,
    }
)
SEND_COLUMNS: Mapping[str, type[pl.DataType]] = MappingProxyType(
    {"from": pl.Int64, "to": pl.Int64, "count": pl.Int64, "bytes": pl.Int64}
)
SITE_COLUMNS: Mapping[str, type[pl.DataType]] = MappingProxyType(
    {
        "call": pl.String,
        "object": pl.String,
        "offset": pl.Int64,
        "function": pl.String,
        "file": pl.String,
        "line": pl.Int64,
        "count": pl.Int64,
        "bytes": pl.Int64,
        "time_ns": pl.Int64,
        "max_ns": pl.Int64,
        "ranks": pl.Int64,
        "rank_min_ns": pl.Int64,
        "rank_max_ns": pl.Int64,
    }
)


def why_implausible(frame: pl.DataFrame) -> str:
    """Say which column of a table holds a number that none can be; empty if none does.

    -1 stands for what is not known.
    """
    for name in frame.columns:
        column = frame[name]
        if column.dtype == pl.Int64 and not column.is_between(-1, _LARGEST).all():
            return f"'{name}' is out of range"
    return ""


Mode = Literal["plain", "split"]


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A profile of one run of one MPI program.

    - `complete`: the program went through ``MPI_Finalize``; otherwise `ended` says what happened.
    - `mode`: ``split``: a barrier before every blocking collective separates waiting from transfer.
    - `ranks`, `nodes`: how many there were.
    - `began_unix_ns`: when MPI was ready, in ns since 1970.
    - `mpi`: the library's own name and version.
    - `command`: the program and its arguments, as rank 0 was started.
    - `ranks_per_cell`: neighbouring ranks that share a row and column of the communication matrix.
    - `regions`: names of the regions that ``MPI_Pcontrol`` entered, by number; 0 is outside of all.
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
        """The call table without the time between calls."""
        return self.call_table.filter(pl.col("kind") != "compute")

    @cached_property
    def computing_s(self) -> float:
        """A rank's mean time of computing, without what it had no core for, in s."""
        computing = self.call_table.filter(pl.col("kind") == "compute")
        queued = max(0, int(computing["queued_ns"].clip(0).sum()))
        total = float(self.rank_table["compute_ns"].sum())
        return max(0.0, total - queued) * 1e-9 / self.ranks

    @cached_property
    def cells(self) -> int:
        """Rows and columns of the communication matrix."""
        return -(-self.ranks // self.ranks_per_cell)

    @property
    def title(self) -> str:
        """The program, for a heading."""
        return self.command.split(" ", 1)[0] or "unknown program"

    def region_name(self, region: int) -> str:
        """Name a region for people."""
        return self.regions.get(region) or ("" if region == 0 else f"region {region}")

    def header(self) -> dict[str, Any]:
        """Give the first line of the file."""
        return {
            "type": "profile",
            "schema": SCHEMA,
            "version": VERSION,
            "complete": self.complete,
            **({"ended": self.ended} if self.ended else {}),
            "mode": self.mode,
            "ranks": self.ranks,
            "nodes": self.nodes,
            "began_unix_ns": self.began_unix_ns,
            "mpi": self.mpi,
            "thread_level": self.thread_level,
            "command": self.command,
            "ranks_per_cell": self.ranks_per_cell,
            "regions": {str(number): name for number, name in self.regions.items()},
        }
