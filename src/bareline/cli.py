"""The command line: parse, call, print. What a command does lives in the modules it imports.

Imports stand inside the commands, so that ``bareline --help`` is fast.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from bareline.errors import BarelineError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from bareline.store import Run

#: Exit codes, as docs/reference/command-line.md lists them.
EXIT_CONDITION = 1
EXIT_USAGE = 2
EXIT_TRIALS_FAILED = 3
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="bareline",
    help="What does a platform cost an MPI application? Measure, compare, explain.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

JsonOption = Annotated[bool, typer.Option("--json", help="Tidy rows as JSON on stdout.")]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
RunsArgument = Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")]
PlatformsOption = Annotated[
    Path | None,
    typer.Option("--platforms", metavar="FILE", help="Platform file (default: platforms.toml)."),
]
BaselineOption = Annotated[
    str | None, typer.Option("--baseline", metavar="P", help="Platform to compare with.")
]
MarginOption = Annotated[
    float | None,
    typer.Option("--margin", min=0.0001, max=0.9999, help="Difference that does not matter."),
]


def main() -> NoReturn:
    """Run the command line; every error of ours is one line on stderr."""
    try:
        app(standalone_mode=True)
    except BarelineError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does: that is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(0)


def _complain(text: str) -> None:
    print(f"bareline: {text}", file=sys.stderr)


def _print_json(rows: Any) -> None:
    json.dump(rows, sys.stdout, indent=1, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def _console(*, stderr: bool = False) -> Console:
    from bareline.report.terminal import make_console

    return make_console(stderr=stderr)


@app.command()
def doctor(
    deep: Annotated[bool, typer.Option("--deep", help="Also compile and run an MPI job.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what works here, what does not, why, and the command that mends it."""
    from bareline.doctor import examine, render, to_rows

    checks = examine(deep=deep)
    if as_json:
        _print_json(to_rows(checks))
    else:
        render(checks, _console())


@app.command()
def build(
    on: Annotated[
        str | None, typer.Option("--on", metavar="P", help="Platform to build for.")
    ] = None,
    mpi: Annotated[
        str, typer.Option("--mpi", help="Without --on: auto, openmpi, mpich, intel or a path.")
    ] = "auto",
    platforms: PlatformsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build the native programs for a compiler and MPI library; cached."""
    from bareline.platforms.listing import build_for, build_row

    row = build_for(on, platforms) if on is not None else build_row(mpi)
    if as_json:
        _print_json([row])
    else:
        state = "cached" if row["cached"] else f"built in {row['seconds']:.1f} s"
        print(f"{row['toolchain']}: {state}\n{row['path']}")


@app.command()
def run(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A built-in study or a TOML file.")],
    on: Annotated[
        list[str] | None, typer.Option("--on", metavar="P", help="Platform; repeat for more.")
    ] = None,
    platforms: PlatformsOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Run directory to make.")
    ] = None,
    baseline: BaselineOption = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the trials' order.")] = None,
    launches: Annotated[
        int | None, typer.Option("--launches", min=1, help="Most trials of each case.")
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option("--scale", metavar="NAME", help="Scale of the study, e.g. small."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, run nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a study on platforms; the run directory is the last line on stdout."""
    from bareline import session
    from bareline.platforms.config import choose_platforms
    from bareline.study import find_study

    chosen = find_study(study)
    if scale is not None:
        chosen = chosen.at_scale(scale)
    if launches is not None:
        chosen = chosen.with_launches(launches)
    names = on or chosen.platforms
    if not names:
        raise UsageError("no platform is named", hint="add --on P; `bareline platforms` lists them")
    specs = choose_platforms(names, platforms)
    base = session.choose_baseline(chosen, specs, baseline)
    if dry_run:
        rows = session.plan_rows(chosen, specs, seed)
        _show_plan(rows, chosen.scale, as_json=as_json)
        return
    made = session.create_run(
        chosen, specs, out or session.default_folder(chosen), baseline=base, seed=seed
    )
    _execute(made)


@app.command(name="continue")
def continue_(
    path: RunArgument,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also run again what failed.")
    ] = False,
) -> None:
    """Run what a run directory still lacks, after a kill or a repair."""
    from bareline.store import Run

    _execute(Run.open(path), retry_failed=retry_failed)


