"""A host that lies: its own trials fail with a reason, and everything else goes on."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bareline.store.run import Run
from bareline.testing.bench import until
from bareline.vocabulary.model import Failed

LIAR = Path(__file__).resolve().parents[2] / "scripts" / "faults" / "liar.py"
STUDY = """
[study]
name = "lies"
launches = 1
precision = 0
[app.hello]
command = ["sh", "-c", "echo time 1.5 >result.txt"]
mpi = false
verify = ["time > 0"]
[app.hello.metrics.time]
unit = "s"
better = "lower"
regex = "time ([0-9.]+)"
file = "result.txt"
[[measure]]
probe = "app.hello"
"""
PLATFORMS = """
[platform.here]
type = "local"
[platform.host]
type = "ssh"
hosts = ["liar"]
connect_s = {connect_s}
folder = "{folder}"
"""


@pytest.fixture
def run_with(tmp_path):
    """Run a study on this machine and on a host that lies; give the run and what was said."""

    def go(lie, connect_s=5):
        programs = tmp_path / "bin"
        programs.mkdir()
        shutil.copy(LIAR, programs / "ssh")
        (programs / "lie.json").write_text(json.dumps(lie))
        (tmp_path / "s.toml").write_text(STUDY)
        folder = tmp_path / "hosts_own"
        folder.mkdir()
        platforms = PLATFORMS.format(connect_s=connect_s, folder=folder)
        (tmp_path / "p.toml").write_text(platforms)
        argv = ["run", "s.toml", "--platforms", "p.toml", "--on", "here", "--on", "host"]
        done = subprocess.run(
            [sys.executable, "-m", "bareline", *argv, "--out", "run"],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert "Traceback" not in done.stderr
        until(lambda: not list(folder.iterdir()))
        return done, Run.open(tmp_path / "run")

    return go


def outcomes(run):
    found = {record.trial.platform: record.outcome for record in run.finished().values()}
    assert set(found) == {"here", "host"}
    assert not isinstance(found["here"], Failed), found["here"]
    return found["host"]


def test_a_host_that_does_not_lie_is_measured(run_with):
    done, run = run_with({"kind": "nothing"})
    assert not isinstance(outcomes(run), Failed), outcomes(run)
    assert done.returncode == 0


#: Each of these starts the command line and a dozen of sessions with the host.
SLOW_WORDS = ("cores", "user", "flags", "pid", "stat")
ODD = ("-1", "", "1" * 5000, "a\x1b[2Jb")


@pytest.mark.parametrize(
    "word",
    ["load", "file", *(pytest.param(word, marks=pytest.mark.slow) for word in SLOW_WORDS)],
)
def test_a_word_that_is_left_out_is_named(run_with, word):
    _, run = run_with({"kind": "left out", "word": word}, connect_s=1)
    outcome = outcomes(run)
    if isinstance(outcome, Failed):
        assert outcome.code, f"an error of Python itself: {outcome.reason}"


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("cores", "a\x1b[2Jb"),
        ("load", "-1"),
        *(pytest.param("cores", value, marks=pytest.mark.slow) for value in ODD[:3]),
        pytest.param("address", "", marks=pytest.mark.slow),
    ],
)
def test_an_odd_answer_is_told_as_it_is(run_with, word, value):
    _, run = run_with({"kind": "instead", "word": word, "value": value})
    outcome = outcomes(run)
    if isinstance(outcome, Failed):
        assert outcome.code, f"an error of Python itself: {outcome.reason}"
        assert "liar" in outcome.reason
    if word == "cores":
        assert isinstance(outcome, Failed) and "cores" in outcome.reason


@pytest.mark.parametrize(
    "name",
    [
        "../../../evil",
        pytest.param("other.txt", marks=pytest.mark.slow),
        pytest.param("", marks=pytest.mark.slow),
    ],
)
def test_a_file_that_nobody_asked_for_ends_its_own_trial(run_with, tmp_path, name):
    lie = {"kind": "more", "word": "file", "other": "file", "value": f"{name} Zm9v"}
    done, run = run_with(lie)
    outcome = outcomes(run)
    assert isinstance(outcome, Failed) and outcome.code == "BL-PLATFORMS-557"
    assert done.returncode == 3
    assert not list(tmp_path.rglob("evil*"))


def test_a_file_that_is_not_whole_is_no_result(run_with):
    _, run = run_with({"kind": "instead", "word": "file", "value": "result.txt Zm9v!!!"})
    assert outcomes(run).code == "BL-PLATFORMS-242"


@pytest.mark.parametrize(
    "kind",
    ["endless line", "endless complaint", pytest.param("endless lines", marks=pytest.mark.slow)],
)
def test_a_host_without_end_takes_no_memory(run_with, kind):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    _, run = run_with({"kind": kind})
    outcome = outcomes(run)
    if kind != "endless complaint":
        assert outcome.code == "BL-PLATFORMS-355"
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    # Children of earlier tests count, too: this one may not have raised the maximum to a gibibyte.
    assert after == before or after < 1 << 20  # KiB


@pytest.mark.slow
def test_a_mute_host_is_said_to_be_mute(run_with):
    started = time.monotonic()
    _, run = run_with({"kind": "mute"}, connect_s=0.2)
    assert outcomes(run).code == "BL-PLATFORMS-405"
    assert "None" not in outcomes(run).reason
    assert time.monotonic() - started < 90


def test_nobody_speaks_for_another(run_with):
    _, run = run_with({"kind": "for another", "word": "cores"})
    assert not isinstance(outcomes(run), Failed)
