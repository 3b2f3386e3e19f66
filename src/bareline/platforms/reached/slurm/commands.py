"""Requests to Slurm, and the parsing of its answers."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from dataclasses import dataclass

from bareline.platforms.hosts.process import Finished, local_environment, run_process
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import fold, unfold

#: Variables of a job that bareline itself runs in; a step of another job must not see them.
_JOBS_OWN = re.compile(r"SLURM|PMIX|PMI_|OMPI_")
_KEEP = ("SLURM_CONF", "SLURM_PMIX_FENCE")


def outside_environment() -> dict[str, str]:
    """Return the environment for Slurm's commands, without variables of bareline's own job."""
    return {
        name: value
        for name, value in local_environment().items()
        if not _JOBS_OWN.match(name) or name in _KEEP
    }


def ask(*argv: str, timeout_s: float = 60.0) -> Finished:
    """Run one of Slurm's programs, and return its result."""
    return run_process(argv, env=outside_environment(), timeout_s=timeout_s)


def run_checked(*argv: str) -> str:
    """Run one of Slurm's programs and return its output; raise an error if the program fails."""
    failed = f"`{argv[0]}` failed"
    return ask(*argv).require_success(failed, hint="check that `sinfo` works here").stdout


def last_line(text: str) -> str:
    """Return the last line of a program's error output."""
    return text.strip().rpartition("\n")[2].strip()[:300]


#: How srun reports that a task did not end well: ``srun: error: node1: task 0: Killed``.
_TASK_ENDED = re.compile(
    r"^srun: error: \S+: tasks? [\d,-]+: "
    r"(?:Exited with exit code (\d+)|(.+?)(?: \(core dumped\))?)$",
    re.MULTILINE,
)
#: Exit codes of ranks that got SIGTERM or SIGKILL because another one had failed.
ENDED_BY_SRUN = (128 + signal.SIGTERM, 128 + signal.SIGKILL)
#: Lines that srun adds about ended tasks; the exit code already shows the end.
SRUN_ADDS = re.compile(
    r"^srun: (?:error: \S+: tasks? [\d,-]+: (?:Exited with exit code \d+|Terminated|Killed)"
    r"|Terminating StepId=\S+).*\n?",
    re.MULTILINE,
)
#: Signals by the words in which the C library names them.
_SIGNALS = {signal.strsignal(number): int(number) for number in signal.valid_signals()}


def first_ending(stderr: str) -> int | None:
    """Return the exit code of a step's first failed task, from srun's messages.

    srun itself returns the largest code of all tasks. If a task fails, srun ends all other tasks by
    SIGTERM, so that these have code 143. The first task in srun's messages is therefore the cause.

    The result is None if the messages name no task, or are not understood.
    """
    ending = _TASK_ENDED.search(stderr)
    if ending is None:
        return None
    if ending[1]:
        return int(ending[1])
    number = _SIGNALS.get(ending[2])
    return None if number is None else 128 + number


#: Reasons of a waiting job that time does not mend: its request is never met.
NEVER = re.compile(
    r"Partition(TimeLimit|NodeLimit|Down|Inactive)|BadConstraints|(Assoc|QOS)\w*PerJob\w*"
    r"|Invalid(Account|QOS)|(Account|QOS)NotAllowed|QOSMin\w+|ReservationDeleted"
    r"|DependencyNeverSatisfied"
)


def waiting(name: str) -> str:
    """Return the reason why a job of this user waits, e.g. ``Resources``; "" if no job waits.

    - `name`: name of the job.
    """
    line = ("squeue", "--me", "--noheader", f"--name={name}", "--states=PD", "--format=%r")
    try:
        reasons = ask(*line, timeout_s=10.0).stdout.split("\n")
    except PlatformError:
        return ""
    return "" if reasons[0] == "None" else reasons[0].strip()


