"""Sweeps of ranks and nodes: what they come to on the platforms of a run, and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.platforms.config import platforms_from_toml
from bareline.study.plan import choose, left_out_lines, make_plan
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Layout


def study(*measures, **head):
    measures = [{"probe": "null", **measure} for measure in measures]
    return study_from_toml(
        {"study": {"name": "s", "launches": 2, "precision": 0, **head}, "measure": measures},
        where="t",
    )


def platforms(**sizes):
    """Make null platforms of (nodes, cores per node)."""
    tables = {
        name: {"type": "null", "nodes": nodes, **({"cores_per_node": cores} if cores else {})}
        for name, (nodes, cores) in sizes.items()
    }
    return list(platforms_from_toml({"platform": tables}, where="t").values())


def laid_out(made, specs):
    """Give the layouts on each platform, and what does not fit there."""
    choice = choose(made, specs)
    there = {spec.name: set() for spec in specs}
    for (number, case), cell in choice.cells.items():
        assert cell.layout.ranks == choice.cases[case].ranks
        there[specs[number].name].add(str(cell.layout))
    unfit = {spec.name: set() for spec in specs}
    for row in choice.left_out:
        unfit[row.platform].add((row.case.ranks, row.case.nodes))
    return there, unfit


def test_powers_of_ranks_follow_the_cores_and_are_the_same_cases_everywhere():
    there, unfit = laid_out(study({"ranks": "powers"}), platforms(small=(1, 2), large=(4, 3)))
    assert there == {"small": {"1x1x1", "1x2x1"},
                     "large": {"1x1x1", "2x1x1", "4x1x1", "4x2x1"}}  # fmt: skip
    assert unfit == {"small": {(4, None), (8, None)}, "large": set()}


def test_powers_of_nodes_with_ranks_on_each():
    made = study({"nodes": "powers", "ranks_per_node": 3})
    there, unfit = laid_out(made, platforms(two=(2, None), six=(6, None)))
    assert there == {"two": {"1x3x1", "2x3x1"}, "six": {"1x3x1", "2x3x1", "4x3x1"}}
    assert unfit == {"two": {(12, 4)}, "six": set()}


def test_full_nodes_are_those_of_each_platform():
    made = study({"nodes": "powers", "ranks_per_node": "cores", "threads": 2})
    there, unfit = laid_out(made, platforms(thin=(2, 4), fat=(1, 8)))
    assert there == {"thin": {"1x2x2", "2x2x2"}, "fat": {"1x2x2", "1x4x2"}}
    assert unfit == {"thin": {(4, 1), (8, 2)}, "fat": {(4, 2), (8, 2)}}


def test_lists_of_nodes_and_ranks_are_combined_where_they_divide():
    there, unfit = laid_out(study({"nodes": [1, 2, 4], "ranks": [2, 4]}), platforms(a=(2, None)))
    assert there == {"a": {"1x2x1", "1x4x1", "2x1x1", "2x2x1"}}
    assert unfit == {"a": {(4, 4)}}


def test_powers_on_given_nodes_start_with_a_rank_on_each():
    there, unfit = laid_out(study({"nodes": [1, 3], "ranks": "powers"}), platforms(a=(3, 4)))
    assert there == {"a": {"1x1x1", "1x2x1", "1x4x1", "3x1x1", "3x2x1", "3x4x1"}}
    assert unfit == {"a": set()}


def test_a_probe_takes_the_powers_that_it_can():
    made = study({"probe": "npb.bt", "params": {"problem_class": "S"}, "ranks": "powers"})
    there, _ = laid_out(made, platforms(a=(4, 8)))
    assert there == {"a": {"1x1x1", "4x1x1", "4x4x1"}}
    one = study({"probe": "mpi.pingpong", "ranks": "powers"}, {"probe": "null"})
    there, unfit = laid_out(one, platforms(a=(1, 1)))
    assert (there, unfit) == ({"a": {"1x1x1"}}, {"a": {(2, None)}})
    for keys, smallest in (
        ({"nodes": "powers", "ranks_per_node": "cores"}, (2, 2)),
        ({"nodes": 1, "ranks_per_node": "cores"}, (2, 1)),
    ):
        full = study({"probe": "mpi.pingpong", **keys}, {"probe": "null"})
        assert laid_out(full, platforms(a=(1, 1)))[1] == {"a": {smallest}}
        assert laid_out(full, platforms(a=(2, 4)))[1] == {"a": set()}


def test_packed_powers_end_with_the_cores_of_one_node():
    there, unfit = laid_out(
        study({"ranks": "powers", "placement": "pack"}), platforms(a=(4, 2), b=(4, 4))
    )
    assert there == {"a": {"1x1x1", "1x2x1"}, "b": {"1x1x1", "1x2x1", "1x4x1"}}
    assert unfit == {"a": {(4, None)}, "b": set()}


@given(
    sizes=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=3),
    threads=st.integers(1, 3),
)
def test_powers_never_crowd_cores_and_nothing_is_lost(sizes, threads):
    specs = platforms(**{f"p{number}": size for number, size in enumerate(sizes)})
    made = study({"ranks": "powers", "threads": threads}, {})
    choice = choose(made, specs)
    for (number, case), cell in choice.cells.items():
        if choice.cases[case].threads == threads > 1:
            nodes, cores = sizes[number]
            assert cell.layout.nodes <= nodes
            assert cell.layout.ranks_per_node * threads <= cores
    asked = {case for _, case in made.cases(specs)}
    told_of = {(specs[n].name, choice.cases[case]) for n, case in choice.cells}
    told_of |= {(row.platform, row.case) for row in choice.left_out}
    assert told_of == {(spec.name, case) for spec in specs for case in asked}


def test_parameters_per_rank_grow_with_the_ranks():
    made = study({"per_rank": {"points": 3}, "ranks": [1, 2, 4], "params": {"spread": 0.5}})
    assert [(case.ranks, case.params) for _, case in made.cases()] == [
        (1, "points=3 spread=0.5"),
        (2, "points=6 spread=0.5"),
        (4, "points=12 spread=0.5"),
    ]


def test_a_case_of_an_open_sweep_may_stand_elsewhere_too():
    made = study({"ranks": [1, 2]}, {"ranks": "powers", "timeout_s": 5})
    plan = make_plan(made, platforms(a=(1, 4)))
    assert {(trial.case.ranks, trial.timeout_s) for trial in plan} == {(1, 300), (2, 300), (4, 5)}
    assert len(plan) == 3 * 2


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        ({"nodes": [1, 2]}, {"1x1x1", "2x1x1"}),
        ({"nodes": "powers"}, {"1x1x1", "2x1x1"}),
        ({"nodes": 2}, {"2x1x1"}),
        ({"nodes": 1}, {"1x1x1"}),
        ({}, {"2x1x1"}),
        ({"nodes": [1, 2], "ranks_per_node": 2}, {"1x2x1", "2x2x1"}),
        ({"nodes": "powers", "ranks_per_node": 1}, {"1x1x1", "2x1x1"}),
        ({"ranks_per_node": 1}, {"2x1x1"}),
    ],
)
def test_a_network_probe_measures_between_as_many_nodes_as_was_asked(keys, asked):
    made = study({"probe": "net.nuttcp", **keys})
    there, unfit = laid_out(made, platforms(four=(4, None)))
    assert there == {"four": asked}
    assert unfit == {"four": set()}


def test_the_run_directory_holds_the_cores_that_it_was_planned_with(tmp_path, monkeypatch):
    from bareline.session import begin
    from bareline.session.origin import plan_of, platforms_of

    specs = platforms_from_toml({"platform": {"here": {"type": "local"}}}, where="t")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3})
    run = begin.create_run(
        study({"ranks": "powers"}), list(specs.values()), tmp_path / "r", baseline="here"
    )
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    assert platforms_of(run)[0].capacity.cores_per_node == 4
    assert {trial.layout for trial in plan_of(run)} == {Layout(1, n, 1) for n in (1, 2, 4)}


def test_one_mechanism_says_what_is_left_out_and_nothing_left_is_an_error():
    specs = platforms(a=(2, 2))
    specs += platforms_from_toml(
        {"platform": {"sim": {"type": "sim", "network": "ib-qdr", "nodes": 2}}}, where="t"
    ).values()
    made = study({"nodes": 4, "ranks": 4}, {"probe": "net.nuttcp"}, {"probe": "npb.ep"})
    assert left_out_lines(choose(made, specs).left_out) == [
        "a: null with 4 ranks does not fit: needs 4 nodes, the platform has 2",
        "sim: null with 4 ranks and net.nuttcp with 2 ranks: does not run simulated",
    ]
    with raises(StudyError, "BL-STUDY-379", "4"):
        make_plan(study({"nodes": 4, "ranks": 4}), specs[:1])


@pytest.mark.parametrize(
    ("measure", "code"),
    [
        ({"ranks": "power"}, "BL-STUDY-446"),
        ({"ranks": []}, "BL-KEY-TOO-SHORT"),
        ({"ranks": 3, "nodes": 2}, "BL-STUDY-982"),
        ({"ranks": [1, 3], "nodes": 2}, "BL-STUDY-982"),
        ({"nodes": "powers", "ranks_per_node": 2, "ranks": 4}, "BL-STUDY-878"),
        ({"ranks_per_node": "cores", "ranks": 4}, "BL-STUDY-432"),
        ({"ranks_per_node": 3, "ranks": 4}, "BL-STUDY-840"),
        ({"ranks": 4, "nodes": 2, "per_rank": {"points": 1}, "params": {"points": 2}},
         "BL-STUDY-983"),
        ({"per_rank": {"point": 1}}, "BL-PROBES-808"),
        ({"probe": "net.nuttcp", "ranks": 3}, "BL-STUDY-982"),
        ({"probe": "net.nuttcp", "nodes": [1, 4]},
         "BL-STUDY-729"),
        ({"probe": "net.sockperf", "nodes": 3, "ranks_per_node": 1}, "BL-STUDY-729"),
        ({"nodes": [1, 2]}, "BL-STUDY-982"),
        ({"nodes": [1, 2], "ranks": [1, 3]}, "BL-STUDY-982"),
        ({"nodes": "powers"}, "BL-STUDY-351"),
    ],
)  # fmt: skip
def test_impossible_sweeps_are_refused_when_the_study_is_read(measure, code):
    with raises(StudyError, code):
        study(measure)


def test_unknown_cores_are_an_error_that_names_the_key():
    with raises(StudyError, "BL-STUDY-693"):
        make_plan(study({"ranks": "powers"}), platforms(a=(2, None)))
