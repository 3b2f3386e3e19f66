"""Verbs for pages, for the nodes of a cluster and for history: report, nodes, trend."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import (
    BaselineOption,
    DetailsOption,
    MarginOption,
    ReferenceOption,
    RowFilter,
    RunArgument,
    RunsArgument,
    read_records,
    run_path,
)
from bareline.cli.output import (
    EXIT_CONDITION,
    complain_of,
    emit,
    emit_blocks,
    print_error,
    written,
)
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import AnalysisError, UsageError

if TYPE_CHECKING:
    from bareline.report.content.document import Document
    from bareline.report.content.fleet import Deviation

app = typer.Typer()


@app.command()
@prints("report", "cli.output.Written")
def report(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    out: Annotated[Path | None, option("-o --out", "FILE", "Page to write.")] = None,
    figures: Annotated[
        Path | None, option("--figures", "DIR", "Also write the figures as SVG and PNG files.")
    ] = None,
    form: Annotated[
        str | None,
        option("--format", "FORM", "Format: html, md or pdf (default: by the suffix of --out)."),
    ] = None,
    address: Annotated[
        str,
        typer.Option(help="Address of the page: adds a picture for previews of links."),
    ] = "",
) -> None:
    """Write the report: one self-contained HTML page, Markdown or PDF.

    Its path is the last line on stdout.
    """
    from bareline.profile.files import is_profile, read_profile
    from bareline.report.figures.drawing_available import drawing_obstacle, refuse_too_little_room
    from bareline.report.page.files import default_page, write_figures, write_file, write_report

    if len(paths) == 1 and is_profile(paths[0]):
        from bareline.report.profile.page import render_profile_page

        text = render_profile_page(read_profile(paths[0]))
        files = [write_file(out or paths[0].with_suffix(".html"), text)]
        form = "html"
    else:
        form = _form(form, out)
        _check_address(address)
        refuse_too_little_room()
        document = _document(paths, baseline, margin)
        drawn = write_figures(document, figures) if figures is not None else []
        page = out or default_page(paths[0], form)
        files = [write_report(document, page, form, figures, address), *drawn]
    emit(lambda: list(map(written, files)), lambda _: print(files[0]))
    if form != "md" and (obstacle := drawing_obstacle()):
        print_error(f"the page has no drawings: {obstacle}")


def _document(paths: list[Path], baseline: str | None, margin: float | None) -> Document:
    """Return a page's content: a comparison of runs, or the latest run with a history.

    If the runs are a history of one study, the page shows the latest run and its changes.
    """
    from bareline.analysis.judgements.timeline import latest_at
    from bareline.analysis.words.comparison import Comparison
    from bareline.report.content.document import document_of

    latest = latest_at(paths) if baseline is None else None
    if latest is None:
        return document_of(Comparison(read_records(*paths), baseline, margin))
    records = read_records(latest.path)
    return document_of(Comparison(records, None, margin), history_runs=paths)


def _check_address(address: str) -> None:
    from urllib.parse import urljoin, urlsplit

    try:
        urljoin(address, urlsplit(address).path)
    except ValueError as error:
        raise UsageError(
            f"'{address}' is not a valid address of a web page: {error}",
            hint="write it as https://example.org/page.html",
        ) from error


def _form(chosen: str | None, out: Path | None) -> str:
    from bareline.report.page.files import FORMATS

    ending = out.suffix.removeprefix(".") if out is not None else ""
    default = ending if ending in FORMATS else "html"
    form = chosen or default
    if form not in FORMATS:
        raise UsageError(
            f"'{form}' is not a valid format of a report", hint=f"use {', '.join(FORMATS)}"
        )
    return form


@app.command()
@prints("nodes", "report.content.fleet.Deviation")
def nodes(
    path: RunArgument,
    margin: MarginOption = None,
    everything: Annotated[
        bool, flag("--all", "With --json: also list nodes that do not deviate.")
    ] = False,
    fail: Annotated[bool, flag("--fail", "Exit with 1 if anything deviates.")] = False,
) -> None:
    """Name the nodes, links and switches of a cluster that are worse than the rest."""
    from bareline.analysis.judgements.survey import survey
    from bareline.analysis.numbers.fleet import fleets
    from bareline.report.content.fleet import deviating_rows, node_rows
    from bareline.report.terminal.surveys import survey_blocks

    records = read_records(path, unlike=False)
    surveys = [survey(fleet, margin or records.margin) for fleet in fleets(records)]
    if not surveys:
        raise AnalysisError(
            "the run has no measurement of a single node",
            where=str(path),
            hint="`bareline run node-survey --on PLATFORM` measures each node",
        )

    def rows() -> list[Deviation]:
        deviations = []
        for fleet in surveys:
            deviations += deviating_rows(fleet)
            if everything:
                deviations += node_rows(fleet)
        return deviations

    emit_blocks(rows, lambda: list(chain.from_iterable(map(survey_blocks, surveys))))
    if fail and any(fleet.deviating for fleet in surveys):
        raise typer.Exit(EXIT_CONDITION)


@dataclass(frozen=True, slots=True)
class TrendLevel:
    """The earlier level that the present level is compared with, and the changes to accept."""

    since: Annotated[
        Path | None,
        option("--since", "RUN", "Compare the present level with that of RUN, a path or name."),
    ] = None
    last: Annotated[
        int | None,
        option("--last", "N", "Compare the present level with that of N runs ago.", min=1),
    ] = None
    accept: Annotated[
        Path | None,
        option("--accept", "RUN", "Accept the changes at RUN, so that they meet no condition."),
    ] = None
    reason: Annotated[
        str | None, option("--reason", "TEXT", "Reason for accepting the changes.")
    ] = None

    def check(self) -> None:
        """Check that options that exclude or need each other are used correctly.

        Raises UsageError: an option is excluded by another option, or lacks one that it needs.
        """
        if self.since is not None and self.last is not None:
            raise UsageError(
                "--since and --last cannot be used together", hint="leave one of them out"
            )
        if (self.accept is None) != (self.reason is None):
            raise UsageError(
                "--accept RUN and --reason TEXT must be used together",
                hint="give both options, or neither option",
            )


@app.command()
@prints("trend", "analysis.judgements.trend.SeriesRow")
def trend(
    paths: Annotated[
        list[Path], argument("RUN...", "Run directories, or folders of them.", parser=run_path)
    ],
    margin: MarginOption = None,
    everything: DetailsOption = False,
    fail_if: Annotated[
        list[str] | None,
        option(
            "--fail-if",
            "CONDITION",
            "Exit with 1 if the condition is met, e.g. 'mpi is slower' or 'is likely slower'.",
        ),
    ] = None,
    reference: ReferenceOption = None,
    *,
    level: TrendLevel,
    only: RowFilter,
) -> None:
    """Show metrics over runs by date: each change, its date, and the facts that changed with it."""
    from bareline.analysis.judgements.conditions import parse_condition
    from bareline.analysis.judgements.timeline import accept_changes, trend_of
    from bareline.analysis.words.conditions import check_trend
    from bareline.analysis.words.references import reference_outcomes
    from bareline.report.terminal.histories import trend_blocks

    level.check()
    conditions = [parse_condition(text) for text in fail_if or []]
    runs = list(chain.from_iterable(map(_runs_at, paths)))
    against = level.since if level.last is None else level.last
    history = trend_of(runs, margin, only.selection(), against)
    if level.accept is not None and level.reason is not None:
        accept_changes(history, level.accept, level.reason)
        history = trend_of(runs, margin, only.selection(), against)
    outcomes = [check_trend(history, condition) for condition in conditions]
    if reference:
        latest = history.runs[-1]
        records = read_records(latest.path)
        outcomes += reference_outcomes(reference, records, f"run {latest.name}")
    emit_blocks(history.rows, lambda: trend_blocks(history, details=everything))
    complain_of(outcomes)


def _runs_at(path: Path) -> list[Path]:
    """Return the paths of runs: a run's own path, or the runs directly in a folder."""
    from bareline.store.naming import run_folders

    return run_folders(path) or [path]
