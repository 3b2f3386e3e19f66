"""Files that somebody edited, or made to hurt: refused in one line, soon, without a traceback."""

import contextlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import tomli_w

from bareline.analysis.numbers.records import read_runs
from bareline.platforms.base import availability_of, load_platform_types
from bareline.platforms.config import load_platforms
from bareline.report.terminal.progress import PlainProgress
from bareline.report.writers.console import make_console
from bareline.store.run import Run
from bareline.study.plan import make_plan
from bareline.study.reading import load_study
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError, StoreError, StudyError, UsageError
from bareline.vocabulary.files import read_toml
from bareline.vocabulary.model import Case, Failed, Record, Stage, Trial

DEEP = "x = " + "[" * 3000 + "]" * 3000
LONG = f"x = {'9' * 5000}"
HUGE = 9_999_999_999


# An edited run.toml ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [("seed = 1\n", "seed = 2\n"), ("median_s", "median_x"), ("spread = 0.02", "spread = 0.2")],
)
def test_a_run_whose_settings_were_edited_is_not_continued(make_run, execute, old, new):
    run = make_run(params={"median_s": 1e-3, "spread": 0.02}, launches=2)
    file = run.path / "run.toml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    with raises(BarelineError, "BL-SESSION-851", "run.toml"):
        execute(Run.open(run.path))
    assert list(Run.open(run.path).records()) == []


def test_its_numbers_carry_a_caveat(finished):
    assert "edited" not in _caveats(finished)
    file = finished.path / "run.toml"
    file.write_text(file.read_text().replace("margin = 0.02", "margin = 0.5", 1))
    assert "edited" in _caveats(Run.open(finished.path))
    read_runs([Run.open(finished.path)])


def _caveats(run):
    return {code for codes in run.tables().trials["caveats"].to_list() for code in codes}


# Numbers that take the machine ----------------------------------------------------------------


def _leaves(schema, path=()):
    """Yield the way to every number or text of a model's JSON schema."""
    defs = schema.get("$defs", {})

    def walk(node, path, depth):
        if depth > 6:
            return
        node = defs[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
        for option in node.get("anyOf", []):
            yield from walk(option, path, depth + 1)
        if node.get("type") == "object":
            for name, inner in node.get("properties", {}).items():
                yield from walk(inner, (*path, name), depth + 1)
        elif node.get("type") in ("integer", "number", "string"):
            yield path, node["type"]
        elif node.get("type") == "array":
            items = node.get("items") or {}
            yield from ((p, f"array of {t}") for p, t in walk(items, path, depth + 1))

    yield from walk(schema, path, 0)


def _options():
    for name, platform in load_platform_types().items():
        found = dict(_leaves(platform.options.model_json_schema()))
        for path, kind in sorted(found.items()):
            yield pytest.param(name, path, kind, id=f"{name}-{'.'.join(path)}")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("kind", "path", "what"), list(_options()))
def test_no_number_of_a_platform_takes_the_machine(bounded, kind, path, what):
    values = ["0-9999999999", str(HUGE), "9" * 400] if "string" in what else [HUGE, 10**30]
    for value in values:
        content = [value] if "array" in what else value
        for name in reversed(path):
            content = {name: content}
        try:
            from bareline.platforms.config import make_spec

            spec = make_spec("p", {"type": kind, **content}, where="test")
            assert not availability_of(spec).reason.startswith("MemoryError")
            assert spec.options.node_count <= 1_000_000
            study = study_from_toml(
                {"study": {"name": "s", "launches": 1}, "measure": [{"probe": "null", "ranks": 7}]},
                where="test",
            )
            make_plan(study, [spec])
        except BarelineError as error:
            _one_line(error)


def test_a_plan_of_more_than_a_million_trials_is_refused(bounded):
    head = {"name": "s", "launches": 100_000}
    sweep = {"points": list(range(1, 12))}
    study = study_from_toml(
        {"study": head, "measure": [{"probe": "null", "sweep": sweep}]}, where="test"
    )
    spec = load_platforms()["bare"]
    with raises(StudyError, "BL-STUDY-441", "1,100,000"):
        make_plan(study, [spec])


