"""A run tells how it stands without a look at its samples."""

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.session.begin import create_run
from bareline.session.origin import plan_of
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Failed, Measured, Record, Sample, Stage

ODD = 'printed "samples": [1, 2]} and went'
LAUNCHES = 3


@pytest.fixture
def run(tmp_path):
    head = {"name": "heads", "launches": LAUNCHES, "precision": 0}
    study = study_from_toml({"study": head, "measure": [{"probe": "null"}]}, where="test")
    specs = list(platforms_from_toml({"platform": {"a": {"type": "null"}}}, where="test").values())
    made = create_run(study, specs, tmp_path / "run", baseline="a", seed=1)
    with made.writing():
        for trial in plan_of(made):
            points = ({"size_bytes": size} for size in range(50))
            outcome = Measured(tuple(Sample("time", 1.0, point) for point in points))
            if trial.index == 1:
                outcome = Failed(Stage.EXIT, ODD)
            made.append(Record(trial=trial, outcome=outcome, started="", duration_s=1.0))
    return Run.open(made.path)


def test_heads_are_the_records_without_their_samples(run):
    for index, record in run.finished(lambda _: ()).items():
        assert run.heads()[index] == record
    assert run.heads()[1].outcome == Failed(Stage.EXIT, ODD)


def test_a_finished_run_is_counted_without_reading_samples(run, monkeypatch):
    monkeypatch.setattr(Run, "finished", None)
    monkeypatch.setattr("bareline.session.status._READ_WHOLE_BYTES", 0)
    counted = status_of(run)
    assert (counted["measured"], counted["failed"], counted["remaining"]) == (2, 1, 0)


@pytest.mark.parametrize("spoil", [lambda line: line[:-3] + "\n", lambda line: line[9:]])
def test_a_damaged_line_is_named(run, spoil):
    file = run.path / "records.jsonl"
    first, *rest = file.read_text().splitlines(keepends=True)
    file.write_text("".join([spoil(first), *rest]))
    with raises(StoreError, "BL-STORE-109", "1"):
        run.heads()
