"""Begin a run, go on with one, say how one stands: run, continue, status."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.measuring import RunOptions, limits_of, takes_what_is_asked
from bareline.cli.options import (
    FileOption,
    JsonOption,
    MaxCoreHoursOption,
    NotBetweenOption,
    QuietOption,
    RunArgument,
    StopOption,
    WaitQuietOption,
)
from bareline.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_TRIALS_FAILED,
    complain,
    console,
    emit,
    emit_blocks,
    prints,
)
from bareline.vocabulary.errors import LimitReached, Stopped, TimeUp, UsageError
from bareline.vocabulary.units import listing

if TYPE_CHECKING:
    from bareline.platforms.slurm.options import SlurmOptions
    from bareline.session.begin import PlannedTrial
    from bareline.store.run import Run
    from bareline.study.study import Study
    from bareline.vocabulary.limits import Limits
    from bareline.vocabulary.platform import PlatformSpec

app = typer.Typer()

NodesOption = Annotated[
    int,
    typer.Option("--nodes", metavar="N", min=1, help="Nodes, where no platform names them."),
]
TimeMinOption = Annotated[
    int,
    typer.Option("--time-min", metavar="M", min=1, help="Time limit, where no platform names it."),
]
SystemOption = Annotated[
    str,
    typer.Option("--with", metavar="SYSTEM", help="Batch system: slurm, pbs, torque, lsf, flux."),
]
ChainOption = Annotated[
    int,
    typer.Option(
        "--chain",
        metavar="N",
        min=1,
        help="Jobs, each of which goes on where the one before has stopped.",
    ),
]
AfterOption = Annotated[
    str, typer.Option("--after", metavar="JOB", help="Begin when this job has ended well.")
]
BatchOptions = Annotated[
    str,
    typer.Option(
        "--batch-options", metavar="WORDS", help="More for the batch system, e.g. '-q short'."
    ),
]

RetryOption = Annotated[bool, typer.Option("--retry-failed", help="Also run again what failed.")]
AnywayOption = Annotated[
    bool, typer.Option("--anyway", help="Also on another machine: its launches are kept apart.")
]
TrustOption = Annotated[
    bool, typer.Option("--trust", help="Run the programs of another user's run; asked once.")
]


@app.command()
@prints("run", "session.status.Standing")
@prints("run-dry-run", "session.begin.PlannedTrial")
@takes_what_is_asked
def run(asked: RunOptions) -> None:
    """Measure a study on platforms; the run directory is the last line on stdout."""
    from bareline.session import begin
    from bareline.session.pauses import look, see_to_quiet

    began, wait_s = look(), asked.wait_s
    planned = _planned(asked)
    if asked.dry_run:
        _show_plan(asked, planned)
        return
    begin.refuse_unusable(planned.platforms)
    if not asked.on:
        complain(f"measuring on {listing([spec.name for spec in planned.platforms])}; --on chooses")
    made = _make(asked, planned)
    see_to_quiet(planned.platforms, began, wait_s, complain)
    _execute(made, asked.as_json, stop_on_failure=asked.stop_on_failure, quiet=asked.quiet)


@app.command()
@prints("submit", "session.submission.Submission")
@prints("submit-dry-run", "session.submission.Submitting", alone=True)
@takes_what_is_asked
def submit(
    asked: RunOptions,
    system: SystemOption = "slurm",
    nodes: NodesOption = 1,
    time_min: TimeMinOption = 60,
    chain: ChainOption = 1,
    after: AfterOption = "",
    batch_options: BatchOptions = "",
) -> None:
    """Let batch jobs measure a study; the run directory is the last line on stdout."""
    from bareline.report.terminal.runs import job_blocks
    from bareline.session import begin
    from bareline.session import submission as jobs
    from bareline.session.batch import JobRequest

    planned = _planned(asked, in_a_job=True)
    request = JobRequest(nodes, time_min, _words(batch_options), after=after, well=bool(after))
    order = jobs.Order(system, request, chain, tuple(asked.for_the_job()))
    order = jobs.fit(order, planned.platforms, planned.largest)
    if asked.dry_run:
        folder = asked.out or begin.default_folder(planned.study)
        job = order.shown(folder, _rows(asked, planned))
        emit_blocks(asked.as_json, lambda: job, lambda: job_blocks(job))
        if not asked.as_json:
            _show_plan(asked, planned)
        return
    made = _make(asked, planned)
    handed = jobs.submit(made, order)
    complain(f"{handed}; `bareline status {shlex.quote(str(made.path))}` follows it")
    emit(asked.as_json, lambda: [asdict(handed)], lambda _: print(made.path))


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"{error}: {text}", where="--batch-options") from error


@dataclass(frozen=True, slots=True)
class _Planned:
    """A study as it is measured: cast, with its control, on platforms that are described.

    - `control`: the platform that is the baseline once more, "" without one.
    - `largest`: options of the Slurm platform whose nodes a job asks for.
    """

    study: Study
    platforms: list[PlatformSpec]
    baseline: str
    control: str
    largest: SlurmOptions | None


def _planned(asked: RunOptions, *, in_a_job: bool = False) -> _Planned:
    """Find out what is asked for, and complain of what is lacking or in vain."""
    from bareline.session import begin
    from bareline.session.submission import inheriting
    from bareline.session.variants import with_builds, with_control

    study, specs, lacking = _chosen(asked)
    specs, largest = inheriting(specs) if in_a_job else (specs, None)
    built = with_builds(study, specs, asked.build_a or [], asked.build_b or [])
    base = begin.choose_baseline(built.study, built.platforms, asked.baseline)
    names = [spec.name for spec in built.platforms]
    built.study.check_question(names, where="the question")
    added = with_control(built.study, built.platforms, base, asked.control)
    _complain_of([*lacking, built.note, added.note], added.study, added.platforms, base)
    return _Planned(added.study, added.platforms, base, added.name, largest)


def _show_plan(asked: RunOptions, planned: _Planned) -> None:
    from bareline.platforms.base import exact_among
    from bareline.report.terminal.runs import PlanNotes, plan_blocks

    study = planned.study
    about = PlanNotes(
        study.scale,
        study.scale_changes,
        exact_among(planned.platforms),
        planned.control,
        baseline=planned.baseline,
        costs=[*study.source_lines(), *_costs(planned)],
    )
    rows = _rows(asked, planned)
    emit_blocks(asked.as_json, lambda: rows, lambda: plan_blocks(rows, about))


def _costs(planned: _Planned) -> list[str]:
    from bareline.session.meter import outlook, outlook_lines
    from bareline.study.plan import make_plan

    study, specs = planned.study, planned.platforms
    return outlook_lines(outlook(study, specs, make_plan(study, specs)), study.max_core_hours)


def _rows(asked: RunOptions, planned: _Planned) -> list[PlannedTrial]:
    from bareline.session import begin

    return begin.plan_rows(planned.study, planned.platforms, asked.seed, control=planned.control)


def _make(asked: RunOptions, planned: _Planned) -> Run:
    from bareline.session import begin

    study = planned.study
    if study.scale_changes:
        complain(
            f"scale {study.scale} is not the study's own size; --dry-run lists what it changes"
        )
    return begin.create_run(
        study,
        planned.platforms,
        asked.out or begin.default_folder(study),
        baseline=planned.baseline,
        control=planned.control,
        seed=asked.seed,
    )


def _chosen(asked: RunOptions) -> tuple[Study, list[PlatformSpec], list[str]]:
    """Find a study and the platforms that it is to run on, and what it lacks then, in lines."""
    from bareline.platforms.config import choose_platforms
    from bareline.session import begin
    from bareline.study.catalogue import find_study

    study, on = find_study(asked.study), asked.on or []
    if asked.scale is not None:
        study = study.at_scale(asked.scale)
    if asked.launches is not None:
        study = study.with_launches(asked.launches)
    if asked.question is not None:
        study = study.asking(asked.question)
    limits = limits_of(asked.max_core_hours, asked.not_between)
    study = study.model_copy(update=limits.model_dump(exclude_none=True))
    study, lacking = begin.cast_study(
        study, asked.as_ or [], on, asked.platforms, anyway=asked.anyway or asked.dry_run
    )
    names = study.platforms if study.roles else on or study.platforms
    if not names:
        raise UsageError("no platform is named", hint="add --on P; `bareline platforms` lists them")
    return study, choose_platforms(names, asked.platforms), lacking


def _complain_of(
    lacking: list[str], study: Study, specs: list[PlatformSpec], baseline: str
) -> None:
    """Say what of a study is not measured on these platforms, and what is measured in vain."""
    from bareline.study.plan import choose, left_out_lines, unlike

    left_out = [f"left out on {line}" for line in left_out_lines(choose(study, specs).left_out)]
    for line in [*filter(None, lacking), *left_out, *unlike(study, specs, baseline)]:
        complain(line)


@app.command(name="continue")
@prints("continue", "session.status.Standing")
def continue_(
    path: RunArgument,
    retry_failed: RetryOption = False,
    anyway: AnywayOption = False,
    trust: TrustOption = False,
    max_core_hours: MaxCoreHoursOption = None,
    not_between: NotBetweenOption = None,
    wait_quiet: WaitQuietOption = None,
    quiet: QuietOption = False,
    stop_on_failure: StopOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run what a run directory still lacks, after a kill or a repair."""
    from bareline.session.origin import platforms_of, see_to_trust
    from bareline.session.pauses import look, see_to_quiet
    from bareline.session.submission import see_to_jobs
    from bareline.store.run import Run
    from bareline.vocabulary.units import parse_duration

    began = look()
    wait_s = None if wait_quiet is None else parse_duration(wait_quiet)
    opened = Run.open(path)
    see_to_trust(opened, trust=trust)
    for line in see_to_jobs(opened):
        complain(line)
    see_to_quiet(platforms_of(opened), began, wait_s, complain)
    _execute(
        opened,
        as_json,
        retry_failed=retry_failed,
        anyway=anyway,
        limits=limits_of(max_core_hours, not_between),
        stop_on_failure=stop_on_failure,
        quiet=quiet,
    )


