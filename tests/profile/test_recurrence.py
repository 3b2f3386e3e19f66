"""Periods whose calls occur several times in them, and ranks that repeat themselves later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bareline.profile.files import read_profile
from bareline.profile.period import calls_of, find_period
from bareline.profile.records import NOBODY, Shape
from bareline.profile.recurrence import find_cuts
from bareline.profile.trace import CallStream, Trace
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

RANKS = 3


def collective(size):
    return Shape("MPI_Allreduce", "collective", False, NOBODY, NOBODY, NOBODY, -1, -1, 1, RANKS,
                 size, size, size)  # fmt: skip


def write(size):
    return Shape("write", "posix-io", False, NOBODY, NOBODY, NOBODY, -1, -1, 0, 0, size, size, 0)


def trace(steps, *, monitored=0, seed=0):
    """A run in which `steps` gives the sizes of a step's sums; rank 0 writes every few steps."""
    rng = np.random.default_rng(seed)
    streams = []
    for rank in range(RANKS):
        calls = [collective(99)]
        for number, sizes in enumerate(steps):
            calls += [collective(size) for size in sizes]
            if monitored and rank == 0 and number % monitored == 0:
                calls.append(write(int(rng.integers(10, 80))))
        calls.append(collective(98))
        shapes = tuple(dict.fromkeys(calls))
        numbers = np.array([shapes.index(call) for call in calls], np.int32)
        times = np.full(len(calls), 1e-6)
        streams.append(CallStream(rank, shapes, numbers, times, times, finished=True, lost=0))
    return Trace(Path("x.trace"), RANKS, 1, "./x", tuple(streams))


def every(number, *, second=(), third=()):
    """The sizes of a step's sums: some of every second and of every third step."""
    return [
        8,
        8,
        *([16] if number % 2 in second else []),
        *([24] if number % 3 in third else []),
        8,
    ]


SIX = [every(number, second=(0,), third=(0,)) for number in range(36)]
#: Within four steps every kind of call occurs more than once, one after the other too.
FOUR = [([8, 16] if number % 4 in (0, 1) else [16, 8]) * (1 + number % 2) for number in range(40)]


@pytest.mark.parametrize(("steps", "period"), [(SIX, 6), (FOUR, 4)])
def test_a_period_in_which_no_call_occurs_once_is_found(steps, period):
    cuts = find_cuts(trace(steps))
    calls = sum(len(sizes) for sizes in steps[:period])
    assert {cut.calls for cut in cuts.ranks} == {calls}
    assert cuts.repeats == len(steps) // period


def test_a_long_run_of_a_short_period_is_found_among_its_multiples():
    cuts = find_cuts(trace([*SIX] * 60))
    assert {cut.calls for cut in cuts.ranks} == {sum(map(len, SIX[:6]))}


def test_a_rank_that_writes_every_fourth_step_is_cut_with_the_others(request):
    profile = read_profile(request.config.rootpath / "tests/profile/data/planted.profile")
    steps = [[8, 16] for _ in range(40)]
    period = find_period(trace(steps, monitored=4), profile)
    calls = [list(calls_of(stream)) for stream in period.trace.streams]
    assert [len(own) for own in calls] == [9, 8, 8]
    (line,) = [call for call in calls[0] if call.call == "write"]
    assert 10 < line.size < 80
    assert period.spread == 0, "what is written is no message"


def test_a_run_that_never_repeats_is_refused_with_what_to_look_at():
    rng = np.random.default_rng(3)
    steps = [rng.integers(1, 10**6, 4).tolist() for _ in range(30)]
    with raises(ProfileError, "BL-PROFILE-971") as error:
        find_cuts(trace(steps))
    assert "--trace" in error.value.hint
