"""The schemas that `bareline schema` prints: real files fit them, and what each command prints."""

import json
import re
import shutil
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

import pytest
import typer.main
from jsonschema import Draft202012Validator

from bareline.cli.main import app
from bareline.cli.output import OUTPUTS, schema_of, schema_rows

TESTS = Path(__file__).parents[1]
RUNS = TESTS / "data" / "runs-0.1.0"
LINES = ("records.jsonl", "events.jsonl", "sessions.jsonl", "planned.jsonl", "left_out.jsonl")
STUDIES = [file for file in (resources.files("bareline") / "studies").iterdir()
           if file.name.endswith(".toml")]  # fmt: skip


@cache
def validator(name):
    return Draft202012Validator(schema_of(name))


def wrong(name, content):
    return [error.message for error in validator(name).iter_errors(content)]


@pytest.mark.parametrize("name", [row["schema"] for row in schema_rows()])
def test_each_is_a_schema(name):
    schema = schema_of(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema") and schema["title"]


# Files --------------------------------------------------------------------------------------------


def test_every_built_in_study_and_platform_fits():
    for file in STUDIES:
        assert wrong("study.toml", tomllib.loads(file.read_text())) == [], file.name
    builtin = resources.files("bareline.platforms") / "builtin.toml"
    assert wrong("platforms.toml", tomllib.loads(builtin.read_text())) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("study.toml", {"study": {"name": "x"}}),
        ("study.toml", {"study": {"name": "x"}, "measure": [{"probe": "null", "lunches": 3}]}),
        ("study.toml", {"study": {"name": "x", "launches": 0}, "measure": [{"probe": "null"}]}),
        ("platforms.toml", {"platform": {"a": {"type": "nil"}}}),
        ("platforms.toml", {"platform": {"a": {"type": "null", "factr": 2.0}}}),
        ("platforms.toml", {"platforms": {}}),
        ("reference.toml", {"system": {"a": [{"probe": "null"}]}}),
        ("run.toml", {"schema": 1}),
        ("records.jsonl", {"trial": "first"}),
    ],
)
def test_what_is_refused_when_it_is_read_does_not_fit(name, content):
    assert wrong(name, content)


@pytest.mark.parametrize("run", ["measured", "planted", "sessions"])
def test_runs_of_released_versions_fit(run):
    assert_fits(RUNS / run)


def assert_fits(run):
    assert wrong("run.toml", tomllib.loads((run / "run.toml").read_text())) == []
    for name in LINES:
        if (run / name).exists():
            for line in (run / name).read_text().splitlines():
                assert wrong(name, json.loads(line)) == [], name
    kinds = {"cost.json": "cost.json", "facts.json": "facts/*.json", "raw.json": "raw/*.json"}
    for name, where in kinds.items():
        for file in run.glob(where):
            assert wrong(name, json.loads(file.read_text())) == [], file


# Outputs ------------------------------------------------------------------------------------------


@pytest.fixture
def printed(bareline, fits):
    """Run a command with ``--json`` and hold what it prints against a schema."""

    def go(name, *words, code=0):
        rows = json.loads(bareline(*words, "--json", code=code).stdout)
        fits(name, rows)
        return rows

    return go


def test_a_study_from_plan_to_page(printed, place):
    study = ("run", "planted.toml", "--on", "a", "--on", "b", "--on", "broken", "--quiet")
    printed("run-dry-run", *study, "--dry-run")
    (row,) = printed("run", *study, "--out", "r", code=3)
    assert (row["run"], row["remaining"]) == ("r", 0) and row["failed"]
    assert_fits(place / "r")
    printed("continue", "continue", "r", "--retry-failed", "--quiet", code=3)
    printed("status", "status", "r")
    printed("runs", "runs", ".")
    assert {"n_failed", "value"} <= set().union(*printed("show", "show", "r"))
    printed("show-facts", "show", "r", "--facts")
    assert {row["verdict"] for row in printed("compare", "compare", "r")} >= {"slower"}
    found = printed("explain", "explain", "r")
    assert {row["kind"] for row in found} >= {"finding", "suitability"}
    printed("explain-why-not", "explain", "r", "--why-not", "shared cores")
    (page, *figures) = printed("report", "report", "r", "--figures", "drawn")
    assert page["form"] == "html" and {row["form"] for row in figures} == {"svg", "png"}
    (file,) = printed("export", "export", "r", "-o", "r.csv")
    assert file["samples"] == len((place / "r.csv").read_text().splitlines()) - 1


