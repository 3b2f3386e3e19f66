"""Results of other frameworks: launches, units, directions, platforms, and what failed."""

import json
from pathlib import Path

import pytest

from bareline.formats.files import read_text
from bareline.formats.foreign import figure
from bareline.formats.reframe_check import MISSED
from bareline.vocabulary.model import Failed, Measured, Stage

DATA = Path(__file__).parent / "data"


def read(name):
    return [found.imported for found in read_text((DATA / name).read_text(), Path(name))]


def values(trial):
    return {sample.metric: sample.value for sample in trial.outcome.samples}


@pytest.mark.parametrize(
    ("unit", "base", "better", "factor"),
    [
        ("ms", "s", "lower", 1e-3),
        ("µs", "s", "lower", 1e-6),
        ("MB/s", "B/s", "higher", 1e6),
        ("MiB/s", "B/s", "higher", 1 << 20),
        ("Gb/s", "bit/s", "higher", 1e9),
        ("Gbps", "bit/s", "higher", 1e9),
        ("GFLOPS", "flop/s", "higher", 1e9),
        ("kIOPS", "op/s", "higher", 1e3),
        ("MiB", "B", "none", 1 << 20),
        ("%", "%", "none", 1.0),
        ("", "1", "none", 1.0),
    ],
)
def test_units_of_others_become_base_units(unit, base, better, factor):
    made = figure("x", unit)
    assert (made.name, made.metric.unit, made.metric.better) == ("x", base, better)
    assert made.factor == pytest.approx(factor)


def test_a_unit_that_nobody_knows_stays_in_the_name():
    made = figure("power", "W")
    assert (made.name, made.metric.unit, made.metric.better) == ("power_W", "1", "none")


def test_hyperfine_gives_a_trial_for_every_run():
    trials = read("hyperfine.parameters.out")
    assert [trial.params["n"] for trial in trials] == [1000] * 6 + [100000] * 6
    assert values(trials[0]) == {"time": 0.0012547999000000001}
    (short, *_) = read("hyperfine.named.out")
    assert short.params == {"command": "short"}
    assert values(short) == {"time": 0.012646433, "memory": 3043328.0}


def test_hyperfine_runs_that_failed_or_left_no_time_are_failures():
    trials = read("spoiled/hyperfine.exit-codes.out")
    assert [trial.outcome for trial in trials[:5]] == [Failed(Stage.EXIT, "exit code 1")] * 5
    assert all(isinstance(trial.outcome, Measured) for trial in trials[5:])


def test_hyperfine_times_must_be_those_of_their_summary():
    content = json.loads((DATA / "hyperfine.named.out").read_text())
    content["results"][0]["times"][0] *= 1.01
    (found,) = read_text(json.dumps(content), Path("changed"))
    assert found.imported.outcome.code == "BL-FORMATS-260"


@pytest.mark.parametrize(
    ("name", "count", "ranks"),
    [("reframe.report.out", 6, 1), ("reframe.v3-report.out", 2, 1), ("reframe.perflog.out", 4, 0)],
)
def test_reframe_cases_with_their_partition_as_platform(name, count, ranks):
    trials = read(name)
    assert len(trials) == count
    first = trials[0]
    assert first.probe == "reframe.copy_speed"
    assert first.ranks == ranks
    assert first.params["size_mib"] in (16, 64)
    assert first.platform == "bench:login+gnu"
    assert (first.metrics["rate"].unit, first.metrics["rate"].better) == ("B/s", "higher")
    assert (first.metrics["time"].unit, first.metrics["time"].better) == ("s", "lower")


def test_reframe_report_and_log_say_the_same():
    def told(name):
        return {
            (one.platform, one.params["size_mib"]): values(one)
            for one in read(name)
            if "login" in one.platform
        }

    assert told("reframe.report.out") == told("reframe.perflog.out")
    assert told("reframe.report.out")["bench:login+gnu", 16]["rate"] == 24366.78827876281e6


@pytest.mark.parametrize("name", ["reframe.failing", "reframe.v43-failing"])
def test_reframe_failures_are_kept_and_slow_ones_keep_their_numbers(name):
    trials = {one.probe: one for one in read(f"spoiled/{name}.out")}
    wrong = trials["reframe.wrong_answer"].outcome
    assert wrong.stage is Stage.EXIT
    assert "sanity" in wrong.reason
    assert "42" in wrong.reason
    slow = trials["reframe.too_slow"]
    assert values(slow) == {"speed": 17.5e9}
    assert slow.caveats == (MISSED,)


def test_reframe_units_of_one_variable_must_agree():
    text = (DATA / "reframe.report.out").read_text().replace('"MB/s"', '"GB/s"', 1)
    (found,) = read_text(text, Path("changed"))
    assert found.imported.outcome.code == "BL-FORMATS-969"


def test_ior_median_of_repetitions():
    write, read_ = read("composed/ior.v4_posix.out")
    assert (write.probe, read_.probe, write.ranks) == ("ior.write", "ior.read", 4)
    assert values(write)["bandwidth"] == 800.0 * (1 << 20)
    assert write.params["transfer_bytes"] == 1 << 20
    assert (write.params["direct"], write.params["fsync"], write.caveats) == (True, True, ())


def test_mdtest_rates_of_phases_that_ran():
    (trial,) = read("composed/mdtest.v4_three-iterations.out")
    assert (trial.ranks, trial.params) == (4, {"nodes": 2, "options": "-n 1000 -u"})
    assert values(trial)["file_creation"] == 6041.201
    (only,) = read("composed/mdtest.v3_create-only.out")
    assert set(values(only)) == {"file_creation", "tree_creation"}


@pytest.mark.parametrize("malformed", [None, 7, "torn", [], {}, {"name": 1}])
def test_a_malformed_case_of_a_reframe_report_costs_only_itself(malformed):
    report = json.loads((DATA / "reframe.report.out").read_text())
    whole = [found.imported for found in read_text(json.dumps(report), Path("report"))]
    report["runs"][0]["testcases"].insert(1, malformed)
    trials = [found.imported for found in read_text(json.dumps(report), Path("report"))]
    lost = [trial for trial in trials if trial.probe == "reframe.unknown"]
    assert [trial.outcome.stage for trial in lost] == [Stage.PARSE]
    assert [trial for trial in trials if trial not in lost] == whole
