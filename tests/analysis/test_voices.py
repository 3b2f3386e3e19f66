"""Faults of single outputs that said something else than the others, each by its own run."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.answer_scope import AnswerScope
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.analysis.words.verdict import glance, layer_line
from bareline.testing.runs import replace_records
from bareline.vocabulary.model import Failed, Layer, Sample, Stage
from bareline.vocabulary.verdicts import Grade, Verdict

SIZES = (8, 1024, 65536, 1 << 20)


def compared(run):
    return Comparison(read_runs([run]))


def noise(generator, spread=0.003):
    return float(np.exp(spread * generator.standard_normal()))


def one_boot(trial):
    """Every launch in the same boot: nothing is more than likely."""
    return 1


def pingpong(factors, spread=0.003):
    """A ping-pong whose sizes on b are multiplied by factors."""

    def samples(trial, generator):
        for size, factor in zip(SIZES, factors, strict=True):
            time_s = 1e-5 * (1 + size / 1000) * noise(generator, spread)
            time_s *= factor if trial.platform == "b" else 1.0
            yield Sample("latency", time_s, {"size_bytes": size})

    return samples


def test_a_layer_line_calls_a_likely_loss_likely(plant_study):
    run = plant_study(
        lambda trial, generator: [
            Sample("rate", 1e9 * noise(generator) / (2 if trial.platform == "b" else 1))
        ],
        {"probe": "net.nuttcp", "ranks": 1},
        launches=8, boot=one_boot,
    )  # fmt: skip
    comparison = compared(run)
    (finding,) = comparison.findings
    assert finding.grade is Grade.LIKELY
    line = layer_line(comparison.findings, comparison.glance.squares, Layer.NETWORK).text
    assert line.startswith("on b likely in these boots 2")


def test_the_grade_of_a_mixed_finding_is_that_of_its_loss(plant_study):
    """A certain gain at three sizes does not make the likely loss at the fourth certain."""
    run = plant_study(pingpong((1.6, 0.5, 0.5, 0.5)), {"probe": "mpi.pingpong", "ranks": 2})
    comparison = compared(run)
    points = [point for finding in comparison.findings for point in finding.points]
    likely = [
        replace(point, grade=Grade.LIKELY) if point.verdict is Verdict.SLOWER else point
        for point in points
    ]
    finding = replace(comparison.findings[0], points=tuple(likely), mean=None)
    assert finding.verdict is Verdict.MIXED
    assert finding.grade is Grade.LIKELY
    assert finding.grade_toward(Verdict.SLOWER) is Grade.LIKELY
    assert finding.grade_toward(Verdict.FASTER) is Grade.CERTAIN
    asked = AnswerScope([finding], (), 0.02)
    square = glance(asked, ["b"], "a", promise="").squares[Layer.MPI, "b"]
    assert square.grade is Grade.LIKELY
    assert square.words.text.startswith("likely ")
    assert "likely 1.60 times slower at 8 B" in glance(asked, ["b"], "a", promise="").headline.text


def test_a_platform_with_few_launches_of_its_program_is_in_the_answer(plant_study):
    def samples(trial, generator):
        if trial.case.probe == "npb.cg":
            time_s = 2.0 * noise(generator)
            return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]
        return list(pingpong((1, 1, 1, 1), spread=0.3)(trial, generator))

    run = plant_study(
        samples,
        {"probe": "npb.cg", "ranks": 2}, {"probe": "mpi.pingpong", "ranks": 2},
        launches=8,
    )  # fmt: skip
    done = [r for r in run.records() if r.trial.case.probe != "npb.cg" or r.trial.block < 4]
    replace_records(run, done)
    assert "On b no difference is shown at" in compared(run).glance.headline.text


def test_a_condition_says_why_a_row_with_lost_launches_has_no_ratio(plant_study):
    def samples(trial, generator):
        if trial.platform == "b" and trial.block % 6:
            return Failed(Stage.TIMEOUT, "no end after 300 s")
        return [Sample("rate", 1e9 * noise(generator))]

    run = plant_study(samples, {"probe": "net.nuttcp", "ranks": 1}, launches=12)
    (line,) = check(parse_condition("network.hi > 1.1"), compared(run)).violations
    assert "compared as a difference" not in line
    assert "10 of 12 launches" in line


@pytest.mark.parametrize(
    ("verdict", "factor"), [("worse", 2.0), ("better", 0.5)], ids=["worse", "better"]
)
def test_also_follows_a_program_that_differs_the_same_way(plant_study, verdict, factor):
    def samples(trial, generator):
        if trial.case.probe == "npb.cg":
            time_s = 2.0 * noise(generator)
            return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]
        return list(pingpong((factor,) * 4)(trial, generator))

    run = plant_study(
        samples, {"probe": "npb.cg", "ranks": 2}, {"probe": "mpi.pingpong", "ranks": 2}
    )
    text = compared(run).glance.headline.text
    assert f"{verdict}: MPI" in text
    assert "also" not in text


def test_an_undecided_program_is_named_as_measured_and_a_grade_follows_its_amount(plant_study):
    def samples(trial, generator):
        if trial.case.probe == "npb.cg":
            time_s = 2.0 * noise(generator) * (1.2 if trial.platform == "b" else 1.0)
            return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]
        return list(pingpong((2.0,) * 4)(trial, generator))

    run = plant_study(
        samples, {"probe": "npb.cg", "ranks": 2}, {"probe": "mpi.pingpong", "ranks": 2}
    )
    comparison = compared(run)
    undecided = {"verdict": Verdict.INCONCLUSIVE, "grade": Grade.OPEN}
    cells = [replace(cell, **undecided) for cell in comparison.asked if cell.headline]
    findings = []
    for finding in comparison.findings:
        change = {"grade": Grade.LIKELY} if finding.layer is Layer.MPI else undecided
        points = tuple(replace(point, **change) for point in finding.points)
        findings.append(replace(finding, points=points, mean=None))
    text = glance(AnswerScope(findings, cells, 0.02), ["b"], "a", promise="").headline.text
    assert re.search(r"CG was measured between [\d.]+ and [\d.]+ % slower, but among", text)
    assert "among all comparisons this can still be chance. " in text
    assert re.search(r"orse: MPI up to [\d.]+ times \(likely\)\.", text)


def test_a_rate_that_is_higher_is_not_so_many_times_worse(plant_study):
    def samples(trial, generator):
        better = 1.02 if trial.platform == "b" else 1.0
        return [Sample("rate", 1e9 * better * noise(generator, 1e-4))]

    run = plant_study(samples, {"probe": "net.nuttcp", "ranks": 1}, launches=3, min_launches=3)
    text = compared(run).glance.headline.text
    assert "times worse" not in text
    assert "% higher than on a" in text


def test_the_answer_prints_numbers_that_agree(plant_study):
    """The ratio of pairs is not the quotient of the medians: one of them is printed."""

    def samples(trial, generator):
        time_s = 0.5 * float(np.exp(0.3 * generator.standard_normal()))
        time_s *= 3.0 if trial.platform == "b" else 1.0
        return [Sample("rate", 1e9 / time_s), Sample("time", time_s)]

    run = plant_study(samples, {"probe": "npb.cg", "ranks": 2}, launches=10)
    comparison = compared(run)
    text = comparison.glance.headline.text
    (cell,) = (cell for cell in comparison.asked if cell.headline)
    assert f"{cell.base.value * 1e3:.0f}" in text
    assert f"{cell.value.value:.2f}" not in text
    assert "→" not in text


def test_a_gate_is_met_where_the_table_is_certain(plant_study):
    """Two runs of six launches: a detail that is certain after the headlines meets the gate."""

    def samples(trial, generator):
        time_s = 1e-5 * (4.0 if trial.platform == "b" else 1.0) * noise(generator, 0.01)
        return [
            Sample("latency", time_s, {"size_bytes": 8}),
            Sample("bandwidth", 8 / time_s, {"size_bytes": 8}),
        ]

    runs = [
        plant_study(
            samples, {"probe": "mpi.pingpong", "ranks": 2}, platforms=(name,), launches=6, seed=seed
        )
        for seed, name in enumerate(("a", "b"))
    ]
    comparison = Comparison(read_runs(runs), "a")
    assert {cell.grade for cell in comparison.cells} == {Grade.CERTAIN}
    for metric in ("latency", "bandwidth"):
        assert check(parse_condition(f"mpi.{metric} > 1.1"), comparison).violations
        assert not check(parse_condition(f"mpi.{metric} > 4.5"), comparison).violations
