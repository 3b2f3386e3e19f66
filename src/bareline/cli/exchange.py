"""Results from elsewhere, to elsewhere, and read again: import, export, reparse."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import (
    JsonOption,
    OnlyLayers,
    OnlyMetrics,
    OnlyPlatforms,
    OnlyProbes,
    QuietOption,
    RunArgument,
    RunsArgument,
    selection,
)
from bareline.cli.output import EXIT_TRIALS_FAILED, emit, prints, written
from bareline.vocabulary.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from bareline.session.reparse import Correction, Reread
    from bareline.store.run import Run

app = typer.Typer()


@app.command()
@prints("reparse", "session.reparse.ReadAgain")
def reparse(
    path: RunArgument,
    only: Annotated[
        str | None, typer.Option("--only", metavar="PROBE", help="Only this probe's trials.")
    ] = None,
    study: Annotated[
        Path | None,
        typer.Option("--study", metavar="FILE", help="Study with corrected regular expressions."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, write nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Read the raw output of a run again with the parsers of today, or a corrected study."""
    from bareline.session.reparse import read_correction, reparse_run
    from bareline.store.run import Run

    opened = Run.open(path)
    if only is not None and only not in opened.header.probes:
        hint = f"it contains: {', '.join(opened.header.probes)}"
        raise UsageError(f"contains no trials of '{only}'", where=str(path), hint=hint)
    if only is not None and study is not None:
        raise UsageError("--only and --study exclude each other", hint="leave --only out")
    correction = None if study is None else read_correction(opened, study)
    done = reparse_run(opened, only=only, correction=correction, dry_run=dry_run)
    emit(
        as_json,
        done.rows,
        lambda console: _print_reread(opened, done, correction, console, dry_run=dry_run),
    )


def _print_reread(
    run: Run, done: Reread, correction: Correction | None, console: Console, *, dry_run: bool
) -> None:
    from bareline.report.terminal.runs import reread_blocks
    from bareline.report.writers.terminal import print_blocks

    print_blocks(reread_blocks(run, done.changed, done.unread), console)
    for probe, keys in (correction.changed if correction else {}).items():
        print(f"{probe}: other {', '.join(keys)}")
    if correction and not correction.changed:
        print("the study reads outputs as the run does: nothing is to be read again")
        return
    written = "; nothing was written" if dry_run else ""
    print(f"{done.read} trials read again, {len(done.changed)} came out differently{written}")


@app.command(name="import")
@prints("import", "session.intake.Imported")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Existing outputs, also .gz, or folders of them."),
    ],
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="RUN", help="Run directory: new, or of an import."),
    ],
    platform: Annotated[
        str | None,
        typer.Option(
            "--platform",
            metavar="NAME",
            help="Platform that they come from; ReFrame and asv name their own.",
        ),
    ] = None,
    title: Annotated[str, typer.Option("--title", metavar="T", help="The platform in words.")] = "",
    ranks: Annotated[
        int | None,
        typer.Option("--ranks", metavar="N", min=1, help="Ranks of outputs that do not say it."),
    ] = None,
    skip_unknown: Annotated[
        bool, typer.Option("--skip-unknown", help="Leave out files of no known format.")
    ] = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read existing outputs of OSU, IMB, ReFrame, hyperfine and others into a run."""
    from bareline.session.intake import import_files

    intake = import_files(files, platform, out, title=title, ranks=ranks, skip_unknown=skip_unknown)

    def people(_: Console) -> None:
        for line in () if quiet else intake.lines():
            print(line, file=sys.stderr)
        print(out)

    emit(as_json, lambda: intake.rows, people)
    if intake.failed:
        raise typer.Exit(EXIT_TRIALS_FAILED)


@app.command()
@prints("export", "cli.output.Written")
def export(
    paths: RunsArgument,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", metavar="FILE", help="A .csv, .jsonl, .parquet or .prom file."),
    ],
    probes: OnlyProbes = None,
    platforms: OnlyPlatforms = None,
    metrics: OnlyMetrics = None,
    layers: OnlyLayers = None,
    as_json: JsonOption = False,
) -> None:
    """Write every sample of runs as one tidy table, or the medians as OpenMetrics."""
    from bareline.analysis.numbers.records import read_runs
    from bareline.report.content.exporting import write_samples
    from bareline.store.run import Run

    asked = selection(probes, platforms, metrics, layers)
    count = write_samples(read_runs([Run.open(path) for path in paths]), out, asked)
    row = {**written(out), "samples": count}
    emit(as_json, lambda: [row], lambda _: print(f"{count} samples\n{out}"))
