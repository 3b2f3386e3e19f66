"""The number of launches that rows need follows from their number and their spread."""

import pytest

from bareline.analysis.numbers.power import launch_need
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.power import launches_words, missing_launches
from bareline.stats import launches_for_rows


def test_two_samples_need_what_textbooks_have():
    """A difference of one standard deviation, 5 % and 80 %: 16 in each group."""
    assert launches_for_rows(1, 1.0, 1.0) == 16


def test_more_rows_and_more_spread_need_more_launches():
    assert launches_for_rows(1, 0.02, 0.05) < launches_for_rows(100, 0.02, 0.05)
    assert launches_for_rows(10, 0.04, 0.05) == pytest.approx(
        4 * launches_for_rows(10, 0.02, 0.05), abs=4
    )


def test_the_spread_of_a_run_is_measured(plant, pingpong):
    records = read_runs([plant(pingpong(spread=0.1), launches=12)])
    need = launch_need(records)
    assert need.rows == 3
    assert 0.06 < need.spread < 0.15
    assert need.measured == 12 < need.launches
    assert f"about {need.launches} launches of each side" in missing_launches(records)


def test_a_quiet_run_has_launches_enough(plant, pingpong):
    records = read_runs([plant(pingpong(spread=0.001), launches=6)])
    assert launch_need(records).launches == 6
    assert missing_launches(records) == ""
    assert launches_words(records).startswith("3 rows vary by 0.")


def test_two_launches_say_nothing_of_their_spread(plant, pingpong):
    run = plant(pingpong(), launches=2, min_launches=2)
    assert launch_need(read_runs([run])) is None
    assert launches_words(read_runs([run])) == ""
