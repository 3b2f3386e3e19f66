"""Batch systems: the commands that submit, query and cancel a job.

Each batch system is used through its own commands. A job is a script without directives such as
``#PBS``. Options of the submitting command request nodes and time, so that no text must be quoted
twice.

References
----------
OpenPBS, ``qsub(1B)``, ``qstat(1B)``. IBM Spectrum LSF 10.1, command reference: ``bsub``, ``bjobs``.
Flux, ``flux-batch(1)``, ``flux-jobs(1)``.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.hosts.process import run_process
from bareline.platforms.reached.slurm.commands import job_state, last_line, outside_environment
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.vocabulary.errors import PlatformError, ToolMissing, UsageError

_ASK_S = 60.0


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A request for a job to a batch system.

    - `options`: further options of the batch system. They come last, because most systems use the
      last value of an option that is given twice.
    - `resources`: a platform's own request for nodes, which replaces `nodes` and `time_min`.
    - `after`: the job that has to end before this job begins; "" for none.
    - `well`: whether the job `after` has to end without an error.
    """

    nodes: int
    time_min: int
    options: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    after: str = ""
    well: bool = False

    @property
    def dependency(self) -> str:
        """The dependency on the job `after` in the syntax of all systems except LSF, or ""."""
        when = "afterok" if self.well else "afterany"
        return f"{when}:{self.after}" if self.after else ""


@dataclass(frozen=True, slots=True)
class JobStanding:
    """The state of a job.

    - `words`: the system's name for the state in small letters, with a reason if there is one.
    - `waits`: whether the job waits to begin; false if unknown.
    - `runs`: whether the job runs now; false if unknown.
    """

    words: str
    waits: bool = False
    runs: bool = False


@dataclass(frozen=True, slots=True)
class BatchSystem:
    """The commands of a batch system.

    - `name`: the pattern that finds the job's name in the output of the command `submit`.
    """

    submit: Callable[[JobRequest, Path], list[str]]
    name: re.Pattern[str]
    state: Callable[[str], JobStanding]
    cancel: str


def find_system(name: str) -> BatchSystem:
    """Return a batch system by its name; raises UsageError: no system has this name."""
    if name not in SYSTEMS:
        raise UsageError(
            f"no batch system is called '{name}'", hint=f"use one of: {', '.join(SYSTEMS)}"
        )
    return SYSTEMS[name]


def hand_over(system: str, request: JobRequest, path: Path) -> str:
    """Submit a script; return the job's name.

    Raises ToolMissing: the system's commands are not installed here.
    Raises PlatformError: the batch system refuses the job.
    """
    spoken = find_system(system)
    argv = spoken.submit(request, path)
    _need(argv[0])
    finished = run_process(argv, env=outside_environment(), timeout_s=_ASK_S)
    job_id = spoken.name.search(finished.stdout)
    if finished.exit_code or finished.timed_out or job_id is None:
        answer = last_line(finished.stderr) or last_line(finished.stdout) or "no answer"
        raise PlatformError(
            f"{argv[0]} refuses the job: {answer}",
            hint=(
                "`--dry-run` shows the command; `--batch-options` adds options that a site requires"
            ),
        )
    return job_id[1]


def cancel_job(system: str, job: str) -> None:
    """Cancel a job; a job that has ended is not an error."""
    argv = [*find_system(system).cancel.split(), job]
    run_process(argv, env=outside_environment(), timeout_s=_ASK_S)


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise ToolMissing(
            f"the program {program} is not here",
            hint="submit on a login node of the cluster, or name its batch system with --with",
        )


def _slurm(request: JobRequest, path: Path) -> list[str]:
    # A job that is preempted or loses a node continues later with the rest.
    words = ["--requeue", "--output=/dev/null", f"--job-name={_called(path)}"]
    if request.after:
        words += ["--kill-on-invalid-dep=yes", f"--dependency={request.dependency}"]
    plain = SlurmOptions(nodes=request.nodes, time_min=request.time_min)
    words += request.resources or plain.request()
    return ["sbatch", "--parsable", *words, *request.options, str(path)]


def _qsub(request: JobRequest, path: Path, resources: Sequence[str]) -> list[str]:
    # -V exports the environment with its modules to the job, as Slurm does by default.
    words = ["-N", _called(path)[:15].rstrip("-_"), "-V", "-r", "y", "-j", "oe", "-o", "/dev/null"]
    words += resources
    if request.after:
        words += ["-W", f"depend={request.dependency}"]
    return ["qsub", *words, *request.options, str(path)]


def _pbs(request: JobRequest, path: Path) -> list[str]:
    has_select = any(re.match(r"(-l)?select=", word) for word in request.options)
    chunks = [] if has_select else ["-l", f"select={request.nodes}", "-l", "place=scatter:excl"]
    return _qsub(request, path, [*chunks, "-l", f"walltime={_hours(request.time_min)}"])


def _torque(request: JobRequest, path: Path) -> list[str]:
    resources = f"nodes={request.nodes}:ppn=1,walltime={_hours(request.time_min)}"
    return _qsub(request, path, ["-l", resources])


