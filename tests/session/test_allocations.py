"""Platforms in use: brought up outside of records, made anew, repaired, never the run's end."""

import errno
from contextlib import contextmanager

import pytest

from bareline.platforms import base
from bareline.platforms.null import NullAllocation, NullOptions, NullPlatform
from bareline.session import allocations
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow, PlatformError, StoreError, TimeUp
from bareline.vocabulary.model import Failed, Stage

COMING_UP_S = 100.0


class Clock:
    """A clock that only moves when it is told to: the machine may be as busy as it likes."""

    now_s = 0.0

    def monotonic(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in ("allocations", "runner"):
        monkeypatch.setattr(f"bareline.session.{module}.time", made)
    return made


@pytest.fixture
def booting(monkeypatch, clock):
    """Let null platforms boot, and hold what came up and went down."""
    log = []

    class Booting(NullPlatform):
        boots = True
        broken_after: int | None = None

        @contextmanager
        def acquire(self, layout):
            clock.now_s += COMING_UP_S
            if self.spec.options.seed == 99:
                raise ZeroDivisionError("not foreseen")
            log.append(("up", self.spec.name))
            allocation = NullAllocation(self.spec.options, self.spec.name)
            if self.spec.options.seed == 13:
                _break(allocation, log)
            try:
                yield allocation
            finally:
                log.append(("down", self.spec.name))

    def _break(allocation, log):
        real, runs = allocation.run, []

        def run(*args, **more):
            runs.append(1)
            if len(runs) > 2 and log.count(("up", "a")) < 2:
                raise PlatformError("the enclosure ended")
            return real(*args, **more)

        allocation.run = run

    types = {**base.load_platform_types(), "null": Booting}
    for module in ("bareline.session.allocations", "bareline.session.begin"):
        monkeypatch.setattr(f"{module}.load_platform_types", lambda: types)
    return log


def test_nodes_are_made_anew_every_k_blocks_and_records_say_which_boot(booting, make_run, execute):
    run = make_run(launches=6, blocks_per_boot=2)
    execute(run)
    assert booting.count(("up", "a")) == booting.count(("down", "a")) == 3
    for record in run.records():
        assert record.boot == 1 + record.trial.block // 2


def test_a_full_disk_at_acquire_ends_the_run_and_blames_no_platform(
    booting, make_run, execute, monkeypatch
):
    run = make_run(launches=6)
    kind = allocations.load_platform_types()["null"]

    def full(self, layout):
        raise PlatformError("no scratch") from OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "acquire", full)
        with raises(StoreError, "BL-SESSION-540"):
            execute(run)
    assert not list(run.records())
    execute(run)
    assert {record.status for record in run.records()} == {"measured"}


def test_a_study_may_keep_nodes_for_the_whole_run(booting, make_run, execute):
    run = make_run(launches=6, blocks_per_boot=0)
    execute(run)
    assert booting.count(("up", "a")) == 1
    assert {record.boot for record in run.records()} == {1}


def test_every_block_has_a_boot_of_its_own_unless_a_study_says_otherwise(
    booting, make_run, execute
):
    run = make_run(launches=6)
    execute(run)
    assert all(record.boot == 1 + record.trial.block for record in run.records())


def test_nodes_that_a_batch_system_gives_are_told_apart_but_never_given_back_early(
    booting, make_run, execute, monkeypatch
):
    kind = allocations.load_platform_types()["null"]  # the one of `booting`
    monkeypatch.setattr(kind, "boots", False)
    monkeypatch.setattr(kind, "borrows", True)
    run = make_run(launches=6)
    execute(run)
    assert booting.count(("up", "a")) == 1
    assert {record.boot for record in run.records()} == {1}
    assert any("allocation 1" in event.event for event in run.events())


def test_a_continued_run_counts_its_boots_on(booting, make_run, execute, monkeypatch):
    run = make_run(launches=2, blocks_per_boot=0)
    real = Run.append

    def append(self, record):
        if record.trial.block == 1:
            raise KeyboardInterrupt
        real(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "append", append)
        with pytest.raises(KeyboardInterrupt):
            execute(run)
    execute(run)
    assert {(record.trial.block, record.boot) for record in run.records()} == {(0, 1), (1, 2)}


def test_coming_up_is_an_event_with_its_duration_outside_of_records(booting, make_run, execute):
    run = make_run(launches=6, blocks_per_boot=2)
    execute(run)
    assert {record.duration_s for record in run.records()} == {0.0}
    events = [event for event in run.events() if event.event.startswith("came up")]
    assert [event.platform for event in events].count("a") == 3
    assert all(event.seconds == COMING_UP_S for event in events)


def test_coming_up_does_not_use_up_the_budget(booting, make_run, execute):
    run = make_run(launches=9, min_launches=6, budget_s=COMING_UP_S / 2, blocks_per_boot=1)
    assert execute(run).measured == 18


