"""What goes wrong in a Slurm cluster: told apart from a failing program, and mended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.platforms.hosts.process import marked_processes, processes_with
from bareline.platforms.reached.slurm import allocation as allocation_module
from bareline.platforms.reached.slurm import commands
from bareline.platforms.reached.slurm import job as job_module
from bareline.platforms.reached.slurm.commands import read_time_s
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.session import begin, runner
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.caveats import STARTUP_REPEATED
from bareline.vocabulary.errors import NotNow, PlatformError, TimeUp
from bareline.vocabulary.events import is_replacement
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.nodeset import unfold
from bareline.vocabulary.platform import PlatformSpec

pytestmark = [pytest.mark.netns, pytest.mark.slurm]
OPTIONS = {"subnet": "10.94.0.0/24", "time_min": 10}
#: Lasts long when it runs for the first time.
_LONG_ONCE = "mkdir /tmp/$1.$SLURM_PROCID 2>/dev/null || exec echo again; sleep 100"


@contextmanager
def when_it_runs(token, tasks, happens):
    """Let something happen as soon as every task of `_LONG_ONCE` runs for the first time."""
    marks = [Path(f"/tmp/{token}.{task}") for task in range(tasks)]

    def wait():
        until(lambda: all(mark.exists() for mark in marks))
        happens()

    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        for mark in marks:
            mark.rmdir()


def jobs():
    said = subprocess.run(
        ["squeue", "--noheader", "--states=R,PD", "--format=%i"],
        capture_output=True,
        text=True,
        check=True,
    )
    return said.stdout.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 30),
        ("1:30", 90),
        ("2:00:00", 7200),
        ("1-00:00:01", 86401),
        ("UNLIMITED", None),
        ("INVALID", 0),
    ],
)
def test_times(text, expected):
    assert read_time_s(text) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # Captured from Slurm 22.05: one of two ranks failed, the other was ended for it.
        (
            "srun: error: node2: task 1: Exited with exit code 7\n"
            "srun: error: node1: task 0: Terminated\n",
            7,
        ),
        (
            "srun: error: node2: task 1: Segmentation fault\n"
            "slurmstepd-node1: error: *** STEP 1.4 ON node1 CANCELLED AT 2026-11-22T23:35:11 ***\n"
            "srun: error: node1: task 0: Terminated\n",
            128 + signal.SIGSEGV,
        ),
        ("srun: error: node2: tasks 2-3: Aborted (core dumped)\n", 128 + signal.SIGABRT),
        # Ended from outside: nobody failed before.
        (
            "srun: error: node1: task 0: Terminated\n"
            "srun: error: node2: task 1: Exited with exit code 1\n",
            128 + signal.SIGTERM,
        ),
        ("srun: error: node1: task 0: Out Of Memory\n", None),
        ("the program's own words: task 0: Exited with exit code 7\n", None),
    ],
)
def test_the_task_that_srun_names_first_is_why_a_step_failed(said, expected):
    assert commands.first_ending(said) == expected


def test_the_code_of_the_rank_that_failed_is_told_not_of_those_ended_for_it(
    slurm_cluster, open_bench
):
    """srun gives the largest one: 143 of the ranks that it has ended."""
    bench = open_bench("slurm", mpi="openmpi", launcher="srun", **OPTIONS)
    fails = '[ "$SLURM_PROCID" = 1 ] && exit 7; sleep 100'
    output = bench.shell(fails, mpi=True, layout=Layout(2))
    assert output.exit_code == 7
    dies = '[ "$SLURM_PROCID" = 1 ] && kill -SEGV $$; sleep 100'
    assert bench.shell(dies, mpi=True, layout=Layout(2)).exit_code == 128 + signal.SIGSEGV


@pytest.mark.parametrize(("own", "expected"), [("", "tree"), ("ring", "ring")])
def test_the_fence_is_one_in_which_ranks_start(
    slurm_cluster, open_bench, monkeypatch, own, expected
):
    if own:
        monkeypatch.setenv("SLURM_PMIX_FENCE", own)
    bench = open_bench("slurm", mpi="openmpi", launcher="srun", **OPTIONS)
    output = bench.shell('echo "$SLURM_PMIX_FENCE"', mpi=True, layout=Layout(2))
    assert output.stdout.split() == [expected] * 2


_LOST = "slurmstepd: error:  mpi/pmix_v4: pmixp_p2p_send: node1 [0]: send failed, rc=1001"


@pytest.mark.parametrize(
    ("fails", "cause"),
    [("kill -SEGV $$", "SIGSEGV"), (f"echo '{_LOST}' >&2; exit 1", "PMIx")],
)
def test_ranks_that_fail_in_their_start_are_started_once_more_and_that_is_said(
    slurm_cluster, open_bench, fails, cause
):
    bench = open_bench("slurm", mpi="openmpi", launcher="srun", **OPTIONS)
    mark = f"/tmp/{bench.token}.start"
    # srun ends the others with the first that crashes: each waits until both are there.
    both = f"until [ -d {mark}.0 ] && [ -d {mark}.1 ]; do sleep 0.05; done"
    once = f"if mkdir {mark}.$SLURM_PROCID 2>/dev/null; then {both}; {fails}; fi; echo started"
    try:
        output = bench.shell(once, mpi=True, layout=Layout(2))
    finally:
        for task in range(2):
            Path(f"{mark}.{task}").rmdir()
    assert (output.exit_code, output.stdout) == (0, "started\n" * 2)
    assert STARTUP_REPEATED in output.caveats
    (told,) = bench.allocation.events()
    assert "2 ranks" in told and cause in told
    # What has printed, or crashes each time, is told as it is.
    for script, code in (("echo said; kill -SEGV $$", 139), ("kill -SEGV $$", 139)):
        output = bench.shell(script, mpi=True, layout=Layout(1))
        assert abs(output.exit_code) in (code, code - 128)
        assert (STARTUP_REPEATED in output.caveats) == ("echo" not in script)


def test_launches_that_crashed_in_their_start_are_a_fact(slurm_cluster, make_spec, tmp_path):
    mark = tmp_path / "once"
    crash = f"mkdir {mark} 2>/dev/null && kill -SEGV $$; echo t 1"
    content = {
        "study": {"name": "s", "launches": 2, "min_launches": 1, "precision": 0},
        "app": {
            "x": {
                "command": ["sh", "-c", crash],
                "metrics": {"time": {"regex": "^t (.)"}},
                "verify": ["time > 0"],
            }
        },
        "measure": [{"probe": "app.x", "ranks": 1}],
    }
    study = study_from_toml(content, where="test")
    spec = make_spec("slurm", mpi="openmpi", nodes=2, **OPTIONS)
    run = begin.create_run(study, [spec], tmp_path / "run", baseline=spec.name)
    runner.execute(run, SilentObserver())
    first, second = run.finished().values()
    assert STARTUP_REPEATED in first.caveats and STARTUP_REPEATED not in second.caveats
    assert run.facts()[spec.name]["mpi.startup_failures"] == 1


def test_an_allocation_is_given_back(slurm_cluster, acquire):
    with acquire("slurm", **OPTIONS) as allocation:
        assert jobs() == [allocation.facts()["slurm.job"]]
        assert allocation.facts()["slurm.queue_wait_s"] > 0
    until(lambda: jobs() == [])


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("scancel {job}", "CANCELLED"),
        (
            "sbatch --partition=urgent --nodes=4 --exclusive --output=/dev/null --wrap=true",
            "PREEMPTED",
        ),
    ],
)
def test_an_allocation_that_is_taken_away_is_renewed_and_the_trial_repeated(
    slurm_cluster, open_bench, line, state
):
    bench = open_bench("slurm", **OPTIONS)
    (job,) = jobs()
    argv = line.format(job=job).split()

    def take_away():
        subprocess.run(argv, check=True, capture_output=True)

    with when_it_runs(bench.token, 1, take_away):
        output = bench.run("sh", "-c", _LONG_ONCE, "sh", bench.token, timeout_s=60)
    assert output.stdout == "again\n"
    ended, renewed = bench.allocation.events()[:2]
    new_job = bench.allocation.facts()["slurm.job"]
    assert job in ended and state in ended
    assert new_job in renewed
    assert jobs() == [new_job]
    assert marked_processes(bench.token) == []


def test_a_dead_node_is_told_apart_and_excluded(slurm_cluster, open_bench):
    bench = open_bench("slurm", mpi="openmpi", **OPTIONS)
    assert [node.name for node in bench.allocation.nodes] == ["node1", "node2"]
    with ExitStack() as stack:

        def die():
            stack.enter_context(slurm_cluster.dead(1))

        with when_it_runs(bench.token, 2, die):
            argv = ("sh", "-c", _LONG_ONCE, "sh", bench.token)
            output = bench.run(*argv, mpi=True, layout=Layout(2), timeout_s=60)
    names = [node.name for node in bench.allocation.nodes]
    assert output.stdout == "again\nagain\n", "the trial was repeated"
    assert len(names) == 2 and "node2" not in names
    assert any("node2" in text for text in bench.allocation.events())


def test_an_allocation_that_would_end_too_soon_is_renewed_before_the_trial(
    slurm_cluster, open_bench, monkeypatch
):
    bench = open_bench("slurm", **OPTIONS)
    first = bench.allocation.facts()["slurm.job"]
    real = commands.job_state
    left = iter([20.0])

    def nearly_over(job):
        state = real(job)
        return replace(state, left_s=next(left, state.left_s))

    monkeypatch.setattr(commands, "job_state", nearly_over)
    assert bench.shell("echo done", timeout_s=60).stdout == "done\n"
    assert bench.allocation.facts()["slurm.job"] != first
    event = bench.allocation.events()[0]
    assert is_replacement(event) and first in event and "20 s" in event


def test_a_job_whose_time_ends_leaves_what_is_left_to_another_one(
    slurm_cluster, acquire, monkeypatch
):
    job = inherited(monkeypatch)
    try:
        with acquire("slurm", allocation="inherit", time_min=10) as allocation:
            real = commands.job_state

            def nearly_over(job):
                return replace(real(job), left_s=20.0)

            monkeypatch.setattr(commands, "job_state", nearly_over)
            with raises(TimeUp, "BL-PLATFORMS-516", job, "20 s"):
                allocation.run(Command(argv=("true",)), Layout(), timeout_s=60)
        assert jobs() == [job]
    finally:
        subprocess.run(["scancel", job], check=True)


def inherited(monkeypatch):
    """Let this process be part of a job; give its number."""
    said = subprocess.run(
        ["salloc", "--no-shell", "--nodes=2"], capture_output=True, text=True, check=True
    )
    job = said.stderr.split("Granted job allocation ")[1].split()[0]
    monkeypatch.setenv("SLURM_JOB_ID", job)
    return job


def test_nodes_that_there_are_not_are_an_error_with_a_next_step(slurm_cluster, acquire):
    with (
        raises(PlatformError, "BL-PLATFORMS-870") as caught,
        acquire("slurm", partition="none", **OPTIONS),
    ):
        pass
    assert "sinfo" in (caught.value.hint or "")
    assert jobs() == []


def test_the_queue_is_left_when_it_takes_too_long(slurm_cluster, acquire, caplog):
    with acquire("slurm", nodes=4, **OPTIONS):
        with (
            raises(NotNow, "BL-PLATFORMS-870", "6 s", "(Resources)"),
            acquire("slurm", queue_s=6, **OPTIONS),
        ):
            pass
        assert len(jobs()) == 1
    warnings = [record for record in caplog.records if record.name == job_module.__name__]
    assert any("Resources" in record.getMessage() for record in warnings)


def test_a_job_that_can_never_start_is_not_waited_for(slurm_cluster, acquire):
    def set_limit(minutes):
        line = ["scontrol", "update", "partitionname=urgent", f"MaxTime={minutes}"]
        subprocess.run(line, check=True)

    set_limit(5)
    began = time.monotonic()
    try:
        with (
            raises(PlatformError, "BL-PLATFORMS-494", "PartitionTimeLimit") as caught,
            acquire("slurm", partition="urgent", queue_s=100, **OPTIONS),
        ):
            pass
    finally:
        set_limit("INFINITE")
    assert not isinstance(caught.value, NotNow)  # it would be asked for again
    assert time.monotonic() - began < 60
    assert jobs() == []


def _said(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def test_an_inherited_allocation_is_used_and_not_given_back(slurm_cluster, acquire, monkeypatch):
    spec = PlatformSpec("s", "slurm", SlurmOptions(allocation="inherit"))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert not SlurmPlatform.available(spec).ok
    job = inherited(monkeypatch)
    try:
        monkeypatch.setenv("SLURM_NTASKS", "99")
        with acquire("slurm", allocation="inherit") as allocation:
            command = Command(argv=("printenv", "SLURMD_NODENAME"), node=-1)
            # Slurm chooses: nodes of a job that has just ended are not always free again.
            last = _said("scontrol", "show", "hostnames", _said("squeue", "-hj", job, "-o", "%N"))
            assert allocation.run(command, Layout(2), timeout_s=30).stdout.split() == [
                last.splitlines()[-1]
            ]
        assert jobs() == [job]
    finally:
        subprocess.run(["scancel", job], check=True)


_HOLD = """
import sys
from pathlib import Path
from bareline.host.owner import owner_mark
from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.vocabulary.model import Command, Layout
spec = make_spec("s", {"type": "slurm", "time_min": 10}, where="test")
with SlurmPlatform(spec, Context(Path(sys.argv[1]), Path(sys.argv[1]))).acquire(Layout(2)) as nodes:
    print("up", flush=True)
    env = (("BARELINE_TRIAL", f"{owner_mark()}-{sys.argv[2]}"),)
    nodes.run(Command(argv=("sleep", "300"), mpi=True, env=env), Layout(2), timeout_s=600)
