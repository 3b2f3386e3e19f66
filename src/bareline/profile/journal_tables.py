"""The tables of ranks, calls and messages of a profile, made from the counters in a journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from bareline.profile import journal_layout as layout
from bareline.profile.journal_slices import Records, Sheet, Slice, text_of
from bareline.profile.model import CALL_COLUMNS, CALL_KEYS, RANK_COLUMNS, SEND_COLUMNS

Integers: TypeAlias = npt.NDArray[np.int64]
#: Columns of a table by their names.
Columns: TypeAlias = dict[str, Any]

#: Columns of the call table that add up over rows.
_SUMS = tuple(
    name
    for name in CALL_COLUMNS
    if name not in CALL_KEYS and not name.endswith(("min_ns", "max_ns"))
)

#: Columns of the call table by their name in the journal: amounts.
_COUNTS = {
    "count": "count",
    "bytes": "bytes",
    "finished": "finished",
    "receives": "receives",
    "sent_bytes": "sent",
    "received_bytes": "received",
    "awaited_bytes": "awaited",
    "queued_ns": "queued",
}
#: Columns of the call table by their name in the journal: times in ticks.
_TIMES = {
    "max_ns": "longest",
    "time_ns": "time",
    "waited_ns": "waited",
    "window_ns": "window",
    "flight_ns": "flight",
}
#: Columns of the call table by their name in the journal: the least time in ticks of any call.
_LEAST_TIMES = {"min_ns": "shortest", "waited_min_ns": "waited_least"}
#: The least time of a row without a call.
_NEVER = np.uint64(0xFFFFFFFFFFFFFFFF)
_OVER_RANKS = ("ranks", "rank_min_ns", "rank_max_ns")


@dataclass(frozen=True, slots=True)
class CallName:
    """The name of a call and its kind."""

    name: str
    kind: str


CallNames: TypeAlias = Sequence[CallName]


def call_rows(rank_slice: Slice, sheets: Sequence[Sheet], names: CallNames) -> pl.DataFrame:
    """Return the call table of one rank, with the calls of all its threads."""
    rows = np.concatenate([sheet.rows for sheet in sheets]) if sheets else np.empty(0, layout.ROW)
    has_calls = (rows["count"] > 0) | (rows["finished"] > 0)
    has_name = _packed(rows, 32, 32) < len(names)
    rows = rows[has_calls & has_name]
    columns = _key_columns(rows, rank_slice, names) | _amount_columns(rows, rank_slice.ns_per_tick)
    columns.update(dict.fromkeys(_OVER_RANKS, np.ones(len(rows), np.int64)))
    merged = merge_calls(pl.DataFrame(columns, schema=dict(CALL_COLUMNS)))
    time = pl.col("time_ns")
    return merged.with_columns(ranks=pl.lit(1, pl.Int64), rank_min_ns=time, rank_max_ns=time)


def _packed(rows: Records, low_bit: int, bits: int) -> Integers:
    """Return `bits` bits from `low_bit` on of each row's key (see native/pmpi/table.h)."""
    mask = np.uint64((1 << bits) - 1)
    shifted = rows["what"] >> np.uint64(low_bit)
    return (shifted & mask).astype(np.int64)


def _key_columns(rows: Records, rank_slice: Slice, names: CallNames) -> Columns:
    """Return the columns that distinguish the rows of the call table."""
    calls = [names[number] for number in _packed(rows, 32, 32)]
    classes = rank_slice.head["class"][_packed(rows, 0, 16) % 512]
    places = np.minimum(_packed(rows, 16, 8), len(layout.PLACES) - 1)
    size = rows["size"]
    is_binned = size >= np.uint64(layout.BIN)
    power = size & np.uint64(63)
    low = np.where(is_binned, np.uint64(1) << power, size)
    high = np.where(is_binned, 2 * low - np.uint64(1), low)
    return {
        "call": [call.name for call in calls],
        "kind": [call.kind for call in calls],
        "region": _packed(rows, 24, 8),
        "size_low": low.astype(np.int64),
        "size_high": high.astype(np.int64),
        "comm_size": classes["size"].astype(np.int64),
        "comm_nodes": classes["nodes"].astype(np.int64),
        "inter": classes["inter"] != 0,
        "peer": [layout.PLACES[place] for place in places],
    }


def _amount_columns(rows: Records, ns_per_tick: float) -> Columns:
    """Return the columns of the call table with numbers of calls, bytes and times."""
    columns: Columns = {"squares_ns2": rows["squares"] * ns_per_tick * ns_per_tick}
    for name, field in _COUNTS.items():
        columns[name] = rows[field].astype(np.int64)
    for name, field in _TIMES.items():
        columns[name] = _in_ns(rows[field], ns_per_tick)
    for name, field in _LEAST_TIMES.items():
        ticks = rows[field]
        columns[name] = np.where(ticks == _NEVER, 0, _in_ns(ticks, ns_per_tick))
    return columns


def _in_ns(ticks: Records, ns_per_tick: float) -> Integers:
    return np.rint(ticks * ns_per_tick).astype(np.int64)


