"""Run directories that are damaged or of another version: one clear line, never a traceback."""

import copy
import json
import subprocess
import sys
import tomllib

import pytest
import tomli_w
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.cli.main import main

REMOVED = object()
VALUES = (REMOVED, 5, -3.5, "xyzzy", [], {}, True, [1], {"a": 1})
COMMANDS = ("compare", "show", "explain", "status", "report", "export")


class Sound:
    """A run as it was written, to be damaged again and again."""

    def __init__(self, run):
        self.path = run.path
        self.header = tomllib.loads((run.path / "run.toml").read_text())
        self.lines = (run.path / "records.jsonl").read_text().splitlines()

    def write(self, header=None, lines=None):
        (self.path / "run.toml").write_text(tomli_w.dumps(header or self.header))
        text = "\n".join([*(self.lines if lines is None else lines), ""])
        (self.path / "records.jsonl").write_text(text)

    def with_line(self, text, number=3):
        return [*self.lines[: number - 1], text, *self.lines[number:]]


@pytest.fixture
def sound(make_run, execute):
    run = make_run(launches=6, params={"points": 1})
    execute(run)
    return Sound(run)


@pytest.fixture
def ended(sound, monkeypatch, capsys, tmp_path):
    """Run a command on the run; give its exit code and what it said on stderr."""

    def go(command):
        out = {"report": "page.html", "export": "samples.csv"}.get(command)
        more = ["--out", str(tmp_path / out)] if out else []
        monkeypatch.setattr(sys, "argv", ["bareline", command, str(sound.path), "--verbose", *more])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, capsys.readouterr().err

    return go


def paths(node, path=()):
    """Yield the way to every key and element below."""
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield (*path, key)
            yield from paths(node[key], (*path, key))


def changed(node, path, value):
    """Give a copy with one key removed or of another value."""
    node = at = copy.deepcopy(node)
    for key in path[:-1]:
        at = at[key]
    if value is REMOVED:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return node


@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_is_changed_the_command_ends_well_or_with_one_line(data, sound, ended):
    of_header = data.draw(st.booleans())
    content = sound.header if of_header else json.loads(sound.lines[2])
    broken = changed(
        content,
        data.draw(st.sampled_from(list(paths(content)))),
        data.draw(st.sampled_from(VALUES if of_header else (*VALUES, None))),
    )
    if of_header:
        sound.write(header=broken)
    else:
        sound.write(lines=sound.with_line(json.dumps(broken)))
    code, said = ended(data.draw(st.sampled_from(COMMANDS)))
    assert (code, said) == (0, "") or (code == 2 and said.count("\n") == 1), said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("path", "value", "code", "place"),
    [
        (("schema",), 0, "BL-STORE-103", "0"),
        (("schema",), 2, "BL-STORE-103", "2"),
        (("probe", "null", "headline"), REMOVED, "BL-STORE-641", "'probe.null.headline'"),
        (("probe", "null", "layer"), "xyzzy", "BL-STORE-641", "'probe.null.layer'"),
        (("baseline",), "xyzzy", "BL-STORE-899", "'xyzzy'"),
        (("study", "study"), REMOVED, "BL-STORE-641", "'study.study'"),
    ],
)
def test_a_damaged_header_is_named_with_its_key(sound, ended, command, path, value, code, place):
    sound.write(header=changed(sound.header, path, value))
    exit_code, error = ended(command)
    assert exit_code == 2
    assert f"[{code}]" in error
    assert str(sound.path) in error and place in error.replace(str(sound.path), "")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("path", "value", "code", "place"),
    [
        (("platform",), REMOVED, "BL-STORE-109", "'platform'"),
        (("probe",), "xyzzy", "BL-STORE-700", "'xyzzy'"),
        (("status",), "xyzzy", "BL-STORE-109", "'status'"),
        (("params",), "=", "BL-VOCABULARY-886", "'='"),
        (("samples", 0, "value"), "1.5", "BL-STORE-109", "'samples.0.value'"),
        (("samples", 0, "metric"), "xyzzy", "BL-STORE-577", "'xyzzy'"),
        (("samples",), REMOVED, "BL-STORE-109", "'samples'"),
    ],
)
def test_a_damaged_record_is_named_with_its_line_and_key(
    sound, ended, command, path, value, code, place
):
    line = changed(json.loads(sound.lines[2]), path, value)
    sound.write(lines=sound.with_line(json.dumps(line)))
    exit_code, error = ended(command)
    assert exit_code == 2
    assert f"[{code}]" in error
    assert "records.jsonl: line 3" in error and place in error


@pytest.mark.parametrize("text", ["garbage", "[]", "null", '{"trial": 2, "attempt": 1, "bl'])
def test_a_line_that_is_no_record_is_named(sound, ended, text):
    sound.write(lines=sound.with_line(text))
    for command in ("compare", "status"):
        code, error = ended(command)
        assert code == 2
        assert "[BL-STORE-109]" in error and "records.jsonl: line 3" in error


def test_a_run_of_before_probes_had_titles_calls_them_by_name(sound):
    sound.write(header=changed(sound.header, ("probe", "null", "title"), REMOVED))
    done = subprocess.run(
        [sys.executable, "-m", "bareline", "compare", str(sound.path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "On b null takes 1.48 times as long" in done.stdout


def test_damaged_facts_are_named(sound, ended):
    (sound.path / "facts" / "a.json").write_text("[1]")
    code, error = ended("report")
    assert code == 2
    assert "[BL-STORE-259]" in error and "a.json: " in error
