"""Changes in series of runs: all of them, where they are, and not where nothing changed."""

import numpy as np
import pytest

from bareline.stats import MIN_RUNS, Course, alpha_of_look, find_changes
from bareline.stats.change import drawn_in
from bareline.stats.history import too_near
from bareline.stats.position import Position
from bareline.stats.tails import Tail
from bareline.testing.messages import raises


def series(generator, count, runs, noise, shared=0.0):
    """Return series that share what the machine does on each night."""
    nights = shared * generator.standard_normal(runs)
    return np.exp(nights + noise * generator.standard_normal((count, runs)))


def resembling(generator, count, runs, noise, phi=0.5):
    """Return series each of whose runs resembles the one before it."""
    found = np.zeros((count, runs + 30))
    for run in range(1, runs + 30):
        found[:, run] = phi * found[:, run - 1] + noise * generator.standard_normal(count)
    return np.exp(found[:, 30:])


def alarms(make, pages, *, certain=False):
    """Count pages on which anything is named."""
    found = 0
    for page in range(pages):
        courses = find_changes(make(np.random.default_rng(page)), margin=0.02)
        changes = [change for course in courses for change in course.changes]
        found += any(change.certain or not certain for change in changes)
    return found


@pytest.mark.slow
def test_without_a_change_few_pages_have_one():
    assert alarms(lambda g: series(g, 12, 12, 0.03, shared=0.02), 100) <= 11
    assert alarms(lambda g: series(g, 20, 20, 0.03), 60) <= 8


@pytest.mark.slow
def test_runs_that_resemble_each_other_are_no_changes():
    # Without regard to it 33 to 90 % of such pages name something.
    assert alarms(lambda g: resembling(g, 20, 20, 0.03), 60) <= 8
    assert alarms(lambda g: resembling(g, 20, 60, 0.03), 20) <= 4


@pytest.mark.slow
def test_a_stable_history_that_is_looked_at_every_night_is_never_certainly_changed():
    named = certain = 0
    for history in range(20):
        values = series(np.random.default_rng(history), 1, 60, 0.03)
        looks = [find_changes(values[:, :night], margin=0.02) for night in range(8, 61)]
        changes = [change for look in looks for change in look[0].changes]
        named += bool(changes)
        certain += any(change.certain for change in changes)
    assert certain <= 4  # one in ten, and twice its standard deviation
    assert named > certain


def test_a_step_is_found_where_it_is():
    values = series(np.random.default_rng(6), 20, 20, 0.02)
    values[3, 11:] *= 1.15
    values[7, 5] = np.nan
    found = find_changes(values, margin=0.02)
    (change,) = found[3].changes
    assert change.certain and change.first <= 11 <= change.last
    assert change.ratio.lo < 1.15 < change.ratio.hi
    assert not any(course.changes for number, course in enumerate(found) if number != 3)


def test_a_step_is_not_taken_for_dependence_of_the_runs():
    # With a step and ten runs, neighbours resemble each other more than others do.
    found = 0
    for seed in range(20):
        values = series(np.random.default_rng(seed), 1, 10, 0.01)
        values[0, 5:] *= 1.05
        changes = find_changes(values, margin=0.02)[0].changes
        found += any(abs(change.at - 5) <= 2 for change in changes)
    assert found >= 18  # 14 before


def test_a_page_of_few_dependent_runs_names_little():
    # 25 % of such pages named something before.
    assert alarms(lambda g: resembling(g, 20, 10, 0.03), 30) <= 3


def test_an_old_improvement_does_not_hide_a_newer_regression():
    values = series(np.random.default_rng(7), 5, 40, 0.02)
    values[2, 15:] *= 0.7
    values[2, 30:] *= 1.1
    better, worse = find_changes(values, margin=0.02)[2].changes
    assert (better.at, worse.at) == (15, 30)
    assert better.certain and worse.certain
    # The levels directly before and after: not all runs before it.
    assert worse.ratio.lo < 1.1 < worse.ratio.hi < 1.2


def test_two_steps_up_are_not_taken_for_dependence_or_a_line():
    found = 0
    for seed in range(20):
        values = series(np.random.default_rng(seed), 1, 30, 0.03)
        values[0, 10:] *= 1.1
        values[0, 20:] *= 1.1
        changes = find_changes(values, margin=0.02)[0].changes
        found += len(changes) == 2
    assert found >= 11  # 8 at most with dependence instead of the second step


