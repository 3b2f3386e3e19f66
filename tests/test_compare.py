"""Comparisons of planted records: nothing dropped, directions right, caveats there."""

import json

import numpy as np
import pytest

from bareline import session
from bareline.compare import as_rows, compare_platforms, read_runs, summarize_runs
from bareline.conditions import parse_condition
from bareline.errors import AnalysisError, UsageError
from bareline.explain import Finding, findings, phrase, statements
from bareline.ladder import all_statements, compare_steps, rungs
from bareline.model import Failed, Layer, Measured, Record, Sample, Stage
from bareline.store import Run
from bareline.study import study_from_toml

#: What the reference promises for every row of `compare --json`.
COMPARE_KEYS = {
    "platform", "baseline", "probe", "params", "metric", "unit", "better", "n", "n_baseline",
    "value", "value_baseline", "ratio", "lo", "hi", "verdict", "caveats",
}  # fmt: skip


@pytest.fixture
def plant(tmp_path, null_platforms):
    """Make a run whose samples are given by ``samples(platform, block, generator)``."""
    numbers = iter(range(99))

    def make(samples, *, platforms=("a", "b"), probe="mpi.pingpong", launches=10, ranks=2, **head):
        study = study_from_toml(
            {"study": {"name": "s", "launches": launches, "precision": 0, **head},
             "measure": [{"probe": probe, "ranks": ranks}]}, where="t",
        )  # fmt: skip
        specs = null_platforms(**{name: {} for name in platforms})
        path = tmp_path / f"planted{next(numbers)}"
        run = session.create_run(study, specs, path, baseline=platforms[0])
        generator = np.random.default_rng(11)
        with run.writing():
            for trial in session.plan_of(run):
                outcome = samples(trial.platform, trial.block, generator)
                if not isinstance(outcome, Failed):
                    outcome = Measured(tuple(outcome))
                run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=0.1))
        return run

    return make


def pingpong(factor=None, sizes=(8, 65536, 1 << 20), spread=0.01):
    factor = factor or {}

    def samples(platform, block, generator):
        for size in sizes:
            time_s = 1e-6 * (1 + size / 1000) * factor.get(platform, 1.0)
            time_s *= float(np.exp(spread * generator.standard_normal()))
            yield Sample("latency", time_s, {"size_bytes": size})
            yield Sample("bandwidth", size / time_s, {"size_bytes": size})

    return samples


def test_worse_is_above_one_for_times_and_rates(plant):
    table = compare_platforms(read_runs([plant(pingpong({"b": 2.0}))]))
    for row in table.iter_rows(named=True):
        assert row["metric"] in ("latency", "bandwidth")
        assert row["ratio"] == pytest.approx(2.0, rel=0.03)
        assert row["lo"] < row["ratio"] < row["hi"]
        assert row["verdict"] == "slower"
        assert row["delta"] == 1.0
        assert row["n"] == row["n_baseline"] == 10


def test_the_baseline_can_be_chosen(plant):
    records = read_runs([plant(pingpong({"b": 2.0}))])
    row = compare_platforms(records, "b").row(0, named=True)
    assert (row["platform"], row["baseline"], row["verdict"]) == ("a", "b", "faster")
    assert row["ratio"] == pytest.approx(0.5, rel=0.03)
    with pytest.raises(AnalysisError, match="takes one of: a, b"):
        compare_platforms(records, "c")


def test_equal_platforms_are_equivalent_and_noise_is_inconclusive(plant):
    steady = compare_platforms(read_runs([plant(pingpong(spread=0.002))]))
    assert set(steady["verdict"]) == {"equivalent"}
    noisy = compare_platforms(read_runs([plant(pingpong(spread=0.5))]))
    assert set(noisy["verdict"]) == {"inconclusive"}


def test_below_six_trials_there_is_no_interval_and_no_verdict(plant):
    run = plant(pingpong({"b": 2.0}), launches=5, min_launches=5)
    for row in compare_platforms(read_runs([run])).iter_rows(named=True):
        assert (row["lo"], row["hi"], row["verdict"]) == (None, None, "inconclusive")
        assert "n-too-small" in row["caveats"]


