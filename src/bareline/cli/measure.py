"""Verbs that begin and continue a run and print its progress: run, submit, continue, status."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bareline.cli.foresight import see_to_answers
from bareline.cli.measuring import emit_state, measure
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
    EXIT_TRIALS_FAILED,
    console,
    emit,
    emit_blocks,
    print_error,
    prints_json,
)
from bareline.cli.planning import Planned, limits_of, planned_of
from bareline.cli.verbs import argument, flag, option, prints
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.units import listing

if TYPE_CHECKING:
    from bareline.session.submission import SubmissionRequest
    from bareline.session.trial_counts import TrialCounts
    from bareline.store.run import Run
    from bareline.vocabulary.limits import Limits

app = typer.Typer()


@app.command()
@prints("run", "session.status.RunStatus")
@prints("run-dry-run", "session.begin.PlannedTrial")
def run(options: RunOptions) -> None:
    """Run a study's benchmarks on platforms; the run directory is the last line on stdout."""
    from bareline.session import begin
    from bareline.session.pauses import look, wait_until_idle

    began = look()
    wait_s = seconds(options.wait_quiet)
    planned = planned_of(options)
    if options.dry_run:
        rows = planned.rows()
        emit_blocks(lambda: rows, lambda: planned.blocks(rows))
        return
    begin.refuse_unusable(planned.platforms)
    see_to_answers(planned)
    if not options.on:
        print_error(
            f"measuring on {listing([spec.name for spec in planned.platforms])}; `--on` "
            "chooses other platforms"
        )
    made = planned.make()
    wait_until_idle(planned.platforms, began, wait_s, print_error)
    _execute(made, stop_on_failure=options.stop_on_failure, quiet=options.quiet)


@app.command()
@prints("submit", "session.submission.Submission")
@prints("submit-dry-run", "session.submission.Submitting", alone=True)
def submit(
    options: RunOptions,
    system: Annotated[
        str, option("--with", "SYSTEM", "Batch system: slurm, pbs, torque, lsf, flux.")
    ] = "slurm",
    nodes: Annotated[
        int,
        option("--nodes", "N", "Number of nodes of a platform that does not declare it.", min=1),
    ] = 1,
    time_min: Annotated[
        int,
        option(
            "--time-min",
            "M",
            "Time limit in minutes, for a platform that does not declare it.",
            min=1,
        ),
    ] = 60,
    chain: Annotated[
        int,
        option(
            "--chain", "N", "Submit N jobs; each continues where the previous one stopped.", min=1
        ),
    ] = 1,
    after: Annotated[
        str, option("--after", "JOB", "Begin after this job has ended without an error.")
    ] = "",
    batch_options: Annotated[
        str,
        option("--batch-options", "WORDS", "More options for the batch system, e.g. '-q short'."),
    ] = "",
) -> None:
    """Let batch jobs measure a study; the run directory is the last line on stdout."""
    from bareline.report.terminal.runs import job_blocks
    from bareline.session import submission as jobs
    from bareline.session.batch import JobRequest

    planned = planned_of(options, in_a_job=True)
    request = JobRequest(nodes, time_min, _words(batch_options), after=after, well=bool(after))
    order = jobs.SubmissionRequest(system, request, chain, tuple(options.for_the_job()))
    order = jobs.fit(order, planned.platforms, planned.largest)
    if options.dry_run:
        rows = planned.rows()
        job = order.shown(planned.folder, rows)
        emit_blocks(lambda: job, lambda: [*job_blocks(job), *planned.blocks(rows)])
        return
    _hand_over(planned, order)


def _hand_over(planned: Planned, order: SubmissionRequest) -> None:
    """Make the run directory, and submit the jobs that measure the run."""
    from bareline.session import submission as jobs

    see_to_answers(planned)
    planned.look_at_nodes(order)
    made = planned.make()
    handed = jobs.submit(made, order)
    print_error(f"{handed}; `bareline status {shlex.quote(str(made.path))}` follows it")
    emit(lambda: [asdict(handed)], lambda _: print(made.path))


