"""Any program as a probe: descriptions, figures, conditions, and the script that starts it."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bareline.probes.app._expression import Condition
from bareline.probes.app.program import Program, Value, program_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

TEXT = """\
step 1 residual 1.0D-03
step 2 residual 2.5D-09
main loop   12.50 s
energy = -15.85
the end
"""
DESCRIPTION: dict[str, Any] = {
    "command": ["solver", "--steps", "{steps}", "{workdir}/out", "{unknown}"],
    "steps": [["mesher", "-n", "{cells}"], ["cp", "a b", "c"]],
    "inputs": {"system/run.txt": "steps = {steps}\nbraces {{ stay }}\n", "mesh": "m"},
    "params": {"steps": 100, "cells": 8},
    "complete": r"^the end$",
    "metrics": {"time": {"regex": r"^main loop +(\S+) s"}},
    "values": {
        "residual": {"regex": r"residual (\S+)", "take": "last"},
        "energy": {"regex": r"energy = (\S+)"},
    },
    "verify": ["residual < 1e-8", "abs(energy + 15.85) < 0.01 and steps == 100"],
}


def described(**changed: Any) -> Program:
    return Program.model_validate({**DESCRIPTION, **changed})


def read(text: str, files: dict[str, str] | None = None, **changed: Any) -> dict[str, float]:
    probe = program_probe("app.solver", described(**changed))
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=20.0, files=files or {})
    reading = probe.read(probe.make_params({}), output)
    return {sample.metric: sample.value for sample in reading.samples}


def test_figures_and_the_whole_launch() -> None:
    assert read(TEXT) == {"time": 12.5, "launch_time": 20.0}


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("2.5D-09", "2.5D-05", "BL-PROBES-630"),
        ("-15.85", "-15.75", "BL-PROBES-630"),
        ("-15.85", "NaN", "BL-PROBES-991"),
        ("main loop", "main lop", "BL-PROBES-722"),
        ("main loop   12.50 s", "main loop 1 s\nmain loop 2 s", "BL-PROBES-797"),
        ("the end\n", "", "BL-PROBES-345"),
    ],
)
def test_a_result_that_is_not_verified_is_refused(old: str, new: str, code) -> None:
    assert old in TEXT
    with raises(ParseError, code):
        read(TEXT.replace(old, new))


def test_values_of_files_and_json() -> None:
    metrics = {
        "time": {"json_path": "runs.1.loop_ms", "file": "out.json", "scale": 1e-3},
        "rate": {
            "regex": r"rate (\S+)", "file": "log", "take": "mean", "unit": "flop/s",
            "better": "higher", "scale": 1e9,
        },
    }  # fmt: skip
    files = {"out.json": '{"runs": [{}, {"loop_ms": 250}]}', "log": "rate 1.0\nrate 3.0\n"}
    found = read(TEXT, files, metrics=metrics, complete="")
    assert found == {"time": 0.25, "rate": 2e9, "launch_time": 20.0}
    command = program_probe("app.solver", described(metrics=metrics)).command(
        program_probe("app.solver", described()).make_params({}), Layout()
    )
    assert command.outputs == ("out.json", "log")
    for broken, code in (
        ("{}", "BL-PROBES-471"),
        ('{"runs": [{}, {"loop_ms": "250"}]}', "BL-PROBES-930"),
        ("no JSON", "BL-PROBES-471"),
    ):
        with raises(ParseError, code, "time"):
            read(TEXT, {**files, "out.json": broken}, metrics=metrics, complete="")
    with raises(ParseError, "BL-PROBES-649", "out.json"):
        read(TEXT, {"log": files["log"]}, metrics=metrics, complete="")


@pytest.mark.parametrize(
    ("take", "value"),
    [("first", 3.0), ("last", 2.0), ("min", 1.0), ("max", 3.0), ("sum", 6.0), ("mean", 2.0)],
)
def test_one_of_several(take: str, value: float) -> None:
    output = Output(stdout="t 3\nt 1\nt 2\n", stderr="", exit_code=0, duration_s=1.0)
    source = Value.model_validate({"regex": r"t (\d)", "take": take})
    assert source.read("t", output) == value


# Descriptions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"verify": []}, "BL-KEY-TOO-SHORT"),
        ({"verify": ["residul < 1"]}, "BL-PROBES-158"),
        ({"verify": ["energy"]}, "BL-PROBES-224"),
        ({"verify": ["abs(energy, 1) < 1"]}, "BL-PROBES-879"),
        ({"verify": ["energy" + " + 1" * 600 + " < 1"]}, "BL-PROBES-149"),
        # Python 3.13 reads it, earlier ones do not.
        (
            {"verify": ["energy" + " + 1" * 6000 + " < 1"]},
            "BL-PROBES-149" if sys.version_info >= (3, 13) else "BL-PROBES-417",
        ),
        ({"verify": ["__import__('os').system('id') == 0"]}, "BL-PROBES-725"),
        ({"command": []}, "BL-KEY-TOO-SHORT"),
        ({"command": ["a\nb"]}, "BL-PROBES-410"),
        ({"inputs": {"../x": "t"}}, "BL-PROBES-760"),
        ({"inputs": {"/etc/x": "t"}}, "BL-PROBES-760"),
        ({"metrics": {"time": {"regex": "no group"}}}, "BL-PROBES-339"),
        ({"metrics": {"time": {"regex": "("}}}, "BL-PROBES-628"),
        ({"metrics": {"time": {}}}, "BL-PROBES-198"),
        ({"metrics": {"time": {"regex": "(x)", "unit": "ms"}}}, "BL-PROBES-534"),
        ({"metrics": {"launch_time": {"regex": "(x)"}}}, "BL-PROBES-588"),
        ({"case_folder": "case"}, "BL-PROBES-220"),
        ({"shell": True}, "BL-KEY-EXTRA-FORBIDDEN"),
    ],
)
def test_impossible_descriptions_are_refused(changed: dict[str, Any], code: str) -> None:
    with raises(ValidationError, code):
        described(**changed)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("min(a) < b", True),
        ("abs(min(nan, a)) < b", False),
        ("a < b", True),
        ("1 <= a < b <= 2", True),
        ("max(a, b) == 2 and not_there < 1", False),
        ("a / 0 < 1", False),
        ("min(nan, a) < 5 or min(a, nan) < 5", False),
        ("-a + 2 * b - b / 2 == 2", True),
        ("abs(a - b) > 0.5 or a > b", True),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    assert Condition(text).holds({"a": 1.0, "b": 2.0, "nan": math.nan}) == holds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a.b < 1", "BL-PROBES-725"),
        ("[a] == 1", "BL-PROBES-725"),
        ("a < 'x'", "BL-PROBES-627"),
        ("a if b else c", "BL-PROBES-224"),
        ("f(a) < 1", "BL-PROBES-725"),
        ("a ** 9 < 1", "BL-PROBES-725"),
        ("True == a", "BL-PROBES-627"),
        ("abs() < 1", "BL-PROBES-979"),
        ("(" * 300, "BL-PROBES-417"),
        ("a <", "BL-PROBES-417"),
    ],
)
def test_what_is_no_condition(text: str, code: str) -> None:
    with raises(ValueError, code):
        Condition(text)


def test_parameters_are_those_of_the_description() -> None:
    probe = program_probe("app.solver", described())
    assert probe.defaults() == {"steps": 100, "cells": 8}
    command = probe.command(probe.make_params({"steps": 7}), Layout(2, 3, 4))
    assert command.argv[3:] == ("solver", "--steps", "7", "{workdir}/out", "{unknown}")
    assert command.requires == ("sh", "solver", "mesher", "cp")
    assert ("OMP_NUM_THREADS", "4") in command.env
    assert dict(command.inputs)["system%run.txt"] == "steps = 7\nbraces {{ stay }}\n"
    with raises(ProbeError, "BL-PROBES-808", "step"):
        probe.make_params({"step": 7})
    with raises(ProbeError, "BL-PROBES-842", "steps"):
        probe.make_params({"steps": "many"})


# The script --------------------------------------------------------------------------------------


def started(folder: Path, program: Program, count: int = 1) -> list[subprocess.Popen[str]]:
    probe = program_probe("app.solver", program)
    command = probe.command(probe.make_params({}), Layout())
    for name, text in command.inputs:
        (folder / name).write_text(text)
    line = [word.replace("{workdir}", str(folder)) for word in command.argv]
    return [
        subprocess.Popen(
            line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(count)
    ]


def test_steps_run_once_and_every_rank_waits_for_them(tmp_path: Path) -> None:
    program = described(
        command=["cat", "made here", "system/run.txt"],
        steps=[
            ["sleep", "0.3"],
            ["cp", "mesh", "made here"],
            ["sh", "-c", "echo once >>'made here'"],
        ],
    )
    for process in started(tmp_path, program, 3):
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert out == "monce\nsteps = 100\nbraces {{ stay }}\n"


def test_a_step_that_fails_ends_every_rank_with_what_it_said(tmp_path: Path) -> None:
    program = described(command=["echo", "ran"], steps=[["cat", "nothing here"]])
    done = [process.communicate(timeout=60) for process in started(tmp_path, program, 2)]
    assert [out for out, _ in done] == ["", ""]
    said = "".join(err for _, err in done)
    assert said.count("a step before the program failed") == 1
    assert "nothing here" in said


def test_a_case_of_the_nodes_is_copied_and_never_written_to(tmp_path: Path) -> None:
    case, work = tmp_path / "my case", tmp_path / "work"
    (case / "deep").mkdir(parents=True)
    (case / "deep" / "data").write_text("kept\n")
    work.mkdir()
    program = described(
        command=["sh", "-c", "cat deep/data && echo changed > deep/data"],
        steps=[],
        case_folder=str(case),
    )
    (process,) = started(work, program)
    assert process.communicate(timeout=60)[0] == "kept\n"
    assert (case / "deep" / "data").read_text() == "kept\n"
    missing = tmp_path / "other"
    missing.mkdir()
    (process,) = started(missing, described(steps=[], case_folder="/nowhere", command=["true"]))
    assert "there is no folder '/nowhere'" in process.communicate(timeout=60)[1]
    assert process.returncode == 2


def test_nothing_of_a_description_reaches_a_shell(tmp_path: Path) -> None:
    words = ["$(touch harm)", "`touch harm`", "; touch harm", "a'b\"c", "*", "-n"]
    program = described(command=["printf", r"%s\n", *words], steps=[["printf", "%s", *words]])
    (process,) = started(tmp_path, program)
    assert process.communicate(timeout=60)[0].splitlines() == words
    assert not (tmp_path / "harm").exists()