def test_six_trials_that_agree_are_enough_for_a_curve(plant):
    sizes = tuple(1 << power for power in range(20))
    run = plant(pingpong({"b": 2.0}, sizes=sizes), launches=6, min_launches=6)
    assert set(compare_platforms(read_runs([run]))["verdict"]) == {"slower"}


def test_points_that_one_side_lacks_are_shown_as_missing(plant):
    def samples(platform, block, generator):
        sizes = (8, 64) if platform == "a" else (8,)
        return pingpong(sizes=sizes)(platform, block, generator)

    table = compare_platforms(read_runs([plant(samples)]))
    lost = table.filter(table["point"] == "size_bytes=64").row(0, named=True)
    assert (lost["verdict"], lost["n"], lost["n_baseline"]) == ("missing", 0, 10)
    assert lost["value"] is None
    assert lost["value_baseline"] is not None


@pytest.mark.parametrize("broken", ["a", "b"])
def test_cases_that_fail_are_shown_as_failed(plant, broken):
    def samples(platform, block, generator):
        if platform == broken:
            return Failed(Stage.EXIT, "exit code 1")
        return pingpong()(platform, block, generator)

    table = compare_platforms(read_runs([plant(samples)]))
    assert table.height == 6
    assert set(table["verdict"]) == {"failed"}


def test_a_case_that_fails_everywhere_still_has_a_row(plant):
    records = read_runs([plant(lambda *_: Failed(Stage.REQUIRE, "no tool"))])
    table = compare_platforms(records)
    assert table.height == 1
    row = table.row(0, named=True)
    assert (row["platform"], row["probe"], row["verdict"]) == ("b", "mpi.pingpong", "failed")
    assert "every trial failed" in statements(records)[0].text


def test_some_failed_trials_leave_a_caveat(plant):
    def samples(platform, block, generator):
        if platform == "b" and block in (3, 4):
            return Failed(Stage.TIMEOUT, "no end")
        return pingpong({"b": 2.0})(platform, block, generator)

    row = compare_platforms(read_runs([plant(samples)])).row(0, named=True)
    assert (row["n"], row["n_baseline"], row["verdict"]) == (8, 10, "slower")
    assert "2 trials failed" in row["caveats"]


def test_caveats_of_trials_and_samples_reach_the_row(plant):
    def samples(platform, block, generator):
        for sample in pingpong()(platform, block, generator):
            doubtful = platform == "b" and sample.point["size_bytes"] == 8
            yield Sample(
                sample.metric, sample.value, sample.point, ("page-cache",) if doubtful else ()
            )

    table = compare_platforms(read_runs([plant(samples)]))
    marked = table.filter(table["caveats"].list.contains("page-cache"))
    assert set(marked["point"]) == {"size_bytes=8"}
    assert marked.height == 2


def test_pairing_by_block_removes_what_both_share(plant):
    def samples(platform, block, generator):
        warm = 1 + 0.2 * block
        for sample in pingpong({"b": 1.1}, spread=0.005)(platform, block, generator):
            scale = warm if sample.metric == "latency" else 1 / warm
            yield Sample(sample.metric, sample.value * scale, sample.point)

    table = compare_platforms(read_runs([plant(samples)]))
    assert set(table["verdict"]) == {"slower"}
    assert table["hi"].max() < 1.12


def test_platforms_of_different_runs_are_told_apart_and_unpaired(plant):
    runs = [plant(pingpong()), plant(pingpong({"b": 3.0}))]
    records = read_runs(runs)
    first, second = (f"b@{run.path.name}" for run in runs)
    assert second in records.platforms
    table = compare_platforms(records, first)
    row = table.filter(table["platform"] == second).row(0, named=True)
    assert row["verdict"] == "slower"
    assert row["ratio"] == pytest.approx(3.0, rel=0.05)
    assert "unpaired" in row["caveats"]


