"""The partial profile of a program that did not reach ``MPI_Finalize``.

The profiler keeps its counters in a file next to the profile. The file is mapped into the memory of
every rank, so that the counters remain if the program is killed.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from bareline.profile import journal_layout as layout
from bareline.profile.journal_slices import Record, Slice, read_record, read_slices, text_of
from bareline.profile.journal_tables import (
    CallName,
    CallNames,
    Sends,
    call_rows,
    merge_calls,
    rank_row,
)
from bareline.profile.model import (
    MOST_CELLS,
    MOST_RANKS,
    RANK_COLUMNS,
    Mode,
    Profile,
    why_implausible,
)
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import open_regular

#: Ranks that a sentence names.
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Head:
    """The first part of a journal.

    - `cells`: number of rows and columns of the communication matrix; a row has `ranks_per_cell`
      ranks.
    - `names`: name and kind of each call, by its number.
    """

    record: Record
    ranks: int
    ranks_per_cell: int
    cells: int
    names: CallNames


def journal_of(path: Path) -> Path:
    """Return the path of the journal of a profile."""
    return path.with_name(f"{path.name}.journal")


def is_journal(path: Path) -> bool:
    """Whether a file begins like a journal."""
    try:
        with open_regular(path) as file:
            return file.read(len(layout.MAGIC)) == layout.MAGIC
    except OSError:
        return False


def read_journal(path: Path) -> Profile:
    """Return the content of a journal as an unfinished profile.

    Raises ProfileError: the journal is of another version, or no rank has written into it.
    Raises OSError: the journal cannot be read.
    """
    with (
        open_regular(path) as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        try:
            profile = _read(path, content)
        except (ArithmeticError, LookupError, ValueError, pl.exceptions.PolarsError) as error:
            raise ProfileError("the journal is damaged", where=str(path)) from error
    for table in (profile.rank_table, profile.call_table, profile.send_table):
        wrong = why_implausible(table)
        if wrong:
            raise ProfileError(f"the journal is damaged: {wrong}", where=str(path))
    return profile


def _read(path: Path, file: mmap.mmap) -> Profile:
    head = _read_head(path, file)
    slices = list(read_slices(file, head.ranks))
    if not slices:
        raise ProfileError(
            "the program ended before any rank was profiled",
            where=str(path),
            hint="read the messages of the program",
        )
    calls = []
    rank_rows = []
    sends = Sends()
    for rank_slice in slices:
        sheets = list(rank_slice.sheets(head.cells))
        calls.append(call_rows(rank_slice, sheets, head.names))
        rank_rows.append(rank_row(rank_slice, sheets, head.names))
        sends.add(rank_slice.rank // head.ranks_per_cell, sheets)
    nodes = {int(rank_slice.head["node"]) for rank_slice in slices}
    mode: Mode = "split" if head.record["split"] else "plain"
    return Profile(
        path=path,
        complete=False,
        ended=_how_it_ended(slices, head.ranks),
        mode=mode,
        ranks=head.ranks,
        nodes=len(nodes),
        began_unix_ns=int(head.record["began_unix_ns"]),
        mpi=text_of(head.record["library"]),
        thread_level="single",
        command=text_of(slices[0].head["command"]),
        ranks_per_cell=head.ranks_per_cell,
        rank_table=pl.DataFrame(rank_rows, schema=dict(RANK_COLUMNS)),
        call_table=merge_calls(pl.concat(calls)),
        send_table=sends.table(),
    )


def _read_head(path: Path, file: mmap.mmap) -> _Head:
    record = read_record(file, layout.HEAD, 0)
    if record is None:
        raise ProfileError("the journal is cut off", where=str(path))
    version = record["version"]
    if version != layout.VERSION or record["row_size"] != layout.ROW.itemsize:
        raise ProfileError(
            f"the journal is of version {version}, but this bareline reads {layout.VERSION}",
            where=str(path),
            hint="use the bareline that profiled the program",
        )
    ranks = int(record["ranks"])
    per_cell = int(record["ranks_per_cell"])
    cells = int(record["cells"])
    if not 1 <= per_cell <= ranks <= MOST_RANKS or ranks > per_cell * MOST_CELLS:
        raise ProfileError(
            f"the journal is damaged: {ranks} ranks with {per_cell} ranks in each cell are"
            " not possible",
            where=str(path),
        )
    if cells != -(-ranks // per_cell):
        raise ProfileError("the matrix of the journal is damaged", where=str(path))
    names = []
    for line in record["names"].decode().splitlines():
        name, kind = line.rsplit(" ", 1)
        names.append(CallName(name, kind))
    return _Head(record, ranks, per_cell, cells, names)


def _how_it_ended(slices: Sequence[Slice], ranks: int) -> str:
    for rank_slice in slices:
        if rank_slice.state == layout.ABORTED:
            code = rank_slice.head["abort_code"]
            return f"rank {rank_slice.rank} called MPI_Abort with {code}"
    missing = ranks - len(slices)
    lost = f"; {missing} of {ranks} ranks left nothing" if missing else ""
    running = [each.rank for each in slices if each.state == layout.RUNNING]
    if 0 < len(running) < len(slices):
        return f"ended before {_named_ranks(running)} reached MPI_Finalize{lost}"
    if not running and not missing:
        return "a rank reached MPI_Finalize later than the time limit of the other ranks (--wait)"
    return f"ended before MPI_Finalize{lost}"


def _named_ranks(ranks: list[int]) -> str:
    """Format the numbers of at most ten ranks, and the number of further ranks."""
    texts = [str(rank) for rank in ranks[:_MOST_NAMED]]
    more = len(ranks) - len(texts)
    if more:
        return f"ranks {', '.join(texts)} and {more} more"
    last = texts.pop()
    if not texts:
        return f"rank {last}"
    return f"ranks {', '.join(texts)} and {last}"
