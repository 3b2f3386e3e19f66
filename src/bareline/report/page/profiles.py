"""The profiles of a run's trials as a table of the page."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.report.content.profiles import ProfileLine
from bareline.report.content.wording import percent
from bareline.report.figures.figure import Figure
from bareline.report.figures.tables import Rows


def profiles_table(lines: Sequence[ProfileLine]) -> Figure:
    """Lay the lines out for the page."""
    table = (
        Rows(lines)
        .text("probe", lambda line: line.probe)
        .text("case", lambda line: line.case)
        .platform(lambda line: line.platform)
        .number("n", lambda line: line.n)
        .number("computing", lambda line: line.computing, percent)
        .number("MPI calls", lambda line: line.mpi, percent)
        .number("files", lambda line: line.files, percent)
        .text("most time in", lambda line: line.busiest)
        .text("profile of the first trial", lambda line: "/".join(line.path.parts[-3:]))
        .table()
    )
    return Figure(
        id="profiles",
        title="What the ranks did with their time",
        caption="Shares of the time from MPI_Init to MPI_Finalize, a rank's mean; the median over "
        "the trials. The run directory keeps every profile, for bareline show and bareline report.",
        wide=True,
        data_table=table,
    )
