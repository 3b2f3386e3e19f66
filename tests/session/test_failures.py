"""A program that fails everywhere is noticed after two trials, not after the last."""

from __future__ import annotations

import io
import os
import pty

import pytest
from rich.console import Console

from bareline.platforms.config import platforms_from_toml
from bareline.report.terminal import progress
from bareline.session import begin, runner
from bareline.session.status import status_of
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.errors import Stopped


class Watch(SilentObserver):
    def __init__(self, go_on=True):
        self.told, self.go_on = [], go_on

    def failing(self, told):
        self.told.append(told)
        return self.go_on


BAD = {"fail_every": 1}


def test_it_is_said_once_when_it_has_failed_twice_on_every_platform(make_run):
    run, watch = make_run({"a": BAD, "b": BAD}, launches=5), Watch()
    runner.execute(run, watch)
    (told,) = watch.told
    assert told.startswith("null has failed every time (2 on a and 2 on b), and 6 more trials")
    assert status_of(run)["failed"] == 10


@pytest.mark.parametrize(
    "platforms",
    [{"a": BAD, "b": {}}, {"a": {"fail_every": 2}, "b": BAD}],
)
def test_what_works_somewhere_is_no_alarm(make_run, platforms):
    watch = Watch()
    runner.execute(make_run(platforms, launches=5), watch)
    assert watch.told == []


def test_the_last_trial_is_no_alarm(make_run):
    watch = Watch()
    runner.execute(make_run({"a": BAD, "b": BAD}, launches=2), watch)
    assert watch.told == []


def test_a_stopped_run_goes_on_without_a_second_alarm(make_run, execute):
    run = make_run({"a": BAD, "b": BAD}, launches=5)
    with raises(Stopped, "BL-SESSION-469"):
        runner.execute(run, Watch(go_on=False))
    row = status_of(run)
    assert (row["failed"], row["remaining"]) == (4, 6)
    watch = Watch(go_on=False)
    runner.execute(run, watch)
    assert watch.told == []
    assert status_of(run)["remaining"] == 0


def test_a_program_that_a_platform_lacks_does_not_hide_that_it_fails_elsewhere(tmp_path):
    table = {
        "command": ["sh", "-c", "echo t 1"],
        "mpi": False,
        "metrics": {"time": {"regex": "^u (.)"}},
        "verify": ["time > 0"],
    }
    content = {
        "study": {"name": "x", "launches": 3, "min_launches": 1, "precision": 0},
        "app": {"job": table, "none": {**table, "command": ["not-there-at-all"]}},
        "measure": [{"probe": "app.job"}, {"probe": "app.none"}],
    }
    study = study_from_toml(content, where="t")
    specs = list(platforms_from_toml({"platform": {"here": {"type": "local"}}}, where="t").values())
    watch = Watch()
    runner.execute(begin.create_run(study, specs, tmp_path / "run", baseline="here"), watch)
    (told,) = watch.told
    assert told.startswith("app.job has failed every time (2 on here), and 1 more")
    assert "`bareline reparse RUN --study FILE`" in told


@pytest.mark.parametrize(("stop", "go_on"), [(False, True), (True, False)])
@pytest.mark.parametrize("how", [{}, {"quiet": True, "force_terminal": True}])
def test_without_a_terminal_a_line_is_printed(stop, go_on, how):
    said = io.StringIO()
    with progress.progress_on(Console(file=said, **how), stop_on_failure=stop) as display:
        assert display.failing("null has failed every time") is go_on
    assert "attention: null has failed every time" in said.getvalue()
    assert ("--stop-on-failure would end the run here" in said.getvalue()) is go_on


@pytest.mark.parametrize(
    ("typed", "go_on"), [("n\n", False), ("No\n", False), ("y\n", True), ("\n", True), ("", True)]
)
def test_on_a_terminal_it_asks_for_a_while(monkeypatch, typed, go_on):
    master, slave = pty.openpty()
    monkeypatch.setattr(progress, "_ANSWER_S", 0.2 if not typed else 5.0)
    with os.fdopen(slave, encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        os.write(master, typed.encode())
        said = io.StringIO()
        console = Console(file=said, force_terminal=True, width=200)
        with progress.progress_on(console) as display:
            assert display.failing("null has failed") is go_on
    os.close(master)
    assert "Go on? [Y/n]" in said.getvalue()
    assert ("it goes on" in said.getvalue()) is (typed == "")
