"""The partial profile of a program that never reached ``MPI_Finalize``.

The profiler keeps its counters in a file next to the profile, mapped into every rank's memory, so
that they outlive any end.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bareline.profile import journal_layout as layout
from bareline.profile.model import (
    CALL_COLUMNS,
    CALL_KEYS,
    MOST_CELLS,
    MOST_RANKS,
    RANK_COLUMNS,
    SEND_COLUMNS,
    Profile,
    why_implausible,
)
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import open_regular

#: Columns of the call table that add up over rows.
_SUMS = tuple(
    name
    for name in CALL_COLUMNS
    if name not in CALL_KEYS and not name.endswith(("min_ns", "max_ns"))
)

#: Columns of the call table by their name in the journal: amounts, and times in ticks.
_COUNTS = {
    **{name: name for name in ("count", "bytes", "finished", "receives")},
    **{f"{name}_bytes": name for name in ("sent", "received", "awaited")},
    "queued_ns": "queued",
}
_TIMES = {"max_ns": "longest", **{f"{n}_ns": n for n in ("time", "waited", "window", "flight")}}
_OVER_RANKS = ("ranks", "rank_min_ns", "rank_max_ns")

#: Ranks that a sentence names.
_MOST_NAMED = 10
_NO_ROWS = np.empty(0, layout.ROW)
Record = Any  # one element of a structured array: numpy has no static type for its fields


def journal_of(path: Path) -> Path:
    """Name the journal of a profile."""
    return path.with_name(f"{path.name}.journal")


def is_journal(path: Path) -> bool:
    """Whether a file begins like a journal."""
    try:
        with open_regular(path) as file:
            return file.read(len(layout.MAGIC)) == layout.MAGIC
    except OSError:
        return False


def _at(
    content: mmap.mmap, kind: np.dtype[Any], offset: int, count: int = 1
) -> npt.NDArray[Any] | None:
    """Return `count` structures; None where the file ends before them."""
    if offset + count * kind.itemsize > len(content):
        return None
    # Copied: the file is closed when the profile is read.
    return np.frombuffer(content, kind, count, offset).copy()


def read_journal(path: Path) -> Profile:
    """Read a journal as an unfinished profile.

    Raises ProfileError: it is of another version, or no rank has written into it.
    Raises OSError: it cannot be read.
    """
    with (
        open_regular(path) as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        try:
            profile = _read(path, content)
        except (ArithmeticError, LookupError, ValueError, pl.exceptions.PolarsError) as error:
            raise ProfileError("the journal is damaged", where=str(path)) from error
    tables = (profile.rank_table, profile.call_table, profile.send_table)
    wrong = next(filter(None, map(why_implausible, tables)), "")
    if wrong:
        raise ProfileError(f"the journal is damaged: {wrong}", where=str(path))
    return profile


def _read(path: Path, file: mmap.mmap) -> Profile:
    heads = _at(file, layout.HEAD, 0)
    if heads is None:
        raise ProfileError("the journal is cut off", where=str(path))
    head: Record = heads[0]
    if head["version"] != layout.VERSION or head["row_size"] != layout.ROW.itemsize:
        raise ProfileError(
            f"the journal is of version {head['version']}, this bareline reads {layout.VERSION}",
            where=str(path),
            hint="use the bareline that profiled the program",
        )
    ranks, per_cell, cells = (int(head[key]) for key in ("ranks", "ranks_per_cell", "cells"))
    if not 1 <= per_cell <= ranks <= MOST_RANKS or ranks > per_cell * MOST_CELLS:
        raise ProfileError(
            f"the journal is damaged: it names {ranks} ranks, {per_cell} to a cell",
            where=str(path),
        )
    if cells != -(-ranks // per_cell):
        raise ProfileError("the journal is damaged: its matrix", where=str(path))
    names = [line.rsplit(" ", 1) for line in head["names"].decode().splitlines()]
    slices = list(_slices(file, ranks))
    if not slices:
        raise ProfileError(
            "the program ended before any rank was profiled",
            where=str(path),
            hint="look at the program's own messages",
        )
    calls = pl.concat([_call_rows(file, offset, record, names) for offset, record in slices])
    return Profile(
        path=path,
        complete=False,
        ended=_how_it_ended([record for _, record in slices], ranks),
        mode="split" if head["split"] else "plain",
        ranks=ranks,
        nodes=len({int(record["node"]) for _, record in slices}),
        began_unix_ns=int(head["began_unix_ns"]),
        mpi=_text(head["library"]),
        thread_level="single",
        command=_text(slices[0][1]["command"]),
        ranks_per_cell=per_cell,
        rank_table=pl.concat([_rank_row(file, offset, record, names) for offset, record in slices]),
        call_table=_merge(calls),
        send_table=_sends(file, slices, per_cell, cells),
    )


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode(errors="replace")


def _slices(file: mmap.mmap, ranks: int) -> Iterator[tuple[int, Record]]:
    for rank in range(ranks):
        offset = layout.PIECE_BYTES + rank * layout.SLICE_BYTES
        if offset >= len(file):
            return
        records = _at(file, layout.SLICE, offset)
        if records is not None and records[0]["state"] in layout.BEGUN:
            if records[0]["rank"] != rank:
                raise ValueError("a rank's counters are in another one's place")
            yield offset, records[0]


def _how_it_ended(slices: list[Record], ranks: int) -> str:
    aborted = [record for record in slices if record["state"] == layout.ABORTED]
    if aborted:
        record = aborted[0]
        return f"rank {record['rank']} called MPI_Abort with {record['abort_code']}"
    missing = ranks - len(slices)
    lost = f"; {missing} of {ranks} ranks left nothing" if missing else ""
    running = [int(record["rank"]) for record in slices if record["state"] == layout.RUNNING]
    if 0 < len(running) < len(slices):
        return f"ended before {_named_ranks(running)} reached MPI_Finalize{lost}"
    if not running and not missing:
        return "a rank reached MPI_Finalize later than the time limit of the other ranks (--wait)"
    return f"ended before MPI_Finalize{lost}"


def _named_ranks(ranks: list[int]) -> str:
    """Name ranks, the first ten of many."""
    texts = [str(rank) for rank in ranks[:_MOST_NAMED]]
    if len(ranks) > _MOST_NAMED:
        return f"ranks {', '.join(texts)} and {len(ranks) - _MOST_NAMED} more"
    if len(ranks) == 1:
        return f"rank {texts[0]}"
    return f"ranks {', '.join(texts[:-1])} and {texts[-1]}"


def _ns_per_tick(record: Record) -> float:
    if not record["counter"]:
        return 1.0
    ticks = int(record["seen"]["ticks"]) - int(record["prepared"]["ticks"])
    return (int(record["seen"]["ns"]) - int(record["prepared"]["ns"])) / ticks if ticks > 0 else 1.0


def _sheets(
    file: mmap.mmap, offset: int, record: Record
) -> Iterator[tuple[Record, npt.NDArray[Any]]]:
    """Yield the sheet and the rows in use of each thread of a rank."""
    seen: set[int] = set()  # a place that appears twice would be counted twice, and for ever
    for place in record["sheet_at"][: int(record["sheets"])]:
        fresh = place and int(place) < layout.SLICE_BYTES and int(place) not in seen
        heads = _at(file, layout.SHEET, offset + int(place)) if fresh else None
        if heads is None:
            continue
        seen.add(int(place))
        sheet = heads[0]
        parts = [_NO_ROWS]
        for chunk, chunk_at in enumerate(sheet["chunk_at"]):
            count = min(layout.CHUNK_ROWS, int(sheet["rows"]) - chunk * layout.CHUNK_ROWS)
            fresh = 0 < int(chunk_at) < layout.SLICE_BYTES and int(chunk_at) not in seen
            rows = (
                _at(file, layout.ROW, offset + int(chunk_at), count)
                if fresh and count > 0
                else None
            )
            if rows is not None:
                seen.add(int(chunk_at))
                parts.append(rows[rows["what"] != 0])
        yield sheet, np.concatenate(parts)


def _call_rows(
    file: mmap.mmap, offset: int, record: Record, names: list[list[str]]
) -> pl.DataFrame:
    """Return the rows of one rank, its threads united."""
    ns = _ns_per_tick(record)
    rows = np.concatenate([_NO_ROWS, *(rows for _, rows in _sheets(file, offset, record))])
    rows = rows[(rows["count"] > 0) | (rows["finished"] > 0)]
    calls = (rows["what"] >> np.uint64(32)).astype(np.int64)
    named = calls < len(names)
    rows = rows[named]
    calls = calls[named]
    classes = record["class"][(rows["what"] & np.uint64(0xFFFF)).astype(np.int64) % 512]
    places = (rows["what"] >> np.uint64(16) & np.uint64(0xFF)).astype(np.int64)
    binned = rows["size"] >= np.uint64(layout.BIN)
    low = np.where(binned, np.uint64(1) << (rows["size"] & np.uint64(63)), rows["size"])
    high = np.where(binned, 2 * low - np.uint64(1), low)

    def time(name: str) -> npt.NDArray[np.int64]:
        return np.rint(rows[name] * ns).astype(np.int64)

    never = np.uint64(0xFFFFFFFFFFFFFFFF)
    whole = {
        "region": rows["what"] >> np.uint64(24) & np.uint64(0xFF),
        "size_low": low,
        "size_high": high,
        "comm_size": classes["size"],
        "comm_nodes": classes["nodes"],
        **{name: rows[field] for name, field in _COUNTS.items()},
    }
    frame = pl.DataFrame(
        {
            "call": [names[call][0] for call in calls],
            "kind": [names[call][1] for call in calls],
            "inter": classes["inter"] != 0,
            "peer": [layout.PLACES[min(place, 4)] for place in places],
            "squares_ns2": rows["squares"] * ns * ns,
            **{name: values.astype(np.int64) for name, values in whole.items()},
            **{name: time(field) for name, field in _TIMES.items()},
            "min_ns": np.where(rows["shortest"] == never, 0, time("shortest")),
            "waited_min_ns": np.where(rows["waited_least"] == never, 0, time("waited_least")),
            **dict.fromkeys(_OVER_RANKS, np.ones(len(rows), np.int64)),
        },
        schema=dict(CALL_COLUMNS),
    )
    times = dict.fromkeys(_OVER_RANKS[1:], pl.col("time_ns"))
    return _merge(frame).with_columns(ranks=pl.lit(1, pl.Int64), **times)


def _merge(rows: pl.DataFrame) -> pl.DataFrame:
    """Unite equal rows; the sizes of a call stay exact only if they are on every rank."""
    binned = rows.filter(pl.col("size_low") != pl.col("size_high"))["call"].unique()
    fold = pl.col("call").is_in(binned.to_list()) & (pl.col("size_low") == pl.col("size_high"))
    bin_low = pl.col("size_low").map_elements(
        lambda size: 1 << (size.bit_length() - 1) if size else 0, return_dtype=pl.Int64
    )
    low = pl.when(fold).then(bin_low).otherwise(pl.col("size_low"))
    high = pl.when(fold & (pl.col("size_low") > 0)).then(2 * bin_low - 1).otherwise("size_high")
    return (
        rows.with_columns(size_low=low, size_high=high)
        .group_by(*CALL_KEYS)
        .agg(
            pl.col(_SUMS).sum(),
            pl.col("min_ns", "waited_min_ns", "rank_min_ns").min(),
            pl.col("max_ns", "rank_max_ns").max(),
        )
        .select(*CALL_COLUMNS)
        .sort(*CALL_KEYS)
    )


def _rank_row(file: mmap.mmap, offset: int, record: Record, names: list[list[str]]) -> pl.DataFrame:
    """Return the row of a rank, without figures of the system, which are read at the end."""
    ns = _ns_per_tick(record)
    sums = {"compute": 0.0, "posix-io": 0.0, "mpi": 0.0}
    waited = paused = init = 0.0
    calls = dropped = untracked = threads = 0
    for sheet, rows in _sheets(file, offset, record):
        threads += 1
        dropped += int(sheet["dropped"])
        untracked += int(sheet["untracked"])
        for row in rows:
            name, kind = names[int(row["what"]) >> 32]
            calls += int(row["count"]) if kind != "compute" else 0
            if not sheet["main"]:
                continue
            time = float(row["time"]) * ns
            if name.startswith("MPI_Init"):
                init += time
                continue
            sums[kind if kind in sums else "mpi"] += time
            waited += float(row["waited"]) * ns
        paused += float(sheet["paused"]) * ns if sheet["main"] else 0.0
    seen = int(record["seen"]["ns"]) - int(record["began"]["ns"])
    spent = round(sum(sums.values()) + waited + paused)
    values: Mapping[str, Any] = {
        **dict.fromkeys(RANK_COLUMNS, -1),
        "rank": int(record["rank"]),
        "node": int(record["node"]),
        "host": _text(record["host"]),
        "threads": threads,
        "wall_ns": max(seen, spent),
        "compute_ns": round(sums["compute"]),
        "mpi_ns": round(sums["mpi"] + waited),
        "posix_ns": round(sums["posix-io"]),
        "waited_ns": round(waited),
        "paused_ns": round(paused),
        "init_ns": round(init),
        "calls": calls,
        "clock": "cycle counter" if record["counter"] else "clock_gettime(CLOCK_MONOTONIC)",
        "clock_source": _text(record["clock_source"]),
        "dropped": dropped,
        "untracked": untracked,
    }
    return pl.DataFrame([values], schema=dict(RANK_COLUMNS))


def _sends(
    file: mmap.mmap, slices: list[tuple[int, Record]], ranks_per_cell: int, cells: int
) -> pl.DataFrame:
    count = Counter[tuple[int, int]]()
    sent = Counter[tuple[int, int]]()
    for offset, record in slices:
        row = int(record["rank"]) // ranks_per_cell
        for place in (int(sheet["cells_at"]) for sheet, _ in _sheets(file, offset, record)):
            row_cells = _at(file, layout.CELL, offset + place, cells) if place else None
            for to in np.flatnonzero(row_cells["count"]).tolist() if row_cells is not None else ():
                cell = row_cells[to]  # type: ignore[index]
                count[row, to] += int(cell["count"])
                sent[row, to] += int(cell["bytes"])
    rows = [(*pair, count[pair], sent[pair]) for pair in sorted(count)]
    return pl.DataFrame(rows, schema=dict(SEND_COLUMNS), orient="row")