"""


def test_nothing_is_left_after_bareline_is_killed(slurm_cluster, tmp_path):
    before = slurm_cluster.machines.left_behind()
    token = f"killed-{os.getpid()}-2"
    argv = [sys.executable, "-c", _HOLD, str(tmp_path), token]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        until(lambda: processes_with(lambda mark: mark.endswith(token)))
        process.send_signal(signal.SIGKILL)
    until(lambda: not processes_with(lambda mark: mark.endswith(token)))
    until(lambda: jobs() == [])
    until(lambda: slurm_cluster.machines.left_behind() <= before)


def test_no_more_allocations_are_asked_for_than_allowed(slurm_cluster, acquire, monkeypatch):
    monkeypatch.setattr(job_module, "_ASKED", Counter())
    with acquire("slurm", max_jobs=1, **OPTIONS):
        assert len(jobs()) == 1
    until(lambda: jobs() == [])
    with (
        raises(PlatformError, "BL-PLATFORMS-372", "1 allocation"),
        acquire("slurm", max_jobs=1, **OPTIONS),
    ):
        pass
    assert jobs() == []


def test_clean_gives_back_what_a_dead_bareline_holds(slurm_cluster):
    dead = subprocess.run(
        [sys.executable, "-c", "from bareline.host.owner import owner_mark; print(owner_mark())"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    for name in (f"bareline-{dead}", "somebody"):
        subprocess.run(
            ["salloc", "--no-shell", "--nodes=1", f"--job-name={name}"],
            capture_output=True,
            check=True,
        )
    first, other = sorted(jobs(), key=int)
    assert SlurmPlatform.clean() == [f"Slurm allocation {first} given back"]
    until(lambda: jobs() == [other])
    subprocess.run(["scancel", other], check=True)
    until(lambda: jobs() == [])


#: Trial k ends when there is a file "may.k", and no sooner.
_WAITS = """\
[study]
name = "s"
launches = 6
precision = 0
[app.waits]
command = ["sh", "-c", '''
    until [ -e FOLDER/may.${BARELINE_TRIAL##*-} ]; do sleep 0.05; done; echo 1 s''']
