"""Results as a page or a text to hand on: report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from bareline.cli.options import (
    BaselineOption,
    JsonOption,
    MarginOption,
    RunsArgument,
    read_records,
)
from bareline.cli.output import complain, emit, prints, written

app = typer.Typer()


@app.command()
@prints("report", "cli.output.Written")
def report(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Page to write.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Also SVG and PNG files.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORM", help="html, md or pdf; else by --out's ending."),
    ] = None,
    address: Annotated[
        str,
        typer.Option(help="Where the page will stand: adds a picture for previews of links."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Write the report: one self-contained HTML page, Markdown or PDF.

    Its path is the last line on stdout.
    """
    if len(paths) == 1 and _reported_profile(paths[0], out, as_json=as_json):
        return
    from bareline.analysis.words.comparison import Comparison
    from bareline.report.content.document import document_of
    from bareline.report.figures.obstacles import refuse_too_little_room
    from bareline.report.page.files import FORMATS, default_page, write_figures, write_report
    from bareline.vocabulary.errors import UsageError

    ending = out.suffix.removeprefix(".") if out is not None else ""
    chosen = form or (ending if ending in FORMATS else "html")
    if chosen not in FORMATS:
        raise UsageError(f"no report is of form '{chosen}'", hint=f"use {', '.join(FORMATS)}")
    refuse_too_little_room()
    document = document_of(Comparison(read_records(paths), baseline, margin))
    drawn = write_figures(document, figures) if figures is not None else []
    page = out or default_page(paths[0], chosen)
    write_report(document, page, chosen, figures, address)
    _tell(page, drawn, as_json=as_json)
    if chosen != "md":
        _complain_of_undrawn()


def _tell(page: Path, drawn: Sequence[Path], *, as_json: bool) -> None:
    """Name what was written."""
    emit(as_json, lambda: list(map(written, (page, *drawn))), lambda _: print(page))


def _reported_profile(path: Path, out: Path | None, *, as_json: bool) -> bool:
    """Write the page of a profile, if it is one."""
    from bareline.profile.files import is_profile, read_profile

    if not is_profile(path):
        return False
    from bareline.report.page.files import write_file
    from bareline.report.profile.page import render_profile_page

    text = render_profile_page(read_profile(path))
    page = write_file(out or path.with_suffix(".html"), text)
    _tell(page, [], as_json=as_json)
    _complain_of_undrawn()
    return True


def _complain_of_undrawn() -> None:
    """Say why a page has tables in place of its figures, where that is so."""
    from bareline.report.figures.obstacles import why_undrawn

    if obstacle := why_undrawn():
        complain(f"the page has no drawings: {obstacle}")
