"""What one rank of an application on each platform tells of another processor."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from planted_programs import network

from bareline.predict.curves.compute import calibrated, factor_between
from bareline.predict.validation.scores import Trial, Validation
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError

CG, EP = "npb.cg problem_class=W", "npb.ep problem_class=W"


def calibration(factors, *, ranks=1):
    """Six launches of each program of one rank on the platforms a and b, b so many times slower."""
    rows = []
    for program, factor in factors.items():
        probe, _, params = program.partition(" ")
        for launch in range(6):
            for platform, times in (("a", 1.0), ("b", factor)):
                value = times * (1 + 0.01 * (launch % 3))
                rows.append(
                    {"probe": probe, "params": params, "ranks": ranks, "platform": platform,
                     "metric": "time", "value": value}
                )  # fmt: skip
    declared = [
        {"probe": program.split()[0], "metric": "time", "headline": True, "unit": "s",
         "layer": "npb"}
        for program in factors
    ]  # fmt: skip
    samples = pl.DataFrame(rows)
    return SimpleNamespace(
        samples=samples,
        declarations=pl.DataFrame(declared),
        runs=[SimpleNamespace(path="calibration")],
        samples_of=lambda probe: samples.filter(pl.col("probe") == probe),
    )


def guests():
    """A network of the base's processor, and one of an emulated processor."""
    one = network("a", facts={"cpu.emulated": False})
    return one, network("b", facts={"cpu.emulated": True, "cpu.isa": "sse2"})


def test_the_factor_is_that_of_one_rank():
    factor = calibrated(calibration({CG: 3.0}), "a", "b")
    assert factor.value == pytest.approx(3.0, rel=1e-9)
    assert factor.lo <= 3.0 <= factor.hi < 3.1 and CG in factor.source


def test_of_several_applications_the_one_that_is_meant_counts():
    several = calibration({CG: 1.2, EP: 8.0})
    assert calibrated(several, "a", "b", EP).value == pytest.approx(8.0)
    assert calibrated(several, "a", "b", CG).value == pytest.approx(1.2)
    with raises(AnalysisError, "BL-PREDICT-985", "2"):
        calibrated(several, "a", "b")
    with raises(AnalysisError, "BL-PREDICT-105"):
        calibrated(calibration({CG: 2.0}, ranks=2), "a", "b")


def test_a_run_that_holds_one_rank_calibrates_its_own_validation():
    a, b = guests()
    factor = factor_between(a, b, calibration({CG: 5.0, EP: 9.0}), program=CG)
    assert factor.value == pytest.approx(5.0)
    # Nothing of this program: nothing is taken from another one.
    with raises(AnalysisError, "BL-PREDICT-426"):
        factor_between(a, b, calibration({EP: 9.0}), program=CG)
    # Equal processors need none.
    assert factor_between(a, replace(a, platform="c"), program=CG).value == 1.0


def test_predictions_between_different_processors_are_scored_apart():
    same = Trial(CG, "a", "b", "replay", 1.0, 1.02, 1.0, (1.0, 1.0))
    other = replace(same, platform="guest", time_s=1.5, calibrated=True)
    done = Validation((same, other))
    assert [score.worst for score in done.scores] == pytest.approx([0.02])
    assert [score.worst for score in done.calibrated] == pytest.approx([0.5])
    kinds = [row["type"] for row in done.rows()]
    assert kinds.count("score") == kinds.count("score-calibrated") == 1
