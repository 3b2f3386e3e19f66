"""The runner: every planned trial recorded exactly once, whatever happens."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.platforms.hosts.process import processes_with
from bareline.platforms.null import NullAllocation
from bareline.probes.base import find_probe
from bareline.session import begin
from bareline.session.history import History
from bareline.session.judge import judge_output
from bareline.session.origin import plan_of, study_of
from bareline.session.reparse import reparse_run
from bareline.session.status import shortfall, status_of
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, StoreError
from bareline.vocabulary.model import Failed, Measured, Output, Record, Sample, Stage

DATA = Path(__file__).parents[1] / "probes" / "data"


def test_all_trials_are_recorded_once(make_run, execute):
    run = make_run()
    tally = execute(run)
    assert (tally.planned, tally.measured, tally.failed, tally.remaining) == (20, 20, 0, 0)
    assert Counter(record.trial.index for record in run.records()) == Counter(range(20))


def test_executing_again_changes_nothing(make_run, execute):
    run = make_run()
    execute(run)
    before = (run.path / "records.jsonl").read_bytes()
    execute(run)
    assert (run.path / "records.jsonl").read_bytes() == before


def test_failures_are_records_with_reason_and_tail(make_run, execute):
    run = make_run(platforms={"a": {"fail_every": 4}})
    tally = execute(run)
    assert tally.failed == 2
    failed = [r.outcome for r in run.records() if isinstance(r.outcome, Failed)]
    assert {outcome.stage for outcome in failed} == {Stage.EXIT}
    assert all("planted failure" in outcome.reason for outcome in failed)


def test_failed_trials_can_be_run_again(make_run, execute):
    run = make_run(platforms={"a": {"fail_every": 4}})
    execute(run)
    assert execute(run, retry_failed=True).failed == 2
    attempts = Counter(record.trial.index for record in run.records())
    assert sorted(attempts.values()) == [1] * 8 + [2] * 2
    assert {r.attempt for r in run.finished().values()} == {1, 2}


def test_a_case_stops_when_it_is_known_well_enough(make_run, execute):
    steady = make_run(params={"spread": 0.001}, launches=20, precision=0.02)
    tally = execute(steady)
    assert tally.measured == 12
    assert tally.saved == 28
    noisy = make_run(params={"spread": 0.5}, launches=12, precision=0.02)
    assert execute(noisy).saved == 0


def test_blocks_stay_complete_under_adaptive_stopping(make_run, execute):
    run = make_run(
        platforms={"a": {}, "b": {"seed": 7}}, params={"spread": 0.02}, launches=40, precision=0.015
    )
    tally = execute(run)
    assert 12 <= tally.measured < 80
    blocks = Counter(record.trial.block for record in run.records())
    assert set(blocks.values()) == {2}
    assert sorted(blocks) == list(range(len(blocks)))


def test_the_budget_ends_a_run_after_the_fewest_blocks(make_run, execute):
    run = make_run(platforms={"a": {"pause_s": 0.02}}, launches=50, budget_s=0.01)
    assert execute(run).measured == 6


def test_a_run_that_its_budget_ended_says_what_stays_open(make_run, execute):
    noisy = {"a": {"pause_s": 0.02}, "b": {"pause_s": 0.02, "seed": 7}}
    run = make_run(
        platforms=noisy, params={"spread": 0.3}, launches=50, budget_s=0.01, question=["null time"]
    )
    tally = execute(run)
    assert tally.blocks_had == 6
    assert shortfall(run, 6) == (
        "the time budget of 0.01 s ended the run after 6 of 50 blocks; still open: null time on b"
    )
    slow = {"a": {"pause_s": 0.02}, "b": {"pause_s": 0.02, "factor": 3.0}}
    run = make_run(platforms=slow, launches=50, budget_s=0.01)
    execute(run)
    assert shortfall(run, 6).endswith("6 of 50 blocks; what it asks is answered")
    run = make_run(launches=7)
    assert execute(run).blocks_had is None


def test_a_budget_that_was_too_short_for_any_point_grows_in_the_next_block(tmp_path):
    content = {
        "study": {"name": "s", "launches": 5},
        "measure": [{"probe": "mpi.barrier", "ranks": 2, "params": {"budget_s": 0.05}}],
    }
    study = study_from_toml(content, where="s")
    specs = [platforms_from_toml({"platform": {n: {"type": "null"}}}, where="p")[n] for n in "ab"]
    plan = make_plan(study, specs)
    history = History(study, plan)

    def add(trial, outcome):
        history.add(Record(trial=trial, outcome=outcome, started="", duration_s=1.0))

    def words(block):
        trial = next(trial for trial in plan if trial.block == block)
        return study.command_of(trial.case, trial.layout, budgets=history.budgets(trial)).argv

    short = Failed(Stage.BUDGET, "no point was measured")
    for block, platforms in ((0, "a"), (1, ""), (2, "ab")):
        for trial in plan:
            if trial.block == block:
                good = Measured((Sample("latency", 1e-6, {}),))
                add(trial, short if trial.platform in platforms else good)
    assert [words(block)[-1] for block in range(4)] == ["0.05", "0.2", "0.2", "0.8"]


END = (DATA / "mpi.barrier.good.out").read_text()


@pytest.mark.parametrize(
    ("stdout", "stage"),
    [
        (END, None),  # all was written: nothing is lost with a program that does not exit
        (END.rstrip().rpartition("\n")[0], Stage.TIMEOUT),
        ("", Stage.TIMEOUT),
    ],
)
def test_a_program_that_printed_its_end_and_hung_is_measured(stdout, stage):
    probe = find_probe("mpi.barrier")
    output = Output(stdout=stdout, stderr="", exit_code=-9, duration_s=60.0, timed_out=True)
    judged = judge_output(probe, probe.make_params({}), output, 60.0)
    if stage is None:
        assert isinstance(judged.outcome, Measured)
        assert "hung-at-end" in judged.caveats
    else:
        assert judged.outcome.stage is stage


def test_out_of_time_is_no_parse_error():
    header = END.splitlines()[0]
    cut = '{"end":true,"points":0,"cut":[{"point":{},"reason":"one iteration takes 1 s"}]}'
    probe = find_probe("mpi.barrier")
    output = Output(stdout=f"{header}\n{cut}\n", stderr="", exit_code=0, duration_s=1.0)
    outcome = judge_output(probe, probe.make_params({}), output, 60.0).outcome
    assert outcome.stage is Stage.BUDGET
    assert outcome.code == "BL-PROBES-745"


def test_continuing_draws_and_decides_as_an_uninterrupted_run(make_run, execute, monkeypatch):
    options = {"params": {"spread": 0.02}, "launches": 30, "precision": 0.01}
    whole, broken = make_run(**options), make_run(**options)
    execute(whole)
    real = Run.append
    left = [17]

    def append(self, record):
        if left[0] == 0:
            raise KeyboardInterrupt
        left[0] -= 1
        real(self, record)

    monkeypatch.setattr(Run, "append", append)
    with pytest.raises(KeyboardInterrupt):
        execute(broken)
    monkeypatch.undo()
    assert status_of(broken)["measured"] == 17
    assert status_of(broken)["remaining"] > 0
    execute(broken)

    def values(run):
        return [(r.trial.index, r.outcome) for r in run.records()]

    assert values(broken) == values(whole)


def test_reparse_reads_the_raw_output_again(make_run, execute):
    run = make_run(platforms={"a": {"fail_every": 5}})
    execute(run)
    assert reparse_run(run).counts == (10, 0)
    raw = run.path / "raw" / "000000.json"

    def say(text):
        raw.write_text(json.dumps({**json.loads(raw.read_text()), "stdout": text}))

    say("[0.25]")
    assert reparse_run(run, only="null").counts == (10, 1)
    assert run.finished()[0].outcome.samples[0].value == 0.25
    say("[")
    assert reparse_run(run).counts == (10, 1)
    assert run.finished()[0].outcome.stage is Stage.PARSE


def test_a_platform_that_does_not_come_up_fails_its_trials_and_no_others(
    make_run, execute, monkeypatch
):
    from bareline.platforms.null import NullPlatform
    from bareline.vocabulary.errors import PlatformError

    run = make_run()
    real = NullPlatform.acquire

    def acquire(self, layout):
        if self.spec.name == "b":
            raise PlatformError("no such luck", hint="try again")
        return real(self, layout)

    monkeypatch.setattr(NullPlatform, "acquire", acquire)
    tally = execute(run)
    assert (tally.measured, tally.failed) == (10, 10)
    reasons = {r.outcome.reason for r in run.records() if isinstance(r.outcome, Failed)}
    assert reasons == {"no such luck; try again"}
    assert any("no such luck" in event.event for event in run.events())


def test_what_does_not_fit_is_no_trial_and_is_kept(execute, tmp_path):
    study = study_from_toml(
        {"study": {"name": "s", "launches": 2, "precision": 0},
         "measure": [{"probe": "null", "ranks": 2, "nodes": 2}]}, where="t",
    )  # fmt: skip
    specs = list(
        platforms_from_toml(
            {"platform": {"one": {"type": "null"}, "two": {"type": "null", "nodes": 2}}}, where="t"
        ).values()
    )
    run = begin.create_run(study, specs, tmp_path / "r", baseline="two")
    tally = execute(run)
    assert (tally.planned, tally.measured, tally.failed) == (2, 2, 0)
    (kept,) = run.left_out()
    assert (kept.platform, kept.case.nodes) == ("one", 2)
    assert kept.reason == "does not fit: needs 2 nodes, the platform has 1"
    row = status_of(run)
    assert row["platforms"]["one"] == {
        "planned": 0, "measured": 0, "failed": 0, "skipped": 0, "seconds": 0.0, "core_hours": 0.0,
        "cost": None, "currency": None, "running": "",
    }  # fmt: skip
    assert row["left_out"] == [f"one: null with 2 ranks {kept.reason}"]
    damaged = run.path / "left_out.jsonl"
    damaged.write_text(damaged.read_text().replace('"one"', '"three"'))
    with raises(StoreError, "BL-STORE-159", "1", "three"):
        run.left_out()


def test_records_of_another_plan_are_not_gone_on_with(make_run, execute):
    run = make_run(launches=2)
    execute(run)
    file = run.path / "records.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text(lines[0].replace('"ranks": 1', '"ranks": 2') + "".join(lines[1:]))
    with raises(StoreError, "BL-SESSION-721", "0"):
        execute(run)


def test_a_full_disk_ends_the_run_with_one_line(make_run, execute, monkeypatch):
    run = make_run()
    real = os.fsync
    calls = [0]

    def fsync(descriptor):
        calls[0] += 1
        if calls[0] > 8:
            raise OSError(28, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    with raises(StoreError, "BL-STORE-101", "No space left", "`bareline continue "):
        execute(run)
    monkeypatch.undo()
    before = len(list(run.records()))
    assert execute(run).measured == 20
    assert before < 20


NULL = find_probe("null")
PARAMS = NULL.make_params({})


#: What Open MPI's launcher adds, before or after what the program says.
def test_an_end_that_comes_where_python_drops_it_still_ends_the_run(make_run, execute, monkeypatch):
    """Such as at a fork; what failed because its processes were ended, too, is no record."""
    left, inner = [3], NullAllocation.run

    class Dropped:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    def run(self, *args, **more):
        left[0] -= 1
        if left[0] == 0:
            Dropped()
            raise PlatformError("what it asks was ended, too")
        return inner(self, *args, **more)

    monkeypatch.setattr(NullAllocation, "run", run)
    monkeypatch.setattr("sys.unraisablehook", lambda _: None)
    made = make_run(launches=3)
    with pytest.raises(KeyboardInterrupt):
        execute(made)
    assert len(made.finished()) == 2
    assert execute(made).measured == 6


FRAME = "-" * 74 + "\nPrimary job  terminated normally, but ...\n" + "-" * 74 + "\n"


@pytest.mark.parametrize(
    ("output", "stage", "words"),
    [
        ({"stdout": "[NaN]"}, Stage.PARSE, "nan"),
        ({"exit_code": 3, "stderr": "x\nboom"}, Stage.EXIT, "x\nboom"),
        ({"exit_code": 2, "stderr": f"{FRAME}no x\n{FRAME}"}, Stage.EXIT, "no x"),
        ({"exit_code": 2, "stderr": FRAME}, Stage.EXIT, "Primary job"),
        ({"exit_code": 139}, Stage.EXIT, "SIGSEGV"),
        ({"exit_code": -11}, Stage.SIGNAL, "SIGSEGV"),
        ({"timed_out": True, "exit_code": -15}, Stage.TIMEOUT, "5 s"),
    ],
)
def test_what_a_program_may_do_becomes_a_failed_record(output, stage, words):
    given = {"stdout": "[1.0]", "stderr": "", "exit_code": 0, "duration_s": 1.0} | output
    outcome = judge_output(NULL, PARAMS, Output(**given), 5).outcome
    assert isinstance(outcome, Failed)
    assert outcome.stage is stage
    assert words in outcome.reason


@pytest.mark.parametrize(
    ("stdout", "code"),
    [
        ("[1.0", "BL-PROBES-464"),
        ("", "BL-PROBES-464"),
        ("\x00\xff{", "BL-PROBES-464"),
        ("[1.0, 2.0]", "BL-PROBES-985"),
        ("[NaN]", "BL-PROBES-871"),
        ("7", "BL-PROBES-464"),
    ],
)
def test_an_output_that_cannot_be_read_has_the_code_of_the_reason(stdout, code):
    output = Output(stdout=stdout, stderr="", exit_code=0, duration_s=1.0)
    outcome = judge_output(NULL, PARAMS, output, 5).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.stage, outcome.code) == (Stage.PARSE, code)


def test_a_probe_that_raises_anything_loses_nothing():
    class Broken(type(NULL)):
        def parse(self, params, output):
            raise ZeroDivisionError("oops")

    output = Output(stdout="[1.0]", stderr="", exit_code=0, duration_s=1.0)
    outcome = judge_output(Broken(), PARAMS, output, 5).outcome
    assert isinstance(outcome, Failed)
    assert "ZeroDivisionError: oops" in outcome.reason


#: Imports once, then executes the run in a fresh child for every line that it is sent.
ZYGOTE = """
import os, sys
from pathlib import Path
from bareline.session.runner import execute
from bareline.store.run import Run
from bareline.testing.runs import SilentObserver
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        execute(Run.open(Path(sys.argv[1])), SilentObserver())
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.slow
def test_sigkill_at_any_moment_loses_and_repeats_nothing(make_run):
    """Kill the runner at random moments, continue, hold it to the plan (more: `make faults`)."""
    run = make_run(
        platforms={"a": {"pause_s": 0.002}, "b": {"factor": 1.5, "pause_s": 0.002}}, launches=250
    )
    generator = random.Random(5)
    records = run.path / "records.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", ZYGOTE, str(run.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as zygote:

        def start():
            zygote.stdin.write("go\n")
            zygote.stdin.flush()
            return int(zygote.stdout.readline())

        for _ in range(15):
            size = records.stat().st_size
            runner = start()
            # Wait until it works, so that the kill falls among its trials, not into its start.
            while records.stat().st_size == size:
                time.sleep(0.001)
            time.sleep(generator.uniform(0, 0.06))
            os.kill(runner, signal.SIGKILL)
            status = int(zygote.stdout.readline())
            assert os.WIFSIGNALED(status), "the run ended before it was killed often enough"
        start()
        assert int(zygote.stdout.readline()) == 0
        zygote.stdin.close()
    counts = Counter(record.trial.index for record in run.records())
    assert counts == Counter(range(500))
    assert status_of(run)["remaining"] == 0


# Programs that misbehave, on the real local platform ---------------------------------------------


@pytest.fixture
def misbehaving(tmp_path, monkeypatch, execute):
    """Run a shell script in place of nodebench's DGEMM; give the only record's outcome."""

    def go(script, timeout_s=20.0):
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "nodebench"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        from bareline.platforms.localhost.local import LocalAllocation

        monkeypatch.setattr(LocalAllocation, "native_folder", lambda self: str(folder))
        study = study_from_toml(
            {"study": {"name": "s", "launches": 1, "min_launches": 1, "precision": 0},
             "measure": [{"probe": "compute.dgemm", "timeout_s": timeout_s}]}, where="t",
        )  # fmt: skip
        specs = list(
            platforms_from_toml({"platform": {"here": {"type": "local"}}}, where="t").values()
        )
        run = begin.create_run(study, specs, tmp_path / f"r{time.time_ns()}", baseline="here")
        execute(run)
        (record,) = run.records()
        assert processes_with(lambda mark: run.id in mark) == []
        return record.outcome

    return go


@pytest.mark.parametrize(
    ("script", "stage", "code", "value"),
    [
        ("head -c 3000 /dev/urandom", Stage.PARSE, "BL-PROBES-257", "1"),
        ("echo '{\"bareline\":1,\"program\":\"nodeb'", Stage.PARSE, "BL-PROBES-257", "1"),
        ("printf '{\"bareline\":1,\"program\":\"nodebench\",\"benchmark\":\"dgemm\"}\\n'",
         Stage.PARSE, "BL-PROBES-140", ""),
        ("exit 0", Stage.PARSE, "BL-PROBES-870", ""),
        ("echo no license >&2; exit 7", Stage.EXIT, None, "no license"),
        ("kill -SEGV $$", Stage.SIGNAL, None, "SIGSEGV"),
        ("kill -9 $$", Stage.SIGNAL, None, "SIGKILL"),
    ],
)  # fmt: skip
def test_programs_that_misbehave_are_recorded(misbehaving, script, stage, code, value):
    outcome = misbehaving(script)
    assert isinstance(outcome, Failed)
    assert (outcome.stage, outcome.code) == (stage, code), outcome.reason
    assert value in outcome.reason


def test_a_program_that_never_ends_is_killed_with_all_its_children(misbehaving):
    started = time.monotonic()
    outcome = misbehaving(
        "trap '' TERM; (trap '' TERM; setsid sleep 1000) & sleep 1000 & echo waiting >&2; wait", 1.0
    )
    assert isinstance(outcome, Failed)
    assert outcome.stage is Stage.TIMEOUT
    assert "1 s" in outcome.reason and "waiting" in outcome.reason
    assert time.monotonic() - started < 15


def test_a_program_that_floods_its_output_is_bounded(misbehaving):
    outcome = misbehaving("exec yes", 2.0)
    assert isinstance(outcome, Failed)
    assert outcome.stage is Stage.TIMEOUT


@pytest.mark.parametrize(("precision", "kept"), [(0, 0), (0.02, 3)])
def test_decisions_remember_only_the_samples_they_look_at(make_run, execute, precision, kept):
    run = make_run(launches=6, params={"points": 3}, precision=precision)
    execute(run)
    history = History(study_of(run), plan_of(run))
    assert {len(record.outcome.samples) for record in run.records()} == {3}
    found = run.finished(history.wanted).values()
    assert {len(record.outcome.samples) for record in found} == {kept}
