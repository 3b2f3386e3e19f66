"""Comparisons of planted records: nothing dropped, directions right, caveats there."""

import json

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import as_rows, summarize
from bareline.analysis.words.comparison import Comparison
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.model import Failed, Sample, Stage

#: What the reference promises for every row of `compare --json`.
COMPARE_KEYS = {
    "platform", "baseline", "probe", "params", "metric", "unit", "better", "n", "n_baseline",
    "value", "value_baseline", "ratio", "lo", "hi", "verdict", "caveats",
}  # fmt: skip


def test_worse_is_above_one_for_times_and_rates(plant, pingpong):
    table = Comparison(read_runs([plant(pingpong({"b": 2.0}))])).table
    for row in table.iter_rows(named=True):
        assert row["metric"] in ("latency", "bandwidth")
        assert row["ratio"] == pytest.approx(2.0, rel=0.03)
        assert row["lo"] < row["ratio"] < row["hi"]
        assert row["verdict"] == "slower"
        assert row["delta"] == 1.0
        assert row["n"] == row["n_baseline"] == 10


def test_the_baseline_can_be_chosen(plant, pingpong):
    records = read_runs([plant(pingpong({"b": 2.0}))])
    row = Comparison(records, "b").table.row(0, named=True)
    assert (row["platform"], row["baseline"], row["verdict"]) == ("a", "b", "faster")
    assert row["ratio"] == pytest.approx(0.5, rel=0.03)
    with raises(AnalysisError, "BL-ANALYSIS-477"):
        Comparison(records, "c")


def test_equal_platforms_are_equivalent_and_noise_is_inconclusive(plant, pingpong):
    steady = Comparison(read_runs([plant(pingpong(spread=0.002))])).table
    assert set(steady["verdict"]) == {"equivalent"}
    noisy = Comparison(read_runs([plant(pingpong(spread=0.5))])).table
    assert set(noisy["verdict"]) == {"inconclusive"}


def test_below_six_trials_there_is_no_interval_and_no_verdict(plant, pingpong):
    run = plant(pingpong({"b": 2.0}), launches=5, min_launches=5)
    for row in Comparison(read_runs([run])).table.iter_rows(named=True):
        assert (row["lo"], row["hi"], row["verdict"]) == (None, None, "inconclusive")
        assert "n-too-small" in row["caveats"]


def test_six_trials_that_agree_are_enough_for_a_curve(plant, pingpong):
    sizes = tuple(1 << power for power in range(20))
    run = plant(pingpong({"b": 2.0}, sizes=sizes), launches=6, min_launches=6)
    assert set(Comparison(read_runs([run])).table["verdict"]) == {"slower"}


def test_points_that_one_side_lacks_are_shown_as_missing(plant, pingpong):
    def samples(platform, block, generator):
        sizes = (8, 64) if platform == "a" else (8,)
        return pingpong(sizes=sizes)(platform, block, generator)

    table = Comparison(read_runs([plant(samples)])).table
    lost = table.filter(table["point"] == "size_bytes=64").row(0, named=True)
    assert (lost["verdict"], lost["n"], lost["n_baseline"]) == ("missing", 0, 10)
    assert lost["value"] is None
    assert lost["value_baseline"] is not None


@pytest.mark.parametrize("broken", ["a", "b"])
def test_cases_that_fail_are_shown_as_failed(plant, broken, pingpong):
    def samples(platform, block, generator):
        if platform == broken:
            return Failed(Stage.EXIT, "exit code 1")
        return pingpong()(platform, block, generator)

    table = Comparison(read_runs([plant(samples)])).table
    assert table.height == 6
    assert set(table["verdict"]) == {"failed"}


def test_a_case_that_fails_everywhere_still_has_a_row(plant):
    records = read_runs([plant(lambda *_: Failed(Stage.REQUIRE, "no tool"))])
    table = Comparison(records).table
    assert table.height == 1
    row = table.row(0, named=True)
    assert (row["platform"], row["probe"], row["verdict"]) == ("b", "mpi.pingpong", "failed")
    assert "every trial failed" in Comparison(records).statements[0].text


def test_some_failed_trials_leave_a_caveat(plant, pingpong):
    def samples(platform, block, generator):
        if platform == "b" and block in (3, 4):
            return Failed(Stage.TIMEOUT, "no end")
        return pingpong({"b": 2.0})(platform, block, generator)

    row = Comparison(read_runs([plant(samples)])).table.row(0, named=True)
    assert (row["n"], row["n_baseline"], row["verdict"]) == (8, 10, "slower")
    assert "2 trials failed" in row["caveats"]


