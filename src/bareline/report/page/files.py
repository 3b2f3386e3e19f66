"""The files of a report: the page, its PDF (printed by Chromium), Markdown, and figures."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bareline.host.tools import find_browser, install_hint
from bareline.predict.scaling.prediction import ScalingPrediction
from bareline.predict.shares import LossSplit
from bareline.predict.validation.scores import Validation
from bareline.report.blocks import Block, Note, Prose, Section
from bareline.report.content.claim_rows import Claims, claims_table
from bareline.report.content.claims import claims_of
from bareline.report.content.document import Document
from bareline.report.content.grid import by_loss, grid, legend
from bareline.report.exhibits.page_figures import draw_figures
from bareline.report.figures.drawing_available import drawing_obstacle, refuse_undrawn
from bareline.report.figures.predictions import predicted_chart, waterfall_chart
from bareline.report.figures.scaling import growth_chart
from bareline.report.figures.svg import draw, for_file, to_png
from bareline.report.figures.theme import looks
from bareline.report.figures.vega import Chart
from bareline.report.page.html import render_page
from bareline.report.page.preview import picture, picture_name
from bareline.report.page.sections import sections
from bareline.report.writers.markdown import escaped, markdown
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import replace_file, step_to_write
from bareline.vocabulary.sanitize import cleaned

#: Forms of a report, by the ending of their file.
FORMATS = ("html", "md", "pdf")


def default_page(run: Path, form: str) -> Path:
    """Return the path of the page of a run.

    Raises StoreError: the path exists and is not a regular file.
    """
    page = run / f"report.{form}"
    if os.path.lexists(page) and (page.is_symlink() or not page.is_file()):
        raise StoreError(
            "the path is not a regular file, so that bareline does not write to it",
            where=str(page),
            hint="remove it, or name another file with --out",
        )
    return page


def write_report(
    document: Document,
    path: Path,
    form: str = "html",
    figures: Path | None = None,
    address: str = "",
) -> Path:
    """Write the report as a page, as Markdown or as PDF, and return its path.

    - `figures`: the folder that contains the figures; Markdown links to them.
    - `address`: the page's future address on the web. If it is given, a picture for link previews
      is also written.

    Raises StoreError: the file cannot be written, or Chromium does not print it.
    """
    if form == "pdf":
        return print_page(render_page(document), path)
    if form == "md":
        folder = None
        if figures is not None:
            folder = Path(os.path.relpath(figures.resolve(), path.resolve().parent))
        return write_file(path, render_markdown(document, folder))
    written = write_file(path, render_page(document, address))
    if address and not drawing_obstacle():
        name = picture_name(address)
        write_file(path.with_name(name), picture(document))
    return written


def write_figures(document: Document, folder: Path) -> list[Path]:
    """Write every figure as SVG and PNG, and return the paths.

    Raises StoreError: a file cannot be written.
    """
    refuse_undrawn()
    figures, _ = draw_figures(document)
    charts: dict[str, Chart] = {}
    for figure in figures:
        chart = figure.chart
        if chart:
            charts[figure.id] = chart
    caveats = {figure.id: figure.caveats for figure in figures}
    return _write_charts(charts, folder, caveats)


def write_validation(validation: Validation, folder: Path) -> list[Path]:
    """Write the chart of each model's predictions as SVG and PNG, and return the paths.

    Raises StoreError: a file cannot be written.
    """
    platform_looks = looks(sorted({trial.platform for trial in validation.trials}))
    charts: dict[str, Chart] = {}
    for score in validation.scores:
        trials = [trial for trial in validation.trials if trial.model == score.model]
        charts[f"predicted-{score.model}"] = predicted_chart(trials, platform_looks)
    return _write_charts(charts, folder)


def write_loss(loss: LossSplit, folder: Path) -> list[Path]:
    """Write the waterfall of a loss as SVG and PNG, and return the paths.

    Raises StoreError: a file cannot be written.
    """
    chart = waterfall_chart(loss, looks([loss.base, loss.platform]))
    return _write_charts({f"loss-{loss.platform}": chart}, folder)


def write_growth(predictions: Sequence[ScalingPrediction], folder: Path) -> list[Path]:
    """Write the chart of a program's times over ranks as SVG and PNG, and return the paths.

    Raises StoreError: a file cannot be written.
    """
    most_ranks = predictions[0].points[-1].ranks
    return _write_charts({f"ranks-{most_ranks}": growth_chart(predictions)}, folder)


def _write_charts(
    charts: Mapping[str, Chart], folder: Path, caveats: Mapping[str, Sequence[str]] | None = None
) -> list[Path]:
    refuse_undrawn()
    if caveats is None:
        caveats = {}
    written: list[Path] = []
    for name, chart in charts.items():
        drawing = for_file(draw(chart), caveats.get(name, ()))
        written.append(write_file(folder / f"{name}.svg", drawing))
        written.append(write_file(folder / f"{name}.png", to_png(drawing)))
    return written


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file and its missing folders; never leave a partial file.

    Raises StoreError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    except OSError as error:
        raise StoreError(
            f"the file cannot be written: {error.strerror}",
            where=str(path),
            hint=step_to_write(error),
        ) from error
    return path


def print_page(html: str, path: Path) -> Path:
    """Print a page to a PDF file and return its path.

    Raises StoreError: Chromium is not installed or fails, or the file cannot be written.
    """
    browser = find_browser()
    if browser is None:
        raise StoreError(
            "a PDF needs Chromium, which is not installed",
            where=str(path),
            hint=f"{install_hint('chromium')}; or open the HTML page and print it",
        )
    with tempfile.TemporaryDirectory(prefix="bareline-page-") as folder:
        page = Path(folder) / "page.html"
        printed = Path(folder) / "page.pdf"
        replace_file(page, html, durable=False)
        # Chromium's sandbox refuses root; the page fetches nothing and runs its own script.
        unboxed = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [
            browser, *unboxed, "--headless", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer", "--generate-pdf-document-outline",
            f"--print-to-pdf={printed}", page.as_uri(),
        ]  # fmt: skip
        try:
            chromium = subprocess.run(
                command, capture_output=True, text=True, timeout=180, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            why = f"Chromium did not print the page: {error}"
            raise StoreError(why, where=str(path)) from error
        if not printed.exists():
            output = chromium.stderr.strip().splitlines() or ["no output"]
            raise StoreError(
                f"Chromium did not print the page: {output[-1]}",
                where=str(path),
                hint="open the HTML page and print it",
            )
        return write_file(path, printed.read_bytes())


def render_markdown(document: Document, figures: Path | None = None) -> str:
    """Return the report as Markdown."""
    about = (document.about, document.subtitle, document.study_description)
    lines = [escaped(line) for line in about if line]
    head = [f"# {escaped(document.title)}", "  \n".join(lines)]
    claims = claims_of(document.comparison)
    blocks = [*_verdict(document, claims)]
    if claims.rows:
        blocks.append(Section("Published and measured", tuple(_claims(claims))))
    blocks += sections(document, *draw_figures(document))
    return cleaned("\n\n".join([*head, *markdown(blocks, figures)])) + "\n"


def _claims(claims: Claims) -> Iterator[Block]:
    if claims.statements:
        yield claims_table(claims.statements, sources=True)
    if claims.ratios:
        yield claims_table(claims.ratios, sources=True)


def _verdict(document: Document, claims: Claims) -> Iterator[Block]:
    glance = document.glance
    blocks: list[Block] = []
    if glance is not None:
        blocks.append(Prose(tuple(glance.headline.clauses)))
        if claims.score.line:
            blocks.append(Prose((claims.score.line,)))
        blocks += grid(document.findings, by_loss(document.findings, glance.platforms))
        key = legend(document.findings, document.baseline, document.margin)
        blocks.append(Note(f"{key} {glance.promise}"))
    sentences = [sentence for sentence in document.statements if not sentence.about]
    if sentences:
        blocks.append(Prose(tuple(sentences), "list"))
    if blocks:
        yield Section("Verdict", tuple(blocks))
