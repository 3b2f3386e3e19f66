"""What a run may take: core hours by platform, hours of the day in which no trial begins."""

import os
import time
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from bareline.report.content.method import cost_texts
from bareline.session import pauses, runner
from bareline.session.meter import Meter, outlook, outlook_lines
from bareline.session.pauses import closed_until, wait_for_allowed_hours
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.testing.messages import raises
from bareline.vocabulary.errors import LimitReached, StoreError, TimeUp, UsageError
from bareline.vocabulary.limits import Limits, parse_hours

#: A trial of a null platform takes so long, on one core.
PAUSE_S = 0.2
#: Enough for some of them, and not for all.
FIVE_TRIALS_H = 5.5 * PAUSE_S / 3600
SLOW = {"a": {"pause_s": PAUSE_S}}
CET = timezone(timedelta(hours=1), "CET")


@pytest.fixture
def _trials_take_their_pause(monkeypatch):
    """Let a trial take exactly the pause of its platform, however busy the machine is."""
    at_s = [0.0]

    def sleep(seconds):
        at_s[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: at_s[0]))


def test_core_hours_cost_what_a_node_costs(make_run, execute):
    priced = {"price_per_hour": 36.0, "currency": "EUR", "pause_s": 0.001}
    run = make_run(platforms={"a": priced, "b": {}}, launches=2)
    execute(run)
    counts = status_of(run)["platforms"]
    assert counts["a"]["cost"] > 0
    assert counts["a"]["cost"] == pytest.approx(36.0 * counts["a"]["core_hours"])
    assert (counts["a"]["currency"], counts["b"]["cost"]) == ("EUR", None)
    assert run.facts()["a"]["price.per_core_hour"] == 36.0
    run.write_cost({"a": 3600.0, "b": 1800.0})
    assert cost_texts(run) == ["a 1.00 (cost 36.0 EUR)", "b 0.500"]


@pytest.mark.usefixtures("_trials_take_their_pause")
def test_a_run_ends_at_its_limit_and_goes_on_with_another(make_run, execute):
    run = make_run(platforms=SLOW, launches=10, max_core_hours=FIVE_TRIALS_H)
    with raises(LimitReached, "BL-SESSION-310"):
        execute(run)
    assert len(run.finished()) == 5
    assert all(record.status == "measured" for record in run.finished().values())
    assert run.cost() == {"a": pytest.approx(5 * PAUSE_S)}
    with pytest.raises(LimitReached):  # it stands in the run: what is left cuts a trial
        execute(Run.open(run.path))
    assert len(run.finished()) == 5
    assert execute(Run.open(run.path), limits=Limits(max_core_hours=1)).remaining == 0
    assert run.cost()["a"] == pytest.approx((5.5 + 5) * PAUSE_S)


@pytest.mark.usefixtures("_trials_take_their_pause")
def test_a_platforms_own_limit_ends_the_run(make_run, execute):
    run = make_run(platforms={"a": {"pause_s": PAUSE_S, "max_core_hours": FIVE_TRIALS_H}, "b": {}})
    with raises(LimitReached, "BL-SESSION-310"):
        execute(run)
    assert sum(record.trial.platform == "a" for record in run.finished().values()) == 5


@pytest.mark.usefixtures("_trials_take_their_pause")
def test_a_trial_that_the_limit_cuts_is_no_time_out(make_run, execute):
    run = make_run(platforms={"a": {"pause_s": 5}}, launches=2, max_core_hours=0.1 / 3600)
    with pytest.raises(LimitReached):
        execute(run)
    assert run.finished() == {}
    assert run.cost()["a"] == pytest.approx(0.1), "what is cut has cost, too"


def test_what_others_lend_costs_until_it_is_given_back(make_run, null_platforms):
    at = [0.0]
    meter = Meter(make_run(), null_platforms(a={}, b={}), 100.0, lambda: at[0])
    meter.begin("a", 64, lent=True)
    meter.begin("b", 4, lent=False)
    at[0] = 900.0  # a trial of b: a waits, and costs
    meter.ran("b", 900.0)
    assert meter.core_hours == {"a": 16.0, "b": 1.0}
    # 83 of 100 are left, for 64 cores that are held and 4 that run.
    assert meter.left_s("b") == pytest.approx(83 / 68 * 3600)
    assert meter.left_s("a") == pytest.approx(83 / 64 * 3600)
    meter.end("a")
    at[0] = 90_000.0
    assert meter.core_hours == {"a": 16.0, "b": 1.0}
    assert meter.left_s("b") == pytest.approx(83 / 4 * 3600)


