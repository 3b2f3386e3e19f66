"""Simulated values have no noise: one trial decides, and an interval is the model's error."""

import json

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.store.run import Run


@pytest.fixture
def simulated(make_run, execute):
    """Give a comparison of runs whose trials are marked as simulated, with model errors."""

    def make(platforms, launches=1, errors=None, only=None, once=False):
        run = make_run(platforms, params={"spread": 0.0}, launches=launches, precision=0)
        execute(run)
        records = run.path / "records.jsonl"
        lines = [json.loads(line) for line in records.read_text().splitlines()]
        for line in lines:
            if only is None or line["platform"] in only:
                line["clock"] = "simulated"
                line["caveats"] = [*line["caveats"], "simulated"]
        if once:
            lines = [x for x in lines if x["clock"] != "simulated" or x["block"] == 0]
        records.write_text("".join(json.dumps(line) + "\n" for line in lines))
        for name, error in (errors or {}).items():
            path = run.path / "facts" / f"{name}.json"
            facts = json.loads(path.read_text())
            facts["sim.calibration_error_ratio"] = error
            path.write_text(json.dumps(facts))
        return Comparison(read_runs([Run.open(run.path)]))

    return make


def row_of(comparison):
    return comparison.table.row(0, named=True)


def test_one_trial_of_each_decides_within_the_model(simulated):
    row = row_of(simulated({"a": {}, "b": {"factor": 1.5}}))
    assert row["verdict"] == "slower"
    assert row["n"] == 1 and row["ratio"] == pytest.approx(1.5)
    assert row["lo"] is None and row["hi"] is None
    assert "exact-in-model" in row["caveats"]
    assert "n-too-small" not in row["caveats"]


def test_the_interval_is_the_error_of_both_models(simulated):
    row = row_of(simulated({"a": {}, "b": {"factor": 1.5}}, errors={"a": 0.1, "b": 0.1}))
    assert (row["lo"], row["hi"]) == (pytest.approx(1.5 / 1.2), pytest.approx(1.5 * 1.2))
    assert row["verdict"] == "slower"


def test_a_difference_within_the_models_error_is_not_decided(simulated):
    comparison = simulated({"a": {}, "b": {"factor": 1.1}}, errors={"a": 0.1, "b": 0.1})
    assert row_of(comparison)["verdict"] == "inconclusive"
    said = " ".join(sentence.text for sentence in comparison.sentences)
    assert "error of the model" in said
    assert "more launches" not in said


def test_equal_simulations_are_equal(simulated):
    assert row_of(simulated({"a": {}, "b": {}}))["verdict"] == "equivalent"


def test_a_simulated_value_beside_a_measured_one_takes_six_trials(simulated):
    row = row_of(simulated({"a": {}, "b": {"factor": 1.5}}, only=["b"]))
    assert row["verdict"] == "inconclusive"


def test_a_simulation_that_ran_once_stands_beside_every_measured_trial(simulated):
    row = row_of(simulated({"a": {}, "b": {"factor": 1.5}}, launches=6, only=["b"], once=True))
    assert row["verdict"] == "slower"
    assert row["ratio"] == pytest.approx(1.5)
    assert (row["n"], row["n_baseline"]) == (1, 6)


def test_summary_gives_the_models_error_as_interval(simulated):
    summary = simulated({"a": {}, "b": {}}, errors={"a": 0.25}).summary
    a, b = summary.sort("platform").iter_rows(named=True)
    assert a["hi"] == pytest.approx(a["value"] * 1.25)
    assert b["hi"] is None


def test_of_exact_values_no_statistics_are_said(simulated):
    """Exact values have no chance of error, and no busy machine: the models have it all."""
    said = simulated({"a": {}, "b": {"factor": 1.5}}).glance.promise
    assert "follow from the models and their inputs" in said
    for word in ("5 %", "exchanges", "probability", "busy"):
        assert word not in said


def test_beside_measured_platforms_only_those_are_tested(simulated):
    comparison = simulated(
        {"a": {}, "b": {"factor": 1.5}, "c": {"factor": 2.0}}, launches=8, only=("a", "b")
    )
    said = comparison.glance.promise
    assert "The values of b follow" in said and "of the likely differences" in said


@pytest.mark.parametrize(
    ("only", "said"),
    [
        (("a", "b"), "compared with a; simulated: a and b."),
        (("b",), "compared with a; simulated: b."),
        (("a",), "compared with a; simulated: a."),
        (None, "compared with a; all figures are simulated."),
        ((), "compared with a."),
    ],
)
def test_the_first_lines_say_whose_time_is_simulated(simulated, only, said):
    comparison = simulated(
        {"a": {}, "b": {"factor": 1.5}, "c": {"factor": 2.0}}, launches=6, only=only
    )
    text = comparison.glance.headline.text.replace("; measured on a busy machine", "")
    assert text.lower().endswith(said)
