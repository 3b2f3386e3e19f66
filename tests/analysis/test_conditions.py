"""Conditions hold over all rows that they select, and what could not be measured meets them."""

import re

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import GateResult, check
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.model import Failed, Sample, Stage
from bareline.vocabulary.verdicts import Grade


def held(run, text, **options):
    return check(parse_condition(text), Comparison(read_runs([run]), **options))


def lines(run, text, **options):
    return held(run, text, **options).violations


@pytest.fixture
def doubled(plant, pingpong):
    return plant(pingpong({"b": 2.0}))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("mpi.latency > 1.1", 3),
        ("mpi.pingpong.bandwidth >= 1.5", 3),
        ("mpi.pingpong > 3", 0),
        ("mpi < 5", 3),
        ("mpi < 1.5", 0),
        ("b:mpi.latency.lo > 1.5", 3),
        ("mpi.latency.hi > 2.5", 0),
        ("mpi.latency.hi > 1.9", 3),
        ("mpi.latency.lo < 2.5", 3),
        ("mpi.latency.lo < 1.5", 0),
        ("mpi.ratio > 1.5", 3),
        ("mpi.latency.lo95 > 1.5", 3),
        ("mpi.latency.hi95 > 2.5", 0),
        ("mpi is slower", 3),
        ("mpi is worse", 3),
        ("mpi is equal", 0),
        ("mpi is undecided", 0),
        ("mpi is failed", 0),
    ],
)
def test_conditions_select_rows_and_compare(doubled, text, count):
    assert len(lines(doubled, text)) == count


def test_the_number_of_rows_is_told(doubled):
    comparison = Comparison(read_runs([doubled]))
    assert check(parse_condition("mpi > 1.1"), comparison).tested == 3
    (first, *_) = check(parse_condition("mpi > 1.1"), comparison).violations
    assert first.endswith("is certainly > 1.1")


def test_platforms_of_two_runs_are_conditions_too(plant, pingpong):
    runs = [plant(pingpong()), plant(pingpong({"b": 3.0}))]
    records = read_runs(runs)
    first, second = (f"b@{run.path.name}" for run in runs)
    outcome = check(parse_condition(f"{second}:mpi > 2"), Comparison(records, first))
    assert len(outcome.violations) == 3
    outcome = check(parse_condition(f"{second}:mpi > 4"), Comparison(records, first))
    assert not outcome.violations


@pytest.mark.parametrize("text", ["null > 1.1", "null.lo > 1", "null is slower", "null < 0.9"])
def test_equal_platforms_rarely_meet_a_condition(plant_study, text):
    """Of five comparisons of a platform with itself, five met 'memory > 1.1'."""
    sweep = {"probe": "null", "sweep": {"median_s": [1e-3 * (1 + k) for k in range(12)]}}

    def samples(trial, generator):
        yield Sample("time", 1e-3 * float(np.exp(0.1 * generator.standard_normal())), {"point": 0})

    met = sum(bool(lines(plant_study(samples, sweep, seed=seed), text)) for seed in range(4))
    assert met <= 1


@pytest.mark.parametrize("text", ["null > 1.1", "null is slower", "null.hi > 5", "null.ratio > 9"])
def test_what_could_not_be_measured_meets_every_condition(plant_study, text):
    def failed(trial, generator):
        if trial.platform == "b":
            return Failed(Stage.EXIT, "exit code 1")
        return [Sample("time", 1e-3, {"point": 0})]

    (line,) = lines(plant_study(failed, {"probe": "null"}), text)
    assert "cannot be judged: failed" in line


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("null > 1.1", GateResult.UNDECIDED),
        ("null is slower", GateResult.UNDECIDED),
        ("null.ratio > 9", GateResult.UNDECIDED),
        ("null.hi > 5", GateResult.MET),  # it asks for certainty
    ],
)
def test_few_launches_decide_nothing(plant_study, text, result):
    """Too few trials met the condition, as if a difference had been found."""

    def few(trial, generator):
        return [Sample("time", 3e-3 if trial.platform == "b" else 1e-3, {"point": 0})]

    run = plant_study(few, {"probe": "null"}, launches=5, min_launches=5)
    outcome = held(run, text)
    assert outcome.result is result
    (line,) = outcome.undecided or outcome.violations
    assert "cannot be judged: 5 trials, 6 are needed" in line
    if result is GateResult.UNDECIDED:
        assert outcome.remedy.endswith("6 could decide")


