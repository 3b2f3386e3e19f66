"""What applications ask of a platform: a row for each that was profiled."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.content.profiles import Dominant, ProfileLine
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Exhibit
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import format_size

_CAPTION = (
    "Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over the trials. "
    "Of the first trial: the calls with their message sizes that most time went to, each with its "
    "number in a rank and its share of the time of all calls that move data; the memory of the "
    "rank with most; what all ranks read from files and wrote to them."
)


class Profiles(Exhibit):
    """The characteristics of applications: where their time goes, which messages, what memory."""

    kind = "profile"
    summary = "what applications ask: shares of time, dominant calls and sizes, memory, files"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Give one table; none where no trial of the probe was profiled."""
        lines = [
            line
            for line in document.profiles
            if spec.probe is None or fnmatchcase(line.probe, spec.probe)
        ]
        if not lines:
            return []
        return [
            Figure(
                id=slug("profile", spec.title),
                title=spec.title or "What the applications ask",
                caption=" ".join(filter(None, [spec.caption, _CAPTION])),
                wide=True,
                data_table=_table(lines),
            )
        ]


def _table(lines: Sequence[ProfileLine]) -> DataTable:
    columns = (
        Column("application", "text"),
        Column("case", "text"),
        Column("platform", "text"),
        Column("computing"),
        Column("MPI calls"),
        Column("files"),
        Column("dominant calls and sizes", "text"),
        Column("memory per rank"),
        Column("read and written"),
    )
    rows = tuple(
        (
            Field(line.probe),
            Field(line.case),
            Field(line.platform, platform=line.platform),
            Field(percent(line.computing), line.computing),
            Field(percent(line.mpi), line.mpi),
            Field(percent(line.files), line.files),
            Field("; ".join(map(_named, line.dominant)) or "none"),
            Field(format_size(line.memory_bytes), line.memory_bytes),
            Field(format_size(line.file_bytes), line.file_bytes),
        )
        for line in lines
    )
    return DataTable(columns, rows)


def _named(one: Dominant) -> str:
    size = format_size(one.low_bytes)
    if one.high_bytes != one.low_bytes:
        size = f"{size} to {format_size(one.high_bytes)}"
    return f"{one.name} of {size}: {one.per_rank:,.0f} calls, {percent(one.share)}"


EXHIBIT = Profiles()
