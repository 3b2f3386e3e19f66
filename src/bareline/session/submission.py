"""Runs that a batch system executes: a login node makes the directory, a job measures.

Slurm is asked directly; other batch systems through PSI/J, which knows PBS, LSF, Flux and more.

References
----------
M. Hategan-Marandiuc et al., "PSI/J: A Portable Interface for Submitting, Monitoring, and Managing
Jobs", arXiv:2307.07895.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from bareline.platforms.config import make_spec
from bareline.platforms.slurm.commands import ask as ask_slurm
from bareline.platforms.slurm.commands import job_state, last_line
from bareline.platforms.slurm.options import SlurmOptions
from bareline.store.run import Run
from bareline.vocabulary.errors import PlatformError, ToolMissing, UsageError
from bareline.vocabulary.files import read_bounded
from bareline.vocabulary.platform import PlatformSpec

_RECORD = "submission.json"
_LARGEST_RECORD = 1 << 16
_LOG = "submission.log"
_SCRIPT = "submission.sh"
#: A batch system and a job, as commands get them: a run that comes from elsewhere names no option.
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@,\[\]-]{0,199}")
_STATUS_S = 10.0


@dataclass(frozen=True, slots=True)
class Submission:
    """A job that measures a run.

    Parameters
    ----------
    system
        ``slurm``, or the name of one of PSI/J's executors.
    job
        The batch system's own name of the job.
    """

    system: str
    job: str


def inheriting(specs: Sequence[PlatformSpec]) -> tuple[list[PlatformSpec], PlatformSpec | None]:
    """Let Slurm platforms use the job that bareline will run in; give the largest of them too."""
    changed, largest = [], None
    for spec in specs:
        if isinstance(spec.options, SlurmOptions):
            if largest is None or spec.options.nodes > largest.options.node_count:
                largest = spec
            table = {**spec.to_dict(), "allocation": "inherit"}
            spec = make_spec(spec.name, table, where=f"[platform.{spec.name}]")
        changed.append(spec)
    return changed, largest


def submit(
    run: Run, *, system: str, platform: PlatformSpec | None, nodes: int, time_min: int
) -> Submission:
    """Hand a run to a batch system.

    Parameters
    ----------
    platform
        The Slurm platform whose nodes are asked for; without it `nodes` of them.

    Raises
    ------
    PlatformError
        The batch system refuses it.
    """
    # -P: the job begins in the user's folder, whose queue.py is none of Python's.
    command = [sys.executable, "-P", "-m", "bareline", "continue", str(run.path.resolve())]
    if system == "slurm":
        job = _submit_slurm(run, command, platform, nodes, time_min)
    else:
        job = _submit_psij(run, command, system, nodes, time_min)
    made = Submission(system, job)
    (run.path / _RECORD).write_text(json.dumps(asdict(made)) + "\n", encoding="utf-8")
    return made


def _submit_slurm(
    run: Run, command: Sequence[str], platform: PlatformSpec | None, nodes: int, time_min: int
) -> str:
    options = platform.options if platform is not None else None
    if isinstance(options, SlurmOptions):
        words = options.request()
    else:
        words = SlurmOptions(nodes=nodes, time_min=time_min).request()
    # A job that is preempted or loses a node goes on later with what is left.
    words += ["--requeue", "--open-mode=append"]
    words += [f"--job-name=bareline {run.path.name}"[:80], f"--output={run.path.resolve()}/{_LOG}"]
    script = run.path / _SCRIPT
    lines = ["#!/bin/sh", f"cd {shlex.quote(str(Path.cwd()))}", f"exec {shlex.join(command)}", ""]
    script.write_text("\n".join(lines), encoding="utf-8")
    done = ask_slurm("sbatch", "--parsable", *words, str(script))
    if done.exit_code:
        raise PlatformError(f"sbatch refuses the job: {last_line(done.stderr)}", hint="see `sinfo`")
    return done.stdout.strip().partition(";")[0]


def _psij() -> Any:
    try:
        import psij
    except ImportError as error:
        raise ToolMissing(
            "the Python package psij-python is not installed",
            hint="install it with `pip install 'bareline[cluster]'`",
        ) from error
    return psij


def _executor(system: str) -> Any:
    psij = _psij()
    known = sorted(psij.JobExecutor.get_executor_names())
    if system not in known:
        raise UsageError(
            f"no batch system is called '{system}'", hint=f"use one of: {', '.join(known)}"
        )
    try:
        return psij.JobExecutor.get_instance(system)
    except Exception as error:  # an executor of PSI/J may raise anything when it is set up
        raise PlatformError(f"PSI/J cannot use {system}: {error}") from error


def _submit_psij(run: Run, command: Sequence[str], system: str, nodes: int, time_min: int) -> str:
    psij, executor = _psij(), _executor(system)
    log = run.path.resolve() / _LOG
    specification = psij.JobSpec(
        name="bareline",
        executable=command[0],
        arguments=list(command[1:]),
        directory=Path.cwd(),
        stdout_path=log,
        stderr_path=log.with_suffix(".err"),
        resources=psij.ResourceSpecV1(node_count=nodes, exclusive_node_use=True),
        attributes=psij.JobAttributes(duration=timedelta(minutes=time_min)),
        launcher="single",
    )
    job = psij.Job(specification)
    try:
        executor.submit(job)
    except psij.SubmitException as error:
        raise PlatformError(f"{system} refuses the job: {error}") from error
    return str(job.native_id)


def submission_of(run: Run) -> Submission | None:
    """Give the job that measures a run, None where none was submitted or nobody can tell which."""
    try:
        stored = json.loads(read_bounded(run.path / _RECORD, _LARGEST_RECORD, within=run.path))
        found = Submission(str(stored["system"]), str(stored["job"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if all(map(_WORD.fullmatch, (found.system, found.job))) else None


def submission_state(submission: Submission) -> str:
    """Ask the batch system how a job stands, in its own words; unknown where it cannot say."""
    if submission.system == "slurm":
        try:
            state = job_state(submission.job)
        except PlatformError as error:
            return f"unknown: {error}"
        return "ended" if state.state == "GONE" else state.state.lower()
    try:
        psij = _psij()
        job = psij.Job()
        _executor(submission.system).attach(job, submission.job)
        status = job.wait(timedelta(seconds=_STATUS_S), tuple(psij.JobState)[1:])
    except Exception as error:  # a job that another system named may raise anything
        return f"unknown: {error}"
    return str(status.state.name).lower() if status is not None else "unknown"
