"""Submit runs to a batch system: a login node creates the directory, and jobs measure."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from typing_extensions import TypedDict

from bareline.platforms.config import make_spec
from bareline.platforms.reached.job import JobOptions
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.session.batch import (
    JobRequest,
    JobStanding,
    cancel_job,
    find_system,
    hand_over,
)
from bareline.session.begin import PlannedTrial
from bareline.store.run import Run
from bareline.vocabulary.errors import PlatformError, UsageError
from bareline.vocabulary.files import open_regular, read_bounded, replace_file
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.sanitize import cleaned, sanitized_name

_RECORD = "submission.json"
_LOG = "submission.log"
_SCRIPT = "submission.sh"
#: Valid names of a batch system or job; a run of another author must not pass options to commands.
_WORD = re.compile(r"[A-Za-z0-9ƒ][A-Za-z0-9_.@,\[\]-]{0,199}")
#: The message of a job on a node without bareline's Python: the batch system shows no reason.
_NO_PYTHON = (
    "this node has no {}: install bareline in a folder that the nodes see at the same path, and "
    "submit again"
)
#: Longest chain of jobs; a queue of more is a mistake.
_LONGEST_CHAIN = 100
#: Variable with the id of the run that bareline's job measures.
_INSIDE = "BARELINE_JOB_OF"


@dataclass(frozen=True, slots=True)
class Submission:
    """The output of ``submit``: the jobs that measure a run, one after the other."""

    run: str
    system: str
    jobs: tuple[str, ...]
    command: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.system} {', '.join(self.jobs)}"


class Submitting(TypedDict):
    """The output of ``submit --dry-run``: the script that would be submitted, and its plan."""

    run: str
    system: str
    chain: int
    command: list[str]
    script: str
    plan: list[PlannedTrial]


@dataclass(frozen=True, slots=True)
class SubmissionRequest:
    """The request to a batch system for a run.

    - `request`: nodes, time, further options, and the job that the first job waits for.
    - `chain`: the number of jobs; each job continues where the job before it ended.
    - `measuring`: options of `continue` in each job.

    Raises UsageError: the chain has more than 100 jobs.
    """

    system: str
    request: JobRequest
    chain: int = 1
    measuring: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.chain > _LONGEST_CHAIN:
            hint = f"a chain has at most {_LONGEST_CHAIN}; `bareline continue` begins another"
            raise UsageError(
                f"a chain of {self.chain} jobs is too long", where="--chain", hint=hint
            )

    def shown(self, folder: Path, plan: list[PlannedTrial]) -> Submitting:
        """Return the command and script for a run directory that does not exist yet."""
        return row_of(
            Submitting,
            self,
            run=str(folder),
            command=self.command(folder),
            script=self.script(folder, "ID"),
            plan=plan,
        )

    def script(self, folder: Path, mark: str) -> str:
        """Return the script that each job of a run executes; `mark`: the ID of the run."""
        # -P: the job begins in the user's folder, where a queue.py could replace Python's.
        command = [sys.executable, "-P", "-m", "bareline", "continue", *self.measuring]
        command.append(str(folder.resolve()))
        no_python = shlex.quote(_NO_PYTHON.format(sys.executable))
        lines = [
            "#!/bin/sh",
            f"exec >>{shlex.quote(str(folder.resolve() / _LOG))} 2>&1",
            f"cd {shlex.quote(str(Path.cwd()))} || exit",
            f"[ -x {shlex.quote(sys.executable)} ] || {{ echo {no_python}; exit 127; }}",
            f"export {_INSIDE}={mark}",
            f"exec {shlex.join(command)}",
        ]
        return "\n".join([*lines, ""])

    def command(self, folder: Path) -> list[str]:
        """Return the command that submits the first job."""
        return find_system(self.system).submit(self.request, folder.resolve() / _SCRIPT)


def inheriting(specs: Sequence[PlatformSpec]) -> tuple[list[PlatformSpec], SlurmOptions | None]:
    """Let Slurm platforms use the nodes of the job in which bareline itself runs.

    Returns all platforms, and the options of the Slurm platform that requests most nodes, or None.
    """
    slurm_options = [spec.options for spec in specs if isinstance(spec.options, SlurmOptions)]
    changed = []
    for spec in specs:
        if spec.options in slurm_options:
            table = {**spec.to_dict(), "allocation": "inherit"}
            spec = make_spec(spec.name, table, where=f"[platform.{spec.name}]")
        changed.append(spec)
    return changed, max(slurm_options, key=lambda options: options.nodes, default=None)


def fit(
    order: SubmissionRequest, specs: Sequence[PlatformSpec], largest: SlurmOptions | None
) -> SubmissionRequest:
    """Return the request for a job with as many nodes as the largest platform needs.

    Raises UsageError: the batch system is unknown, or a platform needs another batch system.
    """
    find_system(order.system)
    jobs = [spec.options.nodes for spec in specs if isinstance(spec.options, JobOptions)]
    slurm = order.system == "slurm"
    if (largest is not None and not slurm) or (jobs and slurm):
        kind, other = ("slurm", order.system) if not slurm else ("job", "slurm")
        raise UsageError(
            f"a platform of type {kind} cannot use the nodes of a job of {other}",
            hint="choose another system by --with, or platforms of another type",
        )
    nodes = max(jobs, default=order.request.nodes)
    resources = () if largest is None else tuple(largest.request())
    return replace(order, request=replace(order.request, nodes=nodes, resources=resources))


def submit(run: Run, order: SubmissionRequest) -> Submission:
    """Submit a run's jobs; raises PlatformError: a job is refused (earlier jobs stay submitted)."""
    path = run.path.resolve() / _SCRIPT
    replace_file(path, order.script(run.path, run.id), within=run.path.resolve())
    made = Submission(str(run.path), order.system, (), tuple(order.command(run.path)))
    request = order.request
    for _ in range(order.chain):
        job = hand_over(order.system, request, path)
        made = replace(made, jobs=(*made.jobs, job))
        table = {"system": made.system, "jobs": made.jobs, "command": made.command}
        replace_file(run.path / _RECORD, json.dumps(table) + "\n", within=run.path)
        # However a job ends, mostly by its time limit, the next one measures the rest.
        request = replace(request, after=job, well=False)
    return made