def test_what_a_platform_raises_is_its_failure_and_the_others_go_on(booting, make_run, execute):
    run = make_run(platforms={"a": {}, "b": {"seed": 99}}, launches=2)
    tally = execute(run)
    assert (tally.measured, tally.failed) == (2, 2)
    failed = [record.outcome for record in run.records() if record.trial.platform == "b"]
    assert failed == [Failed(Stage.ACQUIRE, "ZeroDivisionError: not foreseen")] * 2


def test_a_platform_that_breaks_is_made_anew_and_says_so(booting, make_run, execute):
    run = make_run(platforms={"a": {"seed": 13}, "b": {}}, launches=9, blocks_per_boot=0)
    tally = execute(run)
    assert tally.failed == 2
    assert booting.count(("up", "a")) == 2
    # Once, however often the time that is left is estimated.
    assert sum("made anew" in event.event for event in run.events()) == 1
    outcomes = [record.status for record in run.records() if record.trial.platform == "a"]
    assert outcomes == ["measured"] * 2 + ["failed"] * 2 + ["measured"] * 5


def test_what_prepares_a_trial_is_not_timed(make_run, execute, monkeypatch, clock):
    def prepare(self, command):
        clock.now_s += 7.0

    monkeypatch.setattr(NullAllocation, "prepare", prepare)
    run = make_run(launches=1)
    execute(run)
    assert clock.now_s == 14.0
    assert {record.duration_s for record in run.records()} == {0.0}


def silent(monkeypatch, times):
    """Let platform ``a`` refuse to come up so many times; give the list of the pauses made."""
    left, pauses, inner = [times], [], NullPlatform.acquire

    def acquire(self, layout):
        if self.spec.name == "a" and left[0] > 0:
            left[0] -= 1
            raise NotNow("no ssh: connection timed out", where="n1")
        return inner(self, layout)

    monkeypatch.setattr(NullPlatform, "acquire", acquire)
    monkeypatch.setattr("bareline.session.allocations.time.sleep", pauses.append)
    return pauses


def test_a_host_that_is_silent_for_a_moment_is_tried_again(make_run, execute, monkeypatch):
    pauses = silent(monkeypatch, 2)
    tally = execute(make_run(launches=3))
    assert (tally.measured, tally.failed) == (6, 0)
    assert pauses == [2.0, 8.0]


def test_what_stays_silent_is_tried_again_by_later_trials(make_run, execute, monkeypatch):
    """Before, one failed acquisition counted for the whole run."""
    silent(monkeypatch, 3)
    monkeypatch.setattr("bareline.session.allocations._LATER_S", 0.0)
    run = make_run(launches=3)
    tally = execute(run)
    assert (tally.measured, tally.failed) == (5, 1)
    assert any("or by `bareline continue`" in event.event for event in run.events())
    assert execute(run, retry_failed=True).failed == 0


@pytest.mark.parametrize(
    ("others", "silent_times", "measured", "waited_s"),
    [
        ({}, 6, 3, 2 + 8 + 30 + 60 + 120 + 240),
        # For the first trial as long as it may, for the second until the nodes are there.
        ({}, 10, 2, 1000 + 2),
        ({"b": {}}, 6, 3, 2 + 8),
    ],
)
def test_trials_wait_for_the_nodes_of_a_runs_only_platform(
    make_run, execute, monkeypatch, clock, others, silent_times, measured, waited_s
):
    """Before, all of them failed within seconds; beside another platform they still do."""
    pauses = silent(monkeypatch, silent_times)

    def sleep(seconds):
        pauses.append(seconds)
        clock.now_s += seconds

    monkeypatch.setattr("bareline.session.allocations.time.sleep", sleep)
    monkeypatch.setattr("bareline.session.allocations._LATER_S", 30.0)
    monkeypatch.setattr(NullOptions, "queue_s", 1000.0, raising=False)
    tally = execute(make_run({"a": {}, **others}, launches=3))
    assert (tally.measured, tally.failed) == (measured, 3 * (1 + len(others)) - measured)
    assert sum(pauses) == waited_s


def test_a_job_that_ends_stops_the_run_and_another_goes_on(make_run, execute, monkeypatch):
    """Before, every trial that was left failed at once, and `continue` found nothing to do."""
    left, inner = [3], NullAllocation.run

    def run(self, *args, **more):
        left[0] -= 1
        if left[0] == 0:
            raise TimeUp("the allocation 7 ends in 20 s")
        return inner(self, *args, **more)

    monkeypatch.setattr(NullAllocation, "run", run)
    made = make_run(launches=3)
    with pytest.raises(TimeUp):
        execute(made)
    assert len(made.finished()) == 2
    assert any("the allocation 7 ends in 20 s" in event.event for event in made.events())
    tally = execute(made)
    assert (tally.measured, tally.failed) == (6, 0)
