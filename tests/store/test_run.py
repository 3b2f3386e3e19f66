"""Run directories: nothing lost, nothing twice, damage named."""

import errno
import fcntl
import json
import os
import re
from pathlib import Path

import pytest

from bareline.host.owner import owner_mark
from bareline.session.origin import plan_of
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Failed, Measured, Output, Record, Sample, Stage


def record(trial, outcome=None, **more):
    outcome = outcome or Measured((Sample("time", 1.5, {"point": 1}, ("page-cache",)),))
    return Record(trial=trial, outcome=outcome, started="now", duration_s=0.5, **more)


@pytest.fixture
def run(make_run):
    return make_run()


def test_a_run_is_self_contained(run, execute):
    execute(run)
    again = Run.open(run.path)
    assert again.header == run.header
    assert again.id == run.id
    assert plan_of(again) == plan_of(run)
    assert set(again.facts()) == {"a", "b"}


def test_records_survive_being_written(run):
    trials = plan_of(run)
    written = [
        record(trials[0], caveats=("oversubscribed",)),
        record(trials[1], Failed(Stage.EXIT, "exit code 1\nµ"), attempt=2, clock="simulated"),
    ]
    with run.writing():
        for one in written:
            run.append(one)
    assert list(run.records()) == written


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_is_dropped_and_repaired(run, cut):
    trials = plan_of(run)
    with run.writing():
        run.append(record(trials[0]))
        run.append(record(trials[1]))
    file = run.path / "records.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert [r.trial.index for r in run.records()] == [0]
    assert run.tables().trials.height == 1
    with run.writing():
        run.append(record(trials[1]))
    assert [r.trial.index for r in run.records()] == [0, 1]


def test_a_damaged_line_in_the_middle_is_named(run):
    trials = plan_of(run)
    with run.writing():
        run.append(record(trials[0]))
    file = run.path / "records.jsonl"
    file.write_text("garbage\n" + file.read_text())
    with raises(StoreError, "BL-STORE-109", "1"):
        list(run.records())
    with raises(StoreError, "BL-STORE-109"):
        run.tables()


def test_two_writers_are_kept_apart(run):
    with run.writing():
        assert run.is_being_written()
        with raises(StoreError, "BL-STORE-625"), Run.open(run.path).writing():
            pass
    assert not run.is_being_written()


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_no_other_writer(code, run, monkeypatch):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with raises(StoreError, "BL-HOST-867", "BARELINE_LEASES=1"), run.writing():
        pass
    assert not run.is_being_written()
    monkeypatch.setenv("BARELINE_LEASES", "1")
    with run.writing():
        assert run.is_being_written()
        with raises(StoreError, "BL-STORE-625"), Run.open(run.path).writing():
            pass
    assert not run.is_being_written()
    # The lease of a process that was killed does not stay.
    lease = run.path / "records.jsonl.lease"
    lease.write_text(re.sub(r"^\d+-\d+", "999999999-1", owner_mark()))
    with run.writing():
        run.append(record(plan_of(run)[0]))
    assert not lease.exists() and len(list(run.records())) == 1


def test_what_a_kill_left_half_written_does_not_stay(run):
    left = [run.path / "cost.json.part", run.path / "facts" / "a.json.part"]
    for path in left:
        path.touch()
    with run.writing():
        assert not any(path.exists() for path in left)


def test_a_full_disk_keeps_what_was_there(run):
    trials = plan_of(run)
    with run.writing():
        run.append(record(trials[0]))
        before = (run.path / "records.jsonl").read_bytes()
        descriptor = run._descriptor
        # The kernel's own full device: every write to it fails with ENOSPC.
        with Path("/dev/full").open("wb", buffering=0) as full:
            run._descriptor = full.fileno()
            with raises(StoreError, "BL-STORE-101"):
                run.append(record(trials[1]))
            run._descriptor = descriptor
    assert (run.path / "records.jsonl").read_bytes() == before


def test_raw_output_survives_being_written(run):
    trial = plan_of(run)[0]
    output = Output(
        stdout="a\nµ", stderr="b", exit_code=-9, duration_s=1.0, timed_out=True,
        files={"hpccoutf.txt": "c"}, argv=("x", "y z"),
    )  # fmt: skip
    run.write_raw(trial, output)
    assert run.read_raw(trial) == output
    assert run.read_raw(plan_of(run)[1]) is None


def test_a_folder_in_use_is_refused(run, make_run, null_study, null_platforms):
    with raises(StoreError, "BL-STORE-823"):
        Run.create(run.path, run.header)


def test_what_is_no_run_is_named(tmp_path):
    with raises(StoreError, "BL-STORE-971"):
        Run.open(tmp_path)
    (tmp_path / "run.toml").write_text("x = 1")
    with raises(StoreError, "BL-STORE-641", "run.toml"):
        Run.open(tmp_path)


def test_a_newer_layout_is_refused(run):
    file = run.path / "run.toml"
    file.write_text(file.read_text().replace("schema = 1", "schema = 99"))
    with raises(StoreError, "BL-STORE-103"):
        Run.open(run.path)


def test_the_tables_hold_what_the_records_hold(run, execute):
    execute(run)
    frame, samples = run.tables()
    lines = [json.loads(line) for line in (run.path / "records.jsonl").read_text().splitlines()]
    assert frame.height == len(lines) == 20
    kept = samples.sort("row").select("metric", "point", "value").rows()
    told = [tuple(s[k] for k in ("metric", "point", "value")) for x in lines for s in x["samples"]]
    assert kept == told


def test_only_the_latest_attempt_counts(run):
    trial = plan_of(run)[0]
    with run.writing():
        run.append(record(trial, Failed(Stage.EXIT, "x")))
        run.append(record(trial, attempt=2))
    assert run.tables().trials["status"].to_list() == ["measured"]
    assert run.finished()[0].attempt == 2