def submission_of(run: Run) -> Submission | None:
    """Return the jobs that measure a run; None if the run has no valid record of a submission."""
    try:
        stored = json.loads(read_bounded(run.path / _RECORD, 1 << 16, within=run.path))
        # Runs of earlier versions name one job.
        jobs = stored["jobs"] if "jobs" in stored else [stored["job"]]
        jobs = tuple(map(str, jobs[:_LONGEST_CHAIN]))
        command = tuple(map(str, stored.get("command", ())))
        submission = Submission(str(run.path), str(stored["system"]), jobs, command)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return submission if jobs and all(map(_WORD.fullmatch, (submission.system, *jobs))) else None


def states_of(submission: Submission) -> list[JobStanding]:
    """Return the state of each job; unknown if the batch system does not give it."""
    states = []
    for job in submission.jobs:
        try:
            states.append(find_system(submission.system).state(job))
        except (PlatformError, UsageError) as error:
            states.append(JobStanding(f"unknown: {error}"))
    return states


#: Number of bytes at the end of a job's log that are read for its last line.
_LOG_TAIL_BYTES = 4096


def last_words(run: Run) -> str:
    """Return the last line in the log of a run's jobs, with the path of the log; "" if empty.

    A job that ends before bareline starts, for example because its node has no Python, leaves no
    record. Only its log contains the reason.
    """
    path = run.path / _LOG
    try:
        with open_regular(path, within=run.path) as log:
            size_bytes = os.fstat(log.fileno()).st_size
            log.seek(max(0, size_bytes - _LOG_TAIL_BYTES))
            tail = log.read(_LOG_TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    return f"{sanitized_name(cleaned(lines[-1]))} ({path})" if lines else ""


def see_to_jobs(run: Run) -> list[str]:
    """Find jobs that also measure a run, before the run is continued here.

    Returns messages on jobs that still wait, and how to cancel them.

    Raises UsageError: a job measures the run now. The lock of the run is not enough, because some
        file systems of clusters do not support locks between nodes.
    """
    submission = submission_of(run)
    if submission is None or runs_in_job(run):
        return []
    waiting = []
    for job, state in zip(submission.jobs, states_of(submission), strict=True):
        if not (state.runs or state.waits):
            continue
        cancel = f"`{find_system(submission.system).cancel} {shlex.quote(job)}` cancels it"
        if state.runs:
            raise UsageError(
                f"the {submission.system} job {job} already measures this run (its state:"
                f" {state.words})",
                hint=f"wait until the job ends; {cancel}",
            )
        waiting.append(
            f"the {submission.system} job {job} is {state.words} and measures the rest "
            f"when it begins; {cancel}"
        )
    return waiting


def runs_in_job(run: Run) -> bool:
    """Whether this process runs in a job that was submitted for a run."""
    return os.environ.get(_INSIDE) == run.id


def end_chain(run: Run) -> None:
    """Cancel the waiting jobs of a run's chain after this job has measured the last trial.

    If the node has no commands of the batch system, these jobs begin, and end immediately.
    """
    submission = submission_of(run)
    if submission is None or not runs_in_job(run):
        return
    for job, state in zip(submission.jobs, states_of(submission), strict=True):
        if state.waits:
            with contextlib.suppress(PlatformError):
                cancel_job(submission.system, job)