def test_two_clear_steps_are_not_taken_for_a_line():
    for seed in range(8):  # one in five was drifting
        values = series(np.random.default_rng(seed), 1, 30, 0.01)
        values[0, 10:] *= 1.1
        values[0, 20:] *= 1.1
        changes = find_changes(values, margin=0.02)[0].changes
        assert [change.at for change in changes] == [10, 20]


@pytest.mark.parametrize("length", [5, 10])
def test_there_and_back_is_two_changes(length):
    values = series(np.random.default_rng(8), 3, 40, 0.01)
    values[1, 20 : 20 + length] *= 1.05
    there, back = find_changes(values, margin=0.02)[1].changes
    assert there.first <= 20 <= there.last
    assert back.first <= 20 + length <= back.last
    assert there.ratio.value > 1.03 and back.ratio.value < 0.97


def test_the_first_report_names_the_first_run_of_the_level():
    wrong = reports = 0
    for seed in range(12):
        values = series(np.random.default_rng(seed), 1, 30, 0.02)
        values[0, 20:] *= 1.2
        for night in range(20, 31):
            changes = find_changes(values[:, :night], margin=0.02)[0].changes
            if changes:
                reports += 1
                wrong += changes[-1].at != 20
                assert changes[-1].first <= 20 <= changes[-1].last
                assert not changes[-1].certain or night >= 23
                break
    assert reports == 12 and wrong == 0


def test_outliers_of_others_do_not_hide_a_step():
    values = np.ones((5, 10))
    for number, outliers in enumerate(([0, 4, 8], [1, 5, 6], [2, 3, 9], [0, 5, 7])):
        values[number, outliers] = 1.3
    values[4] = np.exp(0.02 * np.random.default_rng(2).standard_normal(10))
    values[4, 5:] *= 1.2
    found = find_changes(values, margin=0.02)
    assert [len(course.changes) for course in found] == [0, 0, 0, 0, 1]
    assert found[4].changes[0].at == 5


def test_heavy_tails_hide_few_steps():
    found = 0
    for seed in range(12):
        values = np.exp(0.01 * np.random.default_rng(seed).standard_t(2, (1, 40)))
        values[0, 20:] *= 1.04
        changes = find_changes(values, margin=0.02)[0].changes
        found += any(abs(change.at - 20) <= 2 for change in changes)
    assert found >= 10  # 9 by the plain scores alone


def test_outliers_are_drawn_in_and_levels_are_not():
    row = np.array([0.0, 0.01, -0.01, 0.02, 5.0, -5.0, 0.01, -0.02])
    drawn = drawn_in(row, 0.02)
    assert drawn[[4, 5]] == pytest.approx([-drawn[5], -drawn[4]], abs=0.02)
    assert np.delete(drawn, [4, 5]) == pytest.approx(np.delete(row, [4, 5]))
    assert (drawn_in(row[::-1], 0.02) == drawn[::-1]).all()
    step = np.repeat([0.0, 1.0], 6)
    assert (drawn_in(step, 0.02) == step).all()


def test_changes_closer_than_a_level_are_one():
    near = [Position(5, 5, 5), Position(12, 11, 13), Position(14, 13, 14), Position(30, 30, 30)]
    assert too_near(near) == 1
    assert too_near(near[:2]) is None and too_near([]) is None


def test_a_step_that_a_line_explains_as_well_is_not_certain():
    values = series(np.random.default_rng(3), 20, 30, 0.01) * np.exp(0.001 * np.arange(30))
    changes = [find_changes(row[None], margin=0.02)[0].changes for row in values]
    assert any(changes)
    assert not any(change.certain for own in changes for change in own)


@pytest.mark.parametrize(("seed", "runs"), [(5, 34), (25, 40)])
def test_a_drift_that_is_looked_at_every_night_has_no_certain_step(seed, runs):
    # Two of 30 such histories, looked at five times each, had one where a lead of 6 was enough.
    values = series(np.random.default_rng(seed), 1, 40, 0.01) * np.exp(0.001 * np.arange(40))
    changes = find_changes(values[:, :runs], margin=0.02)[0].changes
    assert changes and not any(change.certain for change in changes)


