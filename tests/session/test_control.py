"""The negative control: the baseline measured again, from the plan to the report."""

import json
from collections import Counter

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.error_rates import control_sentence, control_text
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, runner
from bareline.session.history import History
from bareline.session.origin import plan_of, study_of
from bareline.session.reparse import reparse_run
from bareline.session.status import status_of
from bareline.session.variants import with_control
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.testing.runs import SilentObserver, planted_run
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Measured, Record

POINTS = {"points": 40, "spread": 0.01}


def test_it_is_planned_in_the_same_blocks_wherever_the_baseline_is(null_platforms):
    measures = [
        {"probe": "null", "params": {"points": 1}, "platforms": ["a"]},
        {"probe": "null", "params": {"points": 2}, "platforms": ["b"]},
        {"probe": "null", "params": {"points": 3}},
    ]
    content = {"study": {"name": "s", "control": True}, "measure": measures}
    study = study_from_toml(content, where="t")
    asked = with_control(study, null_platforms(a={}, b={}), "a", None)
    assert [spec.name for spec in asked.platforms] == ["a", "b", "a-again"]
    rows = begin.plan_rows(asked.study, asked.platforms, 1, control=asked.name)
    cases = {
        name: Counter((row["block"], row["params"]) for row in rows if row["platform"] == name)
        for name in ("a", "b", "a-again")
    }
    assert cases["a"] == cases["a-again"] != cases["b"]
    assert {row["platform"] for row in rows if row["control"]} == {"a-again"}


def test_the_command_line_decides_before_the_study(null_study, null_platforms):
    two, one = null_platforms(a={}, b={}), null_platforms(a={})
    asking, plain = null_study(control=True), null_study()
    assert with_control(asking, two, "a", None).name == "a-again"
    assert with_control(asking, two, "a", False).name == ""
    assert with_control(plain, two, "b", True).name == "b-again"
    assert with_control(plain, two, "a", None).name == ""
    # A study's word is for comparisons; of one platform only the command line asks it.
    assert with_control(asking, one, "a", None).name == ""
    assert with_control(asking, one, "a", True).name == "a-again"


def test_its_name_is_none_that_is_taken(null_study, null_platforms):
    specs = null_platforms(**{"a": {}, "a-again": {}, "a-again-2": {}})
    assert with_control(null_study(), specs, "a", True).name == "a-again-3"


def test_a_simulated_baseline_has_none(null_study):
    tables = {"s": {"type": "sim", "network": "10g", "nodes": 2}, "a": {"type": "null"}}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    assert "simulated" in with_control(null_study(), specs, "s", True).note
    assert with_control(null_study(control=True), specs, "s", None).note == ""
    assert with_control(null_study(), specs, "s", True).platforms == specs
    assert with_control(null_study(), specs, "a", True).name == "a-again"


def test_an_honest_control_finds_nothing(tmp_path):
    run = planted_run(tmp_path / "r", {"a": {}, "b": {"factor": 1.1}}, POINTS, control=True)
    compared = Comparison(read_runs([run]))
    (control,) = compared.controls
    assert (control.tested, control.differ, control.claims, control.floors) == (40, 0, 0, {})
    assert control_text(control).startswith("the baseline against itself: 0 of 40 rows differ")
    assert control_sentence(control) in compared.glance.promise
    assert compared.table.get_column("verdict").unique().to_list() == ["slower"]
    assert compared.table.get_column("caveats").list.len().sum() == 0


def test_drift_that_blocks_remove_is_not_seen(tmp_path):
    run = planted_run(
        tmp_path / "r", {"a": {}, "b": {}}, {**POINTS, "drift": 0.002}, control=True, launches=10
    )
    (control,) = Comparison(read_runs([run])).controls
    assert control.honest


def test_a_boot_that_is_kept_is_seen_and_widens_the_promise(tmp_path):
    boots = {"boot_spread": 0.05, "seed": 3}
    run = planted_run(tmp_path / "r", {"a": boots, "b": boots}, POINTS, control=True)
    compared = Comparison(read_runs([run]))
    (control,) = compared.controls
    assert control.differ == control.tested == control.claims == 40
    (largest,) = control.floors.values()
    assert largest > 1.02
    assert "the baseline differs from itself in 40 of 40 rows" in control_text(control)
    assert "may be the machine's, not the platform's" in compared.glance.promise
    for row in compared.table.iter_rows(named=True):
        size = max(row["ratio"], 1 / row["ratio"])
        assert row["verdict"] not in ("slower", "faster") or size > control.floor
        if "within-control" in row["caveats"]:
            assert (row["grade"], size <= control.floor) == ("open", True)


def test_nobody_compares_platforms_with_it(tmp_path):
    run = planted_run(tmp_path / "r", {"a": {}, "b": {}}, POINTS, control=True)
    records = read_runs([run])
    assert records.platforms == ["a", "b"]
    assert records.controls == {"a-again": "a"}
    for frame in (records.trials, records.samples, records.left_out):
        assert "a-again" not in frame.get_column("platform")
    assert records.with_controls.platforms == ["a", "b", "a-again"]
    compared = Comparison(records)
    marked = compared.rows_with_controls
    assert marked.filter("control").get_column("platform").unique().to_list() == ["a-again"]
    assert marked.filter(~marked["control"]).height == compared.table.height == 40
    assert [row["kind"] for row in compared.rows() if "control" in row["kind"]] == ["control"]
    json.dumps(compared.rows(), allow_nan=False)


def test_few_launches_decide_nothing(tmp_path):
    run = planted_run(tmp_path / "r", {"a": {}, "b": {}}, POINTS, control=True, launches=5)
    (control,) = Comparison(read_runs([run])).controls
    assert control_text(control) == "the baseline against itself: not decided, below 6 launches"


