"""Roles: the columns of a published study, and who takes them."""

import pytest

from bareline.platforms.config import choose_platforms
from bareline.study.plan import make_plan
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError


def study(**changes):
    content = {
        "study": {"name": "s", "baseline": "native", "launches": 1, "precision": 0,
                  "min_launches": 1},
        "role": {
            "native": {"title": "Native", "platform": "bare"},
            "virtual": {"title": "Virtual", "platform": "bare-tcp"},
            "sriov": {"title": "SR-IOV", "published": ["nccs:vm-vm-sriov"]},
        },
        "measure": [
            {"probe": "null"},
            {"probe": "null", "params": {"points": 2}, "roles": ["virtual", "sriov"]},
        ],
    }  # fmt: skip
    return study_from_toml({**content, **changes}, where="s.toml")


def columns(given=(), on=(), **changes):
    cast = study(**changes).with_roles(given, on)
    return {name: role.platform for name, role in cast.roles.items()}, cast


def test_without_a_word_every_role_takes_its_default():
    roles, cast = columns()
    assert roles == {"native": "bare", "virtual": "bare-tcp", "sriov": None}
    assert cast.platforms == ["bare", "bare-tcp"]
    assert cast.baseline == "bare"


def test_as_maps_one_role_and_leaves_the_others():
    roles, cast = columns(["sriov=my-cluster"])
    assert roles == {"native": "bare", "virtual": "bare-tcp", "sriov": "my-cluster"}
    assert cast.platforms == ["bare", "bare-tcp", "my-cluster"]


def test_as_without_a_platform_leaves_the_role_out():
    roles, cast = columns(["native="])
    assert roles == {"native": None, "virtual": "bare-tcp", "sriov": None}
    assert cast.baseline is None


def test_on_takes_the_roles_of_its_defaults_and_adds_the_rest_without_one():
    roles, cast = columns(on=["bare", "net-1g"])
    assert roles == {"native": "bare", "virtual": None, "sriov": None}
    assert cast.platforms == ["bare", "net-1g"]


def test_a_default_that_plays_another_role_leaves_its_own():
    roles, _ = columns(["sriov=bare-tcp"])
    assert roles == {"native": "bare", "virtual": None, "sriov": "bare-tcp"}


STEPS = {
    "native": {"title": "Native", "platform": "bare"},
    "step": {"title": "Step", "platform": "net-10g"},
    "whole": {"title": "Whole", "platform": "net-1g", "instead": ["net-10g"]},
}


def test_a_platform_stands_in_where_the_default_is_not_named():
    measures = [{"probe": "null"}]
    changes = {"role": STEPS, "measure": measures}
    roles, _ = columns(on=["bare", "net-10g"], **changes)
    assert roles == {"native": "bare", "step": None, "whole": "net-10g"}
    roles, _ = columns(on=["bare", "net-10g", "net-1g"], **changes)
    assert roles == {"native": "bare", "step": "net-10g", "whole": "net-1g"}
    roles, _ = columns(["step=net-10g"], ["bare", "net-10g"], **changes)
    assert roles == {"native": "bare", "step": "net-10g", "whole": None}
    roles, _ = columns(**changes)
    assert roles == {"native": "bare", "step": "net-10g", "whole": "net-1g"}


@pytest.mark.parametrize(
    ("given", "code", "values"),
    [
        (["sriow=x"], "BL-STUDY-656", ["'sriow'", "'sriov'"]),
        (["sriov"], "BL-STUDY-158", ["ROLE=PLATFORM"]),
        (["sriov=x", "virtual=x"], "BL-STUDY-424", ["'x'", "virtual and sriov"]),
        (["native=", "virtual="], "BL-STUDY-800", ["--as"]),
    ],
)
def test_impossible_casts_are_named(given, code, values):
    with raises(StudyError, code, *values):
        study().with_roles(given, [])


