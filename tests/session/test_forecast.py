"""The steps of a forecast: what is measured, goes on, and is used again."""

import json
from dataclasses import replace

import pytest

from bareline.platforms.config import make_spec
from bareline.report.terminal.progress import progress_on
from bareline.report.writers.console import make_console
from bareline.session import forecast, machine
from bareline.session.forecast import ForecastStep, Question
from bareline.session.runner import execute
from bareline.study.launch import MpiProgram
from bareline.study.study import study_from_toml

WEEK_S = 7 * 86_400.0
STUDY = {
    "study": {"name": "ladder", "launches": 6, "precision": 0},
    "measure": [{"probe": "null", "params": {"points": 1}}],
}


@pytest.fixture
def step(tmp_path):
    """A step on two null platforms."""
    specs = tuple(make_spec(name, {"type": "null"}, where="here") for name in "ab")
    return ForecastStep(
        "ladder", study_from_toml(STUDY, where="here"), specs, tmp_path / "ladder-x"
    )


def measured(step):
    """Measure a step to its end."""
    run = step.standing(WEEK_S).run or step.begin("a")
    with progress_on(make_console(stderr=True, quiet=True), stop_on_failure=False) as progress:
        execute(run, progress)
    return run


def test_a_whole_run_is_used_again_and_one_that_was_killed_goes_on(step):
    first = step.standing(WEEK_S)
    assert first.measures and first.run is None
    run = measured(step)
    again = step.standing(WEEK_S)
    assert not again.measures and again.run.path == run.path
    # A kill: records are missing at the end, and the last line is torn.
    records = run.path / "records.jsonl"
    whole = records.read_text()
    records.write_text(whole[: len(whole) // 2])
    rest = step.standing(WEEK_S)
    assert rest.measures and rest.run.path == run.path and "goes on" in rest.words
    measured(step)
    trials = [json.loads(line)["trial"] for line in records.read_text().splitlines()]
    assert sorted(trials) == list(range(12))
    assert not step.standing(WEEK_S).measures


def test_what_is_too_old_or_of_another_machine_is_measured_again(step, monkeypatch):
    run = measured(step)
    old = step.standing(0.0)
    assert old.measures and old.run is None and "old" in old.words
    today = machine.host_of_today()
    for key, word in (("kernel", "kernel"), ("name", "host"), ("processor", "processor")):
        other = {**today, key: "another"}
        monkeypatch.setattr(forecast, "host_of_today", lambda other=other: other)
        assert f"another {word}" in step.standing(WEEK_S).words
    monkeypatch.setattr(forecast, "host_of_today", lambda: today)
    monkeypatch.setattr(forecast, "versions", lambda: {"bareline": "0.0.1"})
    assert "another bareline" in step.standing(WEEK_S).words
    assert step.begin("a").path != run.path


def test_a_damaged_run_is_passed_over(step):
    step.stem.mkdir()
    (step.stem / "run.toml").write_text("not = [toml")
    assert step.standing(WEEK_S).run is None
    assert measured(step).path.name == "ladder-x-2"


def test_another_program_platform_or_number_of_ranks_is_another_run(tmp_path):
    (tmp_path / "app").write_text("one")
    base, to = (make_spec(name, {"type": "null"}, where="here") for name in "ab")
    asked = Question(MpiProgram(("./app",), 4), tmp_path, base, (to,), tmp_path)
    stems = [asked.profiling.stem, asked.checking.stem]
    stems.append(replace(asked, program=MpiProgram(("./app",), 8)).profiling.stem)
    stems.append(replace(asked, program=MpiProgram(("./app", "x"), 4)).profiling.stem)
    changed = make_spec("a", {"type": "null", "factor": 2.0}, where="here")
    stems.append(replace(asked, base=changed).profiling.stem)
    same = replace(asked).profiling.stem
    (tmp_path / "app").write_text("two")
    stems.append(replace(asked).profiling.stem)
    assert same == stems[0] and len(set(stems)) == len(stems)
    assert stems[0].name.startswith("profile-app-")