def test_counts_with_zeros_have_no_ratio_but_a_verdict(plant):
    def samples(platform, block, generator):
        yield Sample("rate", 1e9)
        yield Sample("retransmissions", 0.0 if platform == "a" else 40.0 + block)
        for metric in ("cpu_sender", "cpu_receiver", "rtt"):
            yield Sample(metric, 1.0)

    table = compare_platforms(read_runs([plant(samples, probe="net.nuttcp")]))
    rows = {row["metric"]: row for row in table.iter_rows(named=True)}
    assert rows["retransmissions"]["ratio"] is None
    assert rows["retransmissions"]["verdict"] == "slower"
    assert rows["rate"]["verdict"] == "equivalent"
    assert rows["cpu_sender"]["verdict"] is None


def test_rows_are_what_the_design_lists_and_valid_json(plant):
    records = read_runs([plant(pingpong())])
    rows = as_rows(compare_platforms(records))
    assert all(set(row) >= COMPARE_KEYS for row in rows)
    assert rows[0]["params"] == {"ranks": 2, "threads": 1, "size_bytes": 8}
    json.dumps(rows + as_rows(summarize_runs(records)), allow_nan=False)


def test_summaries_hold_the_order_statistics(plant):
    values = iter([3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 8.0, 7.0, 6.0, 10.0])

    def samples(platform, block, generator):
        yield Sample("latency", next(values) if platform == "a" else 1.0, {"size_bytes": 8})

    summary = summarize_runs(read_runs([plant(samples)]))
    row = summary.filter(summary["platform"] == "a").row(0, named=True)
    # n = 10: the second smallest to the second largest covers the median with 97.9 %.
    assert (row["n"], row["value"], row["lo"], row["hi"]) == (10, 5.5, 2.0, 9.0)


def test_too_wide_intervals_say_so_for_the_headline_only(plant):
    run = plant(pingpong(spread=0.2), precision=0.01)
    summary = summarize_runs(read_runs([run]))
    flagged = summary.filter(summary["caveats"].list.contains("precision-not-reached"))
    assert set(flagged["metric"]) == {"latency"}


def test_there_must_be_something_to_compare(plant, make_run):
    with pytest.raises(AnalysisError, match="no records"):
        read_runs([make_run()])
    with pytest.raises(AnalysisError, match="only platform"):
        compare_platforms(read_runs([plant(pingpong(), platforms=("a",))]))


# The verdict in words -------------------------------------------------------------------------


def test_sizes_are_condensed_into_classes(plant):
    found = findings(read_runs([plant(pingpong({"b": 2.0}))]))
    assert [finding.subject for finding in found] == [
        "MPI ping-pong below 8 KiB",
        "MPI ping-pong from 8 to 256 KiB",
        "MPI ping-pong from 256 KiB",
    ]
    for finding in found:
        assert finding.ratio == pytest.approx(2.0, rel=0.02)
        assert finding.verdict == "slower"
        assert "2.0" in phrase(finding, 0.02) or "1.9" in phrase(finding, 0.02)


def test_the_sentence_says_how_much_how_sure_and_against_what(plant):
    (statement,) = statements(read_runs([plant(pingpong({"b": 2.0}))]))
    assert statement.text.startswith("MPI: MPI ping-pong")
    assert "times slower [" in statement.text
    assert statement.text.endswith("compared with a.")
    (calm,) = statements(read_runs([plant(pingpong(spread=0.001))]))
    assert "b equals a within 2 %" in calm.text


def test_too_few_trials_are_said_plainly(plant):
    run = plant(pingpong({"b": 2.0}), launches=3, min_launches=3)
    (statement,) = statements(read_runs([run]))
    assert "(n = 3: no interval, no verdict)" in statement.text


# Conditions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("mpi.latency > 1.1", 3),
        ("mpi.pingpong.bandwidth >= 1.5", 3),
        ("mpi.pingpong > 3", 0),
        ("mpi < 5", 3),
        ("b:mpi.latency.lo > 1.5", 3),
        ("mpi.latency.hi > 2.5", 0),
        ("mpi is slower", 3),
        ("mpi is failed", 0),
    ],
)
def test_conditions_select_rows_and_compare(plant, text, count):
    table = compare_platforms(read_runs([plant(pingpong({"b": 2.0}))]))
    assert len(parse_condition(text).violations(table)) == count


