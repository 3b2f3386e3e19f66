"""Runs that a batch system executes."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.status import status_of
from bareline.session.submission import (
    Submission,
    inheriting,
    submission_of,
    submission_state,
    submit,
)
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.vocabulary.errors import ToolMissing, UsageError

STUDY = {
    "study": {"name": "s", "launches": 2, "precision": 0},
    "measure": [{"probe": "null", "params": {"points": 1}}],
}


@pytest.fixture
def made(tmp_path):
    specs = list(platforms_from_toml({"platform": {"a": {"type": "null"}}}, where="t").values())
    study = study_from_toml(STUDY, where="t")
    return begin.create_run(study, specs, tmp_path / "run", baseline="a", seed=1)


def test_a_job_of_psij_measures_the_run(made):
    pytest.importorskip("psij")
    submission = submit(made, system="local", platform=None, nodes=1, time_min=5)
    assert submission_of(Run.open(made.path)) == submission
    deadline = time.monotonic() + 60
    while status_of(Run.open(made.path))["measured"] < 2:
        assert time.monotonic() < deadline, (made.path / "submission.err").read_text()
        time.sleep(0.2)


#: Names of modules of Python that people give to files of their own.
PLANTED = ("queue.py", "bareline.py", "random.py")


SUBMIT = """
import sys
from pathlib import Path
from bareline.session.submission import submit
from bareline.store.run import Run
submit(Run.open(Path(sys.argv[1])), system="local", platform=None, nodes=1, time_min=5)
"""


def test_a_job_runs_nothing_of_the_folder_that_it_was_submitted_in(made, tmp_path):
    pytest.importorskip("psij")
    here = tmp_path / "mine"
    here.mkdir()
    for name in PLANTED:
        (here / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nraise SystemExit(9)\n")
    subprocess.run([sys.executable, "-P", "-c", SUBMIT, made.path], cwd=here, check=True)
    deadline = time.monotonic() + 60
    while status_of(Run.open(made.path))["measured"] < 2:
        assert not (tmp_path / "ran").exists()
        assert time.monotonic() < deadline, (made.path / "submission.err").read_text()
        time.sleep(0.2)


def test_an_unknown_batch_system_is_named_with_the_known_ones(made):
    pytest.importorskip("psij")
    with pytest.raises(UsageError, match=r"'sge'.*local.*slurm"):
        submit(made, system="sge", platform=None, nodes=1, time_min=5)


def test_without_psij_the_next_step_is_told(made, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psij", None)
    with pytest.raises(ToolMissing, match=r"pip install 'bareline\[cluster\]'"):
        submit(made, system="pbs", platform=None, nodes=1, time_min=5)


def test_slurm_platforms_use_the_job_they_are_in():
    tables = {"a": {"type": "slurm", "nodes": 2}, "b": {"type": "slurm", "nodes": 4}}
    tables["c"] = {"type": "null"}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    changed, largest = inheriting(specs)
    assert [getattr(spec.options, "allocation", None) for spec in changed] == [
        "inherit", "inherit", None,
    ]  # fmt: skip
    assert largest is not None and largest.name == "b"


def test_a_run_that_nobody_submitted_has_no_job(made):
    assert submission_of(made) is None
    (made.path / "submission.json").write_text("{")
    assert submission_of(made) is None


def test_a_job_that_slurm_has_forgotten_has_ended(monkeypatch):
    monkeypatch.setattr(
        "bareline.session.submission.job_state",
        lambda job: type("State", (), {"state": "GONE"})(),
    )
    assert submission_state(Submission("slurm", "7")) == "ended"


@pytest.mark.parametrize(
    "job",
    [
        {"system": "local", "job": "--help"},
        {"system": "pbs", "job": "1 -x"},
        {"system": "../pbs", "job": "1"},
        {"system": "pbs", "job": "9" * 300},
    ],
)
def test_a_strangers_run_gives_no_option_to_a_batch_system(made, job):
    (made.path / "submission.json").write_text(json.dumps(job))
    assert submission_of(made) is None


@pytest.mark.parametrize("system", ["local", "nosuch"])
def test_a_job_that_cannot_be_asked_about_is_unknown(system):
    assert submission_state(Submission(system, "x")).startswith("unknown: ")
