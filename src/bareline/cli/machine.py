"""Check this machine, and build the programs for it: doctor, build."""

from __future__ import annotations

from typing import Annotated

import typer

from bareline.cli.options import PlatformsOption
from bareline.cli.output import emit
from bareline.cli.verbs import flag, option, prints

app = typer.Typer()


@app.command()
@prints("doctor", "doctor.render.Checked")
def doctor(
    all_checks: Annotated[
        bool, flag("--all", "Show every check, and the command that repairs each failed one.")
    ] = False,
    deep: Annotated[
        bool, flag("--deep", "Show every check; also compile and run an MPI job.")
    ] = False,
    study: Annotated[
        str | None, option("--for", "STUDY", "Check only the needs of this study.")
    ] = None,
    on: Annotated[
        list[str] | None,
        option("--on", "P", "Check only the nodes of this platform; repeat for more."),
    ] = None,
    platforms: PlatformsOption = None,
) -> None:
    """Check this machine: working features, missing ones, and the commands that add them."""
    from bareline.doctor.check import examine
    from bareline.doctor.render import render, render_purposes, to_rows

    checks = []
    if study is not None:
        from bareline.cli.foresight import answers_here
        from bareline.doctor.study import needs
        from bareline.study.catalogue import find_study

        chosen_study = find_study(study)
        probes = [name for name in chosen_study.probes if not chosen_study.source_of(name)]
        checks = list(needs(chosen_study.named_platforms, probes, platforms))
        checks += answers_here(study, platforms)
    elif not on:
        checks = examine(deep=deep)
    if on:
        from bareline.doctor.nodes import node_checks

        checks += node_checks(on, platforms)
    show = render if all_checks or deep or study or on else render_purposes
    emit(lambda: to_rows(checks), lambda console: show(checks, console))


@app.command()
@prints("build", "build.record.Built")
def build(
    on: Annotated[
        list[str] | None, option("--on", "P", "Platform to build for; repeat for more.")
    ] = None,
    mpi: Annotated[
        str,
        option(
            "--mpi", "FLAVOUR", "MPI library, without --on: auto, openmpi, mpich, intel or a path."
        ),
    ] = "auto",
    platforms: PlatformsOption = None,
) -> None:
    """Build the native programs for a compiler and MPI library, unless the cache has them."""
    from bareline.platforms.listing import build_for, build_row

    rows = [build_for(name, platforms) for name in on] if on else [build_row(mpi)]

    def show(_: object) -> None:
        for row in rows:
            state = "cached" if row["cached"] else f"built in {row['seconds']:.1f} s"
            path = f"{row['host']}:{row['path']}" if row["host"] else row["path"]
            print(f"{row['toolchain']}: {state}\n{path}")

    emit(lambda: rows, show)