@pytest.mark.timeout(30)
def test_a_sweep_of_millions_is_refused_before_it_is_made(bounded):
    sweep = {name: list(range(1, 301)) for name in ("points", "median_s", "spread")}
    with raises(StudyError, "BL-STUDY-125", "27,000,000"):
        study_from_toml(
            {"study": {"name": "s"}, "measure": [{"probe": "null", "sweep": sweep}]}, where="test"
        )


@pytest.mark.timeout(30)
@pytest.mark.parametrize("key", ["ranks", "threads", "nodes", "ranks_per_node"])
def test_no_number_of_a_measure_takes_the_machine(bounded, key):
    try:
        study = study_from_toml(
            {"study": {"name": "s"}, "measure": [{"probe": "null", key: 10**15 + 37}]}, where="test"
        )
        make_plan(study, [load_platforms()["bare"]])
    except BarelineError as error:
        _one_line(error)


# TOML that is none, or too much ---------------------------------------------------------------


@pytest.mark.parametrize("text", [DEEP, LONG, "x = ", "\x00", "x = 'a", "[" * 70_000])
def test_toml_that_cannot_be_read_is_one_line(tmp_path, text):
    file = tmp_path / "file.toml"
    file.write_text(text)
    for read in (load_study, load_platforms):
        with pytest.raises(BarelineError) as caught:
            read(file)
        _one_line(caught.value)
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.toml").write_text(text)
    with pytest.raises(StoreError) as caught:
        Run.open(run)
    _one_line(caught.value)


def _one_line(error):
    text = str(error)
    assert "\n" not in text
    assert text.isprintable()
    assert len(text) < 2000


@pytest.mark.timeout(20)
@pytest.mark.parametrize("place", ["/dev/zero", "/proc/self/mem", "."])
def test_what_is_no_file_is_not_read(place):
    with pytest.raises(StudyError):
        load_study(Path(place))


def test_good_toml_is_read_as_it_is(tmp_path):
    (tmp_path / "x.toml").write_text("a = 1\n[b]\nc = 'ä'\n")
    assert read_toml(tmp_path / "x.toml") == tomllib.loads("a = 1\n[b]\nc = 'ä'\n")


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31mb", "x" * 20_000, "a\u202eb", "a\rb"])
def test_names_are_quoted_and_shortened_in_every_message(name):
    for make in (
        lambda: UsageError(f"no platform is named '{name}'"),
        lambda: UsageError("wrong", where=name, hint=f"use '{name}'"),
    ):
        _one_line(make())


def test_what_a_program_prints_never_reaches_the_terminal_as_it_is(capsys):
    """A failed trial's reason ends in the program's own words."""
    said = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e"
    trial = Trial(index=0, block=0, platform="a", case=Case(probe="null"), layout=None)
    outcome = Failed(Stage.EXIT, f"exit code 3; stderr ends: {said}")
    progress = PlainProgress(make_console(stderr=True))
    progress.finished(Record(trial=trial, outcome=outcome, started="", duration_s=0.0))
    progress.note("a", said)
    progress.skipped(1, said)
    shown = capsys.readouterr().err
    assert "exit code 3" in shown
    assert all(character.isprintable() for character in shown if character != "\n")


# A run directory from elsewhere ----------------------------------------------------------------


@pytest.mark.parametrize("what", ["raw", "facts", "records.jsonl", "events.jsonl", "run.toml"])
def test_a_run_that_points_elsewhere_is_not_written(make_run, execute, tmp_path, what):
    run = make_run(launches=1)
    elsewhere = tmp_path / "elsewhere"
    place = run.path / what
    if place.is_dir() or place.exists():
        place.rename(elsewhere)
    else:
        elsewhere.touch()
    before = _content(elsewhere)
    place.symlink_to(elsewhere)
    with raises(StoreError, "BL-STORE-101"):
        execute(run)
    assert _content(elsewhere) == before