def _words(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(
            f"the value cannot be read ({str(error).lower()}): {text}", where="--batch-options"
        ) from error


@app.command(name="continue")
@prints("continue", "session.status.RunStatus", to_file=False)
def continue_(
    path: RunArgument,
    retry_failed: Annotated[bool, flag("--retry-failed", "Also rerun failed trials.")] = False,
    anyway: Annotated[
        bool, flag("--anyway", "Continue even on another machine; its launches are kept separate.")
    ] = False,
    trust: Annotated[
        bool,
        flag(
            "--trust",
            "Run the programs of another user's run; without this option bareline asks once.",
        ),
    ] = False,
    max_core_hours: MaxCoreHoursOption = None,
    not_between: NotBetweenOption = None,
    wait_quiet: WaitQuietOption = None,
    quiet: QuietOption = False,
    stop_on_failure: StopOption = False,
) -> None:
    """Run the trials that a run directory still lacks, after a kill or a repair."""
    from bareline.session.origin import platforms_of, see_to_trust
    from bareline.session.pauses import look, wait_until_idle
    from bareline.session.submission import see_to_jobs
    from bareline.store.run import Run

    began = look()
    wait_s = seconds(wait_quiet)
    opened = Run.open(path)
    see_to_trust(opened, trust=trust)
    for line in see_to_jobs(opened):
        print_error(line)
    wait_until_idle(platforms_of(opened), began, wait_s, print_error)
    _execute(
        opened,
        retry_failed=retry_failed,
        anyway=anyway,
        limits=limits_of(max_core_hours, not_between),
        stop_on_failure=stop_on_failure,
        quiet=quiet,
        goes_on=True,
    )


def _execute(
    made: Run,
    *,
    retry_failed: bool = False,
    anyway: bool = False,
    limits: Limits | None = None,
    stop_on_failure: bool,
    quiet: bool,
    goes_on: bool = False,
) -> None:
    """Measure the remaining trials of a run, and print the result.

    For a run of ``ab`` that goes on, the result is the answer of ``ab``.

    - `goes_on`: whether the command is `continue`.
    """
    from bareline.session.submission import end_chain
    from bareline.study.commands import command_lines

    tally = measure(
        made,
        retry_failed=retry_failed,
        anyway=anyway,
        limits=limits,
        stop_on_failure=stop_on_failure,
        quiet=quiet,
    )
    if not tally.remaining:
        end_chain(made)
    titles = command_lines(made.header.study, made.header.platforms) if goes_on else {}
    if titles:
        _end_with_answer(made, titles, tally)
    else:
        _end(made, tally, quiet=quiet)


def _end(made: Run, tally: TrialCounts, *, quiet: bool) -> None:
    """Print the result of a run, and its state.

    If trials failed, exit with the code of failed trials.
    """
    from bareline.report.terminal.runs import run_end_blocks
    from bareline.report.writers.terminal import print_blocks
    from bareline.session.status import end_remarks

    ends_on = console(stderr=True, quiet=quiet and not tally.wrong)
    print_blocks(run_end_blocks(made, tally.on, **tally.parts), ends_on)
    if tally.blocks_had is not None:
        from bareline.session.status import shortfall

        print_error(shortfall(made, tally.blocks_had))
    for remark in () if quiet else end_remarks(made):
        print_error(remark)
    emit_state(made)
    if tally.wrong:
        raise typer.Exit(EXIT_TRIALS_FAILED)


def _end_with_answer(made: Run, titles: Mapping[str, str], tally: TrialCounts) -> None:
    """Print the answer of ``ab``; with ``--json``, print the state of the run instead."""
    from bareline.cli.answer import commands_compared, emit_answer, end_if_failed

    if prints_json():
        emit_state(made)
    else:
        emit_answer(commands_compared(made), made, titles)
    end_if_failed(made, tally)


@app.command()
@prints("runs", "store.naming.RunListed")
def runs(
    folder: Annotated[
        Path | None, argument("[FOLDER]", "Folder of the runs (default: runs).")
    ] = None,
) -> None:
    """List run directories, the latest last."""
    from bareline.report.terminal.runs import run_list_blocks
    from bareline.store.naming import RUNS, list_runs, run_row

    rows = [run_row(run) for run in list_runs(folder or RUNS)]
    emit_blocks(lambda: rows, lambda: run_list_blocks(rows))


@app.command()
@prints("status", "session.status.RunStatus")
def status(path: RunArgument) -> None:
    """Show the state of a run: trials planned, measured, failed and left."""
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
