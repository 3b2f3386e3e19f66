"""Scales: what changes, what stays, what cannot be."""

import pytest
from pydantic import ValidationError

from bareline.study.measure import MeasureScale, StudyScale

MEASURE = {
    "probe": "null",
    "params": {"median_s": 1.0, "points": 3},
    "sweep": {"spread": [0.1, 0.2]},
    "ranks": 4,
}


def test_a_scale_without_keys_changes_nothing():
    assert MeasureScale().over(MEASURE) == MEASURE
    assert StudyScale().over({"name": "s", "launches": 10}) == {"name": "s", "launches": 10}


def test_keys_of_a_study_are_replaced():
    head = StudyScale(launches=6, budget_s=60).over({"name": "s", "launches": 10, "precision": 0})
    assert head == {"name": "s", "launches": 6, "precision": 0, "budget_s": 60}


def test_parameters_are_added_and_replaced():
    scaled = MeasureScale(params={"points": 1, "drift": 0.0}, ranks=2).over(MEASURE)
    assert scaled["params"] == {"median_s": 1.0, "points": 1, "drift": 0.0}
    assert scaled["sweep"] == MEASURE["sweep"]
    assert scaled["ranks"] == 2


def test_a_value_replaces_a_sweep_of_its_name_and_the_other_way_round():
    value = MeasureScale(params={"spread": 0.5}).over(MEASURE)
    assert value["params"]["spread"] == 0.5
    assert value["sweep"] == {}
    sweep = MeasureScale(sweep={"points": [1, 2]}).over(MEASURE)
    assert "points" not in sweep["params"]
    assert sweep["sweep"] == {"spread": [0.1, 0.2], "points": [1, 2]}


def test_the_original_stays_as_it_is():
    before = repr(MEASURE)
    MeasureScale(params={"points": 1}, sweep={"spread": [0.3]}).over(MEASURE)
    assert repr(MEASURE) == before


def test_what_it_changes_is_told():
    told = MeasureScale(params={"points": 1}, sweep={"spread": [0.3]}).changes(MEASURE)
    assert told == ["points 1 instead of 3", "spread 0.3 instead of 0.1 and 0.2"]
    assert MeasureScale(skip=True).changes(MEASURE) == ["left out"]


@pytest.mark.parametrize("wrong", [{"ranks": 0}, {"timeout_s": 0}, {"probe": "x"}])
def test_impossible_keys_are_refused(wrong):
    with pytest.raises(ValidationError):
        MeasureScale(**wrong)
