"""Boots reach the comparison: by the records' own numbers, and said where there are too few."""

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Sample
from bareline.vocabulary.verdicts import Verdict

CASES = 12


@pytest.fixture
def booted(plant_study):
    """Make runs of equal platforms with a spread between b's boots, each case by itself."""

    def make(every, *, launches, spread=0.02, noise=0.01, seed=1, factor=1.0, both=False):
        shared = spread * np.random.default_rng(seed).standard_normal((2, launches, CASES + 1))

        def boots(trial):
            return trial.block // every if every else 0

        def samples(trial, generator):
            point = int(trial.case.params.partition("=")[2])
            at = "ab".index(trial.platform)
            log = noise * generator.standard_normal()
            if at or both:
                log += shared[at, boots(trial), point]
            return [Sample("time", (factor if at else 1.0) * float(np.exp(log)), {"point": 0})]

        return plant_study(
            samples,
            {"probe": "null", "sweep": {"points": list(range(1, CASES + 1))}},
            launches=launches,
            seed=seed,
            boot=lambda trial: boots(trial) + 1 if trial.platform == "b" or both else None,
        )

    return make


def compared(run):
    return Comparison(read_runs([run]))


def test_two_blocks_a_boot_are_one_value(booted):
    points = compared(booted(2, launches=14)).points
    assert set(points["boots"]) == {7} and set(points["few_boots"]) == {False}
    assert set(points["n_used"]) == {7} and set(points["n"]) == {14}


def test_a_boot_for_every_block_is_as_it_was(booted):
    points = compared(booted(1, launches=8)).points
    assert set(points["boots"]) == {8} and set(points["n_used"]) == {8}


def test_boots_of_both_platforms_lie_alike(booted):
    points = compared(booted(2, launches=12, both=True)).points
    assert set(points["boots"]) == {6} and set(points["n_used"]) == {6}


@pytest.mark.parametrize(("every", "launches", "count"), [(2, 10, 5), (0, 10, 1)])
def test_few_boots_are_said_and_launches_are_exchanged(booted, every, launches, count):
    comparison = compared(booted(every, launches=launches, factor=1.5))
    points = comparison.points
    assert set(points["few_boots"]) == {True} and set(points["boots"]) == {count}
    assert set(points["verdict"]) == {"slower"}
    assert all("few-boots" in caveats for caveats in points["caveats"])
    assert "few boots" in comparison.statements[0].text


def test_few_launches_in_as_many_boots_are_too_few_launches(booted):
    points = compared(booted(1, launches=5)).points
    assert set(points["few_boots"]) == {False}
    assert all("n-too-small" in caveats for caveats in points["caveats"])


def test_pages_of_boots_keep_the_promise_and_find_what_is_there(booted):
    """Twelve cases, two blocks a boot: a difference of half of the boots' spread is no finding."""
    wrong = sum(
        any(
            finding.verdict.decided for finding in compared(booted(2, launches=14, seed=k)).findings
        )
        for k in range(3)
    )
    assert wrong <= 1
    (finding,) = compared(booted(2, launches=14, factor=1.3)).findings
    assert len(finding.of(Verdict.SLOWER)) == CASES


def test_a_drift_that_both_share_is_no_dependence(plant_study):
    def samples(trial, generator):
        drift = 1 + 0.02 * trial.block
        return [
            Sample("time", drift * float(np.exp(0.002 * generator.standard_normal())), {"point": 0})
        ]

    alarms = 0
    for seed in range(6):
        (row,) = compared(
            plant_study(samples, {"probe": "null"}, launches=12, seed=seed)
        ).points.rows(named=True)
        alarms += "dependent" in row["caveats"]
        assert "drifting" in row["caveats"]  # of each platform alone
    assert alarms <= 1


def test_differences_that_resemble_their_neighbours_are_said(plant_study):
    """Boots that no record tells of: five launches high, five low."""

    def samples(trial, generator):
        step = 1.2 if trial.platform == "b" and trial.block % 10 >= 5 else 1.0
        return [
            Sample("time", step * float(np.exp(0.005 * generator.standard_normal())), {"point": 0})
        ]

    comparison = compared(plant_study(samples, {"probe": "null"}, launches=20))
    assert "dependent" in comparison.table.row(0, named=True)["caveats"]
    assert Caveat.read("dependent") in comparison.findings[0].caveats


def test_dependence_is_looked_for_from_six_launches_on(plant_study):
    def samples(trial, generator):
        step = 1.0 + 0.1 * trial.block * (trial.platform == "b")
        return [
            Sample("time", step * float(np.exp(0.001 * generator.standard_normal())), {"point": 0})
        ]

    comparison = compared(plant_study(samples, {"probe": "null"}, launches=6))
    assert "dependent" in comparison.table.row(0, named=True)["caveats"]
