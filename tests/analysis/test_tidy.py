"""Tidy tables: one column a variable, with its type; nothing is lost on the way."""

import polars as pl
import pytest

import bareline
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Failed, Sample, Stage

MEASURES = (
    {"probe": "null", "params": {"points": 2}},
    {"probe": "mpi.pingpong", "ranks": 2, "params": {"max_bytes": 4096}},
)


@pytest.fixture
def planted(plant_study):
    def samples(trial, generator):
        if trial.case.probe == "null":
            return [Sample("time", 1.0, {"x": x, "mode": "a", "value": x + 0.5}) for x in (1, 2)]
        if trial.block == 3:
            return Failed(Stage.PARSE, "nothing that matches")
        return [Sample("latency", 1e-6, {"bytes": size}) for size in (8, 4096)]

    return plant_study(samples, *MEASURES, launches=6)


def test_parameters_are_columns_with_types(planted):
    table = bareline.read(planted.path)
    assert table.height == 2 * (6 * 2 + 5 * 2)
    assert table.schema["bytes"] == pl.Int64 and table.schema["mode"] == pl.String
    assert table.schema["started"] == pl.Datetime("us", "UTC")
    # A coordinate that is called as a column of ours keeps its value under another name.
    assert table["param_value"].drop_nulls().unique().sort().to_list() == [1.5, 2.5]
    assert table["run"].unique().to_list() == [planted.path.name]
    sizes = table.filter(probe="mpi.pingpong")
    assert sizes.select("max_bytes", "x").row(0) == (4096, None)
    assert sizes["bytes"].unique().sort().to_list() == [8, 4096]
    assert not {"params", "point"} & set(table.columns)


def test_trials_hold_the_failed_ones(planted):
    table = bareline.trials(str(planted.path))
    failed = table.filter(status="failed")
    assert (table.height, failed.height) == (24, 2)
    assert failed["reason"].to_list() == ["nothing that matches"] * 2
    assert failed["layer"].to_list() == ["mpi", "mpi"]


def test_two_runs_are_told_apart(planted, tmp_path):
    table = bareline.read(planted.path, "tests/data/runs-0.1.0/planted")
    assert table["run"].unique(maintain_order=True).to_list() == [planted.path.name, "planted"]


def test_what_is_no_run_is_said_in_one_line(tmp_path):
    with raises(BarelineError, "BL-STORE-971"):
        bareline.read(tmp_path)
