"""Jobs of PBS, Torque, LSF and Flux, as far as their command lines go.

The commands are simulated, strictly after the manuals (``queue/batch.py``); the jobs that a test
lets begin are real, and measure. Slurm and its own commands of Torque run in
``tests/platforms/reached/test_submitted.py``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, submission
from bareline.session.batch import JobRequest
from bareline.session.status import status_of
from bareline.session.submission import SubmissionRequest, states_of, submission_of, submit
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, ToolMissing, UsageError

STUDY = {
    "study": {"name": "s", "launches": 2, "precision": 0},
    "measure": [{"probe": "null", "params": {"points": 1}}],
}
COMMANDS = ("qsub", "qstat", "qdel", "bsub", "bjobs", "bkill", "flux")
SYSTEMS = ("pbs", "torque", "lsf", "flux")
WAITS = {
    "pbs": "queued (Not Running: Insufficient amount of resource: ncpus (R: 64 A: 0 T:)",
    "torque": "queued",
    "lsf": "pending",
    "flux": "sched",
}
HELD = {"pbs": "held", "torque": "held", "lsf": "pending", "flux": "depend"}
RUNS = {"pbs": "running", "torque": "running", "lsf": "running", "flux": "run"}


#: A script that the system copies, and a command that it gives to a shell: one of each measures.
MEASURED = ("pbs", "lsf")


class Queue:
    """What the simulated commands have been handed."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, job):
        return self.folder / "queue" / f"{job}.json"

    def job(self, job):
        return json.loads(self.path(job).read_text())

    def set(self, job, **what):
        self.path(job).write_text(json.dumps(self.job(job) | what))

    def run(self, job, cwd):
        """Let a job run to its end on a node, as its system would; give its exit code."""
        kept = self.job(job)
        self.set(job, state="running")
        argv = ["/bin/sh", "-c", kept["words"]] if kept["words"] else ["/bin/sh", "-s"]
        done = subprocess.run(argv, input=kept["text"], text=True, cwd=cwd, check=False)
        self.set(job, state="done", code=done.returncode)
        return done.returncode

    @property
    def said(self):
        path = self.folder / "commands"
        return path.read_text() if path.exists() else ""


@pytest.fixture(params=SYSTEMS)
def system(request):
    return request.param


@pytest.fixture
def queue(tmp_path, monkeypatch, system):
    programs = tmp_path / "bin"
    programs.mkdir()
    source = Path(__file__).parent / "queue" / "batch.py"
    for name in COMMANDS:
        own = shutil.copy(source, programs / name)
        text = own.read_text().replace("/usr/bin/env python3", f"{sys.executable} -I", 1)
        own.write_text(text)
        own.chmod(0o755)
    (tmp_path / "queue").mkdir()
    monkeypatch.setenv("QUEUE", str(tmp_path / "queue"))
    monkeypatch.setenv("QUEUE_SYSTEM", system)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return Queue(tmp_path)


@pytest.fixture
def made(tmp_path):
    specs = list(platforms_from_toml({"platform": {"a": {"type": "null"}}}, where="t").values())
    study = study_from_toml(STUDY, where="t")
    # A blank in the path: nothing may be quoted once too often, or once too rarely.
    return begin.create_run(study, specs, tmp_path / "my run", baseline="a", seed=1)


def told(run):
    return [state.words for state in states_of(submission_of(Run.open(run.path)))]


@pytest.mark.long
def test_a_job_waits_runs_and_measures_the_run(made, queue, system, tmp_path):
    handed = submit(made, SubmissionRequest(system, JobRequest(nodes=2, time_min=90)))
    assert submission_of(Run.open(made.path)) == handed
    (job,) = handed.jobs
    assert told(made) == [WAITS[system]]
    queue.set(job, state="running")
    assert told(made) == [RUNS[system]]
    if system in MEASURED:
        assert queue.run(job, tmp_path) == 0, (made.path / "submission.log").read_text()
        assert status_of(Run.open(made.path))["measured"] == 2
    queue.set(job, state="done", code=0)
    assert told(made) == ["completed"]
    queue.path(job).unlink()
    assert told(made) == ["ended"]


