"""A loss everywhere is found by the mean, under the same flips as every point."""

import numpy as np
import pytest

from bareline.analysis.judgements.decide import decide_mean
from bareline.analysis.numbers.family import family_wise
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.model import Failed, Sample, Stage
from bareline.vocabulary.verdicts import Verdict

CASES = 12
SWEEP = {"probe": "null", "sweep": {"points": list(range(1, CASES + 1))}}


@pytest.fixture
def mean_of(plant_study):
    """Give the mean over all points of a planted run, with the p-values of the points."""

    def make(factor, *, noise=0.05, launches=6, seed=1, split=False, lost=lambda *_: False):
        def samples(trial, generator):
            if lost(trial):
                return Failed(Stage.TIMEOUT, "no end")
            log = noise * generator.standard_normal()
            own = factor if trial.platform == "b" else 1.0
            return [Sample("time", own * float(np.exp(log)), {"point": 0})]

        if split:
            runs = [
                plant_study(samples, SWEEP, platforms=(name, "x"), launches=launches, seed=seed + k)
                for k, name in enumerate("ab")
            ]
            records = read_runs(runs)
        else:
            records = read_runs([plant_study(samples, SWEEP, launches=launches, seed=seed)])
        comparison = Comparison(records, "a")
        (pair,) = [pair for pair in comparison.pairs if pair.platform == "b"]
        rows = np.arange(pair.directed.size)
        family = family_wise([pair], [pair.directed], 0.02, [[rows]])
        return decide_mean(family.means[0][0], 0.02, 1.0), family.points[0]

    return make


def test_a_loss_everywhere_is_certain_where_no_point_is(mean_of):
    """How often that is so: `tests/stats/test_boot_pages.py`."""
    mean, p = mean_of(1.06, launches=8, noise=0.07, seed=3)
    assert mean.verdict is Verdict.SLOWER
    assert not (p <= 0.04).any()
    assert mean.ratio.lo < 1.06 < mean.ratio.hi and 1.03 < mean.ratio.value < 1.09
    assert (mean.points, mean.n) == (CASES, 8)


def test_a_mean_inside_the_margin_is_no_loss(mean_of):
    mean, _ = mean_of(1.01, noise=0.01)
    assert mean.verdict is Verdict.EQUIVALENT


def test_means_without_common_blocks(mean_of):
    mean, _ = mean_of(1.05, split=True, launches=8)
    assert mean.verdict is Verdict.SLOWER and mean.ratio.lo < 1.05 < mean.ratio.hi


def test_losses_in_every_case_are_certain_together(mean_of):
    """Each case loses three of eight launches, each time others: no case is certain, all are."""

    def lost(trial):
        point = int(trial.case.params.partition("=")[2])
        return trial.platform == "b" and (trial.block + point) % 8 < 3

    mean, p = mean_of(1.0, launches=8, lost=lost, seed=3)
    assert (mean.verdict, mean.by_loss) == (Verdict.SLOWER, 1)
    assert (mean.lost, mean.tried, mean.base_lost) == (3 * CASES, 8 * CASES, 0)
    assert mean.ratio.hi is None
    assert not (p <= 0.04).any()


def test_five_launches_have_no_mean(mean_of):
    assert mean_of(1.5, launches=5)[0] is None
    assert mean_of(1.5, launches=5, split=True)[0] is None


def test_one_point_has_no_mean(plant_study):
    run = plant_study(lambda *_: [Sample("time", 1.0, {"point": 0})], {"probe": "null"})
    comparison = Comparison(read_runs([run]))
    (pair,) = comparison.pairs
    assert family_wise([pair], [pair.directed], 0.02, [[np.array([0])]]).means == [[None]]