def test_what_could_not_be_measured_meets_every_condition(plant):
    def samples(platform, block, generator):
        if platform == "b":
            return Failed(Stage.EXIT, "exit code 1")
        return pingpong()(platform, block, generator)

    table = compare_platforms(read_runs([plant(samples)]))
    lines = parse_condition("mpi.latency > 100").violations(table)
    assert len(lines) == 3
    assert "has no ratio: failed" in lines[0]


@pytest.mark.parametrize("text", ["", "mpi", "mpi > fast", "mpi = 3", "mpi is odd", "> 3"])
def test_what_is_no_condition_is_refused(text):
    with pytest.raises(UsageError, match="--fail-if"):
        parse_condition(text)


def test_a_condition_on_nothing_is_refused(plant):
    table = compare_platforms(read_runs([plant(pingpong())]))
    with pytest.raises(UsageError, match=r"nothing in this comparison is named 'npb\.time'"):
        parse_condition("npb.time > 1").violations(table)


def test_a_run_can_be_analysed_without_its_probes(plant, monkeypatch):
    run = plant(pingpong({"b": 2.0}))
    text = (run.path / "run.toml").read_text().replace("mpi.pingpong", "site.secret")
    (run.path / "run.toml").write_text(text)
    records = (run.path / "records.jsonl").read_text().replace("mpi.pingpong", "site.secret")
    (run.path / "records.jsonl").write_text(records)
    table = compare_platforms(read_runs([Run.open(run.path)]))
    assert set(table["probe"]) == {"site.secret"}


def test_a_ladder_says_what_each_step_changes(plant):
    factor = {"e1000": 30.0, "virtio": 10.0, "jumbo": 10.0}
    run = plant(pingpong(factor), platforms=("bare", *factor), ladder=True)
    records = read_runs([run])
    assert rungs(records) == ["e1000", "virtio", "jumbo", "bare"]
    told = [row.text for row in all_statements(records)]
    steps = [text for text in told if text.startswith("From")]
    assert [text.partition(":")[0] for text in steps] == [
        "From e1000 to virtio", "From virtio to jumbo"
    ]  # fmt: skip
    assert "3.0" in steps[0]
    assert "faster" in steps[0]
    assert "equal within 2 %" in steps[1]
    before, first = compare_steps(records)
    told = before.filter(headline=True).group_by("platform", "baseline", maintain_order=True).len()
    assert set(told.select("platform", "baseline").iter_rows()) == {
        ("virtio", "e1000"), ("jumbo", "virtio"), ("bare", "jumbo")
    }  # fmt: skip
    assert set(first.get_column("baseline")) == {"e1000"}
    total = first.filter(platform="bare").get_column("ratio").to_numpy()
    assert total == pytest.approx(1 / 30, rel=0.05)


def test_a_step_says_what_failed_and_what_the_step_before_lacks(plant):
    def samples(platform, block, generator):
        if (platform == "mute") or (platform == "cut" and block > 3):
            return Failed(Stage.EXIT, "exit code 1")
        return pingpong(sizes=(8, 65536), spread=0.2)(platform, block, generator)

    records = read_runs([plant(samples, platforms=("bare", "whole", "mute", "cut"), ladder=True)])
    told = [row.text for row in all_statements(records) if row.text.startswith("From")]
    assert told == [
        "From whole to mute: MPI ping-pong is not measured: every trial failed.",
        "From mute to cut: MPI ping-pong is not comparable (mute has no figure for it).",
    ]


def test_a_step_that_settles_nothing_says_so_of_each_probe_once(plant):
    run = plant(pingpong(spread=0.5), platforms=("bare", "virtio", "jumbo"), ladder=True)
    (step,) = [row for row in all_statements(read_runs([run])) if row.text.startswith("From")]
    assert step.text == "From virtio to jumbo: no difference is shown for MPI ping-pong."


def test_a_study_without_steps_says_nothing_of_them(plant):
    records = read_runs([plant(pingpong({"b": 2.0}), platforms=("a", "b", "c"))])
    assert all_statements(records) == statements(records)


def test_an_improvement_has_the_interval_of_what_it_says():
    better = Finding(Layer.MPI, "p", "b", "t", "s", 0.25, 0.2, 0.5, 10, "faster", rate=True)
    assert phrase(better, 0.02) == "4.00 times higher [2.00, 5.00]"
