"""Chains of jobs in a real Slurm, by its own commands and by those of Torque that it brings."""

from __future__ import annotations

import shutil
import subprocess
import tomllib

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.batch import JobRequest
from bareline.session.submission import (
    SubmissionRequest,
    see_to_jobs,
    states_of,
    submission_of,
    submit,
)
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError

pytestmark = [pytest.mark.netns, pytest.mark.slurm]

#: Its first trial goes on until somebody makes the file, or ends the job.
_STUDY = """\
[study]
name = "s"
launches = 3
precision = 0
[app.wait]
command = ["sh", "-c", "touch BEGUN; while [ ! -e GO ]; do sleep 0.1; done; echo time 1"]
mpi = false
verify = ["time > 0"]
metrics.time = { regex = 'time (\\S+)', unit = "s", better = "lower" }
[[measure]]
probe = "app.wait"
timeout_s = 100
"""
#: Words of each for jobs that the four nodes take beside each other.
SYSTEMS = {"slurm": ("--partition=all",), "torque": ("-q", "all")}


#: The third is taken back, for nothing is left; Slurm's qstat has no word for how a job ended.
ENDS = {"slurm": [["cancelled", "completed", "cancelled"]], "torque": [["ended"] * 3]}


@pytest.fixture(params=SYSTEMS)
def system(request):
    if request.param == "torque" and shutil.which("qsub") is None:
        pytest.skip("slurm-wlm-torque is not installed")
    return request.param


@pytest.fixture
def made(tmp_path, request):
    text = _STUDY.replace("BEGUN", str(tmp_path / "begun")).replace("GO", str(tmp_path / "go"))
    study = study_from_toml(tomllib.loads(text), where="t")
    specs = list(platforms_from_toml({"platform": {"a": {"type": "local"}}}, where="t").values())
    # Slurm's qsub takes a path at its blanks for several words.
    torque = "torque" in request.node.name
    return begin.create_run(study, specs, tmp_path / ("run" if torque else "my run"), baseline="a")


def told(run):
    return [state.words for state in states_of(submission_of(Run.open(run.path)))]


def test_a_chain_goes_on_after_a_job_that_was_taken_back(slurm_cluster, made, system, tmp_path):
    request = JobRequest(nodes=1, time_min=5, options=SYSTEMS[system])
    first, *_ = submit(made, SubmissionRequest(system, request, chain=3)).jobs
    log = made.path / "submission.log"
    until((tmp_path / "begun").exists)
    state, *behind = told(made)
    assert state == "running"
    assert behind == [{"slurm": "pending (Dependency)", "torque": "queued"}[system]] * 2
    with raises(UsageError, "BL-SESSION-516", first):
        see_to_jobs(made)
    subprocess.run([{"slurm": "scancel", "torque": "qdel"}[system], first], check=True)
    (tmp_path / "go").touch()
    until(lambda: len(Run.open(made.path).finished()) == 3, timeout_s=60)
    until(lambda: told(made) in ENDS[system])
    assert "Traceback" not in log.read_text()
    assert [r.status for r in Run.open(made.path).finished().values()] == ["measured"] * 3


def test_what_waits_for_a_job_that_fails_is_taken_back(slurm_cluster, made, tmp_path):
    said = subprocess.run(
        ["sbatch", "--parsable", "--output=/dev/null", "--wrap=false"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    request = JobRequest(nodes=1, time_min=5, after=said.stdout.strip(), well=True)
    submit(made, SubmissionRequest("slurm", request))
    until(lambda: told(made) == ["cancelled"])
    assert not (tmp_path / "begun").exists()
