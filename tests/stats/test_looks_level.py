"""Planned looks at data that grow keep the promise of 5 %; a look after every block does not."""

import numpy as np

from bareline.stats import family_wise_p
from bareline.vocabulary.looks import DEFAULT_LOOKS, SPENT_AT_ONCE, spending

PAGES = 300
PLANNED = tuple(zip(DEFAULT_LOOKS, spending(len(DEFAULT_LOOKS)), strict=True))


def share_certain(looks, loss=1.0, again=slice(0, 1)):
    """Return the share of pages on which any row (or the one that loses) is certain at any look."""
    generator = np.random.default_rng(51)
    certain = 0
    for _ in range(PAGES):
        rows = 0.08 * generator.standard_normal((20, looks[-1][0]))
        rows[again] += np.log(loss)
        rows[again.stop :, looks[0][0] :] = np.nan  # the ladder keeps its launches
        p = [family_wise_p(rows[:, :blocks], 0.02) <= alpha for blocks, alpha in looks]
        found = np.any(p, axis=0)
        certain += bool(found[again].any() if loss > 1 else found.any())
    return certain / PAGES


def test_planned_looks_are_false_on_at_most_five_pages_of_a_hundred():
    assert share_certain(PLANNED) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / PAGES)


def test_a_look_after_every_block_is_false_more_often_than_promised():
    every = [(blocks, SPENT_AT_ONCE) for blocks in range(7, 13)]
    assert share_certain(every, again=slice(0, 20)) > 0.05 + 2 * np.sqrt(0.05 * 0.95 / PAGES)


def test_later_looks_find_what_the_first_left_open():
    first = share_certain(PLANNED[:1], loss=1.1)
    assert share_certain(PLANNED, loss=1.1) > first + 0.05
