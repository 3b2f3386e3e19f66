"""Verbs that list probes, studies, schemas and published values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli import completing
from bareline.cli.output import emit, emit_blocks
from bareline.cli.verbs import argument, prints

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer()


@app.command()
@prints("probes", "probes.base.ProbeListed")
def probes(
    name: Annotated[str | None, argument("[PROBE]", autocompletion=completing.probes)] = None,
) -> None:
    """List the probes, or show one with its parameters and metrics."""
    from bareline.probes.base import probe_rows
    from bareline.report.terminal.listings import probe_blocks, probe_list_blocks

    rows = probe_rows(name)
    if name is None:
        emit_blocks(lambda: rows, lambda: probe_list_blocks(rows))
    else:
        emit_blocks(lambda: rows, lambda: probe_blocks(rows[0]))


@app.command()
@prints("studies", "study.catalogue.StudyListed")
def studies() -> None:
    """List the built-in studies."""
    from bareline.report.terminal.listings import study_blocks
    from bareline.study.catalogue import study_rows

    rows = study_rows()
    emit_blocks(lambda: rows, lambda: study_blocks(rows))


@app.command()
@prints("schema", "cli.output.SchemaListed")
def schema(
    name: Annotated[str | None, argument("[NAME]", autocompletion=completing.schemas)] = None,
) -> None:
    """List the JSON Schemas of files and of --json outputs, or print one."""
    from bareline.cli.output import as_json, schema_of, schema_rows
    from bareline.report.terminal.listings import schema_blocks

    if name is not None:
        definition = schema_of(name)
        emit(lambda: definition, lambda _: as_json(definition))
        return
    rows = schema_rows()
    emit_blocks(lambda: rows, lambda: schema_blocks(rows))


@app.command()
@prints("published", "published.catalogue.PublishedFigure")
def published(
    study: Annotated[str | None, argument("[STUDY]", "A study or a publication.")] = None,
) -> None:
    """List the known publications, or the published numbers that a study repeats."""
    from bareline.analysis.judgements.suitability import judge_published
    from bareline.published.catalogue import find_publications, publications, published_rows
    from bareline.report.content.suitability import suited
    from bareline.report.terminal.listings import publication_blocks, published_blocks
    from bareline.report.writers.terminal import print_blocks

    publications_found = (
        list(publications().values()) if study is None else find_publications(study)
    )

    def people(console: Console) -> None:
        if study is None:
            print_blocks(publication_blocks(publications_found), console)
            return
        print_blocks(published_blocks(publications_found, published_rows(study)), console)
        for publication in publications_found:
            console.print(
                f"\nBy bareline's rules, from the figures of {publication.publication.short}:"
            )
            print_blocks(suited(judge_published(publication)), console)

    emit(lambda: published_rows(study), people)