def spread(factor, noise):
    """Return samples of b that take `factor` times as long as a's, with so much noise."""

    def samples(trial, generator):
        worse = factor if trial.platform == "b" else 1.0
        time_s = 1e-3 * worse * float(np.exp(noise * generator.standard_normal()))
        return [Sample("time", time_s, {"point": 0})]

    return samples


@pytest.mark.parametrize(
    ("factor", "noise", "text", "result"),
    [
        (1.0, 0.002, "null > 1.1", GateResult.NOT_MET),
        (1.3, 0.002, "null > 1.1", GateResult.MET),
        (1.05, 0.1, "null > 1.1", GateResult.UNDECIDED),
        (1.0, 0.3, "null > 1.1", GateResult.UNDECIDED),
        (1.0, 0.3, "null is slower", GateResult.UNDECIDED),
        (1.0, 0.002, "null is slower", GateResult.NOT_MET),
        (0.7, 0.002, "null is slower", GateResult.NOT_MET),
        (0.7, 0.002, "null < 0.9", GateResult.MET),
        (0.9, 0.2, "null < 0.9", GateResult.UNDECIDED),
        (1.0, 0.3, "null.ratio > 9", GateResult.NOT_MET),
        (1.0, 0.3, "null.hi > 1.01", GateResult.MET),
        (1.0, 0.3, "null is equal", GateResult.NOT_MET),
        (1.0, 0.3, "null fails", GateResult.NOT_MET),
    ],
)
def test_a_condition_has_three_results(plant_study, factor, noise, text, result):
    """Whatever was not certain passed: a gate that could not fire was never noticed."""
    outcome = held(plant_study(spread(factor, noise), {"probe": "null"}), text)
    assert outcome.result is result


def test_a_condition_that_is_not_met_names_the_nearest_row_and_its_limit(plant_study):
    outcome = held(plant_study(spread(1.02, 0.002), {"probe": "null"}), "null > 1.1")
    assert re.fullmatch(
        r"null time, .* on b: at most 1\.0[12345] \(limit 1\.10\)", outcome.nearest
    ), outcome.nearest


def test_what_is_undecided_names_the_launches_that_would_decide(plant_study):
    outcome = held(plant_study(spread(1.05, 0.1), {"probe": "null"}), "null > 1.1")
    assert re.fullmatch(r"(about|more than) \d+ launches would decide.*", outcome.remedy)


def test_a_row_that_its_mean_alone_makes_slower_is_said_so(plant_study):
    """It was: "16 B, 2 ranks on new: and the others are 13 % slower"."""

    def samples(trial, generator):
        worse = 1.06 if trial.platform == "b" else 1.0
        noise = float(np.exp(0.07 * generator.standard_normal()))
        yield Sample("time", worse * noise, {"point": 0})

    sweep = {"probe": "null", "sweep": {"points": list(range(1, 13))}}
    run = plant_study(samples, sweep, launches=8, seed=3)
    means = [line for line in lines(run, "null is slower") if "in the mean of" in line]
    assert means
    assert all("is the farthest point; together they are" in line for line in means)


def test_who_asks_for_failures_gets_them(plant_study):
    def failed(trial, generator):
        if trial.platform == "b":
            return Failed(Stage.EXIT, "exit code 1")
        return [Sample("time", 1e-3, {"point": 0})]

    run = plant_study(failed, {"probe": "null"})
    assert len(lines(run, "null is failed")) == 1
    assert not lines(run, "null is missing")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "BL-ANALYSIS-821"),
        ("mpi", "BL-ANALYSIS-821"),
        ("mpi > fast", "BL-ANALYSIS-998"),
        ("mpi = 3", "BL-ANALYSIS-821"),
        ("mpi is odd", "BL-ANALYSIS-631"),
        ("mpi is mixed", "BL-ANALYSIS-631"),
        ("> 3", "BL-ANALYSIS-821"),
        ("mpi > 0", "BL-ANALYSIS-632"),
        ("mpi > -1", "BL-ANALYSIS-632"),
    ],
)
def test_what_is_no_condition_is_refused(text, code):
    with raises(UsageError, code, "--fail-if", text):
        parse_condition(text)


