"""Runs that a batch system executes: what is remembered of them, and who may go on."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.batch import JobRequest
from bareline.session.status import status_of
from bareline.session.submission import (
    Submission,
    SubmissionRequest,
    fit,
    inheriting,
    last_words,
    see_to_jobs,
    states_of,
    submission_of,
)
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError

STUDY = {
    "study": {"name": "s", "launches": 2, "precision": 0},
    "measure": [{"probe": "null", "params": {"points": 1}}],
}
PLAIN = SubmissionRequest("slurm", JobRequest(nodes=1, time_min=5))


@pytest.fixture
def made(tmp_path):
    specs = list(platforms_from_toml({"platform": {"a": {"type": "null"}}}, where="t").values())
    study = study_from_toml(STUDY, where="t")
    return begin.create_run(study, specs, tmp_path / "run", baseline="a", seed=1)


#: Names of modules of Python that people give to files of their own.
PLANTED = ("queue.py", "bareline.py", "random.py")


@pytest.mark.long
def test_a_job_runs_nothing_of_the_folder_that_it_was_submitted_in(made, tmp_path, monkeypatch):
    here = tmp_path / "mine"
    here.mkdir()
    for name in PLANTED:
        (here / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(9)\n")
    monkeypatch.chdir(here)
    text = PLAIN.script(made.path, made.id)
    done = subprocess.run(["/bin/sh", "-c", text], cwd="/", check=False)
    assert done.returncode == 0, (made.path / "submission.log").read_text()
    assert not (tmp_path / "ran").exists()
    assert status_of(Run.open(made.path))["measured"] == 2


def test_a_node_without_our_python_says_so_in_the_log(made, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/my python")
    done = subprocess.run(["/bin/sh", "-c", PLAIN.script(made.path, made.id)], check=False)
    assert done.returncode == 127
    assert last_words(made).startswith("this node has no /nowhere/my python: install bareline")


def test_a_job_that_left_no_record_is_explained_by_the_end_of_its_log(made):
    assert last_words(made) == ""
    text = PLAIN.script(made.path, made.id).replace(sys.executable, "/no/such/python")
    done = subprocess.run(["/bin/sh", "-c", text], cwd="/", check=False)
    assert done.returncode == 127
    words = last_words(made)
    assert "/no/such/python" in words
    assert str(made.path / "submission.log") in words


def test_a_log_that_leads_elsewhere_is_not_read(made, tmp_path):
    (tmp_path / "secret").write_text("mine\n")
    (made.path / "submission.log").symlink_to(tmp_path / "secret")
    assert last_words(made) == ""


def cast(**tables):
    specs = platforms_from_toml({"platform": tables}, where="t")
    return inheriting(list(specs.values()))


def test_slurm_platforms_use_the_job_they_are_in():
    changed, largest = cast(
        a={"type": "slurm", "nodes": 2}, b={"type": "slurm", "nodes": 4}, c={"type": "null"}
    )
    assert [getattr(spec.options, "allocation", None) for spec in changed] == [
        "inherit", "inherit", None,
    ]  # fmt: skip
    assert largest is not None and largest.nodes == 4


def test_a_job_asks_for_its_nodes_once_as_the_platform_does(tmp_path):
    named = cast(a={"type": "slurm", "nodes": 3, "partition": "big", "exclusive": False})
    words = fit(PLAIN, *named).command(tmp_path)
    assert "--partition=big" in words and "--exclusive" not in words
    assert [word for word in words if word.startswith(("--nodes", "--time"))] == [
        "--nodes=3", "--time=60",
    ]  # fmt: skip


def test_a_job_of_pbs_asks_for_the_nodes_of_the_largest_platform_in_it():
    named = cast(a={"type": "job", "nodes": 3}, b={"type": "job", "nodes": 5})
    assert fit(SubmissionRequest("pbs", PLAIN.request), *named).request.nodes == 5


@pytest.mark.parametrize(("kind", "system"), [("slurm", "pbs"), ("job", "slurm")])
def test_nodes_of_one_system_are_not_asked_of_another(kind, system):
    with raises(UsageError, "BL-SESSION-731", str(kind), str(system)):
        fit(SubmissionRequest(system, PLAIN.request), *cast(a={"type": kind}))


def test_a_run_that_nobody_submitted_has_no_job(made):
    assert submission_of(made) is None
    assert see_to_jobs(made) == []
    (made.path / "submission.json").write_text("{")
    assert submission_of(made) is None


def test_a_job_that_slurm_has_forgotten_has_ended(monkeypatch):
    monkeypatch.setattr(
        "bareline.session.batch.job_state", lambda job: type("State", (), {"state": "GONE"})()
    )
    assert [state.words for state in states_of(Submission("r", "slurm", ("7",), ()))] == ["ended"]


@pytest.mark.parametrize(
    "job",
    [
        {"system": "pbs", "jobs": ["--help"]},
        {"system": "pbs", "jobs": ["1", "1 -x"]},
        {"system": "../pbs", "jobs": ["1"]},
        {"system": "pbs", "jobs": ["9" * 300]},
        {"system": "pbs", "jobs": []},
        {"system": "pbs", "jobs": 7},
        {"system": "pbs", "job": "-x"},
        [],
    ],
)
def test_a_strangers_run_gives_no_option_to_a_batch_system(made, job):
    (made.path / "submission.json").write_text(json.dumps(job))
    assert submission_of(made) is None


def test_a_job_of_an_earlier_version_is_still_known(made):
    (made.path / "submission.json").write_text('{"system": "local", "job": "77"}')
    submission = submission_of(made)
    assert submission == Submission(str(made.path), "local", ("77",), ())
    (state,) = states_of(submission)
    assert state.words.startswith("unknown: no batch system is called 'local'")
    assert see_to_jobs(made) == []