verify = ["time > 0"]
metrics.time = { regex = "^([0-9]) s$", take = "max" }
[[measure]]
probe = "app.waits"
ranks = 2
nodes = 2
timeout_s = 60
"""


def test_a_submitted_study_is_measured_by_a_job_whatever_becomes_of_it(slurm_cluster, tmp_path):
    """It is requeued by hand, then because a node fails: it goes on with what is left."""
    (tmp_path / "platforms.toml").write_text(
        '[platform.nodes]\ntype = "slurm"\nsubnet = "10.94.0.0/24"\ntime_min = 10\n'
        'mpi = "openmpi"\n'
    )
    (tmp_path / "study.toml").write_text(_WAITS.replace("FOLDER", str(tmp_path)))
    for name in ("queue.py", "bareline.py"):  # the job must not take them for Python's or ours
        (tmp_path / name).write_text("raise SystemExit(9)\n")
    argv = [sys.executable, "-P", "-m", "bareline"]
    done = subprocess.run(
        [*argv, "submit", "study.toml", "--on", "nodes", "--out", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "run"
    run = Run.open(tmp_path / "run")
    status = [*argv, "status", "run", "--json"]

    def row():
        said = subprocess.run(status, cwd=tmp_path, capture_output=True, text=True, check=True)
        return json.loads(said.stdout)[0]

    def may_end(*trials):
        for trial in trials:
            (tmp_path / f"may.{trial}").touch()

    system, job = row()["job"].split()
    assert system == "slurm"
    with _with_its_log(run):
        may_end(0)
        until(lambda: len(run.finished()) == 1, timeout_s=60)
        subprocess.run(["scontrol", "requeue", job], check=True)
        until(lambda: _requeued(run, 1), timeout_s=60)
        may_end(1, 2)
        until(lambda: len(run.finished()) == 3, timeout_s=60)
        last = unfold(_said("squeue", "-hj", job, "-o", "%N"))[-1]
        with slurm_cluster.dead(int(last.removeprefix("node")) - 1):
            until(lambda: _requeued(run, 2), timeout_s=90)
            may_end(3, 4, 5)
            until(lambda: len(run.finished()) == 6, timeout_s=60)
        assert all(record.status == "measured" for record in run.finished().values())
    until(lambda: commands.job_state(job).state == "COMPLETED")
    ended = row()
    assert (ended["measured"], ended["remaining"], ended["job_state"]) == (6, 0, "completed")


def _requeued(run, times):
    told = f"was requeued (restart {times})"
    return any(told in event.event for event in run.events())


@contextmanager
def _with_its_log(run):
    """Let a failed assertion show what the job's bareline said."""
    try:
        yield
    except AssertionError as error:
        log = run.path / "submission.log"
        said = log.read_text() if log.exists() else ""
        raise AssertionError(f"{error}\n{said}\n{list(run.events())}") from error


