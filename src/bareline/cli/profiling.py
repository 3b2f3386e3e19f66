"""What an application asks of MPI: profile."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bareline.cli.output import EXIT_USAGE, complain

app = typer.Typer()

MpiOption = Annotated[
    str,
    typer.Option("--mpi", metavar="M", help="The program's library: auto, a flavour or a path."),
]


@app.command(context_settings={"ignore_unknown_options": True})
def profile(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Profile to write.")],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="mpirun, its options, a program.")
    ],
    mpi: MpiOption = "auto",
    split: Annotated[
        bool, typer.Option("--split", help="Time waiting apart, by a barrier before each.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also every call, for a replay: FILE.trace.")
    ] = False,
    period: Annotated[
        bool, typer.Option("--period", help="Also one period of its calls, for more ranks.")
    ] = False,
    limit: Annotated[
        str, typer.Option("--limit", metavar="SIZE", help="Most that the trace may take.")
    ] = "64MB",
    region: Annotated[
        list[str] | None, typer.Option("--region", metavar="N=NAME", help="Name of a region.")
    ] = None,
) -> None:
    """Run an MPI program and write what it asks of MPI; its exit code is ours."""
    from bareline.session.profiling import parse_limit, parse_regions, profile_command

    done = profile_command(
        command,
        out,
        mpi=mpi,
        split=split,
        trace=trace,
        period=period,
        trace_limit_bytes=parse_limit(limit),
        regions=parse_regions(region or []),
    )
    if not done.complete:
        complain(done.ended or "no MPI program was started, so there is no profile")
    if done.path is not None:
        # stdout is the program's own.
        print(f"bareline: profile: {done.path}", file=sys.stderr)
    raise typer.Exit(done.exit_code or (EXIT_USAGE if done.path is None else 0))