def test_a_page_of_drifting_series_has_no_step():
    values = series(np.random.default_rng(3), 20, 30, 0.01) * np.exp(0.001 * np.arange(30))
    courses = find_changes(values, margin=0.02)
    assert not any(course.changes for course in courses)
    assert any(course.course is Course.DRIFTING for course in courses)


@pytest.mark.parametrize(
    ("runs", "at", "factor"), [(60, 30, 1.1), (100, 97, 1.2), (200, 100, 1.05)]
)
def test_a_step_upon_a_drift_is_found_with_the_slope(runs, at, factor):
    values = series(np.random.default_rng(5), 1, runs, 0.01) * np.exp(0.001 * np.arange(runs))
    values[0, at:] *= factor
    (course,) = find_changes(values, margin=0.02)
    (change,) = course.changes
    assert change.certain and abs(change.at - at) <= 1
    # The ratio is that of the step, without the drift of the levels on both sides.
    assert change.ratio.lo < factor < change.ratio.hi
    assert course.course is Course.DRIFTING and course.slope.lo < 1.001 < course.slope.hi


def test_a_drift_that_begins_later_leaves_an_earlier_step():
    values = series(np.random.default_rng(6), 1, 120, 0.005)
    values[0, 30:] *= 1.1
    values[0, 60:] *= 1.002 ** np.arange(60)
    (course,) = find_changes(values, margin=0.02)
    assert any(change.at == 30 and change.certain for change in course.changes)
    assert course.slope is not None


def test_drift_is_a_slope_and_no_step():
    values = series(np.random.default_rng(3), 4, 60, 0.01)
    values[1] *= 1.002 ** np.arange(60)
    found = find_changes(values, margin=0.02)
    assert found[1].course is Course.DRIFTING and not found[1].changes
    assert found[1].slope.lo < 1.002 < found[1].slope.hi
    assert [course.slope for number, course in enumerate(found) if number != 1] == [None] * 3


def test_why_nothing_was_found_is_told_apart():
    generator = np.random.default_rng(4)
    (short,) = find_changes(series(generator, 1, MIN_RUNS - 1, 0.01), margin=0.02)
    (calm,) = find_changes(series(generator, 1, 40, 0.005), margin=0.02)
    (noisy,) = find_changes(series(generator, 1, 12, 0.1), margin=0.02)
    assert (short.course, calm.course, noisy.course) == (
        Course.FEW,
        Course.STABLE,
        Course.NOTHING,
    )
    assert short.p == 1.0 and 0.05 < noisy.p <= 1.0


def test_steps_within_the_margin_are_none():
    values = np.ones((1, 16))
    values[0, 8:] = 1.01
    assert not find_changes(values, margin=0.02)[0].changes
    values[0, 8:] = 1.5
    assert find_changes(values, margin=0.02)[0].changes[0].at == 8


def test_absent_runs_do_not_count():
    values = series(np.random.default_rng(9), 1, 24, 0.01)
    values[0, 12:] *= 1.5
    values[0, 13:16] = np.nan
    assert find_changes(values, margin=0.02)[0].changes[0].at == 12
    values[0, 12:23] = np.nan  # one run of the new level proves nothing
    assert not any(change.certain for change in find_changes(values, margin=0.02)[0].changes)


def test_odd_values():
    assert not find_changes(np.zeros((1, 12)), margin=0.02)[0].changes
    assert not find_changes(-np.ones((1, 12)), margin=0.02)[0].changes
    assert find_changes(np.full((1, 12), np.nan), margin=0.02)[0].course is Course.FEW
    assert find_changes(np.ones((1, 12)), margin=0.02)[0].course is Course.STABLE
    assert find_changes(np.ones((0, 12)), margin=0.02) == []
    with raises(ValueError, "BL-STATS-961"):
        find_changes(np.full((1, 12), np.inf), margin=0.02)


def test_looks_without_end_spend_a_tenth():
    assert alpha_of_look(9) == 0.0
    assert sum(alpha_of_look(runs) for runs in range(1, 100_000)) < 0.106


def test_a_tail_goes_on_where_nothing_was_counted():
    sample = np.random.default_rng(1).exponential(1.0, 999)
    log_p = Tail.of(sample).log_p(np.array([0.0, 1.0, 12.0]))
    assert log_p == pytest.approx([0.0, -1.0, -12.0], abs=2.0)
    assert (np.diff(log_p) < 0).all()
