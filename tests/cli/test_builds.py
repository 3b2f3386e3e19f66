"""Two builds on one platform: identical ones are not told apart, a slower one is."""

import json
import tomllib
from pathlib import Path

import pytest

WORK = """
[study]
name = "perf"
launches = 6
precision = 0
[app.work]
command = ["{build}/work", "{turns}"]
mpi = false
params = { turns = 3 }
inputs = { "of" = "{build}" }
verify = ["done == turns"]
metrics.time = { regex = '^time (\\S+)' }
values.done = { regex = '^turns (\\S+)' }
[[measure]]
probe = "app.work"
"""
PROGRAM = """#!/bin/sh
echo time {seconds}
echo turns $1
echo "said $SAID" >&2
"""


@pytest.fixture
def builds(bareline, place):
    """Two builds of a program that knows how long it takes."""
    (place / "perf.toml").write_text(WORK)
    for name, seconds in (("main", 1.0), ("change", 1.1)):
        program = place / name / "work"
        program.parent.mkdir()
        program.write_text(PROGRAM.format(seconds=seconds))
        program.chmod(0o755)
    return bareline


@pytest.mark.long
def test_the_slower_build_is_found_in_blocks_that_both_share(builds, place):
    given = ("--build-a", "main", "--build-b", "change", "--build-b", "environment.SAID=b")
    builds("run", "perf.toml", "--on", "bare", *given, "-o", "ab", "-q")
    met = builds("compare", "ab", "--fail-if", "app is slower", "--json", code=1)
    row = next(row for row in json.loads(met.stdout) if row["headline"])
    assert (row["platform"], row["baseline"], row["verdict"]) == ("b", "a", "slower")
    assert row["ratio"] == pytest.approx(1.1)
    records = map(json.loads, (place / "ab" / "records.jsonl").read_text().splitlines())
    blocks = {(one["block"], one["platform"]) for one in records}
    assert blocks == {(block, name) for block in range(6) for name in "ab"}
    header = tomllib.loads((place / "ab" / "run.toml").read_text())["platform"]
    alike = {"type", "mpi", "transport", "cores_per_node"}
    assert {key: header["a"][key] for key in alike} == {key: header["b"][key] for key in alike}
    assert header["b"]["environment"] == {"SAID": "b"}
    for name, folder in (("a", "main"), ("b", "change")):
        facts = json.loads((place / "ab" / "facts" / f"{name}.json").read_text())
        assert facts["build.path"] == str(place / folder)
    # The run goes on with the same builds.
    builds("continue", "ab", "-q")


def test_a_build_that_is_one_file_is_told_by_its_sum(builds, place):
    text = (place / "perf.toml").read_text()
    (place / "perf.toml").write_text(text.replace("{build}/work", "{build}"))
    given = ("--build-a", "main/work", "--build-b", "change/work", "--launches", 1)
    builds("run", "perf.toml", "--on", "bare", *given, "-o", "ab", "-q")
    sums = {
        json.loads((place / "ab" / "facts" / f"{name}.json").read_text())["build.sha256"]
        for name in "ab"
    }
    assert len(sums) == 2


def test_a_build_that_went_away_fails_its_trials(builds, place):
    (place / "change" / "work").unlink()
    given = ("--build-a", "main", "--build-b", "change")
    few = ("--launches", 1, "-q", "-o", "ab")
    builds("run", "perf.toml", "--on", "bare", *given, *few, code=3)
    builds("compare", "ab", "--fail-if", "app is slower", code=1)


def test_alike_builds_are_not_told_apart_and_unlike_ones_are(bareline):
    """The null platform draws each run's times anew: 60 points that are alike, 12 that are not."""
    study = Path("planted.toml")
    study.write_text(study.read_text().replace("points = 3", "points = 6"))
    verdicts = {1.0: [], 1.1: []}
    for factor, runs in ((1.0, 10), (1.1, 2)):
        for number in range(runs):
            out = f"{factor}-{number}"
            given = [f"--build-{name}=seed={2 * number + at}" for at, name in enumerate("ab")]
            bareline("run", "planted.toml", "--on", "a", *given, f"--build-b=factor={factor}",
                     "--seed", number, "-q", "-o", out)  # fmt: skip
            rows = json.loads(bareline("compare", out, "--json").stdout)
            verdicts[factor] += [row["verdict"] for row in rows if row["headline"]]
    assert sum(verdict in ("slower", "faster") for verdict in verdicts[1.0]) <= 3
    assert set(verdicts[1.1]) == {"slower"}


def test_one_build_twice_is_said(builds):
    given = ("--build-a", "main", "--build-b", "main", "--dry-run")
    done = builds("run", "perf.toml", "--on", "bare", *given)
    assert done.stderr.count("\n") == 1 and done.has_line("a", "b")


@pytest.mark.parametrize(
    ("arguments", "error", "values"),
    [
        ("--on bare --build-a main", "BL-SESSION-435", ("--build-b",)),
        ("--on bare --build-a main --build-b gone", "BL-SESSION-980", ("--build-b", "'gone'")),
        ("--on bare --build-a mpj=x --build-b mpi=mpich", "BL-PLATFORMS-613", ("'mpj'", "'mpi'")),
        ("--on bare --on a --build-a main --build-b change", "BL-SESSION-639", ("bare, a",)),
        ("--on bare", "BL-STUDY-379", ("--build-a", "--build-b")),
    ],
)
def test_what_makes_no_pair_is_one_line(builds, arguments, error, values):
    done = builds("run", "perf.toml", *arguments.split(), code=2)
    assert done.ended_by(error, *values)


def test_builds_that_nothing_runs_are_refused(builds):
    given = ("--on", "a", "--build-a", "main", "--build-b", "change")
    assert builds("run", "planted.toml", *given, code=2).ended_by("BL-SESSION-305", "{build}")


def test_roles_take_no_builds(builds):
    given = ("--on", "bare", "--build-a", "mpi=mpich", "--build-b", "mpi=openmpi")
    assert builds("run", "nebula", *given, code=2).ended_by("BL-SESSION-265")