def test_one_platform_alone_may_be_held_against_itself(null_study, null_platforms, tmp_path):
    asked = with_control(null_study(launches=8), null_platforms(a={}), "a", True)
    run = begin.create_run(
        asked.study, asked.platforms, tmp_path / "r", baseline="a", control=asked.name, seed=1
    )
    runner.execute(run, SilentObserver())
    compared = Comparison(read_runs([run]))
    assert compared.alone
    assert compared.sentences == []
    assert [row["kind"] for row in compared.rows()] == ["control"]
    assert compared.rows_with_controls.get_column("control").to_list() == [True]


def test_each_of_several_runs_keeps_its_own(tmp_path):
    runs = [
        planted_run(tmp_path / name, {"a": {}, "b": {}}, POINTS, control=True)
        for name in ("one", "two")
    ]
    compared = Comparison(read_runs(runs), baseline="a@one")
    assert compared.records.platforms == ["a@one", "b@one", "a@two", "b@two"]
    assert [(c.again, c.platform, c.of_baseline) for c in compared.controls] == [
        ("a-again@one", "a@one", True),
        ("a-again@two", "a@two", False),
    ]
    assert "A@two against itself: 0 of 40" in compared.glance.promise.replace("a@two", "A@two")


def test_a_ladder_has_no_step_to_it(tmp_path):
    platforms = {"a": {}, "b": {"factor": 1.2}, "c": {"factor": 1.5}}
    run = planted_run(tmp_path / "r", platforms, POINTS, control=True, ladder=True)
    compared = Comparison(read_runs([run]))
    assert compared.rungs == ["b", "c", "a"]
    assert len(compared.controls) == 1


def test_it_is_continued_parsed_again_and_told_by_the_status(tmp_path):
    run = planted_run(tmp_path / "r", {"a": {}, "b": {}}, POINTS, control=True)
    whole = {r.trial.index: r.outcome for r in run.records()}
    lines = (run.path / "records.jsonl").read_text().splitlines(keepends=True)
    (run.path / "records.jsonl").write_text("".join(lines[:7]))
    again = Run.open(run.path)
    runner.execute(again, SilentObserver())
    assert {r.trial.index: r.outcome for r in again.records()} == whole
    assert reparse_run(again).counts == (24, 0)
    status = status_of(Run.open(run.path))
    assert status["control"] == "a-again"
    assert status["platforms"]["a-again"]["measured"] == 8


def test_a_mark_that_was_changed_is_noticed(tmp_path):
    run = planted_run(tmp_path / "r", {"a": {}, "b": {}}, control=True)
    file = run.path / "run.toml"
    text = file.read_text()
    file.write_text(text.replace('control = "a-again"\n', ""))
    assert Run.open(run.path).header.edited
    file.write_text(text.replace('control = "a-again"', 'control = "c"'))
    with raises(StoreError, "BL-STORE-726"):
        Run.open(run.path)


def test_it_takes_no_role_and_is_measured_where_the_baselines_role_is(null_platforms, tmp_path):
    study = study_from_toml(
        {
            "study": {"name": "s", "baseline": "metal", "launches": 6, "precision": 0},
            "role": {
                "metal": {"title": "metal", "platform": "a"},
                "cloud": {"title": "cloud", "platform": "b"},
            },
            "measure": [{"probe": "null", "roles": ["metal"]}, {"probe": "null", "ranks": 2}],
        },
        where="t",
    ).with_roles([], [])
    asked = with_control(study, null_platforms(a={}, b={}), "a", True)
    run = begin.create_run(
        asked.study, asked.platforms, tmp_path / "r", baseline="a", control=asked.name, seed=1
    )
    runner.execute(run, SilentObserver())
    assert Counter(r.trial.platform for r in run.records()) == {"a": 12, "a-again": 12, "b": 6}
    compared = Comparison(read_runs([run]))
    assert compared.controls[0].tested == 2
    assert {role.platform for role in run.header.roles.values()} == {"a", "b"}


def test_it_ends_with_the_baseline_beside_an_emulated_processor(null_platforms, tmp_path):
    study = study_from_toml(
        {"study": {"name": "s", "launches": 4, "min_launches": 2, "precision": 0,
                   "emulated_launches": 2},
         "measure": [{"probe": "compute.dgemm"}]}, where="t",
    )  # fmt: skip
    asked = with_control(study, null_platforms(a={}, b={}), "a", True)
    run = begin.create_run(
        asked.study, asked.platforms, tmp_path / "r", baseline="a", control=asked.name, seed=1
    )
    plan = plan_of(run)
    history = History(study_of(run), plan, (), "a", "a-again")
    for trial in plan:
        if trial.block < 2:
            caveats = ("emulated-cpu",) if trial.platform == "b" else ()
            history.add(
                Record(trial=trial, outcome=Measured(()), started="t", duration_s=1.0,
                       caveats=caveats)
            )  # fmt: skip
    assert all(history.unneeded(trial) for trial in plan if trial.block >= 2)


def test_no_case_goes_on_for_its_sake(null_study, null_platforms, tmp_path):
    """It may be the noisiest of all: the others' precision ends a case."""
    study = null_study(params={"spread": 0.0}, launches=9, precision=0.05, min_launches=6)
    specs = null_platforms(**{"a": {}, "b": {}, "a-again": {"fail_every": 2}})
    run = begin.create_run(study, specs, tmp_path / "r", baseline="a", control="a-again", seed=1)
    tally = runner.execute(run, SilentObserver())
    assert (tally.planned, tally.saved) == (27, 9)
