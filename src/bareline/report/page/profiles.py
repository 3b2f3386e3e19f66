"""The profiles of a run's trials as a table of the page."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.report.content.profiles import ProfileLine
from bareline.report.content.wording import percent
from bareline.report.figures.figure import Column, DataTable, Field, Figure


def profiles_table(lines: Sequence[ProfileLine]) -> Figure:
    """Lay the lines out for the page."""
    columns = (
        Column("probe", "text"),
        Column("case", "text"),
        Column("platform", "text"),
        Column("n"),
        Column("computing"),
        Column("MPI calls"),
        Column("files"),
        Column("most time in", "text"),
        Column("profile of the first trial", "text"),
    )
    rows = tuple(
        (
            Field(line.probe),
            Field(line.case),
            Field(line.platform, platform=line.platform),
            Field(str(line.n), line.n),
            Field(percent(line.computing), line.computing),
            Field(percent(line.mpi), line.mpi),
            Field(percent(line.files), line.files),
            Field(line.busiest),
            Field("/".join(line.path.parts[-3:])),
        )
        for line in lines
    )
    return Figure(
        id="profiles",
        title="What the ranks did with their time",
        caption="Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over "
        "the trials. The run directory keeps every profile, for bareline show and bareline report.",
        wide=True,
        data_table=DataTable(columns, rows),
    )