def test_a_damaged_cost_is_named(make_run, execute):
    run = make_run()
    (run.path / "cost.json").write_text('{"a": -1}')
    with raises(StoreError, "BL-STORE-259", "cost.json"):
        execute(run)


@pytest.mark.parametrize(
    ("text", "at", "until"),
    [
        ("08:00-18:00", "07:59", None),
        ("08:00-18:00", "08:00", "23 18:00"),
        ("08:00-18:00", "18:00", None),
        ("22:00-06:00", "23:30", "24 06:00"),
        ("22:00-06:00", "05:59", "23 06:00"),
        ("08:00-12:00, 12:00-18:00", "09:00", "23 18:00"),
        ("none", "09:00", None),
    ],
)
def test_hours_of_the_day(text, at, until):
    hour, minute = map(int, at.split(":"))
    found = closed_until(text, datetime(2026, 11, 23, hour, minute, tzinfo=CET))
    assert (found and f"{found:%d %H:%M}") == until


@pytest.mark.parametrize("text", ["8-18", "08:00-24:00", "08:00-08:00", "08:00-18:00,", "always"])
def test_what_are_no_hours_is_refused(text):
    with raises(UsageError, "BL-VOCABULARY-981"):
        parse_hours(text)


def test_a_run_waits_for_the_end_of_the_hours_and_says_in_which_zone(monkeypatch):
    at = [datetime(2026, 11, 23, 17, 59, 15, tzinfo=CET)]
    slept, told = [], []

    def sleep(seconds):
        slept.append(seconds)
        at[0] += timedelta(seconds=seconds)

    monkeypatch.setattr(pauses.time, "sleep", sleep)
    wait_for_allowed_hours([None, "08:00-18:00"], lambda *words: told.append(words), lambda: at[0])
    assert slept == [30.0, 15.0]
    assert told == [("no trial begins between 08:00-18:00", "18:00 (CET, UTC+0100)")]


def test_a_job_that_was_submitted_ends_instead_of_holding_its_nodes(make_run, execute, monkeypatch):
    begin = datetime.now().astimezone() - timedelta(hours=1)
    closed = f"{begin:%H:%M}-{begin + timedelta(hours=2):%H:%M}"
    run = make_run()
    monkeypatch.setenv("BARELINE_JOB_OF", run.id)
    with raises(TimeUp, "BL-SESSION-401"):
        execute(run, limits=Limits(not_between=closed))
    assert run.finished() == {}


def test_a_group_that_shares_its_files_can_go_on_with_a_run(make_run, execute):
    before = os.umask(0o002)
    try:
        run = make_run()
        execute(run)
    finally:
        os.umask(before)
    closed = [path for path in run.path.rglob("*") if not path.stat().st_mode & 0o020]
    assert closed == []


@pytest.mark.usefixtures("_trials_take_their_pause")
def test_what_a_run_costs_is_told_before_and_after(make_run, execute, null_platforms, null_study):
    (spec,) = null_platforms(a={"pause_s": PAUSE_S, "cores_per_node": 36})
    study = null_study(launches=10)
    plan = make_plan(study, [spec])
    (before,) = outlook(study, [spec], plan)
    assert before.cores == 36 and before.expected_h is None
    assert before.most_h == pytest.approx(36 * sum(trial.timeout_s for trial in plan) / 3600)
    budgeted = study.model_copy(update={"budget_s": 100.0})
    (before,) = outlook(budgeted, [spec], plan)
    assert before.expected_h == pytest.approx(1.0)
    assert outlook_lines([before], 0.5) == [
        f"core hours: a (36 cores): about 1, at most {before.most_h:.2g}; it ends at 0.5"
    ]
    run = make_run(platforms=SLOW)
    assert status_of(run)["platforms"]["a"]["core_hours"] is None
    execute(run)
    assert status_of(run)["platforms"]["a"]["core_hours"] == pytest.approx(10 * PAUSE_S / 3600)
