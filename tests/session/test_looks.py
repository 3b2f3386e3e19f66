"""Looks that a study plans: after the first only its question is launched again."""

import json

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin
from bareline.session.history import History
from bareline.session.looks import answers_its_question, look_lines, planned_looks
from bareline.session.origin import plan_of, study_of
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Measured, Record, Sample

MEASURES = [{"probe": "compute.dgemm"}, {"probe": "npb.ep"}]


def study_with(**head):
    return study_from_toml({"study": {"name": "s", **head}, "measure": MEASURES}, where="t")


@pytest.fixture
def looked_at(tmp_path, null_platforms):
    """Make a run of so many blocks in which npb.ep loses something, with so much noise."""

    def make(blocks, loss, noise=0.01, **head):
        study = study_with(**head)
        specs = null_platforms(a={}, b={})
        run = begin.create_run(study, specs, tmp_path / f"run{blocks}-{loss}", baseline="a")
        generator = np.random.default_rng(3)
        with run.writing():
            for trial in plan_of(run):
                if trial.block >= blocks:
                    continue
                slow = loss if (trial.platform, trial.case.probe) == ("b", "npb.ep") else 1.0
                time_s = slow * float(np.exp(noise * generator.standard_normal()))
                metric, value = "time", time_s
                if trial.case.probe == "compute.dgemm":
                    metric, value = "rate", 1e9 / time_s
                outcome = Measured((Sample(metric, value),))
                run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=1.0))
        return run

    return make


def history_of(run, answered=None):
    history = History(study_of(run), plan_of(run), answered=answered)
    for record in run.finished().values():
        history.add(record)
    return history


def launches(study, null_platforms):
    plan = make_plan(study, null_platforms(a={}, b={}))
    return {
        probe: 1 + max(trial.block for trial in plan if trial.case.probe == probe)
        for probe in study.probes
    }


def test_a_study_without_launches_plans_three_looks(null_platforms):
    study = study_with()
    assert (study.looks, study.launches, study.required_launches) == ([8, 10, 12], 12, 8)
    assert launches(study, null_platforms) == {"compute.dgemm": 8, "npb.ep": 12}


def test_launches_alone_are_one_look_as_before(null_platforms):
    study = study_with(launches=9)
    assert (study.looks, study.launches) == (None, 9)
    assert launches(study, null_platforms) == {"compute.dgemm": 9, "npb.ep": 9}
    assert study_with().with_launches(7).looks is None


def test_the_question_says_what_is_launched_again(null_platforms):
    asked = study_with(question=["compute.dgemm rate"], looks=[8, 12])
    assert launches(asked, null_platforms) == {"compute.dgemm": 12, "npb.ep": 8}
    of_layer = study_with(question=["b:compute"], looks=[8, 12])
    assert launches(of_layer, null_platforms) == {"compute.dgemm": 12, "npb.ep": 8}


def test_without_programs_everything_is_launched_again(null_platforms):
    study = study_from_toml({"study": {"name": "s"}, "measure": MEASURES[:1]}, where="t")
    assert launches(study, null_platforms) == {"compute.dgemm": 12}


@pytest.mark.parametrize(
    ("head", "code"),
    [
        ({"looks": [10, 8]}, "BL-VOCABULARY-612"),
        ({"looks": [6, 8]}, "BL-VOCABULARY-528"),
        ({"looks": []}, "BL-VOCABULARY-340"),
        ({"looks": [8, 10], "launches": 12}, "BL-STUDY-980"),
        ({"looks": "often"}, "BL-VOCABULARY-340"),
    ],
)
def test_impossible_looks_are_refused_with_the_key(head, code):
    with raises(StudyError, code):
        study_with(**head)


def test_a_scale_with_launches_has_a_single_look():
    content = {
        "study": {"name": "s"},
        "measure": MEASURES,
        "scale": {"small": {"launches": 6}, "looked": {"looks": [8, 9]}},
    }
    study = study_from_toml(content, where="t")
    assert study.at_scale("small").looks is None
    assert study.at_scale("small").launches == 6
    assert study.at_scale("looked").looks == [8, 9]


def test_the_run_keeps_the_plan_and_makes_it_again(looked_at):
    run = looked_at(8, 1.2)
    assert run.header.study["study"]["looks"] == [8, 10, 12]
    assert study_of(run).looks == [8, 10, 12]
    assert len(plan_of(run)) == 2 * (8 + 12)


def test_a_question_answered_at_the_first_look_ends_the_run(looked_at):
    run = looked_at(8, 1.5)
    assert answers_its_question(run)
    status = status_of(run)
    assert (status["remaining"], status["saved"]) == (0, 8)
    assert [look["reached"] for look in status["looks"]] == [True, False, False]
    trial = next(trial for trial in plan_of(run) if trial.block == 9)
    assert "look after 8 blocks" in history_of(run, lambda: True).unneeded(trial)


