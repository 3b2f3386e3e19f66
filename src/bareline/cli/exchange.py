"""Verbs that exchange or re-read data of a run: calibrate, reparse, import, export."""

from __future__ import annotations

import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bareline.cli.options import (
    QuietOption,
    RowFilter,
    RunArgument,
    RunsArgument,
    read_records,
    run_path,
)
from bareline.cli.output import (
    EXIT_TRIALS_FAILED,
    emit,
    emit_blocks,
    print_error,
    unwritable,
    written,
)
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.units import count

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from bareline.session.imported import Intake

app = typer.Typer()


@app.command()
@prints("calibrate", "session.simulation.Agreement")
def calibrate(
    from_: Annotated[
        list[Path],
        option(
            "--from",
            "RUN",
            "Run with a ping-pong between two nodes; repeat for further probes.",
            parser=run_path,
        ),
    ],
    out: Annotated[Path, option("-o --out", "NAME.toml", "Platform file to write.")],
    platform: Annotated[
        str | None, option("--platform", "P", "Platform of the run to simulate.")
    ] = None,
    nodes: Annotated[int, option("--nodes", "N", "Nodes to simulate.", min=2)] = 16,
    cores: Annotated[int, option("--cores", "N", "Cores of each node.", min=1)] = 8,
    eager_bytes: Annotated[
        int,
        option(
            "--eager",
            "BYTES",
            "Message size from which the sender waits for the receiver (rendezvous).",
            min=1,
        ),
    ] = 65_536,
    quiet: QuietOption = False,
) -> None:
    """Make a simulated platform from a run, and print its agreement with that run."""
    import tomli_w

    from bareline.report.terminal.listings import calibrated_blocks
    from bareline.session.calibration import calibrate as calibrate_run
    from bareline.store.run import Run

    calibration = calibrate_run(
        [Run.open(path) for path in from_],
        platform=platform,
        nodes=nodes,
        cores=cores,
        eager_bytes=eager_bytes,
        tell=_progress(quiet=quiet),
        note=print_error,
    )
    try:
        replace_file(out, tomli_w.dumps({"platform": {out.stem: calibration.table}}))
    except OSError as error:
        raise unwritable(error, out) from error
    rows = calibration.rows()
    emit_blocks(lambda: rows, lambda: calibrated_blocks(rows, calibration.left_out, out))


def _progress(*, quiet: bool) -> Callable[[str], None]:
    """Return a function that prints the case that is simulated; with `quiet` it prints nothing."""

    def tell(case: str) -> None:
        if not quiet:
            print_error(f"simulating {case}")

    return tell


