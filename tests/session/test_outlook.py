"""How long a plan takes: by earlier runs here, else by what is declared."""

import pytest

from bareline.platforms.config import make_spec
from bareline.session.outlook import Earlier, WallTime, wall_time, wall_time_line
from bareline.study.plan import make_plan
from bareline.study.study import study_from_toml


def planned(measures, kind="null", **head):
    """Plan a study on two platforms of a type."""
    content = {"study": {"name": "x", "launches": 10, "precision": 0, **head}, "measure": measures}
    study = study_from_toml(content, where="here")
    specs = [make_spec(name, {"type": kind}, where="here") for name in "ab"]
    return study, make_plan(study, specs)


NULL = [{"probe": "null"}]
PINGPONG = [{"probe": "mpi.allreduce", "ranks": 2, "params": {"budget_s": 0.1, "max_bytes": 8}}]


def test_earlier_runs_give_the_time_and_how_it_spreads():
    study, plan = planned(NULL)
    took = {(trial.platform, trial.case): [1.0, 2.0, 3.0] for trial in plan}
    time = wall_time(study, plan, (), Earlier(took, [0.5] * 9))
    assert time.middle_s == pytest.approx(20 * 2.0 + 20 * 0.5)
    assert time.lo_s < time.middle_s < time.hi_s and time.known == 1
    assert "as in earlier runs here" in wall_time_line(time)


def test_without_earlier_runs_declared_budgets_bound_it():
    study, plan = planned(PINGPONG)
    time = wall_time(study, plan, (), Earlier())
    sizes = 2 if study.params_of(plan[0].case).sizes(4) == [4, 8] else None
    assert sizes == 2 and time.known == 0
    assert time.lo_s < time.middle_s < time.hi_s < 20 * plan[0].timeout_s
    assert "by declared time budgets" in str(time)


def test_a_declared_duration_is_nearly_all_of_it():
    study, plan = planned([{"probe": "net.nuttcp", "params": {"duration_s": 2.0}}], "netns")
    time = wall_time(study, plan, (), Earlier())
    assert 20 * 2.0 < time.lo_s == time.middle_s < time.hi_s < 20 * 4.0


def test_what_declares_nothing_is_named_not_guessed():
    study, plan = planned(NULL)
    time = wall_time(study, plan, (), Earlier())
    assert time.undeclared == ("null",) and "nothing is known of null" in str(time)


def test_a_simulation_runs_once_and_a_look_may_end_a_run():
    study, plan = planned(NULL)
    took = {(trial.platform, trial.case): [1.0] for trial in plan}
    once = wall_time(study, plan, {"a", "b"}, Earlier(took))
    assert once.middle_s == pytest.approx(2 * (1.0 + 0.1))
    content = {"study": {"name": "x", "looks": [8, 20], "precision": 0}, "measure": NULL}
    looked = study_from_toml(content, where="here")
    specs = [make_spec(name, {"type": "null"}, where="here") for name in "ab"]
    time = wall_time(looked, make_plan(looked, specs), (), Earlier(took))
    assert time.lo_s < 16 * 1.2 and time.middle_s == pytest.approx(40 * 1.1)


def test_a_budget_of_the_study_ends_it():
    study, plan = planned(NULL, budget_s=5.0)
    took = {(trial.platform, trial.case): [1.0] for trial in plan}
    assert wall_time(study, plan, (), Earlier(took)).middle_s == pytest.approx(5.0 + 20 * 0.1)


def test_two_plans_follow_each_other():
    both = WallTime(10, 5, 20, 1.0).then(WallTime(30, 20, 60, 0.0, ("x",)))
    assert (both.middle_s, both.lo_s, both.hi_s, both.known) == (40, 25, 80, 0.25)
    assert both.undeclared == ("x",)
