"""Steps in series of runs: found where they are, and not where nothing changed."""

import numpy as np
import pytest

from bareline.stats.change import MIN_RUNS, largest_steps


def series(generator, count, runs, noise, shared=0.02):
    """Series that share what the machine does on each night."""
    nights = shared * generator.standard_normal(runs)
    return np.exp(nights + noise * generator.standard_normal((count, runs)))


@pytest.mark.slow
def test_without_a_change_few_families_have_one():
    generator = np.random.default_rng(5)
    false = sum(
        (largest_steps(series(generator, 12, 12, 0.03), margin=0.02, seed=trial).p < 0.05).any()
        for trial in range(200)
    )
    assert false <= 18  # 5 % of 200, and three standard deviations


def test_a_step_is_found_where_it_is():
    generator = np.random.default_rng(6)
    values = series(generator, 20, 14, 0.02, shared=0.0)
    values[3, 9:] *= 1.15
    values[7, 5] = np.nan
    found = largest_steps(values, margin=0.02)
    assert found.p[3] < 0.01 and found.at[3] == 9
    assert (np.delete(found.p, 3) > 0.05).all()


def test_steps_within_the_margin_and_short_series_are_none():
    values = np.ones((1, 12))
    values[0, 6:] = 1.01
    assert largest_steps(values, margin=0.02).p[0] == 1.0
    values[0, 6:] = 1.5
    assert largest_steps(values, margin=0.02).p[0] < 0.05
    assert largest_steps(values[:, 3 : 3 + MIN_RUNS - 1], margin=0.02).p[0] == 1.0


def test_absent_runs_do_not_count():
    values = np.ones((1, 12))
    values[0, 6:] = 1.5
    values[0, 7:10] = np.nan
    found = largest_steps(values, margin=0.02)
    assert found.at[0] == 6
    values[0, 6:11] = np.nan  # one run of the new level proves nothing
    assert largest_steps(values, margin=0.02).p[0] > 0.5


def test_what_is_zero_or_infinite():
    assert largest_steps(np.zeros((1, 12)), margin=0.02).p[0] == 1.0
    with pytest.raises(ValueError, match="infinite"):
        largest_steps(np.full((1, 12), np.inf), margin=0.02)
