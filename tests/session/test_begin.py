"""Making a run: baseline, folder, header."""

import pytest

from bareline.session import begin
from bareline.session.origin import plan_of, platforms_of, study_of
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, StoreError, StudyError, UsageError


@pytest.fixture
def fresh(monkeypatch, one_seed):
    """Let seeds be drawn as they are outside of tests."""
    monkeypatch.setattr(begin, "fresh_seed", one_seed)


@pytest.mark.parametrize(
    ("of_study", "given", "expected"),
    [(None, None, "a"), ("b", None, "b"), ("b", "a", "a"), ("absent", None, "a")],
)
def test_the_command_line_decides_the_baseline_then_the_study_then_the_order(
    null_study, null_platforms, of_study, given, expected
):
    study = null_study(baseline=of_study)
    assert begin.choose_baseline(study, null_platforms(a={}, b={}), given) == expected


def test_a_baseline_that_is_not_part_of_the_run_is_refused(null_study, null_platforms):
    with raises(UsageError, "BL-SESSION-968"):
        begin.choose_baseline(null_study(), null_platforms(a={}, b={}), "c")


def test_a_default_folder_is_never_one_that_exists(null_study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seen = set()
    for _ in range(3):
        folder = begin.default_folder(null_study())
        assert folder.parent.name == "runs"
        assert not folder.exists()
        folder.mkdir(parents=True)
        seen.add(folder)
    assert len(seen) == 3


def test_a_run_makes_study_platforms_and_plan_again(make_run, null_study, null_platforms):
    run = make_run(platforms={"a": {}, "b": {"factor": 2.0}}, params={"points": 2}, launches=3)
    made = null_study({"points": 2}, launches=3, cases_per_turn=1)
    assert study_of(run).to_toml() == made.to_toml()
    assert platforms_of(run) == null_platforms(a={}, b={"factor": 2.0})
    assert len(plan_of(run)) == 6


def test_a_run_declares_its_probes_and_versions(make_run):
    header = make_run().header
    assert header.probes["null"]["headline"] == "time"
    assert {"bareline", "python", "numpy"} <= set(header.versions)


def test_a_folder_with_something_in_it_is_left_alone(null_study, null_platforms, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with raises(StoreError, "BL-STORE-823"):
        begin.create_run(null_study(), null_platforms(a={}), tmp_path, baseline="a")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_nothing_is_made_for_a_study_that_runs_on_none_of_the_platforms(
    null_platforms, null_study, tmp_path
):
    study = null_study()
    only = study.measures[0].model_copy(update={"platforms": ["x"]})
    with raises(StudyError, "BL-STUDY-379"):
        begin.create_run(
            study.model_copy(update={"measures": [only]}),
            null_platforms(a={}),
            tmp_path / "run",
            baseline="a",
        )
    assert not (tmp_path / "run").exists()


def test_a_dry_run_lists_the_plan_of_the_run(make_run, null_study, null_platforms):
    run = make_run(launches=2)
    rows = begin.plan_rows(study_of(run), platforms_of(run), run.header.seed)
    assert [(row["trial"], row["platform"]) for row in rows] == [
        (trial.index, trial.platform) for trial in plan_of(run)
    ]


def test_an_imported_run_has_nothing_to_plan(make_run):
    run = make_run()
    text = (run.path / "run.toml").read_text().replace('type = "null"', 'type = "import"')
    (run.path / "run.toml").write_text(text)
    with raises((UsageError, PlatformError), "BL-SESSION-963"):
        study_of(type(run).open(run.path))


def test_the_command_line_decides_the_seed_then_the_study_else_every_run_has_its_own(
    null_study, fresh
):
    assert begin.seed_of(null_study(seed=3), 5) == 5
    assert begin.seed_of(null_study(seed=3), None) == 3
    assert len({begin.seed_of(null_study(), None) for _ in range(20)}) > 15


def test_a_fresh_seed_is_kept_and_makes_the_plan_again(make_run, fresh):
    first, second = make_run(), make_run()
    assert first.header.seed != second.header.seed
    assert plan_of(type(first).open(first.path)) == plan_of(first)
