"""What a run leaves out because it would tell nothing: exact repetitions, emulated processors."""

import shutil

import pytest

from bareline.platforms.base import exact_among
from bareline.platforms.config import platforms_from_toml
from bareline.session import begin, runner
from bareline.session.history import History
from bareline.session.origin import plan_of, study_of
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.model import Measured, Record


class Watch(SilentObserver):
    def __init__(self):
        self.reasons = []

    def skipped(self, count, reason):
        self.reasons.append((count, reason))


def history_of(run, exact):
    """Give what a run has recorded, some of its platforms taken for exact."""
    history = History(study_of(run), plan_of(run), exact)
    for record in run.finished(history.wanted).values():
        history.add(record)
    return history


def test_later_blocks_need_the_noisy_platform_alone(make_run, execute):
    run = make_run({"a": {}, "b": {}}, launches=3)
    execute(run)
    history = history_of(run, {"b"})
    needed = {(t.block, t.platform) for t in plan_of(run) if not history.unneeded(t)}
    assert needed == {(0, "a"), (0, "b"), (1, "a"), (2, "a")}


def test_a_failed_trial_is_no_reason_to_stop(make_run, execute):
    run = make_run({"a": {}, "b": {"fail_every": 1}}, launches=2)
    execute(run)
    history = history_of(run, {"a", "b"})
    assert {t.platform for t in plan_of(run) if t.block == 1 and history.unneeded(t)} == {"a"}


def test_precision_asks_the_noisy_platform_alone(make_run, execute):
    """An exact platform has one trial, which must not keep the others going."""
    run = make_run({"a": {}, "b": {}}, params={"spread": 0.0}, launches=9, precision=0.05)
    execute(run)
    history = history_of(run, {"b"})
    ends = {t.block for t in plan_of(run) if t.platform == "a" and history.unneeded(t)}
    assert ends == {6, 7, 8}


@pytest.fixture
def emulated_run(null_platforms, tmp_path):
    """Give a run of DGEMM and ping-pong with records in which some processors are software."""

    def make(emulated, names="abc", launches=4, **head):
        study = study_from_toml(
            {
                "study": {"name": "guests", "launches": launches, **head},
                "measure": [{"probe": "compute.dgemm"}, {"probe": "mpi.pingpong", "ranks": 2}],
            },
            where="test",
        )
        specs = null_platforms(**{name: {"nodes": 2} for name in names})
        run = begin.create_run(study, specs, tmp_path / "run", baseline="a")
        plan = plan_of(run)
        history = History(study, plan, baseline="a")
        for trial in plan:
            caveats = ("emulated-cpu",) if trial.platform in emulated else ()
            history.add(
                Record(
                    trial=trial,
                    outcome=Measured(()),
                    started="2026-01-01T00:00:00+00:00",
                    duration_s=1.0,
                    caveats=caveats,
                )
            )
        return {
            (t.case.probe, t.platform, t.block) for t in plan if not history.unneeded(t)
        }, launches

    return make


def blocks(needed, probe, platform):
    return sorted(block for name, where, block in needed if (name, where) == (probe, platform))


def test_an_emulated_processor_is_measured_twice_and_so_is_what_it_alone_stands_beside(
    emulated_run,
):
    needed, launches = emulated_run("bc")
    for name in "abc":
        assert blocks(needed, "compute.dgemm", name) == [0, 1]
        assert blocks(needed, "mpi.pingpong", name) == list(range(launches))


def test_real_processors_are_measured_on_while_there_are_two(emulated_run):
    needed, launches = emulated_run("c")
    assert blocks(needed, "compute.dgemm", "c") == [0, 1]
    assert blocks(needed, "compute.dgemm", "a") == blocks(needed, "compute.dgemm", "b")
    assert len(blocks(needed, "compute.dgemm", "a")) == launches


def test_guests_beside_an_emulated_baseline_are_comparable(emulated_run):
    needed, launches = emulated_run("abc")
    assert all(len(blocks(needed, "compute.dgemm", name)) == launches for name in "abc")


def test_a_study_may_ask_for_emulated_processors_as_for_others(emulated_run):
    needed, launches = emulated_run("bc", emulated_launches=0)
    assert all(len(blocks(needed, "compute.dgemm", name)) == launches for name in "abc")


def test_one_platform_alone_is_measured_on(emulated_run):
    needed, launches = emulated_run("", names="a")
    assert len(blocks(needed, "compute.dgemm", "a")) == launches


@pytest.mark.sim
@pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed")
def test_a_run_simulates_each_case_once(tmp_path):
    table = {"type": "sim", "network": "10g", "nodes": 2, "cores": 1}
    specs = list(platforms_from_toml({"platform": {"s": table}}, where="test").values())
    assert exact_among(specs) == {"s"}
    study = study_from_toml(
        {
            "study": {"name": "once", "launches": 3, "precision": 0},
            "measure": [{"probe": "mpi.barrier", "ranks": 2, "ranks_per_node": 1}],
        },
        where="test",
    )
    run = begin.create_run(study, specs, tmp_path / "run", baseline="s")
    watch = Watch()
    tally = runner.execute(run, watch)
    assert (tally.planned, tally.measured, tally.saved) == (3, 1, 2)
    assert watch.reasons == [(2, "a simulation repeats exactly")]
    assert status_of(Run.open(run.path))["remaining"] == 0
