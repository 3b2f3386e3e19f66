"""Ends of jobs: how launchers, batch systems and shells report that a job was killed or failed.

Every reader uses this list of messages through `bareline.formats.table`. A message after a table
does not damage the table: a table that is visibly complete is kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

_SIGNALS = (
    r"Hangup|Killed|Terminated|Segmentation fault|Aborted|Bus error|Illegal instruction"
    r"|Floating point exception|Trace/breakpoint trap|CPU time limit exceeded"
    r"|File size limit exceeded|User defined signal [12]|Alarm clock|Quit"
)
#: A code that is not 0.
_CODE = r"(?:-\d+|[1-9]\d*)"

#: Beginnings of messages about a death, as regular expressions, by the program that prints them.
ENDINGS: dict[str, tuple[str, ...]] = {
    "Slurm": (
        r"srun: error\b",
        r"slurmstepd: error\b",
        r"srun: (?:Job step aborted|Force Terminated)",
        r"\bCANCELLED AT\b",
        r"\bDUE TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE|SIGNAL|JOB REQUEUE)",
        r"Exceeded (?:job|step) memory limit",
        r"salloc: error\b",
    ),
    "Flux": (
        rf"flux-(?:job|run|shell\S*): .*exited with exit code {_CODE}",
        rf"flux-(?:job|run): task\(s\) (?:{_SIGNALS})",
        r"flux-(?:job|run): .*(?:cancell?ed|job exception|timed? ?out|timeout)",
        r"job\.exception\b.*\b(?:type=|severity=0)",
        r"flux-shell\S*: (?:FATAL|ERROR)\b",
    ),
    "PBS": (
        r"PBS: job killed",
        r"=>> ?PBS: .*exceeded (?:limit|request)",
        r"qdel: .*killed",
    ),
    "Torque and Moab": (
        r"[Jj]ob (?:exceeded its|violates) .*(?:limit|walltime)",
        r"MOAB_INFO: +job exceeded",
        r"Aborted by PBS Server",
        rf"Exit_status={_CODE}",
        r"job deleted at request of",
    ),
    "LSF": (
        r"\bTERM_(?!NORMAL)[A-Z_]+: ",
        rf"Exited with exit code {_CODE}\.?",
        r"Exited with signal termination",
        r"Exited by signal \d+",
        r"Job has been (?:killed|terminated)",
    ),
    "SGE": (
        r"exceeds job (?:hard|soft) limit",
        r"exceeded (?:hard|soft) (?:wallclock|cpu|run) ?time",
        r"job \d+(?:\.\d+)? .*(?:was killed|died through signal)",
        r"(?:enforced|exceeded) h_rt\b",
    ),
    "HTCondor and Cobalt": (
        r"Abnormal termination \(signal",
        r"maximum execution time exceeded",
        r"task completed abnormally",
    ),
    "Open MPI": (
        r"MPI_ABORT was invoked",
        r"exited on signal \d+",
        r"Primary job +terminated",
        r"(?:mpirun|prterun|mpiexec|orterun) (?:noticed|detected) that",
        r"(?:mpirun|prterun|mpiexec|orterun) has exited due to",
        r"(?:mpirun|prterun|mpiexec|orterun): (?:killing job|abort is already in progress)",
        r"(?:ORTE|PRTE|PRRTE) has lost communication",
        r"time limit for job execution has been reached",
        r"non-zero (?:exit|status)",
        r"MPI_ERRORS_ARE_FATAL",
    ),
    "MPICH, MVAPICH and Intel MPI": (
        r"BAD TERMINATION",
        r"APPLICATION TERMINATED WITH THE EXIT STRING",
        r"APPLICATION TIMED OUT",
        r"KILLED BY SIGNAL",
        rf"RUNNING AT \S+\s*\n[= ]*EXIT CODE: {_CODE}",
        r"Sending Ctrl-C to processes",
        r"application called MPI_Abort",
        r"Abort\(\d+\) on node",
        r"Fatal error in (?:P?MPI|internal)",
        r"\[error_sighandler\]|\[mtrace\]|Caught signal \d+, killing job",
    ),
    "ALPS, PALS and jsrun": (
        r"_pmiu_daemon\(SIGCHLD\)",
        r"initiated application termination",
        r"Application \d+ exit (?:codes|signals):",
        r"rank \d+ (?:died from signal|exited with code [1-9])",
        r"One or more process .*terminated with signal",
        r"aprun: Apid \d+: Caught signal",
    ),
    "timeout": (
        r"timeout: sending signal",
        r"timeout: the monitored command dumped core",
    ),
    "GNU time": (
        r"Command terminated by signal",
        rf"Command exited with non-zero status {_CODE}",
        rf"Exit status: {_CODE}",
    ),
    "a shell": (
        rf"^(?:\S.*?: line \d+: +)?(?:\[\d+\][-+]? +)?(?:\d+ +)?(?:{_SIGNALS})"
        r"(?:: \d+)?(?: +\(core dumped\))?(?:\s.*)?$",
        r"[Ss]egmentation fault",
        r"Killed\s*$",
        r"\(core dumped\)",
    ),
    "the kernel": (
        r"Out of memory: Kill",
        r"oom-kill|oom_kill|oom_reaper|OOM[ -]?[Kk]ill",
        r"[Mm]emory cgroup out of memory",
    ),
    "a container or a CI system": (
        r"command terminated with exit code [1-9]",
        r"exit (?:status|code):? (?:137|143)\b",
        r"Job failed: execution took longer",
        r"The job was cancell?ed",
    ),
    "a benchmark": (r"DATA VALIDATION ERROR",),
}
_PATTERNS = chain.from_iterable(ENDINGS.values())
_DEATH = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Death:
    """A message that a job died: a description of its line, and the number of the line, from 1."""

    words: str
    line: int


def death_in(text: str) -> Death | None:
    """Return the first message in a text that a job died, or None."""
    match = _DEATH.search(text)
    if match is None:
        return None
    begin = text.rfind("\n", 0, match.start()) + 1
    line, _, _ = text[begin:].partition("\n")
    return Death(" ".join(line.split())[:120], text.count("\n", 0, begin) + 1)


def death_caveat(text: str) -> tuple[str, ...]:
    """Return the caveat of a complete table whose job died; empty if no job died."""
    death = death_in(text)
    if death is None:
        return ()
    return (f"a job died, here or in the next launch ('{death.words}'); the table is complete",)
