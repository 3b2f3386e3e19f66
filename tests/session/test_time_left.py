"""The estimate of the time left: within a factor of 1.5 after the first block."""

import random
from contextlib import contextmanager

import pytest

from bareline.platforms import base
from bareline.platforms.null import NullAllocation, NullPlatform
from bareline.session import runner
from bareline.testing.runs import SilentObserver


class Watch(SilentObserver):
    def __init__(self, clock):
        self.clock = clock
        self.estimates = []

    def trial(self, trial, position, eta_s):
        self.estimates.append((self.clock.monotonic(), trial.block, eta_s))


class Clock:
    now_s = 0.0

    def monotonic(self):
        return self.now_s


@pytest.fixture
def clock(monkeypatch):
    """Let trials and boots take their time on a clock that only they move."""
    made, noise = Clock(), random.Random(1)
    real = NullAllocation.run

    def run(self, *args, **more):
        made.now_s += self._options.pause_s * 1000 * noise.uniform(0.8, 1.2)
        return real(self, *args, **more)

    class Booting(NullPlatform):
        boots = True

        @contextmanager
        def acquire(self, layout):
            # The very first one builds an image, too.
            made.now_s += 30.0 if made.now_s else 100.0
            yield NullAllocation(self.spec.options, self.spec.name)

    monkeypatch.setattr(NullAllocation, "run", run)
    monkeypatch.setattr("time.sleep", lambda _: None)
    types = {**base.load_platform_types(), "null": Booting}
    monkeypatch.setattr("bareline.session.allocations.load_platform_types", lambda: types)
    for module in ("allocations", "runner"):
        monkeypatch.setattr(f"bareline.session.{module}.time", made)
    return made


@pytest.mark.parametrize(
    "head",
    [
        {"launches": 8},
        {"launches": 30, "min_launches": 6, "budget_s": 400.0},
        {"launches": 30, "min_launches": 20, "budget_s": 1.0},
        {"launches": 9, "blocks_per_boot": 1},
    ],
    ids=["plan", "budget", "budget-used-up", "boots"],
)
def test_within_a_factor_after_the_first_block(make_run, clock, head):
    """Two platforms, one eight times slower, which boot; a budget ends some of the runs."""
    watch = Watch(clock)
    run = make_run(platforms={"a": {"pause_s": 0.005}, "b": {"pause_s": 0.04}}, **head)
    runner.execute(run, watch)
    then_s, _, left_s = next(one for one in watch.estimates if one[1] == 1)
    truth_s = clock.now_s - then_s
    assert truth_s / 1.5 < left_s < truth_s * 1.5


def test_what_an_emulated_processor_will_not_repeat_is_not_counted(make_run, clock, monkeypatch):
    monkeypatch.setattr(
        NullAllocation,
        "caveats",
        lambda self, layout: ("emulated-cpu",) if self._name == "b" else (),
    )
    watch = Watch(clock)
    run = make_run(platforms={"a": {"pause_s": 0.005}, "b": {"pause_s": 0.04}}, launches=30)
    assert runner.execute(run, watch).measured == 4
    then_s, _, left_s = next(one for one in watch.estimates if one[1] == 1)
    truth_s = clock.now_s - then_s
    assert truth_s / 1.5 < left_s < truth_s * 1.5


def test_nothing_is_said_before_anything_is_known(make_run, clock):
    watch = Watch(clock)
    runner.execute(make_run(launches=1), watch)
    assert watch.estimates[0][2] is None
