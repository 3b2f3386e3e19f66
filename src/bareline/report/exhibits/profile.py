"""What applications ask of a platform: a row for each that was profiled."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from bareline.report.blocks.table import Rows
from bareline.report.content.document import Document
from bareline.report.content.profiles import Dominant
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Kind, Shown
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import format_size

_CAPTION = (
    "Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over the trials. "
    "Of the first trial: the calls with their message sizes that most time went to, each with its "
    "number in a rank and its share of the time of all calls that move data; the memory of the "
    "rank with most; what all ranks read from files and wrote to them."
)


def _shown(document: Document, spec: ExhibitSpec) -> Iterator[Shown]:
    """Give one table; none where no trial of the probe was profiled."""
    lines = [
        line
        for line in document.profiles
        if spec.probe is None or fnmatchcase(line.probe, spec.probe)
    ]
    table = (
        Rows(lines)
        .text("application", lambda line: line.probe)
        .text("case", lambda line: line.case)
        .platform(lambda line: line.platform)
        .number("computing", lambda line: line.computing, percent)
        .number("MPI calls", lambda line: line.mpi, percent)
        .number("files", lambda line: line.files, percent)
        .text(
            "dominant calls and sizes",
            lambda line: "; ".join(map(_named, line.dominant)) or "none",
        )
        .number("memory per rank", lambda line: line.memory_bytes, format_size)
        .number("read and written", lambda line: line.file_bytes, format_size)
        .table()
    )
    if lines:
        yield Shown(title="What the applications ask", notes=[_CAPTION], table=table)


def _named(one: Dominant) -> str:
    size = format_size(one.low_bytes)
    if one.high_bytes != one.low_bytes:
        size = f"{size} to {format_size(one.high_bytes)}"
    return f"{one.name} of {size}: {one.per_rank:,.0f} calls, {percent(one.share)}"


EXHIBIT = Kind(
    "profile",
    "what applications ask: shares of time, dominant calls and sizes, memory, files",
    _shown,
)