def test_a_measure_runs_only_on_its_roles_and_on_what_has_none():
    _, cast = columns(on=["bare", "bare-tcp", "net-1g"])
    plan = make_plan(cast, choose_platforms(cast.platforms))
    where = {(trial.case.params, trial.platform) for trial in plan}
    assert where == {
        ("", "bare"),
        ("", "bare-tcp"),
        ("", "net-1g"),
        ("points=2", "bare-tcp"),
        ("points=2", "net-1g"),
    }


def test_a_measure_whose_roles_are_not_there_stays_and_plans_nothing():
    _, cast = columns(["virtual="])
    plan = make_plan(cast, choose_platforms(cast.platforms))
    assert {trial.case.params for trial in plan} == {""}
    assert len(cast.measures) == 2


def test_the_run_directory_keeps_who_took_which_role():
    _, cast = columns(["sriov=my-cluster"])
    assert study_from_toml(cast.to_toml(), where="run.toml") == cast
    assert cast.to_toml()["role"]["sriov"]["platform"] == "my-cluster"
    assert "platform" not in columns(["virtual="])[1].to_toml()["role"]["virtual"]


@pytest.mark.parametrize(
    ("changes", "code", "values"),
    [
        (
            {"measure": [{"probe": "null", "roles": ["virtuel"]}]},
            "BL-STUDY-656",
            ["'virtuel'", "'virtual'"],
        ),
        (
            {"measure": [{"probe": "null", "roles": ["native"], "platforms": ["bare"]}]},
            "BL-STUDY-216",
            ["'roles'", "'platforms'"],
        ),
        ({"role": {"a": {"platform": "bare"}}}, "BL-KEY-MISSING", ["[role.a]", "'title'"]),
        (
            {"role": {"a": {"title": "A", "platfrom": "b"}}},
            "BL-KEY-EXTRA-FORBIDDEN",
            ["[role.a]", "'platfrom'", "'platform'"],
        ),
        (
            {"role": {"a": {"title": "A", "published": ["nccs:vm-vm-sriow"]}}},
            "BL-STUDY-534",
            ["[role.a]", "'nccs:vm-vm-sriow'", "'nccs:vm-vm-sriov'"],
        ),
        (
            {"exhibit": [{"kind": "table", "published": ["nebula:tabel-4"]}]},
            "BL-PUBLISHED-450",
            ["nebula:tabel-4", "'table-4'"],
        ),
    ],
)
def test_mistakes_in_a_study_file_are_named(changes, code, values):
    with raises(StudyError, code, *values):
        study(**changes)


def test_ranks_per_node_gives_the_number_of_nodes():
    measures = [{"probe": "null", "ranks": [8, 16, 32], "ranks_per_node": 8}]
    cases = [case for _, case in study(measure=measures).cases()]
    assert [(case.ranks, case.nodes) for case in cases] == [(8, 1), (16, 2), (32, 4)]
    with raises(StudyError, "BL-STUDY-840", "8"):
        study(measure=[{"probe": "null", "ranks": 12, "ranks_per_node": 8}])
    with raises(StudyError, "BL-STUDY-878"):
        study(measure=[{"probe": "null", "ranks": 8, "ranks_per_node": 8, "nodes": 1}])


def test_a_scale_says_what_it_changes():
    measures = [
        {"probe": "null", "params": {"points": 4}, "ranks": [8, 16],
         "scale": {"small": {"params": {"points": 1}, "ranks": 2}}},
        {"probe": "null", "params": {"points": 3}, "scale": {"small": {"skip": True}}},
    ]  # fmt: skip
    small = study(measure=measures, scale={"small": {}}).at_scale("small")
    assert small.scale_changes == [
        "null: ranks 2 instead of 8 and 16",
        "null: points 1 instead of 4",
        "null: left out",
    ]
    assert small.with_roles([], []).to_toml()["study"]["scale_changes"] == small.scale_changes
