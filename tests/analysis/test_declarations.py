"""What metrics are: runs that say it in other units are converted, or refused."""

from dataclasses import replace

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.testing.runs import replace_records
from bareline.vocabulary.errors import AnalysisError


@pytest.fixture
def two(make_run, execute):
    """Give a run, and one of the same times on another platform that says otherwise what they are.

    ``two(factor, unit="us")``: its values are multiplied, and its header changed.
    """

    def make(factor=1.0, **said):
        runs = [make_run(platforms={name: {}}, launches=8, min_launches=8) for name in "ab"]
        for run in runs:
            execute(run)
        other = runs[1]
        records = [
            replace(record, outcome=replace(record.outcome, samples=tuple(
                replace(sample, value=sample.value * factor) for sample in record.outcome.samples
            )))
            for record in other.records()
        ]  # fmt: skip
        null = dict(other.header.probes["null"])
        null["metrics"] = {"time": {**null["metrics"]["time"], **said}}
        replace_records(other, records)
        other.replace_header(replace(other.header, probes={"null": null}))
        return [Run.open(run.path) for run in runs]

    return make


@pytest.mark.parametrize(("factor", "unit"), [(1e6, "us"), (1e6, "µs"), (1e3, "ms"), (1.0, "s")])
@pytest.mark.parametrize("turned", [False, True])
def test_units_of_one_dimension_are_converted(two, factor, unit, turned):
    runs = two(factor, unit=unit)
    table = Comparison(read_runs(runs[::-1] if turned else runs)).table
    (row,) = table.filter(metric="time").iter_rows(named=True)
    assert row["unit"] == "s"
    assert 0.9 < row["ratio"] < 1.1
    assert 9e-4 < row["value"] < 1.1e-3


def test_another_quantity_is_refused(two):
    runs = two(unit="B/s")
    paths = [str(run.path) for run in runs]
    with raises(AnalysisError, "BL-ANALYSIS-555", "B/s", *paths):
        read_runs(runs)


def test_another_direction_is_refused(two):
    runs = two(better="higher")
    with raises(AnalysisError, "BL-ANALYSIS-989"):
        read_runs(runs)


def test_who_does_not_say_which_way_is_good_leaves_it_to_the_others(two):
    (row,) = Comparison(read_runs(two(better="none"))).table.iter_rows(named=True)
    assert row["better"] == "lower" and row["verdict"] is not None


def test_a_run_alone_is_read_as_it_says(two):
    _, other = two(1e6, unit="us")
    (unit,) = read_runs([other]).declarations["unit"]
    assert unit == "us"
