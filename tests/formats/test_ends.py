"""Every way in which launchers and batch systems say that a job died, behind a cut table."""

from pathlib import Path

import pytest

from bareline.formats.ends import ENDINGS, death_in
from bareline.formats.files import read_text
from bareline.vocabulary.model import Failed, Measured

DATA = Path(__file__).parent / "data"
LATENCY = (DATA / "ib-vs-roce" / "ib" / "omb.Osu_latency.out").read_text()

#: By the system: messages as it prints them.
MESSAGES = {
    "Slurm": (
        "srun: error: n1: task 0: Exited with exit code 143",
        "slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2024-02-05T10:00:00 ***",
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2024-02-05T10:00:00 DUE TO TIME LIMIT",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "srun: Force Terminated StepId=12.0",
        "slurmstepd: Exceeded job memory limit",
    ),
    "Flux": (
        "flux-job: task(s) exited with exit code 143",
        "flux-job: task(s) Terminated",
        "3600.012s: job.exception type=timeout severity=0 resource allocation expired",
        "flux-job: ƒ2Qx: canceled",
    ),
    "PBS": (
        "=>> PBS: job killed: walltime 3632 exceeded limit 3600",
        "=>> PBS: job killed: mem 4200000kb exceeded limit 4194304kb",
    ),
    "Torque and Moab": (
        "Job exceeded its walltime limit. Job was aborted",
        "Exit_status=271",
    ),
    "LSF": (
        "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
        "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
        "Exited with exit code 140.",
        "Exited with signal termination: 9.",
    ),
    "SGE": (
        'job 4711 exceeds job hard limit "h_rt" of queue "all.q@n1" - sending SIGKILL',
        "job 4711.1 died through signal KILL (9)",
    ),
    "Open MPI": (
        "mpirun noticed that process rank 1 with PID 0 on node n1 exited on signal 9 (Killed).",
        "prterun noticed that process rank 0 with PID 81 on node n1 exited on signal 15",
        "mpirun: killing job...",
        "ORTE has lost communication with a remote daemon.",
    ),
    "MPICH, MVAPICH and Intel MPI": (
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)",
        "[mpiexec@n1] APPLICATION TIMED OUT, TIMEOUT = 60s",
        "=   KILLED BY SIGNAL: 15 (Terminated)",
    ),
    "timeout": ("timeout: sending signal TERM to command 'mpirun'",),
    "GNU time": (
        "Command terminated by signal 9",
        "Command exited with non-zero status 137",
        "\tExit status: 143",
    ),
    "a shell": (
        "Killed",
        "Terminated",
        "Segmentation fault (core dumped)",
        "/var/spool/job17: line 12:  4711 Killed                  mpirun -n 2 ./osu_latency",
        "/bin/sh: line 1: 99 Terminated: 15          ./osu_latency",
        "[1]+  Terminated              mpirun -n 2 ./osu_latency",
    ),
    "the kernel": (
        "Out of memory: Killed process 4711 (osu_latency) total-vm:1000kB",
        "slurmstepd: Detected 1 oom_kill event in StepId=12.0.",
        "Memory cgroup out of memory: Killed process 4711 (osu_latency)",
    ),
    "a container or a CI system": (
        "command terminated with exit code 137",
        "ERROR: Job failed: execution took longer than 1h0m0s seconds",
    ),
}
BENIGN = (
    "0.05user 0.01system 0:01.02elapsed 6%CPU (0avgtext+0avgdata 5000maxresident)k",
    "0inputs+0outputs (0major+1000minor)pagefaults 0swaps",
    "\treal\t0m1.024s",
    "\tExit status: 0",
    "\tElapsed (wall clock) time (h:mm:ss or m:ss): 0:01.02",
    "srun: job 4711 has been allocated resources",
    "Successfully completed.",
    "Resource usage summary:",
    "    CPU time :                                   12.00 sec.",
    "2024-02-05 10:00:00 job finished",
    "10 tasks on 2 nodes were used",
    "Exit_status=0",
    "0",
)
ALL = [(system, message) for system, messages in MESSAGES.items() for message in messages]


def outcome_of(text):
    (found,) = read_text(text, Path("log"))
    return found.imported


@pytest.mark.parametrize(("system", "message"), ALL)
def test_a_death_behind_a_cut_table_fails_the_trial(system, message):
    assert system in ENDINGS
    cut = LATENCY.split("131072")[0]
    outcome = outcome_of(f"{cut}{message}\n").outcome
    assert isinstance(outcome, Failed)
    assert " ".join(message.split())[:20] in outcome.reason


@pytest.mark.parametrize(("system", "message"), ALL)
def test_a_death_behind_a_complete_table_is_a_caveat(system, message):
    outcome = outcome_of(f"{LATENCY}{message}\n").outcome
    assert isinstance(outcome, Measured), system
    assert all("a job died" in " ".join(sample.caveats) for sample in outcome.samples)


@pytest.mark.parametrize("words", BENIGN)
def test_other_words_behind_a_table_change_nothing(words):
    assert death_in(words) is None
    imported = outcome_of(f"{LATENCY}{words}\n")
    assert imported.outcome == outcome_of(LATENCY).outcome
    assert not any(each.lost for each in imported.left_out)


@pytest.mark.parametrize(
    "name",
    ["composed/ior.v4_posix.out", "composed/mdtest.v4_three-iterations.out", "hpcc.two-ranks.out"],
)
def test_a_death_before_the_end_fails_other_formats(name):
    text = (DATA / name).read_text()
    cut = text[: int(len(text) * 0.6)].rpartition("\n")[0]
    trials = read_text(f"{cut}\nflux-job: task(s) exited with exit code 143\n", Path("log"))
    reasons = [each.imported.outcome.reason for each in trials]
    assert any("exit code 143" in reason for reason in reasons)
