"""The verdict at a glance: one line, a matrix, and what it promises."""

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.vocabulary.model import Failed, Layer, Layout, Sample, Stage, parse_point
from bareline.vocabulary.verdicts import Verdict


@pytest.fixture
def comparison(plant_study):
    """Two platforms: mpi between two nodes is slow, one core's rate is equal or emulated."""

    def samples(trial, generator):
        noise = float(np.exp(0.003 * generator.standard_normal()))
        if trial.case.probe == "mpi.pingpong":
            factor = {"net": 20.0, "vm": 40.0}.get(trial.platform, 1.0)
            return [Sample("latency", 1.4e-6 * factor * noise, {"size_bytes": 8})]
        if trial.case.probe == "memory.latency" and trial.platform == "vm":
            return Failed(Stage.EXIT, "exit code 1")
        if trial.case.probe == "memory.latency":
            return [Sample("latency", 1e-7 * noise, {"working_set_bytes": 1 << 20})]
        return [Sample("rate", 6e10 * noise / (400 if trial.platform == "vm" else 1))]

    run = plant_study(
        samples,
        {"probe": "compute.peak"}, {"probe": "memory.latency"},
        {"probe": "mpi.pingpong", "ranks": 2},
        platforms=("bare-pair", "net", "vm"),
        layout=lambda trial: Layout(trial.case.ranks, 1, 1),
        caveats=lambda trial: ("emulated-cpu",) if trial.platform == "vm" else (),
    )  # fmt: skip
    return Comparison(read_runs([run]))


def test_the_matrix_holds_the_worst_certain_change_or_why_there_is_none(comparison):
    squares = comparison.glance.squares
    assert comparison.glance.layers == (Layer.COMPUTE, Layer.MEMORY, Layer.MPI)
    assert comparison.glance.platforms == ("net", "vm")
    marks = {(layer.value, name): square.mark for (layer, name), square in squares.items()}
    assert marks == {
        ("compute", "net"): Verdict.EQUIVALENT,
        ("compute", "vm"): Verdict.NOT_COMPARABLE,
        ("memory", "net"): Verdict.EQUIVALENT,
        ("memory", "vm"): Verdict.FAILED,
        ("mpi", "net"): Verdict.SLOWER,
        ("mpi", "vm"): Verdict.SLOWER,
    }
    mpi = squares[Layer.MPI, "vm"]
    assert mpi.point.ratio.value == pytest.approx(40, rel=0.02)
    assert "times slower [" in mpi.words.text
    assert mpi.subject.startswith("MPI ping-pong below 8 KiB")
    assert squares[Layer.COMPUTE, "vm"].note == "emulated processor"


def test_the_headline_has_a_clause_for_each_platform_and_names_the_layout(comparison):
    text = comparison.glance.headline.text
    vm, net, last = (clause.text for clause in comparison.glance.headline.clauses)
    assert net.startswith("On net MPI ping-pong below 8 KiB between two nodes is 20.")
    assert vm.startswith("On vm MPI ping-pong below 8 KiB between two nodes is 40.")
    assert vm.endswith(". Compute is not comparable (emulated processor).")
    assert ". 1 of 3 cases failed (" in vm
    assert last == "Compared with bare-pair."
    assert "400" not in text


