"""A study's variants of its platform: measured in the same blocks, and refused where impossible."""

import json

import pytest

STUDY = """
[study]
name = "two"
launches = 6
precision = 0
baseline = "new"
[variant.old]
factor = 2.0
[variant.new]
title = "as it is now"
[[measure]]
probe = "null"
params = { points = 1, spread = 0.01 }
"""


@pytest.fixture
def study(place):
    """Write the study, with some of its text replaced."""

    def write(*changes):
        text = STUDY
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        (place / "two.toml").write_text(text)

    write()
    return write


def test_variants_are_compared_with_the_baseline(bareline, study, place):
    bareline("run", "two.toml", "--on", "a", "-q", "-o", "r")
    rows = json.loads(bareline("compare", "r", "--json").stdout)
    (row,) = (row for row in rows if row["headline"])
    assert (row["platform"], row["baseline"], row["verdict"]) == ("old", "new", "slower")
    records = map(json.loads, (place / "r" / "records.jsonl").read_text().splitlines())
    blocks = {(one["block"], one["platform"]) for one in records}
    assert blocks == {(block, name) for block in range(6) for name in ("old", "new")}
    bareline("continue", "r", "-q")


def test_builds_of_the_command_line_take_their_place(bareline, study):
    given = ("--build-a", "seed=1", "--build-b", "seed=2", "--dry-run", "--json")
    rows = json.loads(bareline("run", "two.toml", "--on", "a", *given).stdout)
    assert {row["platform"] for row in rows} == {"a", "b"}


@pytest.mark.parametrize(
    ("changes", "on", "told"),
    [
        ([("[variant.old]\nfactor = 2.0\n", "")], ["a"], "the study has only one variant"),
        ([], ["a", "b"], "compared on only one platform, but these are given: a, b"),
        ([("factor = 2.0", "fakctor = 2.0")], ["a"], "did you mean 'factor'"),
        ([("factor = 2.0", "factor = nan")], ["a"], "factor"),
        ([("factor = 2.0", "command = ['']")], ["a"], "the first word of the command is empty"),
        ([("[variant.old]", "[variant.'no name']")], ["a"], "variant"),
        ([("title = \"as it is now\"", "title = 3")], ["a"], "[variant.new], key 'title'"),
        ([("factor = 2.0", ""), ("baseline", "#")], ["a"], "old and new are one variant"),
    ],
)  # fmt: skip
def test_impossible_variants_are_one_line(bareline, study, place, changes, on, told):
    study(*changes)
    asked = [word for name in on for word in ("--on", name)]
    code = 0 if "are one variant" in told else 2
    said = bareline("run", "two.toml", *asked, "--dry-run", code=code).stderr
    assert told in said and "Traceback" not in said and not (place / "runs").exists()
