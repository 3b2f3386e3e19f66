"""Two separate runs, compared: how many rows there are must not rule out every decision."""

import numpy as np
import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import GateResult, check
from bareline.vocabulary.model import Sample

SIZES = [2**power for power in range(3, 23)]


@pytest.fixture
def two_runs(plant):
    """Compare two runs of one platform each, of so many launches, the second so much slower."""

    def make(loss, launches=6, spread=0.02):
        def samples(factor):
            def of(platform, block, generator):
                for size in SIZES:
                    noise = float(np.exp(spread * generator.standard_normal()))
                    time_s = 1e-6 * factor * noise
                    yield Sample("latency", time_s, {"size_bytes": size})
                    yield Sample("bandwidth", size / time_s, {"size_bytes": size})

            return of

        first = plant(samples(1.0), platforms=("a",), launches=launches, min_launches=launches)
        second = plant(
            samples(loss), platforms=("b",), launches=launches, min_launches=launches, seed=12
        )
        return Comparison(read_runs([first, second]), "a")

    return make


def headline(comparison):
    rows = comparison.points.filter(comparison.points["headline"].fill_null(value=False))
    return rows["grade"].to_list()


def test_twenty_cases_ten_times_slower_are_certain_from_six_launches(two_runs):
    comparison = two_runs(10.0)
    assert len(headline(comparison)) == 20
    assert set(headline(comparison)) == {"certain"}
    assert (
        "swaps the platforms' names in 6 pairs of launches, in all 64 ways, "
        in comparison.glance.promise
    )


def test_a_condition_on_two_runs_is_met_where_the_loss_is_clear(two_runs):
    """Six launches had no interval at the level that twenty rows together need."""
    comparison = two_runs(4.0)
    assert check(parse_condition("b:mpi.pingpong > 1.1"), comparison).violations
    assert not check(parse_condition("b:mpi.pingpong > 5"), comparison).violations


@pytest.mark.parametrize("seed", range(3))
def test_a_loss_within_the_noise_of_two_runs_is_likely_at_most(plant, seed):
    """Launches of one run sometimes take longer: exchanging names called that a certain loss."""

    def samples(width):
        def of(platform, block, generator):
            for size in SIZES:
                delay = width * (float(generator.exponential()) - 1.0)
                yield Sample("latency", 1e-6 * float(np.exp(delay)), {"size_bytes": size})
                yield Sample("bandwidth", size * 1e6, {"size_bytes": size})

        return of

    first = plant(samples(0.02), platforms=("a",), launches=10, min_launches=10, seed=seed)
    second = plant(samples(0.3), platforms=("b",), launches=10, min_launches=10, seed=seed + 20)
    comparison = Comparison(read_runs([first, second]), "a")
    assert "certain" not in headline(comparison)
    assert not check(parse_condition("b:mpi.pingpong < 1"), comparison).violations
    assert "a difference of more than 1.5 times the spread of launches" in comparison.glance.promise


def test_two_runs_alike_claim_nothing(two_runs):
    comparison = two_runs(1.0)
    assert not {"certain", "likely"} & set(headline(comparison))


def test_what_few_boots_cannot_decide_is_said_with_the_number_that_could(plant):
    """Platforms with unlike boots are families of their own, each at its part of the 5 %."""

    def samples(platform, block, generator):
        factor = 10.0 if platform == "b" else 1.0
        time_s = 1e-6 * factor * float(np.exp(0.02 * generator.standard_normal()))
        yield Sample("latency", time_s, {"size_bytes": 8})
        yield Sample("bandwidth", 8 / time_s, {"size_bytes": 8})

    def boot(trial):
        return {"a": None, "b": 1 + trial.block // 2, "c": 1 + (trial.block + 1) // 2}[
            trial.platform
        ]

    run = plant(samples, platforms=("a", "b", "c"), launches=12, boot=boot)
    comparison = Comparison(read_runs([run]), "a")
    assert comparison.judged.short == ("b",)
    assert "Nothing can be certain on b from 6 boots: 7 could decide" in (comparison.glance.promise)


@pytest.mark.parametrize("launches", [5, 6, 12])
def test_a_condition_and_the_table_do_not_differ(two_runs, launches):
    """Six outputs on each side, four times slower: certain in the table, `> 1.1` was not met."""
    comparison = two_runs(4.0, launches=launches, spread=0.01)
    certain = set(comparison.points.filter(headline=True)["grade"]) == {"certain"}
    outcome = check(parse_condition("mpi.latency > 1.1"), comparison)
    assert certain is (launches >= 6)
    assert outcome.result is (GateResult.MET if certain else GateResult.UNDECIDED)
