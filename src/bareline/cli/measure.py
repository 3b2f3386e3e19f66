"""Begin a run, go on with one, say how one stands: run, continue, status."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli import completing
from bareline.cli.options import (
    BaselineOption,
    JsonOption,
    PlatformsOption,
    QuietOption,
    RunArgument,
    StopOption,
    WaitQuietOption,
)
from bareline.cli.output import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED, complain, console, emit
from bareline.vocabulary.errors import Stopped, TimeUp, UsageError

if TYPE_CHECKING:
    from bareline.session.control import Controlled
    from bareline.store.run import Run
    from bareline.study.study import Study
    from bareline.vocabulary.platform import PlatformSpec

app = typer.Typer()

StudyArgument = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A built-in study or a TOML file.",
        autocompletion=completing.studies,
    ),
]
OnOption = Annotated[
    list[str] | None,
    typer.Option(
        "--on",
        metavar="P",
        help="Platform; repeat for more.",
        autocompletion=completing.platforms,
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("-o", "--out", metavar="DIR", help="Run directory to make.")
]
SeedOption = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Seed of the trials' order.")
]
ScaleOption = Annotated[
    str | None,
    typer.Option("--scale", metavar="NAME", help="Scale of the study, e.g. small."),
]
ControlOption = Annotated[
    bool | None,
    typer.Option(
        "--control/--no-control",
        help="Measure the baseline twice, to see what the machine does by itself.",
        show_default=False,
    ),
]

LaunchesOption = Annotated[
    int | None, typer.Option("--launches", metavar="N", min=1, help="Most trials of each case.")
]
RoleOption = Annotated[
    list[str] | None,
    typer.Option("--as", metavar="ROLE=P", help="Platform that takes a role; repeat for more."),
]
BuildAOption = Annotated[
    list[str] | None,
    typer.Option(
        "--build-a",
        metavar="BUILD",
        help="A build: a path ({build}), or KEY=VALUE as in a platform file; repeat for more.",
    ),
]
BuildBOption = Annotated[
    list[str] | None,
    typer.Option("--build-b", metavar="BUILD", help="The build that is compared with it."),
]
NodesOption = Annotated[
    int,
    typer.Option("--nodes", metavar="N", min=1, help="Nodes, where no Slurm platform names them."),
]
TimeMinOption = Annotated[
    int,
    typer.Option("--time-min", metavar="M", min=1, help="Time limit, where no platform names it."),
]
SystemOption = Annotated[
    str,
    typer.Option("--with", metavar="SYSTEM", help="Batch system: slurm, pbs, lsf, flux ..."),
]


@app.command()
def run(
    study: StudyArgument,
    on: OnOption = None,
    as_: RoleOption = None,
    build_a: BuildAOption = None,
    build_b: BuildBOption = None,
    platforms: PlatformsOption = None,
    out: OutOption = None,
    baseline: BaselineOption = None,
    seed: SeedOption = None,
    launches: LaunchesOption = None,
    scale: ScaleOption = None,
    control: ControlOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, run nothing.")] = False,
    wait_quiet: WaitQuietOption = None,
    quiet: QuietOption = False,
    stop_on_failure: StopOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure a study on platforms; the run directory is the last line on stdout."""
    from bareline.session import begin
    from bareline.session.builds import with_builds
    from bareline.session.control import with_control
    from bareline.session.quiet import look, see_to_quiet
    from bareline.vocabulary.units import parse_duration

    began = look()
    wait_s = None if wait_quiet is None else parse_duration(wait_quiet)
    chosen, specs, lacking = _chosen(study, scale, launches, as_ or [], on or [], platforms)
    built = with_builds(chosen, specs, build_a or [], build_b or [])
    base = begin.choose_baseline(built.study, built.platforms, baseline)
    asked = with_control(built.study, built.platforms, base, control)
    chosen, specs = asked.study, asked.platforms
    _complain_of([*lacking, built.told, asked.reason], chosen, specs, base)
    if dry_run:
        _show_plan(asked, base, seed, as_json=as_json)
        return
    begin.refuse_unusable(specs)
    if chosen.scale_changes:
        complain(
            f"scale {chosen.scale} is not the study's own size; --dry-run lists what it changes"
        )
    folder = out or begin.default_folder(chosen)
    made = begin.create_run(chosen, specs, folder, baseline=base, control=asked.name, seed=seed)
    see_to_quiet(specs, began, wait_s, complain)
    _execute(made, stop_on_failure=stop_on_failure, quiet=quiet)


def _show_plan(asked: Controlled, baseline: str, seed: int | None, *, as_json: bool) -> None:
    from bareline.platforms.base import exact_among
    from bareline.report.terminal.runs import PlanNotes, print_plan
    from bareline.session import begin

    study, specs = asked.study, asked.platforms
    rows = begin.plan_rows(study, specs, seed, control=asked.name)
    exact = exact_among(specs)
    about = PlanNotes(study.scale, study.scale_changes, exact, asked.name, baseline=baseline)
    emit(as_json, lambda: rows, lambda on: print_plan(rows, on, about))


