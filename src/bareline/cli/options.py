"""Arguments and options that several verbs share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli import completing
from bareline.cli.output import complain, write_to

if TYPE_CHECKING:
    from bareline.analysis.numbers.records import Records
    from bareline.analysis.numbers.selection import Selection

JsonOption = Annotated[bool, typer.Option("--json", help="Tidy rows as JSON on stdout.")]


def _write_to(context: typer.Context, path: Path | None) -> None:
    context.call_on_close(write_to(path))


#: Parsed is all that it needs: `emit` writes there. The parameter's name begins with "_".
FileOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", metavar="FILE", callback=_write_to, help="Write to a file, not to stdout."
    ),
]


def selection(
    probes: list[str] | None,
    platforms: list[str] | None,
    metrics: list[str] | None,
    layers: list[str] | None,
) -> Selection:
    """Give the rows that the four options ask for."""
    from bareline.analysis.numbers.selection import Selection

    return Selection(probes or (), platforms or (), metrics or (), layers or ())


def read_records(paths: Sequence[Path]) -> Records:
    """Read runs, and say where they measured unlike things."""
    from bareline.analysis.numbers.records import read_runs
    from bareline.store.run import Run

    records = read_runs([Run.open(path) for path in paths])
    for line in records.unlike_defaults:
        complain(line)
    return records


def run_path(text: str) -> Path:
    """Give the path of a run that may be given by a short name."""
    from bareline.store.naming import find_run

    return find_run(text)


RunArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RUN",
        help="A run directory, or @latest.",
        parser=run_path,
        autocompletion=completing.runs,
    ),
]
RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...",
        help="Run directories, or @latest.",
        parser=run_path,
        autocompletion=completing.runs,
    ),
]
OnlyProbes = Annotated[
    list[str] | None,
    typer.Option(
        "--probe",
        metavar="PROBE",
        help="Only rows of this probe.",
        autocompletion=completing.probes,
    ),
]
OnlyPlatforms = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="P",
        help="Only rows of this platform.",
        autocompletion=completing.platforms,
    ),
]
OnlyMetrics = Annotated[
    list[str] | None, typer.Option("--metric", metavar="M", help="Only rows of this metric.")
]
OnlyLayers = Annotated[
    list[str] | None, typer.Option("--layer", metavar="LAYER", help="Only rows of this layer.")
]
PlatformsOption = Annotated[
    Path | None,
    typer.Option("--platforms", metavar="FILE", help="Platform file (default: platforms.toml)."),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="P",
        help="Platform to compare with.",
        autocompletion=completing.platforms,
    ),
]
MarginOption = Annotated[
    float | None,
    typer.Option(
        "--margin", metavar="M", min=0.0001, max=0.9999, help="Difference that does not matter."
    ),
]
WaitQuietOption = Annotated[
    str | None,
    typer.Option(
        "--wait-quiet",
        metavar="[=TIME]",
        help="Begin when other programs let this machine alone, after TIME (30min) all the same.",
    ),
]
MaxCoreHoursOption = Annotated[
    float | None,
    typer.Option(
        "--max-core-hours", metavar="N", min=0.0001, help="End when N core hours are used."
    ),
]
NotBetweenOption = Annotated[
    str | None,
    typer.Option(
        "--not-between",
        metavar="HH:MM-HH:MM",
        help="Local hours in which no trial begins; several with commas between.",
    ),
]
StopOption = Annotated[
    bool,
    typer.Option(
        "--stop-on-failure", help="End when a program has failed twice on every platform."
    ),
]
#: What options stand for that are given without a value.
OPTIONAL_VALUES = {"--wait-quiet": "30min"}
ShowControlOption = Annotated[
    bool, typer.Option("--control", help="Also the control: the baseline against itself.")
]
QuietOption = Annotated[
    bool, typer.Option("-q", "--quiet", help="No progress; what is wrong is still said.")
]
FailIfOption = Annotated[
    list[str] | None,
    typer.Option("--fail-if", metavar="CONDITION", help="Exit with 1 if e.g. 'mpi.latency > 1.1'."),
]
DetailsOption = Annotated[bool, typer.Option("--all", help="Also detail metrics.")]
