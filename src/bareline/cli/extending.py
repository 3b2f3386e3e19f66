"""Extend bareline: new."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from bareline.cli import completing
from bareline.cli.options import JsonOption
from bareline.cli.output import console, emit, prints, written

app = typer.Typer()


@app.command()
@prints("new", "cli.output.Written")
def new(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="probe, platform, importer, exhibit or study.",
            autocompletion=completing.plugins,
        ),
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name.")],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="DIR", help="Folder to make (default: bareline-NAME)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a package that brings a plug-in of your own, with its test, which passes at once."""
    from bareline.cli.template import write_package
    from bareline.report.writers.console import print_next

    made = write_package(kind, name, out)
    emit(as_json, lambda: list(map(written, made)), lambda _: print(*made, sep="\n"))
    folder = shlex.quote(str(made[0].parent))
    commands = [f"pip install -e {folder} pytest", f"python -m pytest {folder}"]
    print_next(commands, console(stderr=True))