def _execute(made: Run, *, retry_failed: bool = False) -> None:
    from bareline import session
    from bareline.report.progress import progress_on

    try:
        with progress_on(_console(stderr=True)) as progress:
            tally = session.execute(made, progress, retry_failed=retry_failed)
    except KeyboardInterrupt:
        _complain(f"interrupted; `bareline continue {made.path}` goes on where it stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    from bareline.report.terminal import print_run_end

    print_run_end(made, tally, _console(stderr=True))
    print(made.path)
    if tally.failed:
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _show_plan(rows: list[dict[str, Any]], scale: str | None, *, as_json: bool) -> None:
    if as_json:
        _print_json(rows)
        return
    from bareline.report.terminal import print_plan

    print_plan(rows, _console(), scale=scale)


@app.command()
def status(path: RunArgument, as_json: JsonOption = False) -> None:
    """Say how a run stands: what is planned, measured, failed and left."""
    from bareline import session
    from bareline.store import Run

    row = session.status_of(Run.open(path))
    if as_json:
        _print_json([row])
        return
    from bareline.report.terminal import print_status

    print_status(row, _console())


@app.command(context_settings={"ignore_unknown_options": True})
def profile(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Profile to write.")],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND...", help="mpirun, its options, a program.")
    ],
    mpi: Annotated[
        str, typer.Option("--mpi", help="The program's library: auto, a flavour or a path.")
    ] = "auto",
    split: Annotated[
        bool, typer.Option("--split", help="Tell waiting from transfer, by a barrier before each.")
    ] = False,
    region: Annotated[
        list[str] | None, typer.Option("--region", metavar="N=NAME", help="Name of a region.")
    ] = None,
) -> None:
    """Run an MPI program and write what it asks of MPI; its exit code is ours."""
    from bareline.profile.run import parse_regions, profile_command

    done = profile_command(command, out, mpi=mpi, split=split, regions=parse_regions(region or []))
    if not done.complete:
        _complain(done.ended or "no MPI program was started, so there is no profile")
    if done.path is not None:
        print(done.path)
    raise typer.Exit(done.exit_code or (EXIT_USAGE if done.path is None else 0))