def test_several_unlike_layouts_are_one_reason_in_the_headline(plant_study):
    def samples(trial, generator):
        factor = 3.0 if trial.platform == "net" else 1.0
        time_s = 1e-6 * factor * float(np.exp(0.003 * generator.standard_normal()))
        if trial.case.probe == "mpi.pingpong":
            return [Sample("latency", time_s, {"size_bytes": 8})]
        return [Sample("latency", time_s, {"size_bytes": 64})]

    run = plant_study(
        samples,
        {"probe": "mpi.pingpong", "ranks": 2, "nodes": 1},
        {"probe": "mpi.allreduce", "ranks": 2}, {"probe": "mpi.allreduce", "ranks": 4},
        platforms=("one", "net"),
        layout=lambda trial: (
            Layout(1, trial.case.ranks, 1)
            if trial.platform == "one" or trial.case.nodes == 1
            else Layout(2, trial.case.ranks // 2, 1)
        ),
    )  # fmt: skip
    glance = Comparison(read_runs([run])).glance
    text = glance.headline.text
    assert "times slower" in text
    assert text.count("share its memory") == 0
    assert text.count("not comparable") == 1
    assert "Part of MPI is not comparable (other layouts than the baseline's)" in text


def test_many_layouts_are_one_reason_in_the_headline(plant_study):
    """Each pairing of layouts used to be a clause of its own: ten lines instead of one."""

    def samples(trial, generator):
        noise = float(np.exp(0.003 * generator.standard_normal()))
        if trial.case.probe == "mpi.pingpong":
            return [Sample("latency", 1.4e-6 * noise, {"size_bytes": 8})]
        return [Sample("rate", 6e10 * noise)]

    def layout(trial):
        ranks = trial.case.ranks
        return Layout(1 if trial.platform == "a" else 2, ranks if trial.platform == "a" else 1, 1)

    def headline(*measures):
        run = plant_study(samples, *measures, layout=layout)
        return Comparison(read_runs([run])).glance.headline.text

    first = {"probe": "mpi.pingpong", "ranks": 2}
    alone = headline(first)
    assert "MPI is not comparable (two nodes against one node with 2 ranks, which share" in alone
    both = headline(first, {"probe": "compute.peak"})
    assert both == (
        "On b compute and MPI are not comparable (other layouts than the baseline's). "
        "Compared with a."
    )


def test_the_first_sentence_is_never_what_an_emulated_processor_does(comparison):
    first, *_, last = comparison.statements
    assert first.text.startswith("MPI: ")
    assert "400" not in " ".join(statement.text for statement in comparison.statements)
    assert last.text.startswith(("Compute", "Memory"))


def test_the_promise_counts_what_was_done(comparison):
    text = comparison.glance.promise
    # Peak, memory latency and ping-pong on net; the ping-pong alone on vm.
    assert " 4 points and means." in text
    assert "names in 10 blocks, in all 1024 ways, " in text
    assert f"{comparison.table['p_adjusted'].count()} points)" in text


@pytest.mark.parametrize(("busy", "said"), [(1, False), (8, True)])
def test_a_busy_machine_is_said_first_when_it_matters(plant_study, busy, said):
    def samples(trial, generator):
        yield Sample(
            "time", 1e-3 * float(np.exp(0.003 * generator.standard_normal())), {"point": 0}
        )

    run = plant_study(
        samples, {"probe": "null"},
        caveats=lambda trial: ("busy-machine",) if trial.block < busy else (),
    )  # fmt: skip
    comparison = Comparison(read_runs([run]))
    assert ("measured on a busy machine" in comparison.glance.headline.text) == said
    assert f"busy machine in {busy} of 10 trials" in comparison.statements[0].text


def planted(plant_study, factors, *, cases=50, failing=(), platforms=("a", "b"), **options):
    """Cases of the null probe whose times on b have a factor each; some fail there."""

    def samples(trial, generator):
        number = round(1e3 * parse_point(trial.case.params)["median_s"]) - 1
        if trial.platform == "b" and number in failing:
            return Failed(Stage.EXIT, "exit code 1")
        factor = factors(number) if trial.platform == "b" else 1.0
        noise = float(np.exp(0.003 * generator.standard_normal()))
        return [Sample("time", 1e-3 * factor * noise, {"point": 0})]

    run = plant_study(
        samples,
        {"probe": "null", "sweep": {"median_s": [1e-3 * (1 + number) for number in range(cases)]}},
        platforms=platforms,
        **options,
    )
    return Comparison(read_runs([run]))


def test_failed_is_not_equal(plant_study):
    """40 of 50 cases failed and 10 are equal: that used to be 'no difference above 2 %'."""
    comparison = planted(plant_study, lambda number: 1.0, failing=range(40))
    glance = comparison.glance
    assert glance.headline.text.startswith("On b 40 of 50 cases failed")
    (square,) = glance.squares.values()
    assert square.mark is Verdict.FAILED
    assert square.words.text == "40 of 50 failed"
    (statement,) = comparison.statements
    assert "40 of 50 points of" in statement.text and "equal within 2 % at 10" in statement.text


def test_a_loss_beside_failures_says_both(plant_study):
    comparison = planted(plant_study, lambda number: 2.0, failing=range(5))
    text = comparison.glance.headline.text
    assert "times slower" in text and "5 of 50 cases failed" in text
    (square,) = comparison.glance.squares.values()
    assert square.mark is Verdict.SLOWER and square.note == "5 of 50 failed"


def test_few_launches_are_not_decided_yet(plant_study):
    comparison = planted(plant_study, lambda number: 1.0, cases=2, launches=1, min_launches=1)
    assert "no difference is judged yet (seen once): " in comparison.glance.headline.text
    (square,) = comparison.glance.squares.values()
    assert square.words.text.startswith("seen once, not judged: ")


def test_a_loss_everywhere_is_found_though_no_point_is_certain(plant_study):
    """50 cases all 5 % slower at 5 % noise in six launches: the mean is certain, and named so."""

    def samples(trial, generator):
        factor = 1.05 if trial.platform == "b" else 1.0
        noise = float(np.exp(0.05 * generator.standard_normal()))
        return [Sample("time", 1e-3 * factor * noise, {"point": 0})]

    found = 0
    for seed in range(10):
        run = plant_study(
            samples,
            {"probe": "null", "sweep": {"median_s": [1e-3 * (1 + n) for n in range(50)]}},
            launches=6, min_launches=6, seed=seed,
        )  # fmt: skip
        comparison = Comparison(read_runs([run]))
        (finding,) = comparison.findings
        assert finding.verdict is Verdict.SLOWER
        if not finding.by_mean:
            continue
        found += 1
        text = comparison.glance.headline.text
        assert "% slower in the mean of 50 points" in text
        (square,) = comparison.glance.squares.values()
        assert square.mark is Verdict.SLOWER and "in the mean of 50 points" in square.words.text
        (statement,) = comparison.statements
        assert "no single point is certain, estimates between" in statement.text
        assert check(parse_condition("app is slower"), comparison).violations
    assert found >= 3


@pytest.mark.parametrize(("lost", "words"), [(6, "in 6 of 8 launches"), (8, "in 8 of 8 launches")])
def test_launches_lost_to_a_limit_are_a_loss_with_their_number(plant_study, lost, words):
    def samples(trial, generator):
        if trial.platform == "b" and trial.block < lost:
            return Failed(Stage.TIMEOUT, "took longer than 300 s")
        return [Sample("time", 2.0 * float(np.exp(0.003 * generator.standard_normal())))]

    run = plant_study(
        samples, {"probe": "npb.cg", "ranks": 2}, launches=8, min_launches=6,
    )  # fmt: skip
    comparison = Comparison(read_runs([run]))
    text = comparison.glance.headline.text
    assert "slower" in text, text
    assert words in comparison.statements[0].text
    assert comparison.statements[0].text.count("of 8 launches") == 1
    assert check(parse_condition("npb is slower"), comparison).violations
