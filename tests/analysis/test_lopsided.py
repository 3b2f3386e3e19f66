"""Noise that is skewed and of unequal width is said where it may have made a difference."""

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.vocabulary.model import Sample


@pytest.fixture
def with_delays(plant):
    """Make a run whose platform "b" has delays of a width, a loss, or both."""

    def make(width, loss=1.0, seed=0, base_width=0.001):
        def samples(platform, block, generator):
            for size in (2**power for power in range(3, 23)):
                wide = width if platform == "b" else base_width
                delay = wide * (generator.exponential() - np.log(2))
                time_s = 1e-6 * (1 + delay) * (loss if platform == "b" else 1.0)
                yield Sample("latency", time_s, {"size_bytes": size})
                yield Sample("bandwidth", size / time_s, {"size_bytes": size})

        return Comparison(read_runs([plant(samples, launches=20, seed=seed)]))

    return make


def decided(compared):
    """Give the rows that are called slower or faster, and which of them carry the caveat."""
    rows = [
        row for row in compared.table.iter_rows(named=True)
        if row["verdict"] in ("slower", "faster")
    ]  # fmt: skip
    return rows, [row for row in rows if "lopsided-noise" in row["caveats"]]


def test_a_false_page_says_that_the_noise_is_lopsided(with_delays):
    """Medians are equal; the first of these pages that claims a difference must carry it."""
    pages = (decided(with_delays(0.2, seed=seed)) for seed in range(20))
    rows, marked = next(page for page in pages if page[0])
    assert marked == rows


def test_a_loss_beyond_the_spread_is_left_alone(with_delays):
    rows, marked = decided(with_delays(0.2, loss=2.0))
    assert len(rows) == 40 and not marked


def test_noise_alike_on_both_sides_is_left_alone(with_delays):
    rows, marked = decided(with_delays(0.05, loss=1.04, base_width=0.05))
    assert rows and not marked


def test_two_runs_of_lopsided_noise_say_so_too(plant):
    """Launches of separate runs are paired by their order, which supposes symmetric noise."""

    def samples(wide):
        def of(platform, block, generator):
            for size in (2**power for power in range(3, 23)):
                time_s = 1e-6 * (1 + wide * (generator.exponential() - np.log(2)))
                yield Sample("latency", time_s, {"size_bytes": size})
                yield Sample("bandwidth", size / time_s, {"size_bytes": size})

        return of

    def compared(seed):
        runs = [
            plant(samples(wide), platforms=(name,), launches=20, seed=seed + number)
            for number, (name, wide) in enumerate((("a", 0.001), ("b", 0.2)))
        ]
        return Comparison(read_runs(runs), "a")

    rows, marked = next(page for seed in range(0, 40, 2) if (page := decided(compared(seed)))[0])
    assert rows
    assert marked == rows