#: Message about the end of an allocation and the next step, by Slurm's word.
_ENDINGS = {
    "TIMEOUT": ("has reached its time limit", "ask for more as `time_min`"),
    "PREEMPTED": ("was preempted by a job of higher priority", "another `qos` may be safe from it"),
    "NODE_FAIL": ("ended because a node of it failed", "`sinfo -R` prints why nodes are down"),
    "CANCELLED": ("was cancelled", "`scancel` was called, or a limit was reached"),
    "REQUEUED": ("was put back into the queue", "it goes on when it gets nodes again"),
    "PENDING": ("was put back into the queue", "it goes on when it gets nodes again"),
    "SUSPENDED": ("was suspended", "another job uses its nodes; measure with `exclusive = true`"),
    "OUT_OF_MEMORY": ("ran out of memory", "ask for whole nodes with `exclusive = true`"),
    "DEADLINE": ("has reached its deadline", "ask for it earlier"),
}


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a Slurm job.

    - `state`: name of the state in Slurm: ``RUNNING``, ``TIMEOUT``, ``NODE_FAIL`` ...
    - `left_s`: time until the job's limit, in s; None if it has no limit.
    """

    state: str
    left_s: float | None
    nodes: tuple[str, ...]
    reason: str

    @property
    def runs(self) -> bool:
        """Whether the job runs and its time limit is not over, so that it can start steps."""
        return self.state == "RUNNING" and self.left_s != 0

    @property
    def ending(self) -> tuple[str, str]:
        """A clause that describes the job's end, and the next step for the user."""
        state = "TIMEOUT" if self.state == "RUNNING" and self.left_s == 0 else self.state
        clause, hint = _ENDINGS.get(state, ("has ended", "see `scontrol show job`"))
        return f"{clause} ({state})", hint


def job_state(job: str) -> JobState:
    """Return the state of a job; ``GONE`` if Slurm no longer knows the job."""
    columns = "--Format=State:20,TimeLeft:24,NodeList:4000,Reason:60"
    ended = ask("squeue", "--noheader", f"--jobs={job}", "--states=all", columns)
    line = ended.stdout.strip("\n").partition("\n")[0]
    if ended.exit_code or not line:
        return JobState("GONE", None, (), last_line(ended.stderr))
    starts = ((0, 20), (20, 44), (44, 4044), (4044, None))
    state, left, nodes, reason = (line[slice(*ends)].strip() for ends in starts)
    return JobState(state, read_time_s(left), tuple(unfold(nodes)) if nodes else (), reason)


def settled_state(job: str) -> JobState:
    """Return the state of a job; if the job is just ending, wait for its final state."""
    deadline = time.monotonic() + 30.0
    while (state := job_state(job)).state == "COMPLETING" and time.monotonic() < deadline:
        time.sleep(0.2)
    return state


def requeued(job: str) -> str:
    """Return an explanation if Slurm has requeued the job that contains bareline, else "".

    If Slurm's accounting has a record, the text also describes how the job ended before.
    """
    restarts = os.environ.get("SLURM_RESTART_COUNT", "")
    why = ""
    if not restarts.isdigit() or int(restarts) == 0:
        return ""
    if shutil.which("sacct") is not None:
        ended = ask("sacct", "-nPXD", f"--jobs={job}", "--format=State", timeout_s=10.0)
        rows = [row.split()[0] for row in ended.stdout.splitlines() if row.strip()]
        if not ended.exit_code and len(rows) > 1:
            why = f": it {_ENDINGS.get(rows[-2], (rows[-2].lower(), ''))[0]}"
    return f"job {job} was requeued{why} (restart {int(restarts)})"


def read_time_s(text: str) -> float | None:
    """Return the seconds of ``[days-][[hours:]minutes:]seconds``; None if there is no limit.

    Slurm checks the limits of jobs only twice a minute. A job past its limit continues until the
    check; Slurm then prints ``INVALID``, and the function returns 0.
    """
    if text == "INVALID":
        return 0.0
    match = re.fullmatch(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)", text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def broken_nodes(names: tuple[str, ...]) -> list[str]:
    """Return the nodes that Slurm reports as down, draining or not answering."""
    if not names:
        return []
    listed = ask("sinfo", "--noheader", "--Node", f"--nodes={fold(names)}", "--format=%N %T").stdout
    rows = (line.strip().partition(" ")[::2] for line in listed.splitlines())
    bad = ("down", "drain", "fail", "unk", "not")
    return sorted({name for name, state in rows if state.startswith(bad) or state.endswith("*")})


def most_cores(partition: str | None) -> int | None:
    """Return the number of cores of the largest node of a partition, or of the cluster.

    None if Slurm does not answer.
    """
    where = [f"--partition={partition}"] if partition else []
    try:
        ended = ask("sinfo", "--noheader", "--format=%c", *where, timeout_s=10.0)
    except PlatformError:
        return None
    numbers = [int(text.rstrip("+")) for text in ended.stdout.split() if text.rstrip("+").isdigit()]
    return max(numbers, default=None)


def own_job() -> str:
    """Return the number of the job that contains this process.

    Raises PlatformError: the process is not part of a job.
    """
    if "SLURM_JOB_ID" not in os.environ:
        raise PlatformError(
            "bareline does not run inside a Slurm allocation",
            where='allocation = "inherit"',
            hint="start it with sbatch or salloc, or use `bareline submit`",
        )
    return os.environ["SLURM_JOB_ID"]
