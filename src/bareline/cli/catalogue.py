"""What bareline knows: probes, studies, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli import completing
from bareline.cli.options import FileOption, JsonOption
from bareline.cli.output import emit, prints

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer()


@app.command()
@prints("probes", "probes.base.ProbeListed")
def probes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROBE]",
            autocompletion=completing.probes,
        ),
    ] = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """List the probes, or show one with its parameters and metrics."""
    from bareline.probes.base import probe_rows
    from bareline.report.terminal.listings import print_probe, print_probes

    rows = probe_rows(name)

    def people(console: Console) -> None:
        if name is None:
            print_probes(rows, console)
        else:
            print_probe(rows[0], console)

    emit(as_json, lambda: rows, people)


@app.command()
@prints("studies", "study.catalogue.StudyListed")
def studies(as_json: JsonOption = False, _out: FileOption = None) -> None:
    """List the built-in studies."""
    from bareline.report.terminal.listings import print_studies
    from bareline.study.catalogue import study_rows

    rows = study_rows()
    emit(as_json, lambda: rows, lambda console: print_studies(rows, console))


@app.command()
@prints("schema", "cli.schemas.SchemaListed")
def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", autocompletion=completing.schemas),
    ] = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """List the JSON Schemas of files and of what --json prints, or print one."""
    from bareline.cli.schemas import schema_of, schema_rows
    from bareline.report.terminal.listings import print_schemas

    if name is not None:
        found = schema_of(name)
        emit(True, lambda: found, lambda _: None)
        return
    rows = schema_rows()
    emit(as_json, lambda: rows, lambda console: print_schemas(rows, console))