def test_long_lines_of_several_nodes_of_one_step_stay_apart(slurm_cluster, acquire, tmp_path):
    """Slurm passes 1,024 bytes at a time: what nodes said at once was mixed up."""
    says = (
        'touch "$1/$2"; while [ $(ls "$1" | wc -l) -lt 4 ]; do :; done; '
        'yes "I am $2" | head -c 200000'
    )
    with acquire("slurm", nodes=4, **OPTIONS) as allocation:
        names = [node.name for node in allocation.nodes]
        told = allocation.on_every_node(says, [(str(tmp_path), name) for name in names])
    for name, done in zip(names, told, strict=True):
        assert done.stdout == (f"I am {name}\n" * 20000)[:200000]


def test_nodes_that_say_nothing_are_asked_again(slurm_cluster, acquire, monkeypatch):
    """A step that ended before it was heard is no failure of every trial that is left."""
    text = "case $SLURMD_NODENAME in node2) exit 0 ;; esac; describe() { :; }; stay() { :; }\n"
    real = allocation_module.script
    monkeypatch.setattr(
        allocation_module, "script", lambda name: text if name == "description" else real(name)
    )
    with (
        raises(NotNow, "BL-PLATFORMS-711"),
        acquire("slurm", nodes=2, **OPTIONS),
    ):
        pass
    until(lambda: jobs() == [])


def test_a_process_whose_job_has_ended_waits_for_its_end(slurm_cluster, acquire, monkeypatch):
    """Each trial that was left failed within the seconds that Slurm takes to end the job."""
    job = inherited(monkeypatch)
    monkeypatch.setattr("bareline.platforms.reached.slurm.job._KILLED_WITHIN_S", 0.1)
    subprocess.run(["scancel", job], check=True)
    until(lambda: not commands.job_state(job).runs)
    with (
        raises(TimeUp, "BL-PLATFORMS-827", job),
        acquire("slurm", allocation="inherit", time_min=10),
    ):
        pass
