"""What bareline knows: probes, studies, schemas."""

from __future__ import annotations

from typing import Annotated

import typer

from bareline.cli import completing
from bareline.cli.options import FileOption, JsonOption
from bareline.cli.output import emit, emit_blocks, prints

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
    from bareline.report.terminal.listings import probe_blocks, probe_list_blocks

    rows = probe_rows(name)
    blocks = probe_list_blocks(rows) if name is None else probe_blocks(rows[0])
    emit_blocks(as_json, lambda: rows, lambda: blocks)


@app.command()
@prints("studies", "study.catalogue.StudyListed")
def studies(as_json: JsonOption = False, _out: FileOption = None) -> None:
    """List the built-in studies."""
    from bareline.report.terminal.listings import study_blocks
    from bareline.study.catalogue import study_rows

    rows = study_rows()
    emit_blocks(as_json, lambda: rows, lambda: study_blocks(rows))


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
    from bareline.report.terminal.listings import schema_blocks

    if name is not None:
        found = schema_of(name)
        emit(True, lambda: found, lambda _: None)
        return
    rows = schema_rows()
    emit_blocks(as_json, lambda: rows, lambda: schema_blocks(rows))
