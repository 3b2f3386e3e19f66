"""Studies: what is read, and how what is wrong is named."""

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.study.catalogue import find_study, named_studies
from bareline.study.reading import load_study
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import StudyError
from bareline.vocabulary.model import Placement

HEAD = '[study]\nname = "s"\n'
NULL = '[[measure]]\nprobe = "null"\n'


def write(tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text)
    return path


def test_sweeps_and_ranks_are_expanded(tmp_path):
    text = HEAD + NULL + "ranks = [1, 2]\nsweep = {points = [1, 2], spread = [0.1, 0.2]}\n"
    cases = [case for _, case in load_study(write(tmp_path, text)).cases()]
    assert len(cases) == 8
    assert {case.params for case in cases} == {
        f"points={p} spread={s}" for p in (1, 2) for s in (0.1, 0.2)
    }
    assert cases[0].placement is Placement.SPREAD


def test_a_study_survives_the_run_directory(tmp_path):
    study = load_study(write(tmp_path, HEAD + "precision = 0.05\n" + NULL))
    assert study_from_toml(study.to_toml(), where="again") == study


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[study", ["not valid TOML", "s.toml"]),
        (NULL, ["[study] is missing"]),
        (HEAD, ["measures nothing", "[[measure]]"]),
        (HEAD + "launchs = 3\n" + NULL, ["launchs", "did you mean 'launches'?"]),
        (HEAD + "launches = 0\n" + NULL, ["launches"]),
        (HEAD + "launches = 'ten'\n" + NULL, ["launches"]),
        (HEAD + "min_launches = 3\n" + NULL, ["min_launches = 3", "precision = 0"]),
        (HEAD + 'question = ["nul"]\n' + NULL, ["key 'question'", "did you mean 'null'?"]),
        (
            HEAD + 'question = ["npb"]\n' + NULL,
            ["'npb' cannot be", "does not measure it"],
        ),
        (
            HEAD + 'question = ["null tim"]\n' + NULL,
            ["null has no such metric", "did you mean 'time'?"],
        ),
        (HEAD + "[measures]\n" + NULL, ["unknown table 'measures'", "did you mean 'measure'?"]),
        (
            HEAD + '[[measure]]\nprobe = "nul"\n',
            ["no probe is named 'nul'", "did you mean 'null'?"],
        ),
        (HEAD + NULL + "params = {median = 1}\n", ["no parameter 'median'", "median_s"]),
        (HEAD + NULL + "params = {median_s = -1}\n", ["median_s", "greater than 0"]),
        (HEAD + NULL + 'params = {shape = "round"}\n', ["shape", "round"]),
        (HEAD + NULL + "sweep = {median_s = [inf]}\n", ["[[measure]] number 1 (null)", "finite"]),
        (HEAD + NULL + "ranks = 8\nper_rank = {median_s = 1e308}\n", ["number 1", "finite"]),
        (HEAD + NULL + "rank = 2\n", ["number 1", "'rank'", "did you mean 'ranks'?"]),
        (HEAD + NULL + "ranks = 0\n", ["ranks"]),
        (HEAD + NULL + NULL, ["appears twice"]),
        (
            HEAD + NULL + "params = {points = 1}\nsweep = {points = [1]}\n",
            ["the tables params and sweep"],
        ),
        (HEAD + '[[measure]]\nprobe = "mpi.pingpong"\n', ["at least 2 ranks", "ranks = 2"]),
        ('[study]\nname = "A B"\n' + NULL, ["name"]),
        (HEAD + NULL + "scale.small = {skip = true}\n", ["[[measure]] number 1", "[scale.small]"]),
        (HEAD + "[scale.small]\nlaunch = 1\n" + NULL, ["[scale.small], key 'launch'", "launches"]),
        (
            HEAD + "[scale.small]\n" + NULL + "scale.small = {param = 1}\n",
            ["number 1", "scale.small.param", "did you mean 'params'?"],
        ),
        (
            HEAD + "[scale.small]\n" + NULL + "scale.small = {params = {median = 1}}\n",
            ["at scale small", "no parameter 'median'"],
        ),
        (
            HEAD + "[scale.small]\n" + NULL + "scale.small = {skip = true}\n",
            ["at scale small", "measures nothing"],
        ),
        (HEAD + NULL + "[[exhibit]]\ntitle = 'x'\n", ["[[exhibit]] number 1", "kind"]),
    ],
)
def test_what_is_wrong_is_named_with_file_and_next_step(tmp_path, text, words):
    path = write(tmp_path, text)
    with pytest.raises(StudyError) as caught:
        load_study(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    for word in words:
        assert word in message


SCALED = """
[study]
name = "s"
launches = 12

[scale.small]
launches = 6

[[measure]]
probe = "null"
params = {points = 5, median_s = 0.5}
sweep = {spread = [0.1, 0.2]}
ranks = [1, 2]
timeout_s = 100
scale.small = {params = {spread = 0.3}, sweep = {points = [1, 2]}, ranks = 1, timeout_s = 10}

[[measure]]
probe = "null"
threads = 2
scale.small = {skip = true}

[[measure]]
probe = "null"
threads = 3
"""


def test_a_changed_study_has_the_probes_of_its_question():
    measures = [{"probe": "null"}, {"probe": "mpi.pingpong", "ranks": 2}]
    study = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
    assert study.asking(["null"]).asked_probes == {"null"}
    assert study.asking(["mpi.pingpong"]).asked_probes == {"mpi.pingpong"}
    study.asked_probes  # noqa: B018
    assert study.asking(["mpi.pingpong"]).asked_probes == {"mpi.pingpong"}


def test_launches_of_a_scale_replace_the_looks(tmp_path):
    content = {
        "study": {"name": "s", "looks": [12, 25]},
        "scale": {"small": {"launches": 8}, "looked": {"looks": [12, 30]}},
        "measure": [{"probe": "null"}],
    }
    study = study_from_toml(content, where="t")
    assert (study.launches, study.looks) == (25, [12, 25])
    assert (study.at_scale("small").launches, study.at_scale("small").looks) == (8, None)
    assert (study.at_scale("looked").launches, study.at_scale("looked").looks) == (30, [12, 30])


def test_a_scale_changes_what_it_names_and_nothing_else(tmp_path):
    study = load_study(write(tmp_path, SCALED))
    small = study.at_scale("small")
    assert (study.launches, study.scale) == (12, None)
    assert (small.launches, small.scale) == (6, "small")
    first, last = small.measures
    assert first.params == {"spread": 0.3, "median_s": 0.5}
    assert first.sweep == {"points": [1, 2]}
    assert (first.ranks, first.timeout_s) == (1, 10)
    assert last == study.measures[2]
    # What a run directory keeps is the study at its scale: it continues without knowing more.
    assert study_from_toml(small.to_toml(), where="again") == small
    assert study_from_toml(study.to_toml(), where="again") == study
    with raises(StudyError, "BL-STUDY-247", "tiny", "small"):
        study.at_scale("tiny")


def test_missing_and_binary_files_are_named(tmp_path):
    with raises(StudyError, "BL-STUDY-648"):
        load_study(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with raises(StudyError, "BL-STUDY-870"):
        load_study(tmp_path / "b.toml")


def test_an_unknown_name_suggests_the_closest():
    with raises(StudyError, "BL-STUDY-437", "quick"):
        find_study("quik")


def test_built_in_studies_are_valid_and_say_what_they_are_for():
    studies = named_studies()
    assert "quick" in studies
    for study in studies.values():
        assert study.title
        assert study.description
        assert study.platforms or study.roles


def test_a_parameter_said_as_its_default_is_the_same_case():
    twice = [{"probe": "null"}, {"probe": "null", "params": {"points": 1}}]
    with raises(StudyError, "BL-STUDY-795"):
        study_from_toml({"study": {"name": "s"}, "measure": twice}, where="t")


def test_an_open_sweep_measures_what_is_said_and_unsaid_once():
    measures = [
        {"probe": "null", "ranks": "powers"},
        {"probe": "null", "ranks": "powers", "params": {"points": 1}},
    ]
    made = study_from_toml({"study": {"name": "s"}, "measure": measures}, where="t")
    tables = {"a": {"type": "null", "nodes": 1, "cores_per_node": 2}}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    assert {case.ranks for _, case in made.cases(specs)} == {1, 2}
    assert len({case for _, case in made.cases(specs)}) == 2


def test_a_question_is_kept_with_the_plan_and_may_be_replaced(tmp_path):
    study = load_study(write(tmp_path, HEAD + 'question = ["b:null time"]\n' + NULL))
    assert study_from_toml(study.to_toml(), where="again").question == ["b:null time"]
    study.check_question(["a", "b"])
    with raises(StudyError, "BL-STUDY-269"):
        study.asking(["b:null"]).check_question(["c"])
    assert study.asking(["app"]).question == ["app"]
    with raises(StudyError, "BL-STUDY-797", "--question", "mpi"):
        study.asking(["mpi"])


def test_a_measure_says_how_long_a_trace_may_become(tmp_path):
    def study(profile):
        measure = f'[[measure]]\nprobe = "npb.is"\nranks = 2\nprofile = {profile}\n'
        return load_study(write(tmp_path, HEAD + measure))

    long = study('{ trace = "128MB", once = true }')
    cases = [case for _, case in long.cases()]
    assert [case.profile for case in cases] == [False, True]
    assert long.trace_bytes(cases[1]) == 128 << 20
    assert study_from_toml(long.to_toml(), where="again") == long
    plain = study("true")
    assert plain.trace_bytes(next(case for _, case in plain.cases())) == 64 << 20
    for wrong in ('{ trace = "many" }', '{ trace = "1KB" }', '{ traces = "1MB" }'):
        with raises(StudyError, "BL-KEY-LITERAL-ERROR"):
            study(wrong)