@pytest.mark.parametrize("name", ["raw/000000", "raw/000000.json", "facts/a.json"])
def test_a_planted_link_is_never_written_through(make_run, execute, tmp_path, name):
    run = make_run(launches=1)
    target = tmp_path / "target"
    if name.endswith("000000"):
        target.mkdir()
    else:
        target.write_text("mine")
    (run.path / name).symlink_to(target)
    with contextlib.suppress(StoreError):
        execute(run)
    assert _content(target) in ("mine", [])


def _content(path):
    return sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_programs_of_a_build_that_others_may_change_are_not_run(tmp_path):
    from bareline.build.record import trusted

    build = tmp_path / "build"
    (build / "bin").mkdir(parents=True)
    program = build / "bin" / "mpibench"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    trusted(build)
    program.chmod(0o777)
    with raises(StoreError, "BL-HOST-273"):
        trusted(build)
    program.chmod(0o755)
    os.chown(program, 12345, -1)
    with raises(StoreError, "BL-HOST-762"):
        trusted(build)


def test_the_record_of_a_build_that_others_may_change_is_not_read(tmp_path, monkeypatch):
    from bareline.build import record

    build = tmp_path / "build"
    build.mkdir()
    (build / "build.json").write_text("{}")
    assert record.finished_build(build) is None  # a record that is not whole
    build.chmod(0o777)
    monkeypatch.setattr(record, "_build_of", lambda *_: pytest.fail("it was read"))
    with raises(StoreError, "BL-HOST-273"):
        record.finished_build(build)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "large"])
def test_what_is_no_record_of_a_build_is_none(kind, tmp_path):
    from bareline.build.record import finished_build

    place = tmp_path / "build.json"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "link":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as file:
            file.truncate(1 << 40)
    assert finished_build(tmp_path) is None


# Small -----------------------------------------------------------------------------------------


def test_a_kill_before_the_run_was_made_does_not_block_its_folder(make_run, tmp_path):
    run = make_run()
    (run.path / "run.toml").rename(run.path / "run.toml.part")
    with raises(StoreError, "BL-STORE-257"):
        Run.open(run.path)
    again = Run.create(run.path, run.header)
    assert Run.open(again.path).header == run.header


def test_a_folder_with_results_is_never_taken_for_one_that_was_not_made(finished):
    (finished.path / "run.toml").unlink()
    with raises(StoreError, "BL-STORE-823"):
        Run.create(finished.path, finished.header)


def test_a_null_trial_leaves_one_small_file(finished):
    raw = list((finished.path / "raw").rglob("*"))
    assert len(raw) == 4
    assert all(path.is_file() and path.stat().st_size < 4096 for path in raw)


GARBAGE = """
import sys
from pathlib import Path
from bareline.platforms.null import NullAllocation
from bareline.session.runner import execute
from bareline.store.run import Run
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.model import Output
def run(self, command, layout, *, timeout_s):
    text = "garbage\\n" * 400_000
    return Output(stdout=text, stderr=text, exit_code=1, duration_s=0.0)
NullAllocation.run = run
execute(Run.open(Path(sys.argv[1])), SilentObserver())
"""


def test_the_garbage_of_many_trials_is_bounded(make_run):
    run = make_run(launches=20)
    subprocess.run([sys.executable, "-c", GARBAGE, run.path], check=True)
    size = sum(path.stat().st_size for path in (run.path / "raw").rglob("*") if path.is_file())
    assert size < 80 << 20
    outputs = [run.read_raw(record.trial) for record in run.records()]
    assert all(output.stdout.startswith("garbage") for output in outputs)
    assert any("characters left out" in output.stdout for output in outputs)


@pytest.mark.parametrize("name", ["/tmp/owned", "../../owned", "a/b", "a\0"])
def test_a_platforms_name_is_no_place(finished, name):
    """Facts of a platform lie in a file of its name, which `reparse` and `continue` write."""
    file = finished.path / "run.toml"
    quoted = tomli_w.dumps({name: 1}).partition(" = ")[0]
    header = file.read_text()
    assert "[platform.b]" in header
    file.write_text(header.replace("[platform.b]", f"[platform.{quoted}]"))
    with raises(StoreError, "BL-STORE-566", "platform"):
        Run.open(finished.path).facts()