def test_a_run_that_is_read_again(printed, place):
    shutil.copytree(RUNS / "measured", place / "m")
    # Whatever stands there, also what no parser expects, is a failed trial and no traceback.
    (place / "m" / "raw" / "000000" / "stdout").write_text("nothing that a parser reads\n")
    (row, *_) = printed("reparse", "reparse", "m")
    assert (row["before"], row["now"]) == ("measured", "failed") and row["reason"]


def test_what_there_is(printed):
    printed("platforms", "platforms")
    printed("platforms-show", "platforms", "show", "b")
    site = TESTS / "platforms" / "data" / "reframe.show-config.json"
    rows = printed("platforms-from-reframe", "platforms", "from-reframe", site)
    assert wrong("platforms.toml", {"platform": rows["platform"]}) == []
    printed("probes", "probes")
    printed("studies", "studies")
    printed("published", "published")
    printed("schema", "schema")
    printed("doctor", "doctor")


def test_systems_of_benchpark(printed, contrib, place):
    (place / "variables.yaml").write_text("variables: {scheduler: slurm, queue: a}\n")
    rows = printed("platforms-from-benchpark", "platforms", "from-benchpark", ".")
    (table,) = rows["platform"].values()
    assert (table["type"], table["partition"]) == ("slurm", "a")


def test_a_package_is_made(printed):
    printed("new", "new", "study", "mine")


def test_a_profile_and_an_import(printed):
    printed("show-profile", "show", TESTS / "profile" / "data" / "planted.profile")
    file = TESTS / "formats" / "data" / "nuttcp.tcp.out"
    printed("import", "import", file, "--platform", "x", "--out", "imported", "--quiet")
    printed("reference", "reference", "imported")


def test_programs_and_remains(printed, monkeypatch):
    from bareline.platforms import listing

    monkeypatch.setattr(listing, "clean", lambda: ["a namespace"])
    printed("platforms-clean", "platforms", "clean")
    row = {"toolchain": "cc", "path": "/p", "log": "/p.log", "left_out": [], "seconds": 1.0}
    row |= {"cached": False, "host": "", "library": "", "machine": "x86_64"}
    monkeypatch.setattr(listing, "build_row", lambda _: row)
    printed("build", "build")


def test_what_each_command_prints_is_held_against_its_schema_somewhere():
    held = set()
    for file in TESTS.rglob("test_*.py"):
        text = file.read_text()
        held |= set(re.findall(r'(?:fits|printed)\(\s*"([a-z-]+)"', text))
    assert set(OUTPUTS) - held == set()


def test_every_command_prints_rows_but_the_one_whose_output_is_anothers():
    def commands(command, name=""):
        for own, inner in getattr(command, "commands", {}).items():
            yield from commands(inner, f"{name}-{own}".removeprefix("-"))
        if name and command.params:
            yield name, {option for one in command.params for option in one.opts}

    options = dict(commands(typer.main.get_command(app)))
    assert {name for name, own in options.items() if "--json" not in own} == {"profile"}
    assert set(options) - {"profile"} - set(OUTPUTS) == set()
    assert {name for name, own in options.items() if "--out" not in own} <= {
        "continue", "reparse", "platforms-clean"  # they change a run or a machine
    }  # fmt: skip


# The rest of the interface ------------------------------------------------------------------------


def test_a_name_that_is_none_is_refused_with_the_closest(bareline):
    assert bareline("schema", "comprae", code=2).ended_by("BL-CLI-342", "compare")


def test_an_error_is_an_object_where_rows_are_asked_for(bareline):
    done = bareline("show", "nothing", "--json", code=2)
    told = json.loads(done.stderr)
    assert done.stdout == "" and told["exit_code"] == 2 and told["where"] == "nothing"
    assert told["code"] == "BL-STORE-971" and told["error"] and told["hint"]
    assert bareline("show", "nothing", code=2).ended_by("BL-STORE-971", "bareline: nothing: ")


def test_what_is_printed_can_be_written_to_a_file(bareline, place):
    shown = bareline("platforms", "show", "b", "--json").stdout
    assert bareline("platforms", "show", "b", "--json", "-o", "b.json").stdout == ""
    assert (place / "b.json").read_text() == shown
    assert bareline("platforms", "show", "b", "--json").stdout == shown, "the next one prints again"
    bareline("show", "nothing", "-o", "kept.txt", code=2)
    assert not (place / "kept.txt").exists()
    done = bareline("studies", "-o", "missing/studies.txt", code=2)
    assert done.ended_by("BL-CLI-926", "missing/studies.txt")