@app.command()
@prints("reparse", "session.reparse.ReadAgain", to_file=False)
def reparse(
    path: RunArgument,
    only: Annotated[
        str | None, option("--only", "PROBE", "Parse only the trials of this probe.")
    ] = None,
    study: Annotated[
        Path | None, option("--study", "FILE", "Study with corrected regular expressions.")
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Show the changes, write nothing.")] = False,
) -> None:
    """Parse the raw output of a run again, with the current parsers or a corrected study."""
    from bareline.report.terminal.runs import reread_blocks
    from bareline.report.writers.terminal import print_blocks
    from bareline.session.reparse import read_correction, reparse_run
    from bareline.store.run import Run

    run = Run.open(path)
    if only is not None and only not in run.header.probes:
        hint = f"it contains: {', '.join(run.header.probes)}"
        raise UsageError(f"the run contains no trials of '{only}'", where=str(path), hint=hint)
    if only is not None and study is not None:
        raise UsageError("--only and --study cannot be used together", hint="leave --only out")
    correction = None if study is None else read_correction(run, study)
    result = reparse_run(run, only=only, correction=correction, dry_run=dry_run)

    def people(console: Console) -> None:
        print_blocks(reread_blocks(run, result.changed, result.unread), console)
        changed = correction.changed if correction else {}
        for probe, keys in changed.items():
            print(f"{probe}: other {', '.join(keys)}")
        if correction and not correction.changed:
            print("the study reads outputs as the run does: nothing is to be read again")
            return
        written = "; nothing was written" if dry_run else ""
        print(
            f"{result.read} trials read again, {len(result.changed)} came out differently{written}"
        )

    emit(result.rows, people)


@app.command(name="import")
@prints("import", "session.imported.Imported")
def import_(
    files: Annotated[
        list[Path], argument("FILE...", "Existing outputs, also .gz, or folders of them.")
    ],
    out: Annotated[
        Path | None,
        option("-o --out", "RUN", "Run directory: a new one, or that of an earlier import."),
    ] = None,
    platform: Annotated[
        str | None,
        option(
            "--platform",
            "NAME",
            "Platform on which the outputs were measured; outputs of ReFrame and asv contain it.",
        ),
    ] = None,
    title: Annotated[str, option("--title", "T", "Description of the platform.")] = "",
    ranks: Annotated[
        int | None,
        option("--ranks", "N", "Number of ranks, for outputs that do not contain it.", min=1),
    ] = None,
    date: Annotated[
        str | None,
        option("--date", "DATE", "Date of outputs that do not contain it, e.g. 2024-02-05 (UTC)."),
    ] = None,
    skip_unknown: Annotated[
        bool, flag("--skip-unknown", "Skip files whose format is not known.")
    ] = False,
    per_commit: Annotated[
        bool, flag("--per-commit", "Write a run for each commit, in the folder of --out.")
    ] = False,
    explain: Annotated[
        bool, flag("--explain", "Show the recognised trials and their cases; write nothing.")
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Read existing outputs of OSU, IMB, ReFrame, hyperfine and more into a run."""
    from bareline.session import commits, imported, intake
    from bareline.session.dating import parse_date

    if explain:
        rows = intake.explain_files(files, ranks=ranks)
        emit(lambda: rows, lambda _: print("\n".join(imported.explanation(rows))))
        return
    if out is None:
        raise UsageError("the option is missing", where="--out", hint="add --out RUN, or --explain")
    day = None if date is None else parse_date(date)
    rest: dict[str, Any] = {
        "title": title,
        "ranks": ranks,
        "date": day,
        "skip_unknown": skip_unknown,
    }
    if per_commit:
        taken = commits.import_commits(files, platform, out, **rest)
    else:
        taken = [intake.import_files(files, platform, out, **rest)]
    lines = imported.commit_lines(taken) if per_commit else taken[0].lines()
    _print_imported(out, taken, lines, quiet=quiet)


def _print_imported(
    out: Path, taken: Sequence[Intake], lines: Sequence[str], *, quiet: bool
) -> None:
    """Print the imported trials, and exit with code 3 if any data was lost."""

    def people(_: Console) -> None:
        if not quiet:
            for line in lines:
                print(line, file=sys.stderr)
        print(out)

    emit(lambda: list(chain.from_iterable(intake.rows for intake in taken)), people)
    if any(intake.incomplete for intake in taken):
        raise typer.Exit(EXIT_TRIALS_FAILED)


@app.command()
@prints("export", "cli.output.Written")
def export(
    paths: RunsArgument,
    out: Annotated[Path, option("-o --out", "FILE", "A .csv, .jsonl, .parquet or .prom file.")],
    only: RowFilter,
) -> None:
    """Write every sample of runs as one tidy table, or the medians as OpenMetrics."""
    from bareline.report.content.exporting import write_samples

    count = write_samples(read_records(*paths, unlike=False), out, only.selection())
    row = {**written(out), "samples": count}
    emit(lambda: [row], lambda _: print(f"{count} samples\n{out}"))


@app.command()
@prints("reference", "cli.output.Written")
def reference(
    path: RunArgument,
    only: RowFilter,
    out: Annotated[Path, option("-o --out", "FILE", "File to write.")] = Path("reference.toml"),
    tolerance: Annotated[
        float,
        option(
            "--tolerance",
            "T",
            "Relative tolerance in both directions, e.g. 0.1.",
            min=0.0,
            max=10.0,
        ),
    ] = 0.1,
) -> None:
    """Write the medians of a run as reference values for `compare --reference`."""
    import tomli_w

    from bareline.analysis.numbers.references import references_of
    from bareline.analysis.numbers.summary import summarize

    records = read_records(path)
    content = references_of(only.selection().of(summarize(records), records), tolerance)
    number = sum(map(len, content["system"].values()))
    if not number:
        raise UsageError(
            "none of the chosen rows has a value that can be a reference value",
            where=str(path),
            hint="choose other rows",
        )
    head = f"# Reference values of {path.name}: lower and upper are relative to value.\n"
    try:
        replace_file(out, head + tomli_w.dumps(content))
    except OSError as error:
        raise unwritable(error, out) from error
    row = {**written(out), "samples": number}
    emit(lambda: [row], lambda _: print(f"{count(number, 'reference value')}\n{out}"))
