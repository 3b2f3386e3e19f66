"""Disturbed trials: said when they begin and end, repeats counted apart, and heat is noticed."""

import pytest

from bareline.host.throttling import read_throttles
from bareline.report.terminal.runs import run_end_blocks, status_blocks
from bareline.session import runner, speeds
from bareline.session.disturbance import DisturbanceWatch
from bareline.session.speeds import SpeedChange
from bareline.session.status import end_remarks, status_of
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.model import Case, Measured, Record, Trial


def record(index, *caveats, cores=None):
    trial = Trial(index=index, block=index, platform="a", case=Case(probe="null"), layout=None)
    return Record(
        trial=trial,
        outcome=Measured(()),
        started="",
        duration_s=1.0,
        caveats=caveats,
        foreign_cores=cores,
    )


def notes_of(marks):
    """Return what is noted of trials that are disturbed (x) or not (.)."""
    notes = []
    watch = DisturbanceWatch(lambda platform, text: notes.append((platform, text)))
    for index, mark in enumerate(marks):
        watch.see(record(index, *(["busy-machine"] if mark == "x" else []), cores=1.25))
    return notes


def test_the_beginning_and_the_end_are_noted_once():
    """Load of other programs in mid-run was in the records, and nowhere else."""
    begins, ends = notes_of("......xxx.xx.....xx..")
    assert begins == (
        "a",
        "trials are disturbed: 3 of the last 5 by other programs' load, 1.2 cores busy with other "
        "programs",
    )
    assert ends == (
        "a",
        "undisturbed again since 5 trials; before, 5 of 8 trials were disturbed",
    )


@pytest.mark.parametrize("marks", ["", "......", "x....x....x", "..xx...."])
def test_single_trials_are_not_noted(marks):
    assert notes_of(marks) == []


def test_every_kind_is_named():
    notes = []
    watch = DisturbanceWatch(lambda _, text: notes.append(text))
    for index, code in enumerate(["steal-time", "throttled", "two-speeds"]):
        watch.see(record(index, code, "imported"))
    (text,) = notes
    assert text.endswith("by a change of speed, stolen processor time and throttling")


class Repeats(SilentObserver):
    def __init__(self):
        self.trials = []
        self.repeats = []

    def trial(self, trial, position, eta_s):
        self.trials.append(position)

    def repeat(self, trial, number, of):
        self.repeats.append((number, of))


def test_repeats_are_counted_apart(make_run, monkeypatch):
    """It was: trial 217 of 216."""
    run = make_run(launches=6)

    def seen(records, probes):
        of = [r for r in records if (r.trial.platform, r.trial.block) == ("b", 2)]
        return [] if any(r.attempt > 1 for r in of) else [SpeedChange("b", 2, tuple(of), 4.0)]

    monkeypatch.setattr(speeds, "switches", seen)
    watch = Repeats()
    runner.execute(run, watch)
    assert watch.trials == list(range(1, 13))
    assert watch.repeats == [(1, 2), (2, 2)]


@pytest.mark.parametrize(("times", "words"), [(4.0, "took 4.0 times"), (8680.8, "more than 100")])
def test_a_change_of_speed_has_no_absurd_number(times, words):
    assert words in str(SpeedChange("a", 0, (record(0), record(1)), times))


def test_what_the_time_budget_cut_is_not_called_unneeded(make_run, execute):
    """ "252 trials measured, 36 not needed" after "the time budget is used up"."""
    run = make_run(launches=12, min_launches=2, budget_s=1e-6)
    tally = execute(run)
    assert tally.not_run > 0 and tally.saved == 0 and tally.remaining == 0
    status = status_of(run)
    assert (status["not_run"], status["saved"]) == (tally.not_run, 0)
    ended = run_end_blocks(
        run, tally.on, measured=tally.measured, failed=0, skipped=0, saved=0, not_run=tally.not_run
    )
    for blocks in (ended, status_blocks(status)):
        text = " ".join(str(block) for block in blocks)
        assert f"{tally.not_run} not run (time budget used up)" in text


def test_the_end_of_a_run_names_its_disturbed_trials(make_run, execute):
    run = make_run(launches=6)
    execute(run)
    assert not [line for line in end_remarks(run) if "disturbed" in line]
    with run.writing():
        first = run.finished()[0]
        run.append(Record(**{**_fields(first), "caveats": ("busy-machine",)}))
    assert end_remarks(run)[0] == "1 of 12 trials was disturbed by other programs' load"


def _fields(record):
    return {name: getattr(record, name) for name in Record.__dataclass_fields__}


def test_counters_of_heat_are_summed(tmp_path):
    assert read_throttles(tmp_path) is None
    for core, (number, text) in enumerate([("core", "3\n"), ("package", "4\n"), ("core", "odd\n")]):
        folder = tmp_path / f"cpu{core}" / "thermal_throttle"
        folder.mkdir(parents=True)
        (folder / f"{number}_throttle_count").write_text(text)
    assert read_throttles(tmp_path) == 7