@app.command()
def submit(
    study: StudyArgument,
    on: OnOption = None,
    platforms: PlatformsOption = None,
    out: OutOption = None,
    baseline: BaselineOption = None,
    seed: SeedOption = None,
    scale: ScaleOption = None,
    control: ControlOption = None,
    system: SystemOption = "slurm",
    nodes: NodesOption = 1,
    time_min: TimeMinOption = 60,
) -> None:
    """Let a batch job measure a study; the run directory is the last line on stdout."""
    from bareline.session import begin
    from bareline.session.control import with_control
    from bareline.session.submission import inheriting
    from bareline.session.submission import submit as hand_over

    chosen, given, lacking = _chosen(study, scale, None, [], on or [], platforms)
    specs, largest = inheriting(given)
    base = begin.choose_baseline(chosen, specs, baseline)
    asked = with_control(chosen, specs, base, control)
    chosen, specs = asked.study, asked.platforms
    _complain_of([*lacking, asked.reason], chosen, specs, base)
    folder = out or begin.default_folder(chosen)
    made = begin.create_run(chosen, specs, folder, baseline=base, control=asked.name, seed=seed)
    job = hand_over(made, system=system, platform=largest, nodes=nodes, time_min=time_min)
    complain(
        f"{job.system} job {job.job}; `bareline status {shlex.quote(str(made.path))}` follows it"
    )
    print(made.path)


def _chosen(
    name: str,
    scale: str | None,
    launches: int | None,
    roles: list[str],
    on: list[str],
    platforms: Path | None,
) -> tuple[Study, list[PlatformSpec], list[str]]:
    """Find a study and the platforms that it is to run on, and what it lacks then, in lines."""
    from bareline.platforms.config import choose_platforms
    from bareline.session import begin
    from bareline.study.catalogue import find_study

    study = find_study(name)
    if scale is not None:
        study = study.at_scale(scale)
    if launches is not None:
        study = study.with_launches(launches)
    study, lacking = begin.cast_study(study, roles, on, platforms)
    names = study.platforms if study.roles else on or study.platforms
    if not names:
        raise UsageError("no platform is named", hint="add --on P; `bareline platforms` lists them")
    return study, choose_platforms(names, platforms), lacking


def _complain_of(
    lacking: list[str], study: Study, specs: list[PlatformSpec], baseline: str
) -> None:
    """Say what of a study is not measured on these platforms, and what is measured in vain."""
    from bareline.study.likeness import unlike
    from bareline.study.plan import choose
    from bareline.vocabulary.capacity import told

    left_out = [f"left out on {line}" for line in told(choose(study, specs).left_out)]
    for line in [*filter(None, lacking), *left_out, *unlike(study, specs, baseline)]:
        complain(line)


@app.command(name="continue")
def continue_(
    path: RunArgument,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Also run again what failed.")
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Also on another machine: its launches are kept apart."),
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Run the programs of another user's run; asked once.")
    ] = False,
    wait_quiet: WaitQuietOption = None,
    quiet: QuietOption = False,
    stop_on_failure: StopOption = False,
) -> None:
    """Run what a run directory still lacks, after a kill or a repair."""
    from bareline.session.origin import platforms_of
    from bareline.session.quiet import look, see_to_quiet
    from bareline.session.trust import see_to_trust
    from bareline.store.run import Run
    from bareline.vocabulary.units import parse_duration

    began = look()
    wait_s = None if wait_quiet is None else parse_duration(wait_quiet)
    opened = Run.open(path)
    see_to_trust(opened, trust=trust)
    see_to_quiet(platforms_of(opened), began, wait_s, complain)
    _execute(
        opened,
        retry_failed=retry_failed,
        anyway=anyway,
        stop_on_failure=stop_on_failure,
        quiet=quiet,
    )


def _execute(
    made: Run,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    stop_on_failure: bool = False,
    quiet: bool = False,
) -> None:
    from bareline.report.terminal.progress import progress_on
    from bareline.report.terminal.runs import print_run_end
    from bareline.session.runner import execute

    path = shlex.quote(str(made.path))
    try:
        shown = console(stderr=True, quiet=quiet)
        with progress_on(shown, stop_on_failure=stop_on_failure) as progress:
            tally = execute(made, progress, retry_failed=retry_failed, anyway=anyway)
    except KeyboardInterrupt:
        complain(f"interrupted; `bareline continue {path}` goes on where it stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except TimeUp as error:
        complain(f"{error}; `bareline continue {path}` in another job goes on")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except Stopped as error:
        complain(f"{error}; `bareline continue {path}` goes on where it stopped")
        print(made.path)
        raise typer.Exit(EXIT_TRIALS_FAILED) from None
    print_run_end(made, tally, shown)
    print(made.path)
    if tally.failed or not tally.measured:
        raise typer.Exit(EXIT_TRIALS_FAILED)


@app.command()
def runs(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where they lie (default: runs).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List run directories, the latest last."""
    from bareline.report.terminal.runs import print_runs
    from bareline.store.naming import RUNS, list_runs

    rows = [one.row() for one in list_runs(folder or RUNS)]
    emit(as_json, lambda: rows, lambda console: print_runs(rows, console))


@app.command()
def status(path: RunArgument, as_json: JsonOption = False) -> None:
    """Say how a run stands: what is planned, measured, failed and left."""
    from bareline.report.terminal.runs import print_status
    from bareline.session.status import status_of
    from bareline.session.submission import submission_of, submission_state
    from bareline.store.run import Run

    opened = Run.open(path)
    row = status_of(opened)
    submission = submission_of(opened)
    if submission is not None:
        row["job"] = f"{submission.system} {submission.job}"
        row["job_state"] = submission_state(submission)
    emit(as_json, lambda: [row], lambda console: print_status(row, console))