def test_a_condition_on_nothing_is_refused(doubled):
    with raises(UsageError, "BL-ANALYSIS-836", "npb.time"):
        lines(doubled, "npb.time > 1")
    with raises(UsageError, "BL-ANALYSIS-836", "mpi.latency"):
        lines(doubled, "mpi.latencey > 1")


def test_a_row_that_meets_a_condition_is_named_with_nodes_and_ranks(plant_study):
    """Three cases that differ by nodes and ranks used to give three identical lines."""

    def samples(trial, generator):
        factor = 3.0 if trial.platform == "b" else 1.0
        noise = float(np.exp(0.003 * generator.standard_normal()))
        yield Sample("latency", 1e-5 * factor * noise, {"size_bytes": 8})

    measures = [
        {"probe": "mpi.allreduce", "ranks": 2, "nodes": 1},
        {"probe": "mpi.allreduce", "ranks": 2, "nodes": 2},
        {"probe": "mpi.allreduce", "ranks": 4, "nodes": 2},
    ]
    comparison = Comparison(read_runs([plant_study(samples, *measures)]))
    outcome = check(parse_condition("mpi is slower"), comparison)
    assert [line.partition(" on b:")[0] for line in outcome.violations] == [
        "mpi.allreduce latency, 8 B, 2 ranks within a node",
        "mpi.allreduce latency, 8 B, 2 ranks between two nodes",
        "mpi.allreduce latency, 8 B, 4 ranks between two nodes",
    ]


@pytest.mark.parametrize(
    ("text", "count"), [("null fails", 1), ("b:null fails", 1), ("null is likely slower", 0)]
)
def test_a_condition_asks_for_crashes(plant_study, text, count):
    """b crashes in 5 of 12 launches and is equal else: `null is slower` passed, and still does."""

    def crashes(trial, generator):
        if trial.platform == "b" and trial.block < 5:
            return Failed(Stage.EXIT, "exit code 1")
        return [
            Sample("time", 1e-3 * float(np.exp(0.002 * generator.standard_normal())), {"point": 0})
        ]

    run = plant_study(crashes, {"probe": "null"}, launches=12)
    found = lines(run, text)
    assert len(found) == count
    assert all("failed in 5 of 12 launches" in line for line in found)


def test_a_condition_asks_for_what_is_likely(plant_study):
    """A row's grade is the same to every voice, whatever is selected beside it."""

    def samples(trial, generator):
        worse = 2.0 if trial.platform != "a" and len(trial.case.params) % 2 else 1.0
        noise = float(np.exp(0.003 * generator.standard_normal()))
        yield Sample("time", 1e-3 * worse * noise, {"point": 0})

    sweep = {"probe": "null", "sweep": {"median_s": [0.001 * k for k in range(8, 16)]}}
    run = plant_study(
        samples, sweep, platforms=("a", "b", "c"),
        boot=lambda trial: 1 if trial.platform == "b" else None,
    )  # fmt: skip
    rows = Comparison(read_runs([run])).table
    likely, certain = (
        rows.filter((rows["platform"] == name) & (rows["grade"] == grade.value)).height
        for name, grade in (("b", Grade.LIKELY), ("c", Grade.CERTAIN))
    )
    assert likely == certain > 0
    assert len(lines(run, "null is slower")) == len(lines(run, "c:null is slower")) == certain
    assert not lines(run, "b:null is slower")
    assert len(lines(run, "null is likely slower")) == likely + certain
    assert any(" is likely slower" in line for line in lines(run, "b:null is likely slower"))
