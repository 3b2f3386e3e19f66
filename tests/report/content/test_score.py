"""Inside, outside, how far off, and what chance would have."""

import math
import random
from dataclasses import replace

import pytest

from bareline.analysis.numbers.row import Estimate, Row
from bareline.report.exhibits.printed_ranges import RangeComparison, score
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Layer, Metric
from bareline.vocabulary.place import Place


def cell(metric="latency", layer=Layer.MPI, nodes=2, simulated=True):
    return Row(
        place=Place("mpi.x", metric, nodes=nodes, used=nodes),
        platform="p",
        layer=layer,
        metric=Metric("s", "lower"),
        value=Estimate(1.0),
        caveats=(Caveat("simulated"),) if simulated else (),
    )


def meets(ratio, low, high, of=None):
    return RangeComparison(ratio, low, high, of or cell())


def test_what_a_simulation_is_given_does_not_count():
    assert meets(1.0, 1.0, 1.1, cell("compute", Layer.NPB)).is_given
    assert meets(1.0, 1.0, 1.1, cell(nodes=1)).is_given
    assert not meets(1.0, 1.0, 1.1, cell()).is_given
    assert not meets(1.0, 1.0, 1.1, cell("time", Layer.NPB, nodes=1)).is_given
    assert not meets(1.0, 1.0, 1.1, cell("compute", Layer.NPB, simulated=False)).is_given


def test_what_was_recorded_on_a_busy_machine_does_not_count():
    busy = replace(cell(), caveats=(Caveat("simulated"), Caveat("recorded-busy")))
    assert meets(1.0, 1.0, 1.1, busy).is_disturbed and not meets(1.0, 1.0, 1.1).is_disturbed
    found = score([meets(2.0, 1.0, 4.0), meets(9.0, 1.0, 4.0, busy)])
    assert (found.inside, found.counted, found.disturbed) == (1, 1, 1)
    assert "1 more are not counted: their computation was recorded" in found.words


def test_ranges_bounds_and_what_is_given_are_counted_apart():
    found = score(
        [
            meets(2.0, 1.0, 4.0),
            meets(8.0, 1.0, 4.0),
            meets(9.0, 3.0, None),
            meets(2.0, 3.0, None),
            meets(1.0, None, 1.1),
            meets(1.0, 1.0, 1.1, cell(nodes=1)),
        ]
    )
    assert (found.inside, found.counted) == (1, 2)
    assert (found.bounds_inside, found.bounds, found.given) == (2, 3, 1)
    assert found.off == pytest.approx((1 + 4) / 2)
    assert "1 of 2 points lie inside" in found.words and "not counted" in found.words


def test_the_coin_has_what_chance_has():
    """Draws over all that was printed, against the number that is computed."""
    ranges = [(1.0, 2.0), (10.0, 100.0), (3.0, 3.5)]
    found = score([meets(1.0, low, high) for low, high in ranges])
    assert (found.least, found.most) == (1.0, 100.0)
    draws = random.Random(1)
    trials = 20_000
    hits = 0
    for _ in range(trials):
        ratio = math.exp(draws.uniform(0, math.log(100)))
        hits += sum(low <= ratio <= high for low, high in ranges)
    assert found.coin == pytest.approx(hits / trials, rel=0.03)


def test_the_coin_draws_over_all_that_was_printed():
    alone, among = (score([meets(2.5, 2.0, 3.0)], ends) for ends in ((), (1.0, 9.0)))
    assert alone.coin == 1
    assert among.coin == pytest.approx(math.log(1.5) / math.log(9))


def test_nothing_that_counts_is_no_score():
    found = score([meets(1.0, 1.0, 1.1, cell(nodes=1))])
    assert (found.inside, found.counted, found.coin) == (0, 0, 0)
