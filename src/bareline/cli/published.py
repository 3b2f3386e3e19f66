"""What others have published: the figures of the five studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import FileOption, JsonOption
from bareline.cli.output import emit, prints

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer()


@app.command()
@prints("published", "published.catalogue.PublishedFigure")
def published(
    study: Annotated[
        str | None, typer.Argument(metavar="[STUDY]", help="A study or a publication.")
    ] = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """List the publications, or every figure that a study's publications printed."""
    from bareline.analysis.judgements.suitability import judge_published
    from bareline.published.catalogue import find_publications, publications, published_rows
    from bareline.report.content.suitability import suited
    from bareline.report.terminal.listings import publication_blocks, published_blocks
    from bareline.report.writers.terminal import print_blocks

    found = list(publications().values()) if study is None else find_publications(study)

    def people(console: Console) -> None:
        if study is None:
            print_blocks(publication_blocks(found), console)
            return
        print_blocks(published_blocks(found, published_rows(study)), console)
        for one in found:
            console.print(f"\nBy bareline's rules, from the figures of {one.publication.short}:")
            print_blocks(suited(judge_published(one)), console)

    emit(as_json, lambda: published_rows(study), people)