def _execute(
    made: Run,
    as_json: bool,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    limits: Limits | None = None,
    stop_on_failure: bool = False,
    quiet: bool = False,
) -> None:
    from bareline.report.terminal.progress import progress_on
    from bareline.report.terminal.runs import run_end_blocks
    from bareline.report.writers.terminal import print_blocks
    from bareline.session.runner import execute
    from bareline.session.submission import end_chain

    path = shlex.quote(str(made.path))
    try:
        shown = console(stderr=True, quiet=quiet)
        with progress_on(shown, stop_on_failure=stop_on_failure) as progress:
            tally = execute(made, progress, retry_failed=retry_failed, anyway=anyway, limits=limits)
    except KeyboardInterrupt:
        complain(f"interrupted; `bareline continue {path}` goes on where it stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except LimitReached as error:
        complain(f"{error}; `bareline continue --max-core-hours N {path}` goes on")
        _tell(made, as_json)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except TimeUp as error:
        complain(f"{error}; `bareline continue {path}` in another job goes on")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except Stopped as error:
        complain(f"{error}; `bareline continue {path}` goes on where it stopped")
        _tell(made, as_json)
        raise typer.Exit(EXIT_TRIALS_FAILED) from None
    if not tally.remaining:
        end_chain(made)
    ends_on = console(stderr=True, quiet=quiet and not tally.wrong)
    print_blocks(run_end_blocks(made, tally), ends_on)
    if tally.blocks_had is not None:
        from bareline.session.status import shortfall

        complain(shortfall(made, tally.blocks_had))
    _tell(made, as_json)
    if tally.wrong:
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _tell(made: Run, as_json: bool) -> None:
    from bareline.session.status import status_of

    emit(as_json, lambda: [status_of(made)], lambda _: print(made.path))


@app.command()
@prints("runs", "store.naming.RunListed")
def runs(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="Where they lie (default: runs).")
    ] = None,
    as_json: JsonOption = False,
    _out: FileOption = None,
) -> None:
    """List run directories, the latest last."""
    from bareline.report.terminal.runs import run_list_blocks
    from bareline.store.naming import RUNS, list_runs, run_row

    rows = [run_row(one) for one in list_runs(folder or RUNS)]
    emit_blocks(as_json, lambda: rows, lambda: run_list_blocks(rows))


@app.command()
@prints("status", "session.status.Standing")
def status(path: RunArgument, as_json: JsonOption = False, _out: FileOption = None) -> None:
    """Say how a run stands: what is planned, measured, failed and left."""
    from bareline.report.terminal.runs import status_blocks
    from bareline.session.status import status_of
    from bareline.session.submission import states_of, submission_of
    from bareline.store.run import Run

    opened = Run.open(path)
    row = status_of(opened)
    submission = submission_of(opened)
    if submission is not None:
        row["job"] = str(submission)
        row["job_state"] = ", ".join(state.words for state in states_of(submission))
    emit_blocks(as_json, lambda: [row], lambda: status_blocks(row))