@app.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory or a profile.")],
    everything: Annotated[bool, typer.Option("--all", help="Also detail metrics.")] = False,
    facts: Annotated[
        bool, typer.Option("--facts", help="The platforms' characteristics and differences.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the medians of a run with their intervals, what its platforms are, or a profile."""
    if path.is_file():
        _show_profile(path, everything=everything, as_json=as_json)
        return
    from bareline.compare import as_rows, read_runs
    from bareline.store import Run

    if facts:
        _show_facts(Run.open(path), everything=everything, as_json=as_json)
        return
    records = read_runs([Run.open(path)])
    if as_json:
        _print_json(as_rows(records.summary))
        return
    from bareline.report.profile.terminal import print_profile_lines
    from bareline.report.profile.trials import profile_lines
    from bareline.report.terminal import print_summary

    console = _console()
    print_summary(records.summary, console, details=everything)
    print_profile_lines(profile_lines(records), console)


def _show_profile(path: Path, *, everything: bool, as_json: bool) -> None:
    from bareline.profile.files import read_profile, to_rows

    found = read_profile(path)
    if as_json:
        _print_json(to_rows(found))
        return
    from bareline.report.profile.terminal import print_profile

    print_profile(found, _console(), everything=everything)


def _show_facts(run: Run, *, everything: bool, as_json: bool) -> None:
    from bareline.facts import to_rows
    from bareline.report.gather import fact_lines
    from bareline.report.terminal import print_facts

    facts = run.facts()
    if as_json:
        _print_json(to_rows(facts))
    else:
        print_facts(fact_lines(facts), list(facts), _console(), details=everything)


@app.command()
def compare(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Also detail metrics.")] = False,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if", metavar="CONDITION", help="Exit with 1 if e.g. 'mpi.latency > 1.1'."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the platforms of one or several runs with a baseline."""
    from bareline.compare import as_rows, compare_platforms, read_runs
    from bareline.conditions import parse_condition
    from bareline.store import Run

    conditions = [parse_condition(text) for text in fail_if or []]
    records = read_runs([Run.open(path) for path in paths])
    comparison = compare_platforms(records, baseline, margin=margin)
    violations = [line for condition in conditions for line in condition.violations(comparison)]
    if as_json:
        _print_json(as_rows(comparison))
    else:
        from bareline.ladder import all_statements
        from bareline.report.terminal import print_comparison

        told = all_statements(records, baseline, margin=margin)
        print_comparison(told, comparison, _console(), details=everything)
    for line in violations:
        _complain(f"condition met: {line}")
    if violations:
        raise typer.Exit(EXIT_CONDITION)


@app.command()
def explain(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say in words how much each layer loses, and how sure that is."""
    from bareline.compare import read_runs
    from bareline.ladder import all_statements, as_rows
    from bareline.store import Run

    records = read_runs([Run.open(path) for path in paths])
    if as_json:
        _print_json(as_rows(records, baseline, margin=margin))
        return
    from bareline.report.terminal import print_statements

    print_statements(all_statements(records, baseline, margin=margin), _console())


@app.command()
def report(
    paths: RunsArgument,
    baseline: BaselineOption = None,
    margin: MarginOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Page to write.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", metavar="DIR", help="Also SVG and PNG files.")
    ] = None,
) -> None:
    """Write one self-contained HTML page; its path is the last line on stdout."""
    if len(paths) == 1 and paths[0].is_file():
        from bareline.profile.files import read_profile
        from bareline.report.profile.page import write_profile_page

        print(write_profile_page(read_profile(paths[0]), out or paths[0].with_suffix(".html")))
        return
    from bareline.compare import read_runs
    from bareline.report.gather import document_of
    from bareline.report.html import write_figures, write_page
    from bareline.store import Run

    records = read_runs([Run.open(path) for path in paths])
    document = document_of(records, baseline=baseline, margin=margin)
    if figures is not None:
        write_figures(document, figures)
    page = out or paths[0] / "report.html"
    write_page(document, page)
    print(page)


@app.command()
def reparse(
    path: RunArgument,
    only: Annotated[
        str | None, typer.Option("--only", metavar="PROBE", help="Only this probe's trials.")
    ] = None,
) -> None:
    """Read the raw output of a run again with the parsers of today."""
    from bareline.runner import reparse as reparse_run
    from bareline.store import Run

    opened = Run.open(path)
    if only is not None and only not in opened.header.probes:
        hint = f"it holds: {', '.join(opened.header.probes)}"
        raise UsageError(f"holds no trials of '{only}'", where=str(path), hint=hint)
    read, changed = reparse_run(opened, only=only)
    print(f"{read} trials read again, {changed} came out differently")


@app.command(name="import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Existing outputs.")],
    platform: Annotated[
        str, typer.Option("--platform", metavar="NAME", help="Platform that they come from.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="RUN", help="Run directory: new, or of an import.")
    ],
    title: Annotated[str, typer.Option("--title", help="The platform in words.")] = "",
    ranks: Annotated[
        int | None, typer.Option("--ranks", min=1, help="Ranks of outputs that do not say it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read existing outputs of OSU, IMB, HPL and others into a run."""
    from bareline.intake import import_files

    intake = import_files(files, platform, out, title=title, ranks=ranks)
    if as_json:
        _print_json(intake.rows)
    else:
        for line in intake.lines():
            print(line, file=sys.stderr)
        print(out)
    if intake.failed:
        raise typer.Exit(EXIT_TRIALS_FAILED)


@app.command()
def export(
    paths: RunsArgument,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="A .csv, .jsonl or .parquet file.")
    ],
) -> None:
    """Write every sample of runs as one tidy table."""
    from bareline.compare import read_runs
    from bareline.report.exporting import write_samples
    from bareline.store import Run

    rows = write_samples(read_runs([Run.open(path) for path in paths]), out)
    print(f"{rows} samples\n{out}")


platforms_app = typer.Typer(
    help="List the platforms, show one, or remove what a killed bareline left behind.",
    invoke_without_command=True,
    rich_markup_mode=None,
)
app.add_typer(platforms_app, name="platforms")


@platforms_app.callback()
def platforms_list(
    context: typer.Context, platforms: PlatformsOption = None, as_json: JsonOption = False
) -> None:
    """List the platforms with what is available here, and why the others are not."""
    if context.invoked_subcommand is not None:
        return
    from bareline.platforms.listing import platform_rows

    rows = platform_rows(platforms)
    if as_json:
        _print_json(rows)
        return
    from bareline.report.terminal import print_platforms

    print_platforms(rows, _console())


@platforms_app.command(name="show")
def platforms_show(
    name: Annotated[str, typer.Argument(metavar="NAME")],
    platforms: PlatformsOption = None,
    xml: Annotated[
        bool, typer.Option("--xml", help="A virtual machine's libvirt definition.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a platform as it is configured, defaults included."""
    from bareline.platforms.config import choose_platforms
    from bareline.platforms.listing import definition, spec_toml

    spec = choose_platforms([name], platforms)[0]
    if xml:
        print(definition(spec))
    elif as_json:
        _print_json({"name": spec.name, **spec.to_dict()})
    else:
        print(spec_toml(spec), end="")


@platforms_app.command(name="clean")
def platforms_clean() -> None:
    """Remove what a killed bareline left behind; nothing of other people's is touched."""
    from bareline.platforms.listing import clean

    removed = clean()
    for line in removed:
        print(line)
    if not removed:
        print("nothing was left behind")


@app.command()
def probes(
    name: Annotated[str | None, typer.Argument(metavar="[PROBE]")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the probes, or show one with its parameters and metrics."""
    from bareline.probes.listing import probe_rows

    rows = probe_rows(name)
    if as_json:
        _print_json(rows)
        return
    from bareline.report.terminal import print_probe, print_probes

    if name is None:
        print_probes(rows, _console())
    else:
        print_probe(rows[0], _console())


@app.command()
def studies(as_json: JsonOption = False) -> None:
    """List the built-in studies."""
    from bareline.study import study_rows

    rows = study_rows()
    if as_json:
        _print_json(rows)
        return
    from bareline.report.terminal import print_studies

    print_studies(rows, _console())


def _print_version(wanted: bool) -> None:
    if wanted:
        from bareline import __version__

        print(f"bareline {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """What does a platform cost an MPI application? Measure, compare, explain."""
