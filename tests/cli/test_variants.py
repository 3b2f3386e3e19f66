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
    ("change", "on", "error", "values"),
    [
        (("[variant.old]\nfactor = 2.0\n", ""), ["a"], "BL-SESSION-492", ("'two'",)),
        (("", ""), ["a", "b"], "BL-SESSION-639", ("a, b",)),
        (("factor = 2.0", "fakctor = 2.0"), ["a"], "BL-PLATFORMS-613", ("'fakctor'", "'factor'")),
        (("factor = 2.0", "factor = nan"), ["a"], "BL-PLATFORMS-613", ("'factor'", "nan")),
        (("factor = 2.0", "command = ['']"), ["a"], "BL-PLATFORMS-304", ("old", "'command'")),
        (("[variant.old]", "[variant.'no name']"), ["a"], "BL-PLATFORMS-645", ("'no name'",)),
        (("title = \"as it is now\"", "title = 3"), ["a"], "BL-KEY-STRING-TYPE", ("'title'",)),
    ],
)  # fmt: skip
def test_impossible_variants_are_one_line(bareline, study, place, change, on, error, values):
    study(change)
    asked = [word for name in on for word in ("--on", name)]
    done = bareline("run", "two.toml", *asked, "--dry-run", code=2)
    assert done.ended_by(error, *values) and "Traceback" not in done.stderr
    assert not (place / "runs").exists()


def test_equal_variants_are_noted(bareline, study):
    study(("factor = 2.0", ""), ("baseline", "#"))
    done = bareline("run", "two.toml", "--on", "a", "--dry-run")
    assert done.stderr.count("\n") == 1 and done.has_line("old", "new")