def test_caveats_of_trials_and_samples_reach_the_row(plant, pingpong):
    def samples(platform, block, generator):
        for sample in pingpong()(platform, block, generator):
            doubtful = platform == "b" and sample.point["size_bytes"] == 8
            yield Sample(
                sample.metric, sample.value, sample.point, ("page-cache",) if doubtful else ()
            )

    table = Comparison(read_runs([plant(samples)])).table
    marked = table.filter(table["caveats"].list.contains("page-cache"))
    assert set(marked["point"]) == {"size_bytes=8"}
    assert marked.height == 2


def test_pairing_by_block_removes_what_both_share(plant, pingpong):
    def samples(platform, block, generator):
        warm = 1 + 0.2 * block
        for sample in pingpong({"b": 1.1}, spread=0.005)(platform, block, generator):
            scale = warm if sample.metric == "latency" else 1 / warm
            yield Sample(sample.metric, sample.value * scale, sample.point)

    table = Comparison(read_runs([plant(samples)])).table
    assert set(table["verdict"]) == {"slower"}
    assert table["hi"].max() < 1.12


def test_platforms_of_different_runs_are_told_apart_and_unpaired(plant, pingpong):
    runs = [plant(pingpong()), plant(pingpong({"b": 3.0}))]
    records = read_runs(runs)
    first, second = (f"b@{run.path.name}" for run in runs)
    assert second in records.platforms
    table = Comparison(records, first).table
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

    table = Comparison(read_runs([plant(samples, probe="net.nuttcp")])).table
    rows = {row["metric"]: row for row in table.iter_rows(named=True)}
    assert rows["retransmissions"]["ratio"] is None
    assert rows["retransmissions"]["verdict"] == "slower"
    assert rows["rate"]["verdict"] == "equivalent"
    assert rows["cpu_sender"]["verdict"] is None


def test_rows_are_what_the_design_lists_and_valid_json(plant, pingpong):
    records = read_runs([plant(pingpong())])
    rows = as_rows(Comparison(records).table)
    assert all(set(row) >= COMPARE_KEYS for row in rows)
    assert rows[0]["params"] == {"ranks": 2, "threads": 1, "size_bytes": 8}
    json.dumps(rows + as_rows(summarize(records)), allow_nan=False)


def test_there_must_be_something_to_compare(plant, make_run, pingpong):
    with raises(AnalysisError, "BL-ANALYSIS-686"):
        read_runs([make_run()])
    with raises(AnalysisError, "BL-ANALYSIS-861"):
        _ = Comparison(read_runs([plant(pingpong(), platforms=("a",))])).table


def test_a_run_can_be_analysed_without_its_probes(plant, monkeypatch, pingpong):
    run = plant(pingpong({"b": 2.0}))
    for name in ("run.toml", "records.jsonl", "planned.jsonl"):
        text = (run.path / name).read_text().replace("mpi.pingpong", "site.secret")
        (run.path / name).write_text(text)
    table = Comparison(read_runs([Run.open(run.path)])).table
    assert set(table["probe"]) == {"site.secret"}


def test_what_the_study_asks_of_some_platforms_only_is_not_missing_on_the_others(plant_study):
    def samples(trial, generator):
        for size in (8, 64):
            value = 1e-5 * (1 + 0.01 * generator.random())
            # Of what is asked everywhere, c lacks a size: that is missing.
            if (trial.platform, trial.case.probe, size) != ("c", "mpi.reduce", 64):
                yield Sample("latency", value, {"size_bytes": size})

    run = plant_study(
        samples,
        {"probe": "mpi.reduce", "ranks": 2},
        {"probe": "mpi.allreduce", "ranks": 2, "platforms": ["a", "b"]},
        platforms=("a", "b", "c"),
    )
    comparison = Comparison(read_runs([run]))
    rows = {
        (row["platform"], row["probe"], row["point"]): row["verdict"]
        for row in comparison.table.iter_rows(named=True)
    }
    assert ("b", "mpi.allreduce", "size_bytes=8") in rows
    assert not [key for key in rows if key[:2] == ("c", "mpi.allreduce")]
    assert rows["c", "mpi.reduce", "size_bytes=64"] == "missing"
    text = " ".join(sentence.text for sentence in comparison.sentences)
    assert "Allreduce on c" not in text


def test_a_case_that_one_role_never_had_is_neither_missing_nor_failed(plant_study):
    """Two measures of one probe, one of them on some platforms only."""

    def samples(trial, generator):
        yield Sample("latency", 1e-5 * (1 + 0.01 * generator.random()), {"size_bytes": 8})

    run = plant_study(
        samples,
        {"probe": "mpi.reduce", "ranks": 2},
        {"probe": "mpi.reduce", "ranks": 4, "platforms": ["a", "b"]},
        platforms=("a", "b", "c"),
    )
    table = Comparison(read_runs([run]), margin=0.5).table
    rows = table.filter("headline").select("platform", "ranks", "verdict").rows()
    assert sorted(rows) == [("b", 2, "equivalent"), ("b", 4, "equivalent"), ("c", 2, "equivalent")]
