"""Begin a run, go on with one, say how one stands: run, submit, continue, runs, status."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.options import (
    MaxCoreHoursOption,
    NotBetweenOption,
    QuietOption,
    RunArgument,
    RunOptions,
    StopOption,
    WaitQuietOption,
    seconds,
)
from bareline.cli.output import (
    EXIT_INTERRUPTED,
    EXIT_TRIALS_FAILED,
    complain,
    console,
    emit,
    emit_blocks,
)
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import LimitReached, Stopped, TimeUp, UsageError
from bareline.vocabulary.units import listing

if TYPE_CHECKING:
    from bareline.platforms.slurm.options import SlurmOptions
    from bareline.report.blocks import Block
    from bareline.session.begin import PlannedTrial
    from bareline.session.submission import Order
    from bareline.store.run import Run
    from bareline.study.study import Study
    from bareline.vocabulary.limits import Limits
    from bareline.vocabulary.platform import PlatformSpec

app = typer.Typer()


def _limits(max_core_hours: float | None, not_between: str | None) -> Limits:
    from bareline.vocabulary.limits import Limits, parse_hours

    parse_hours(not_between or "")
    return Limits(max_core_hours=max_core_hours, not_between=not_between)


@app.command()
@prints("run", "session.status.Standing")
@prints("run-dry-run", "session.begin.PlannedTrial")
def run(asked: RunOptions) -> None:
    """Measure a study on platforms; the run directory is the last line on stdout."""
    from bareline.session import begin
    from bareline.session.pauses import look, see_to_quiet

    began, wait_s = look(), seconds(asked.wait_quiet)
    planned = _planned(asked)
    if asked.dry_run:
        rows = planned.rows()
        emit_blocks(lambda: rows, lambda: planned.blocks(rows))
        return
    begin.refuse_unusable(planned.platforms)
    if not asked.on:
        complain(f"measuring on {listing([spec.name for spec in planned.platforms])}; --on chooses")
    made = planned.make()
    see_to_quiet(planned.platforms, began, wait_s, complain)
    _execute(made, stop_on_failure=asked.stop_on_failure, quiet=asked.quiet)


@app.command()
@prints("submit", "session.submission.Submission")
@prints("submit-dry-run", "session.submission.Submitting", alone=True)
def submit(
    asked: RunOptions,
    system: Annotated[
        str, option("--with", "SYSTEM", "Batch system: slurm, pbs, torque, lsf, flux.")
    ] = "slurm",
    nodes: Annotated[
        int, option("--nodes", "N", "Nodes, where no platform names them.", min=1)
    ] = 1,
    time_min: Annotated[
        int, option("--time-min", "M", "Time limit, where no platform names it.", min=1)
    ] = 60,
    chain: Annotated[
        int,
        option(
            "--chain", "N", "Jobs, each of which goes on where the one before has stopped.", min=1
        ),
    ] = 1,
    after: Annotated[str, option("--after", "JOB", "Begin when this job has ended well.")] = "",
    batch_options: Annotated[
        str, option("--batch-options", "WORDS", "More for the batch system, e.g. '-q short'.")
    ] = "",
) -> None:
    """Let batch jobs measure a study; the run directory is the last line on stdout."""
    from bareline.report.terminal.runs import job_blocks
    from bareline.session import submission as jobs
    from bareline.session.batch import JobRequest

    planned = _planned(asked, in_a_job=True)
    request = JobRequest(nodes, time_min, _words(batch_options), after=after, well=bool(after))
    order = jobs.Order(system, request, chain, tuple(asked.for_the_job()))
    order = jobs.fit(order, planned.platforms, planned.largest)
    if asked.dry_run:
        rows = planned.rows()
        job = order.shown(planned.folder, rows)
        emit_blocks(lambda: job, lambda: [*job_blocks(job), *planned.blocks(rows)])
        return
    planned.look_at_nodes(order)
    made = planned.make()
    handed = jobs.submit(made, order)
    complain(f"{handed}; `bareline status {shlex.quote(str(made.path))}` follows it")
    emit(lambda: [asdict(handed)], lambda _: print(made.path))


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

    asked: RunOptions
    study: Study
    platforms: list[PlatformSpec]
    baseline: str
    control: str
    largest: SlurmOptions | None

    @property
    def folder(self) -> Path:
        from bareline.session.begin import default_folder

        return self.asked.out or default_folder(self.study)

    def rows(self) -> list[PlannedTrial]:
        from bareline.session.begin import plan_rows

        return plan_rows(self.study, self.platforms, self.asked.seed, control=self.control)

    def blocks(self, rows: list[PlannedTrial]) -> Iterator[Block]:
        from bareline.platforms.base import exact_among
        from bareline.report.terminal.runs import plan_blocks
        from bareline.session.looks import look_lines, planned_looks
        from bareline.session.meter import outlook, outlook_lines
        from bareline.study.plan import make_plan

        study, specs = self.study, self.platforms
        plan = make_plan(study, specs)
        costs = outlook(study, specs, plan)
        looks = look_lines(study, planned_looks(study, plan))
        return plan_blocks(
            rows,
            scale=study.scale,
            changes=study.scale_changes,
            exact=exact_among(specs),
            control=self.control,
            baseline=self.baseline,
            costs=[
                *looks,
                *study.source_lines(),
                *outlook_lines(costs, study.max_core_hours),
            ],
        )

    def look_at_nodes(self, order: Order) -> None:
        """See that a job could run on the nodes of a batch system that can be asked first."""
        from bareline.session.node_needs import see_to_nodes
        from bareline.session.runner import platforms_to_build
        from bareline.study.plan import make_plan

        if order.system != "slurm":
            return
        plan = make_plan(self.study, self.platforms)
        cores = max((trial.layout.cores_per_node for trial in plan if trial.layout), default=1)
        builds = bool(platforms_to_build(self.study, plan))
        for remark in see_to_nodes(order.request, self.largest, cores, builds=builds):
            complain(remark)

    def make(self) -> Run:
        from bareline.session.begin import create_run

        if self.study.scale_changes:
            complain(
                f"scale {self.study.scale} is not the study's own size; --dry-run lists what it "
                "changes"
            )
        return create_run(
            self.study,
            self.platforms,
            self.folder,
            baseline=self.baseline,
            control=self.control,
            seed=self.asked.seed,
        )


def _planned(asked: RunOptions, *, in_a_job: bool = False) -> _Planned:
    from bareline.session import begin
    from bareline.session.submission import inheriting
    from bareline.session.variants import with_builds, with_control
    from bareline.study.plan import choose, left_out_lines, unlike

    study, specs, lacking = _chosen(asked)
    specs, largest = inheriting(specs) if in_a_job else (specs, None)
    built = with_builds(study, specs, asked.build_a or [], asked.build_b or [])
    base = begin.choose_baseline(built.study, built.platforms, asked.baseline)
    names = [spec.name for spec in built.platforms]
    built.study.check_question(names, where="the question")
    added = with_control(built.study, built.platforms, base, asked.control)
    left_out = left_out_lines(choose(added.study, added.platforms).left_out)
    for line in (
        *filter(None, [*lacking, built.note, added.note]),
        *(f"left out on {line}" for line in left_out),
        *unlike(added.study, added.platforms, base),
    ):
        complain(line)
    return _Planned(asked, added.study, added.platforms, base, added.name, largest)


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
    limits = _limits(asked.max_core_hours, asked.not_between)
    study = study.model_copy(update=limits.model_dump(exclude_none=True))
    study, lacking = begin.cast_study(
        study, asked.as_ or [], on, asked.platforms, anyway=asked.anyway or asked.dry_run
    )
    names = study.platforms if study.roles else on or study.platforms
    if not names:
        raise UsageError("no platform is named", hint="add --on P; `bareline platforms` lists them")
    return study, choose_platforms(names, asked.platforms), lacking


@app.command(name="continue")
@prints("continue", "session.status.Standing", to_file=False)
def continue_(
    path: RunArgument,
    retry_failed: Annotated[bool, flag("--retry-failed", "Also run again what failed.")] = False,
    anyway: Annotated[
        bool, flag("--anyway", "Also on another machine: its launches are kept apart.")
    ] = False,
    trust: Annotated[
        bool, flag("--trust", "Run the programs of another user's run; asked once.")
    ] = False,
    max_core_hours: MaxCoreHoursOption = None,
    not_between: NotBetweenOption = None,
    wait_quiet: WaitQuietOption = None,
    quiet: QuietOption = False,
    stop_on_failure: StopOption = False,
) -> None:
    """Run what a run directory still lacks, after a kill or a repair."""
    from bareline.session.origin import platforms_of, see_to_trust
    from bareline.session.pauses import look, see_to_quiet
    from bareline.session.submission import see_to_jobs
    from bareline.store.run import Run

    began, wait_s = look(), seconds(wait_quiet)
    opened = Run.open(path)
    see_to_trust(opened, trust=trust)
    for line in see_to_jobs(opened):
        complain(line)
    see_to_quiet(platforms_of(opened), began, wait_s, complain)
    _execute(
        opened,
        retry_failed=retry_failed,
        anyway=anyway,
        limits=_limits(max_core_hours, not_between),
        stop_on_failure=stop_on_failure,
        quiet=quiet,
    )


#: How a run may end early: how it goes on, whether its state is printed, and the exit code.
_EARLY: Mapping[type[BaseException], tuple[str, bool, int]] = {
    KeyboardInterrupt: ("`bareline continue {}` goes on where it stopped", False, EXIT_INTERRUPTED),
    LimitReached: ("`bareline continue --max-core-hours N {}` goes on", True, EXIT_INTERRUPTED),
    TimeUp: ("`bareline continue {}` in another job goes on", False, EXIT_INTERRUPTED),
    Stopped: ("`bareline continue {}` goes on where it stopped", True, EXIT_TRIALS_FAILED),
}


def _execute(
    made: Run,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    limits: Limits | None = None,
    stop_on_failure: bool,
    quiet: bool,
) -> None:
    from bareline.report.terminal.progress import progress_on
    from bareline.report.terminal.runs import run_end_blocks
    from bareline.report.writers.terminal import print_blocks
    from bareline.session.runner import execute
    from bareline.session.status import end_remarks
    from bareline.session.submission import end_chain

    try:
        shown = console(stderr=True, quiet=quiet)
        with progress_on(shown, stop_on_failure=stop_on_failure) as progress:
            tally = execute(made, progress, retry_failed=retry_failed, anyway=anyway, limits=limits)
    except tuple(_EARLY) as end:
        step, is_told, code = _EARLY[type(end)]
        why = "interrupted" if isinstance(end, KeyboardInterrupt) else end
        complain(f"{why}; {step.format(shlex.quote(str(made.path)))}")
        if is_told:
            _tell(made)
        raise typer.Exit(code) from None
    if not tally.remaining:
        end_chain(made)
    ends_on = console(stderr=True, quiet=quiet and not tally.wrong)
    print_blocks(run_end_blocks(made, tally.on, **tally.parts), ends_on)
    if tally.blocks_had is not None:
        from bareline.session.status import shortfall

        complain(shortfall(made, tally.blocks_had))
    for remark in () if quiet else end_remarks(made):
        complain(remark)
    _tell(made)
    if tally.wrong:
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _tell(made: Run) -> None:
    from bareline.session.status import status_of

    emit(lambda: [status_of(made)], lambda _: print(made.path))


@app.command()
@prints("runs", "store.naming.RunListed")
def runs(
    folder: Annotated[Path | None, argument("[FOLDER]", "Where they lie (default: runs).")] = None,
) -> None:
    """List run directories, the latest last."""
    from bareline.report.terminal.runs import run_list_blocks
    from bareline.store.naming import RUNS, list_runs, run_row

    rows = [run_row(one) for one in list_runs(folder or RUNS)]
    emit_blocks(lambda: rows, lambda: run_list_blocks(rows))


@app.command()
@prints("status", "session.status.Standing")
def status(path: RunArgument) -> None:
    """Say how a run stands: what is planned, measured, failed and left."""
    from bareline.report.terminal.runs import status_blocks
    from bareline.session.status import status_of
    from bareline.session.submission import last_words, states_of, submission_of
    from bareline.store.run import Run

    opened = Run.open(path)
    row = status_of(opened)
    submission = submission_of(opened)
    if submission is not None:
        row["job"] = str(submission)
        states = states_of(submission)
        row["job_state"] = ", ".join(state.words for state in states)
        if not any(state.waits or state.runs for state in states):
            row["job_log"] = last_words(opened)
    emit_blocks(lambda: [row], lambda: status_blocks(row))