def test_a_job_that_fails_is_told_with_its_code(made, queue, system):
    handed = submit(made, SubmissionRequest(system, JobRequest(nodes=1, time_min=5)))
    queue.set(handed.jobs[0], state="done", code=130)
    (said,) = told(made)
    assert said == ("failed" if system == "flux" else "failed (exit code 130)")


@pytest.mark.long
def test_each_job_of_a_chain_follows_the_one_before_however_it_ends(made, queue, system, tmp_path):
    after = submit(made, SubmissionRequest(system, JobRequest(nodes=1, time_min=5))).jobs[0]
    request = JobRequest(nodes=1, time_min=5, after=after, well=True)
    first, second, third = submit(made, SubmissionRequest(system, request, chain=3)).jobs
    well, ended = ("done", "ended") if system == "lsf" else ("afterok", "afterany")
    assert [queue.job(job)["after"] for job in (first, second, third)] == [
        [well, after], [ended, first], [ended, second],
    ]  # fmt: skip
    assert told(made) == [HELD[system]] * 3
    if system == "flux":
        queue.set(first, state="done", code=1)  # its node was lost before anything was measured
        assert queue.run(second, tmp_path) == 0
        assert status_of(Run.open(made.path))["measured"] == 2
        assert told(made) == ["failed", "completed", "failed"], "the third was taken back"


def test_going_on_by_hand_knows_the_jobs(made, queue, system, monkeypatch):
    waiting, second = submit(
        made, SubmissionRequest(system, JobRequest(nodes=1, time_min=5), chain=2)
    ).jobs
    lines = submission.see_to_jobs(made)
    assert [f"job {job} is" in line for job, line in zip((waiting, second), lines, strict=True)]
    assert all("cancels it" in line for line in lines)
    queue.set(waiting, state="running")
    with raises(UsageError, "BL-SESSION-516", str(waiting)):
        submission.see_to_jobs(made)
    monkeypatch.setenv("BARELINE_JOB_OF", made.id)
    assert submission.see_to_jobs(made) == [], "it is that very job"


def test_who_is_done_takes_back_what_still_waits(made, queue, system, monkeypatch):
    first, second = submit(
        made, SubmissionRequest(system, JobRequest(nodes=1, time_min=5), chain=2)
    ).jobs
    queue.set(first, state="running")
    submission.end_chain(made)
    assert queue.job(second)["state"] == "held", "only a job of the run itself may do so"
    monkeypatch.setenv("BARELINE_JOB_OF", made.id)
    submission.end_chain(made)
    assert [queue.job(job)["state"] for job in (first, second)] == ["running", "done"]
    queue.path(second).unlink()
    submission.end_chain(made)


def test_a_refused_job_is_told_in_the_systems_words(made, queue, system):
    words = ("--queue=nosuch",) if system == "flux" else ("-q", "nosuch")
    with raises(PlatformError, "BL-SESSION-701"):
        submit(made, SubmissionRequest(system, JobRequest(nodes=1, time_min=5, options=words)))
    assert submission_of(Run.open(made.path)) is None


@pytest.mark.parametrize("system", ["pbs"])
def test_what_a_user_selects_of_pbs_stands_alone(made, queue, system):
    words = ("-l", "select=4:ncpus=64", "-l", "filesystems=home")
    submit(made, SubmissionRequest(system, JobRequest(nodes=4, time_min=5, options=words)))
    assert "select=4 " not in queue.said and "select=4:ncpus=64" in queue.said


def test_commands_that_are_not_here_are_named(made, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(ToolMissing, "BL-SESSION-986"):
        submit(made, SubmissionRequest("lsf", JobRequest(nodes=1, time_min=5)))


def test_an_unknown_batch_system_is_named_with_the_known_ones(made):
    with raises(UsageError, "BL-SESSION-144", "sge"):
        submit(made, SubmissionRequest("sge", JobRequest(nodes=1, time_min=5)))