def merge_calls(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the calls of all ranks, with equal rows summed.

    If one rank has only ranges of sizes for a call, the exact sizes of other ranks become ranges.
    """
    low = pl.col("size_low")
    high = pl.col("size_high")
    binned_calls = rows.filter(low != high).get_column("call").unique()
    # An exact size of a call that has bins on another rank becomes its bin.
    becomes_bin = pl.col("call").is_in(binned_calls.to_list()) & (low == high)
    bin_low = low.map_elements(_power_of_two_below, return_dtype=pl.Int64)
    bin_high = 2 * bin_low - 1
    folded = rows.with_columns(
        size_low=pl.when(becomes_bin).then(bin_low).otherwise(low),
        size_high=pl.when(becomes_bin & (low > 0)).then(bin_high).otherwise(high),
    )
    sums = folded.group_by(*CALL_KEYS).agg(
        pl.col(_SUMS).sum(),
        pl.col("min_ns", "waited_min_ns", "rank_min_ns").min(),
        pl.col("max_ns", "rank_max_ns").max(),
    )
    return sums.select(*CALL_COLUMNS).sort(*CALL_KEYS)


def _power_of_two_below(size: int) -> int:
    """Return the largest power of two that is not above `size`; 0 for 0."""
    if not size:
        return 0
    return 1 << (size.bit_length() - 1)


@dataclass(slots=True)
class _RankSums:
    """The sums over the sheets of a rank; the times, in ns, are of the main thread only."""

    compute: float = 0.0
    posix: float = 0.0
    mpi: float = 0.0
    waited: float = 0.0
    paused: float = 0.0
    init: float = 0.0
    calls: int = 0
    dropped: int = 0
    untracked: int = 0

    @property
    def spent(self) -> float:
        """The whole time except start-up, in ns."""
        return self.compute + self.posix + self.mpi + self.waited + self.paused

    def add_sheet(self, sheet: Sheet, names: CallNames, ns_per_tick: float) -> None:
        """Add the calls of a thread and, if it is the main thread, its times."""
        is_main = bool(sheet.head["main"])
        self.dropped += int(sheet.head["dropped"])
        self.untracked += int(sheet.head["untracked"])
        if is_main:
            self.paused += float(sheet.head["paused"]) * ns_per_tick
        for row in sheet.rows:
            call = names[int(row["what"]) >> 32]
            if call.kind != "compute":
                self.calls += int(row["count"])
            if is_main:
                time = float(row["time"]) * ns_per_tick
                waited = float(row["waited"]) * ns_per_tick
                self._add_time(call, time, waited)

    def _add_time(self, call: CallName, time: float, waited: float) -> None:
        if call.name.startswith("MPI_Init"):
            self.init += time
            return
        self.waited += waited
        if call.kind == "compute":
            self.compute += time
        elif call.kind == "posix-io":
            self.posix += time
        else:
            self.mpi += time


def rank_row(rank_slice: Slice, sheets: Sequence[Sheet], names: CallNames) -> Columns:
    """Return the row of a rank, without the figures of the system that are read at the end."""
    sums = _RankSums()
    for sheet in sheets:
        sums.add_sheet(sheet, names, rank_slice.ns_per_tick)
    head = rank_slice.head
    clock = "cycle counter" if head["counter"] else "clock_gettime(CLOCK_MONOTONIC)"
    seen_ns = int(head["seen"]["ns"]) - int(head["began"]["ns"])
    return {
        **dict.fromkeys(RANK_COLUMNS, -1),
        "rank": rank_slice.rank,
        "node": int(head["node"]),
        "host": text_of(head["host"]),
        "threads": len(sheets),
        "wall_ns": max(seen_ns, round(sums.spent)),
        "compute_ns": round(sums.compute),
        "mpi_ns": round(sums.mpi + sums.waited),
        "posix_ns": round(sums.posix),
        "waited_ns": round(sums.waited),
        "paused_ns": round(sums.paused),
        "init_ns": round(sums.init),
        "calls": sums.calls,
        "clock": clock,
        "clock_source": text_of(head["clock_source"]),
        "dropped": sums.dropped,
        "untracked": sums.untracked,
    }


class Sends:
    """The messages and bytes of each pair (from, to) of cells of the communication matrix."""

    def __init__(self) -> None:
        self._messages: Counter[tuple[int, int]] = Counter()
        self._bytes: Counter[tuple[int, int]] = Counter()

    def add(self, sender: int, sheets: Sequence[Sheet]) -> None:
        """Add the messages of a rank whose cell is `sender`."""
        for sheet in sheets:
            if sheet.cells is None:
                continue
            for receiver in np.flatnonzero(sheet.cells["count"]).tolist():
                cell = sheet.cells[receiver]
                self._messages[sender, receiver] += int(cell["count"])
                self._bytes[sender, receiver] += int(cell["bytes"])

    def table(self) -> pl.DataFrame:
        """Return the table of messages, sorted by cells."""
        rows = [(*pair, self._messages[pair], self._bytes[pair]) for pair in sorted(self._messages)]
        return pl.DataFrame(rows, schema=dict(SEND_COLUMNS), orient="row")
