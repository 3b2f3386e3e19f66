"""Parameters said and unsaid: runs pair only where they measured the same."""

from dataclasses import replace

import pytest

from bareline.analysis.judgements.conclusions import conclude
from bareline.analysis.numbers.parameters import defaults_of
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conclusions import conclusion_sentence
from bareline.session import begin
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Sample

STEPS = {"mode": ["single", "all"]}


def with_defaults(run, probe, **changed):
    """Let a run say other defaults than those of today; None removes all, as of older runs."""
    declared = dict(run.header.probes[probe])
    defaults = {**declared.pop("defaults"), **changed}
    if changed:
        declared["defaults"] = defaults
    probes = {**run.header.probes, probe: declared}
    run.replace_header(replace(run.header, probes=probes))
    return run


@pytest.fixture
def times(plant_study):
    """Make a run of the null probe on one platform, with some parameters."""

    def make(name, **params):
        return plant_study(
            lambda trial, _: [Sample("time", 1.0 + trial.block / 1e5)],
            {"probe": "null", "params": params},
            platforms=(name,),
        )

    return make


def paired(*runs):
    table = Comparison(read_runs(list(runs))).table
    return sorted(table.select("params", "verdict").iter_rows())


def measured(*runs):
    trials = read_runs(list(runs)).trials
    return sorted(trials.select("platform", "params").unique().iter_rows())


def test_what_was_measured_with_another_default_is_another_case(times):
    old, new = times("a"), with_defaults(times("b"), "null", spread=0.5)
    assert paired(old, new) == []
    assert measured(old, new) == [("a", "spread=0.02"), ("b", "spread=0.5")]
    (said,) = read_runs([old, new]).unlike_defaults
    names = [run.path.name for run in (old, new)]
    assert f"null took spread = 0.02 in {names[0]} and 0.5 in {names[1]} by default" in said


def test_a_default_that_is_said_is_the_one_that_is_left_out(times):
    assert paired(times("a"), times("b", spread=0.02)) == [("spread=0.02", "equivalent")]


def test_a_default_of_before_that_is_said_today_is_the_same_case(times):
    old, new = times("a"), with_defaults(times("b", spread=0.02), "null", spread=0.5)
    assert paired(old, new) == [("spread=0.02", "equivalent")]
    assert read_runs([old, new]).unlike_defaults == ()


def test_a_parameter_that_a_probe_learned_since_then_has_its_default(times):
    old, new = times("a"), with_defaults(times("b"), "null", colour="red")
    assert paired(old, new) == [("", "equivalent")]


def test_a_text_says_no_more_than_it_must(times):
    one = times("a", points=3)
    assert set(read_runs([one]).trials["params"]) == {"points=3"}


def test_runs_of_before_say_what_bareline_measured_then(times):
    old, new = with_defaults(times("a"), "null"), times("b", spread=0.02)
    assert "defaults" not in old.header.probes["null"]
    assert defaults_of(old.header)["null"]["spread"] == 0.02
    assert paired(old, new) == [("spread=0.02", "equivalent")]
    changed = with_defaults(times("c"), "null", spread=0.5)
    assert paired(old, changed) == []


def test_two_cases_of_an_older_run_stay_two(times):
    """A study could once ask for the same twice, said and unsaid."""
    run = with_defaults(times("a"), "null")
    lines = (run.path / "records.jsonl").read_text().splitlines(keepends=True)
    said = [line.replace('"params": ""', '"params": "spread=0.02"') for line in lines[:5]]
    (run.path / "records.jsonl").write_text("".join([*said, *lines[5:]]))
    trials = read_runs([run]).trials
    assert sorted(trials.group_by("params").len().iter_rows()) == [("", 5), ("spread=0.02", 5)]


def test_programs_of_older_studies_say_their_defaults_themselves(tmp_path, null_platforms):
    program = {
        "command": ["solve", "{cells}"],
        "params": {"cells": 8},
        "metrics": {"time": {"regex": r"(\S+) s", "unit": "s", "better": "lower"}},
        "verify": ["time > 0"],
    }
    study = study_from_toml(
        {"study": {"name": "s"}, "app": {"solver": program}, "measure": [{"probe": "app.solver"}]},
        where="t",
    )
    run = begin.create_run(study, null_platforms(a={}), tmp_path / "r", baseline="a")
    assert run.header.defaults == {"app.solver": {"cells": 8}}
    old = with_defaults(run, "app.solver")
    assert defaults_of(old.header) == {"app.solver": {"cells": 8}}


@pytest.fixture
def stream(plant_study):
    """One core and all of a node, the former by its default."""

    def samples(trial, _):
        every = "mode=all" in trial.case.params
        yield Sample("bandwidth", 4e10 if every else 1e10, {"kernel": "triad"})
        yield Sample("bandwidth_per_core", 5e9 if every else 1e10, {"kernel": "triad"})

    return plant_study(
        samples,
        {"probe": "memory.stream"},
        {"probe": "memory.stream", "params": {"mode": "all"}},
        platforms=("a",),
    )


def test_what_a_conclusion_asks_for_stands_in_the_run(stream):
    (told,) = conclude(read_runs([stream]))
    assert "25.0 % [25.0 %, 25.0 %] of what all cores get" in conclusion_sentence(told).text
    assert conclude(read_runs([with_defaults(stream, "memory.stream", mode="star")])) == []


def test_an_older_run_is_concluded_from_as_before(stream):
    (told,) = conclude(read_runs([with_defaults(stream, "memory.stream")]))
    assert "25.0 % [25.0 %, 25.0 %] of what all cores get" in conclusion_sentence(told).text
