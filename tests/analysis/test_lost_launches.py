"""Launches that exceed their limit: a loss that is certain, told with its numbers."""

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.vocabulary.model import Failed, Sample, Stage

CG = {"probe": "npb.cg", "ranks": 1}


def run_of(
    plant_study, lost, *measures, launches=8, took_s=5.0, reason="no end after 300 s", **more
):
    """Plant equal launches of which ``lost(platform, block, case)`` say which exceeded 300 s."""

    def samples(trial, generator):
        if lost(trial.platform, trial.block, trial.case.probe):
            return Failed(Stage.TIMEOUT, reason)
        rate = 1e9 * float(np.exp(0.05 * generator.standard_normal()))
        return [Sample("rate", rate), Sample("time", 1e9 / rate)]

    return plant_study(
        samples, *(measures or (CG,)), launches=launches, took_s=lambda _: took_s, **more
    )


def compared(run):
    return Comparison(read_runs([run]))


def headline(comparison):
    return comparison.points.filter("headline").row(0, named=True)


def test_six_of_eight_launches_against_none_are_a_certain_loss(plant_study):
    run = run_of(plant_study, lambda name, block, _: name == "b" and block not in (2, 6))
    comparison = compared(run)
    row = headline(comparison)
    assert (row["verdict"], row["by_loss"]) == ("slower", 1)
    assert (row["lost"], row["tried"], row["base_lost"], row["base_tried"]) == (6, 8, 0, 8)
    assert (row["limit_s"], row["by_points"], row["took_s"]) == (300, False, 5)
    assert row["ratio"] is None
    assert row["at_least"] == pytest.approx(60)
    assert comparison.findings[0].verdict == "slower"
    outcome = check(parse_condition("npb is slower"), comparison)
    assert len(outcome.violations) == 1


def test_a_launch_or_two_are_no_certain_loss(plant_study):
    run = run_of(plant_study, lambda name, block, _: name == "b" and block in (2, 6))
    row = headline(compared(run))
    assert (row["verdict"], row["by_loss"]) == ("inconclusive", 0)


def test_what_never_ends_is_more_than_so_many_times_slower(plant_study):
    """All launches of b exceed the limit; the case is given up after three of them."""

    def samples(trial, generator):
        if trial.platform == "b":
            if trial.block < 3:
                return Failed(Stage.TIMEOUT, "no end after 300 s")
            return Failed(Stage.GIVEN_UP, "not started: it timed out 3 times in a row")
        return [Sample("rate", 1e9), Sample("time", 1.0)]

    comparison = compared(plant_study(samples, CG, launches=8, took_s=lambda _: 5.0))
    row = headline(comparison)
    assert (row["verdict"], row["lost"], row["tried"], row["n"]) == ("slower", 3, 3, 0)
    assert row["at_least"] == pytest.approx(60)
    assert comparison.findings[0].verdict == "slower"
    for condition in ("npb is slower", "npb > 1.1", "npb > 50"):
        outcome = check(parse_condition(condition), comparison)
        assert len(outcome.violations) == 1, condition
        assert "cannot be judged" not in outcome.violations[0]
    assert not check(parse_condition("npb > 100"), comparison).violations


def test_a_baseline_that_never_ends_makes_the_platform_faster(plant_study):
    row = headline(compared(run_of(plant_study, lambda name, *_: name == "a")))
    assert (row["verdict"], row["by_loss"]) == ("faster", -1)
    assert row["at_least"] == pytest.approx(1 / 60)


def test_what_was_not_started_is_no_launch(plant_study):
    """Two time-outs and what an older bareline then recorded of the others as the same stage."""

    def samples(trial, generator):
        if trial.platform == "b":
            if trial.block < 2:
                return Failed(Stage.TIMEOUT, "no end after 300 s")
            return Failed(Stage.TIMEOUT, "not started: it timed out 2 times in a row")
        return [Sample("rate", 1e9), Sample("time", 1.0)]

    row = headline(compared(plant_study(samples, CG, launches=8)))
    assert (row["lost"], row["tried"], row["verdict"]) == (2, 2, "failed")


def test_sizes_that_never_fit_their_budget_are_a_certain_loss(plant_study):
    """No limit of a launch: nothing is known of how much slower than the budget they are."""

    def samples(trial, generator):
        for size in (8, 1 << 20):
            if not (trial.platform == "b" and size > 8 and trial.block % 4):
                yield Sample("latency", 1e-6 * (1 + size), {"size_bytes": size})

    def caveats(trial):
        return ("cut",) if trial.platform == "b" and trial.block % 4 else ()

    run = plant_study(samples, {"probe": "mpi.allreduce", "ranks": 2}, launches=8, caveats=caveats)
    rows = {row["point"]: row for row in compared(run).points.iter_rows(named=True)}
    large = rows["size_bytes=1048576"]
    assert (large["verdict"], large["lost"], large["tried"]) == ("slower", 6, 8)
    assert (large["limit_s"], large["by_points"], large["at_least"]) == (0.2, True, None)
    assert "did not finish within 200 ms a size in 6 of 8 launches" in (
        compared(run).statements[0].text
    )
    assert rows["size_bytes=8"]["lost"] == 0


def test_sizes_that_did_not_fit_now_and_then_are_not_launches_that_never_ended(plant_study):
    """The first line said of launches that ended, and only left out a size, they did not finish."""

    def cut(trial):
        return trial.platform == "b" and trial.block < 3

    def samples(trial, generator):
        for size in (8, 1 << 20):
            if not (cut(trial) and size > 8):
                yield Sample("latency", 1e-6 * (1 + size), {"size_bytes": size})

    def caveats(trial):
        return ("cut",) if cut(trial) else ()

    run = plant_study(samples, {"probe": "mpi.allreduce", "ranks": 2}, launches=8, caveats=caveats)
    text = compared(run).glance.headline.text
    assert "3 of 8 launches of MPI_Allreduce left out sizes for lack of time" in text
    assert "did not finish" not in text


def test_losses_on_both_sides_are_no_difference(plant_study):
    """Every second launch of both exceeds its limit, in ten pages."""
    wrong = 0
    for seed in range(10):
        lost = np.random.default_rng(seed).random((2, 10)) < 0.5
        run = run_of(
            plant_study,
            lambda name, block, _, lost=lost: lost["ab".index(name), block],
            launches=10,
        )
        wrong += any(finding.verdict.decided for finding in compared(run).findings)
    assert wrong <= 1


def test_a_limit_of_a_simulation_is_no_bound(plant_study):
    """Where loops last as long as they are told a limit bounds no latency."""

    def samples(trial, generator):
        if trial.platform == "b":
            return Failed(Stage.TIMEOUT, "no end after 300 s")
        return [Sample("latency", 1e-6, {"size_bytes": 8})]

    run = plant_study(samples, {"probe": "mpi.allreduce", "ranks": 2}, launches=8)
    row = headline(compared(run))
    assert (row["verdict"], row["lost"], row["at_least"]) == ("slower", 8, None)