def _lsf(request: JobRequest, path: Path) -> list[str]:
    words = ["-J", _called(path), "-n", str(request.nodes), "-R", "span[ptile=1]", "-x", "-r"]
    words += ["-W", str(request.time_min), "-o", "/dev/null"]
    if request.after:
        condition = "done" if request.well else "ended"
        words += ["-w", f"{condition}({request.after})"]
    # A command, not a job script: sites differ in whether bsub reads scripts. Its shell joins it.
    return ["bsub", *words, *request.options, "/bin/sh", shlex.quote(str(path))]


def _flux(request: JobRequest, path: Path) -> list[str]:
    words = [f"--nodes={request.nodes}", "--exclusive", f"--time-limit={request.time_min}m"]
    words += [f"--job-name={_called(path)}", "--output=/dev/null"]
    if request.after:
        words += [f"--dependency={request.dependency}"]
    return ["flux", "batch", *words, *request.options, str(path)]


def _called(path: Path) -> str:
    """Return a name for the job of a run, in letters that every batch system accepts."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", f"bareline-{path.parent.name}")[:60]


def _hours(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}:00"


def _slurm_state(job: str) -> JobStanding:
    state = job_state(job)
    if state.state == "GONE":
        return JobStanding("ended")
    waits = state.state in ("PENDING", "REQUEUED", "CONFIGURING", "SUSPENDED")
    reason = f" ({state.reason})" if waits and state.reason not in ("", "None") else ""
    return JobStanding(state.state.lower() + reason, waits, state.state == "RUNNING")


#: PBS's letters for the states of jobs that have not ended. F, X and Torque's C mean the end.
_LETTERS = {
    "B": "begun",
    "E": "exiting",
    "H": "held",
    "M": "moved",
    "Q": "queued",
    "R": "running",
    "S": "suspended",
    "T": "in transit",
    "U": "suspended",
    "W": "waiting",
}
_FIELD = re.compile(r"^\s+(job_state|exit_status|comment) = (.+)$", re.MULTILINE | re.IGNORECASE)


def _qstat(job: str, *options: str) -> JobStanding:
    answer = _answer(["qstat", *options, job], gone=r"Unknown Job")
    if answer is None:
        return JobStanding("ended")
    fields = {name.lower(): value.strip() for name, value in _FIELD.findall(answer)}
    letter = fields.get("job_state", "")
    if letter in _LETTERS:
        runs = letter in "BER"
        why = f" ({fields['comment']})" if "comment" in fields and not runs else ""
        return JobStanding(_LETTERS[letter] + why, not runs, runs)
    return _ended(fields.get("exit_status", ""))


_LSF_GONE = r"is not found|No (unfinished )?job found"


def _lsf_state(job: str) -> JobStanding:
    fields = "stat exit_code delimiter='|'"
    answer = _answer(["bjobs", "-a", "-noheader", "-o", fields, job], gone=_LSF_GONE)
    if answer is None:
        return JobStanding("ended")
    word, _, code = answer.strip().partition("|")
    if word == "DONE":
        return _ended("0")
    if word == "EXIT":
        return _ended(code)
    waits = word in ("PEND", "PSUSP", "PROV", "WAIT")
    return JobStanding(
        {"PEND": "pending", "RUN": "running"}.get(word, word.lower()), waits, not waits
    )


def _flux_state(job: str) -> JobStanding:
    answer = _answer(["flux", "jobs", "-n", "-o", "{status}", job], gone=r"JobID \S+ unknown")
    if answer is None:
        return JobStanding("ended")
    word = answer.strip().lower()
    waits = word in ("pending", "depend", "priority", "sched")
    return JobStanding(word, waits, word in ("running", "run", "cleanup"))


def _ended(code: str) -> JobStanding:
    if not code:
        return JobStanding("ended")
    if code == "0":
        return JobStanding("completed")
    return JobStanding(f"failed (exit code {code})")


def _answer(argv: Sequence[str], *, gone: str) -> str | None:
    """Return a program's output about a job; None if the output matches the pattern `gone`."""
    _need(argv[0])
    finished = run_process(argv, env=outside_environment(), timeout_s=_ASK_S)
    if re.search(gone, finished.stderr + finished.stdout):
        return None
    if finished.exit_code or finished.timed_out or not finished.stdout.strip():
        raise PlatformError(
            f"the state of a job is unknown: `{argv[0]}` failed:"
            f" {last_line(finished.stderr) or 'no answer'}"
        )
    return finished.stdout


SYSTEMS = {
    "slurm": BatchSystem(_slurm, re.compile(r"^(\d+)"), _slurm_state, "scancel"),
    "pbs": BatchSystem(
        _pbs, re.compile(r"^(\S+)$", re.MULTILINE), lambda job: _qstat(job, "-x", "-f"), "qdel"
    ),
    "torque": BatchSystem(
        _torque, re.compile(r"^(\S+)$", re.MULTILINE), lambda job: _qstat(job, "-f"), "qdel"
    ),
    "lsf": BatchSystem(_lsf, re.compile(r"Job <(\d+)>"), _lsf_state, "bkill"),
    "flux": BatchSystem(_flux, re.compile(r"(\S+)\s*$"), _flux_state, "flux cancel"),
}