def test_an_open_question_goes_on(looked_at):
    run = looked_at(8, 1.1, noise=0.2)
    assert not answers_its_question(run)
    assert status_of(run)["remaining"] == 8


def test_between_two_looks_nobody_looks(looked_at):
    """A run that went on after a look does not stop before the next, whatever it shows."""
    asked = []

    def answered():
        asked.append(True)
        return True

    run = looked_at(9, 1.5, precision=0)
    history = history_of(run, answered)
    block_9 = next(trial for trial in plan_of(run) if trial.block == 9)
    assert history.unneeded(block_9) == ""
    assert asked == []
    block_10 = next(trial for trial in plan_of(run) if trial.block == 10)
    assert "look after 10 blocks" in history.unneeded(block_10)


def test_precision_ends_no_case_before_the_first_look(looked_at):
    run = looked_at(6, 1.0, noise=1e-5)
    history = history_of(run)
    assert all(not history.unneeded(t) for t in plan_of(run) if t.block == 7)


def grade_of(run):
    comparison = Comparison(read_runs([run]))
    (row,) = (cell for cell in comparison.asked if cell.headline)
    return row.grade, comparison.glance.promise


def test_nothing_is_certain_before_the_first_planned_look(looked_at):
    grade, promise = grade_of(looked_at(7, 3.0))
    assert grade == "likely"
    assert "7 complete blocks reach none of them, so nothing is certain yet" in promise


def test_a_row_is_certain_at_a_planned_look(looked_at):
    grade, promise = grade_of(looked_at(8, 1.5))
    assert grade == "certain"
    assert "were planned after 8, 10 and 12 blocks, with 2, 1.5 and 1.5 % error" in promise


def without(run, block, keep):
    """Remove from a run what a block has beyond its first trials, as a kill in its middle does."""
    file = run.path / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    of_block = [line for line in lines if json.loads(line)["block"] == block]
    file.write_text("".join(line for line in lines if line not in of_block[keep:]))
    return Run.open(run.path)


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_look_in_whose_last_block_trials_are_missing_is_not_reached(looked_at, keep):
    run = without(looked_at(8, 3.0), 7, keep)
    grade, promise = grade_of(run)
    assert grade == "likely"
    assert "7 complete blocks reach none of them" in promise
    assert [look["reached"] for look in status_of(run)["looks"]] == [False, False, False]


def test_a_block_after_the_look_may_be_incomplete(looked_at):
    """After the first look only the program is launched: the other probes are not missing."""
    run = without(looked_at(9, 3.0), 8, 1)
    grade, _ = grade_of(run)
    assert grade == "certain"
    assert [look["reached"] for look in status_of(run)["looks"]] == [True, False, False]


def test_blocks_after_a_look_make_rows_likely_at_most(looked_at):
    _, promise = grade_of(looked_at(9, 1.5))
    assert "Blocks after the look at 8 can make a difference likely, not certain" in promise


def test_the_plan_of_looks_is_told(null_platforms):
    study = study_with(budget_s=600)
    plan = make_plan(study, null_platforms(a={}, b={}))
    lines = look_lines(study, planned_looks(study, plan))
    assert lines[0].startswith("look after 8 blocks (32 trials, about 8 min): 2 % of error")
    assert lines[-1].startswith("after 8 blocks only npb.ep is launched again")
    assert look_lines(study.with_launches(6), []) == []


def test_a_damaged_plan_of_looks_is_named(looked_at):
    from bareline.store.run import Run
    from bareline.vocabulary.errors import AnalysisError

    run = looked_at(8, 1.5)
    file = run.path / "run.toml"
    text = file.read_text()
    start = text.index("looks = [")
    file.write_text(text[:start] + 'looks = "x"\n' + text[text.index("]", start) + 2 :])
    with raises(AnalysisError, "BL-VOCABULARY-340"):
        _ = Comparison(read_runs([Run.open(run.path)])).points


@pytest.mark.parametrize(
    ("factor", "blocks"),
    [(3.0, 8), (1.0, 12)],
    ids=["decided at the first look", "open to the last"],
)
def test_a_real_run_goes_on_only_while_its_question_is_open(tmp_path, execute, factor, blocks):
    """The null platform runs it: a program that is asked about, beside one that is not."""
    study = study_from_toml(
        {
            "study": {"name": "s", "precision": 0, "question": ["null time"]},
            "measure": [{"probe": "null", "params": {"spread": 0.2}}],
        },
        where="t",
    )
    tables = {"a": {"type": "null"}, "b": {"type": "null", "factor": factor, "seed": 7}}
    specs = list(platforms_from_toml({"platform": tables}, where="p").values())
    run = begin.create_run(study, specs, tmp_path / "run", baseline="a")
    tally = execute(run)
    assert tally.measured == 2 * blocks
    assert tally.remaining == 0
    assert status_of(run)["saved"] == 2 * (12 - blocks)
