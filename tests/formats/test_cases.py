"""Inputs that people bring: each gives what ``cases/expected.toml`` says, by the command line."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mpmd import skip_where_two_programs_crash

from bareline.cli.main import main

CASES = Path(__file__).parent / "cases"
EXPECTED = tomllib.loads((CASES / "expected.toml").read_text())["case"]
#: Caveats that every import of few outputs has.
COMMON = ("imported", "n-too-small", "page-cache", "unpaired")
_UNKNOWN_RANKS = "the output does not say its number of ranks"
pytestmark = pytest.mark.usefixtures("contrib")


@dataclass
class Run:
    """One command that ran: its arguments, exit code and output."""

    argv: list[str]
    code: int
    text: str
    rows: list[dict[str, Any]]


@pytest.fixture
def run_commands(tmp_path, monkeypatch, capsys):
    """Run the commands of a case in a folder of its own."""

    def run_one(argv):
        monkeypatch.setattr(sys, "argv", ["bareline", *argv])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        as_json = "--json" in argv
        rows = json.loads(printed.out) if as_json and ended.value.code == 0 else []
        text = printed.err if as_json else printed.out + printed.err
        return Run(argv, ended.value.code, text, rows)

    def prepare(argv):
        if argv[0].startswith("!"):
            subprocess.run([argv[0][1:], *argv[1:]], check=True, timeout=60)
        else:
            assert run_one(argv).code == 0

    def run_all(case):
        monkeypatch.chdir(tmp_path)
        shutil.copytree(CASES / case["name"], tmp_path / "in")
        for argv in case.get("before", []):
            prepare(argv)
        runs = [run_one(argv) for argv in case["commands"]]
        for path in sorted((tmp_path / "in").rglob("*"), reverse=True):
            for run in runs:
                run.text = run.text.replace(path.name, "")
        return runs

    return run_all


def problems_of(runs, right):
    """Give every condition of a right way that the runs do not meet."""
    problems = []
    for verb, codes in right.get("exit", {}).items():
        problems += [
            f"exit code {run.code} of {run.argv}: {run.text}"
            for run in runs
            if run.argv[0] == verb and run.code not in codes
        ]
    for key, wanted in (("says", True), ("never", False)):
        for verb, pattern in right.get(key, {}).items():
            text = "\n".join(run.text for run in runs if is_meant(run, verb))
            if bool(re.search(pattern, text, re.IGNORECASE | re.MULTILINE)) is not wanted:
                problems.append(f"{key} {pattern!r}: {text}")
    shown = [row for run in runs if run.argv[0] == "show" for row in run.rows]
    compared = [row for run in runs if run.argv[0] == "compare" for row in run.rows]
    problems += [p for query in right.get("rows", []) if (p := row_problem(shown, query, "value"))]
    problems += [
        p for query in right.get("compared", []) if (p := row_problem(compared, query, "ratio"))
    ]
    over_runs = [row for run in runs if run.argv[0] == "trend" for row in run.rows]
    problems += [p for query in right.get("over", []) if (p := row_problem(over_runs, query, ""))]
    return problems + counts_problems(shown, right)


def is_meant(run, verb):
    """Whether a condition on a subcommand, on "any" or on "help" concerns a run."""
    return verb in ("any", run.argv[0]) or (verb == "help" and "--help" in run.argv)


def counts_problems(shown, right):
    measured = {case_of(row) for row in shown if row.get("value") is not None}
    n_failed = {case_of(row): row.get("n_failed", 0) for row in shown}
    problems = []
    if right.get("cases", len(measured)) != len(measured):
        problems.append(f"{len(measured)} cases: {measured}")
    failed = sum(n_failed.values())
    allowed = right.get("failed", failed)
    if failed not in (allowed if isinstance(allowed, list) else [allowed]):
        problems.append(f"{failed} failed trials")
    largest = max((row.get("n") or 0 for row in shown), default=0)
    if largest > right.get("most", largest):
        problems.append(f"n = {largest}")
    return problems


def parameters(row):
    """Give the parameters of a row as texts."""
    return {key: str(value) for key, value in row["params"].items()}


def case_of(row):
    params = {key: value for key, value in parameters(row).items() if key != "size_bytes"}
    return row["platform"], row["probe"], tuple(sorted(params.items()))


def row_problem(rows, query, figure):
    """Report what is wrong with the number of rows that match, or nothing."""
    matching = [row for row in rows if matches(row, query, figure)]
    wanted = query.get("count")
    if len(matching) != wanted if wanted is not None else not matching:
        return f"{len(matching)} rows match {query}"
    if "one" in query and len({parameters(row).get(query["one"]) for row in matching}) != 1:
        return f"{query['one']} differs: {query}"
    return None


def matches(row, query, figure):
    for key in ("probe", "metric"):
        if key in query and not re.fullmatch(query[key], str(row.get(key))):
            return False
    for key in ("platform", "baseline", "verdict", "grade"):
        if key in query and not re.search(query[key], str(row.get(key) or "")):
            return False
    found = parameters(row)
    if any(found.get(key) != str(value) for key, value in query.get("params", {}).items()):
        return False
    if any(found.get(key) == str(value) for key, value in query.get("params_not", {}).items()):
        return False
    if any(row.get(key) != query[key] for key in ("n", "n_baseline") if key in query):
        return False
    if "last" in query and not has_value(row["runs"][-1]["value"], {"value": query["last"]}):
        return False
    return has_caveat(row, query) and has_value(row.get(figure), query)


def has_caveat(row, query):
    if "caveat" not in query:
        return True
    own = [one for one in row.get("caveats", []) if one not in COMMON and _UNKNOWN_RANKS not in one]
    return bool(own)


def has_value(value, query):
    if "value" not in query:
        return True
    wanted = query["value"] if isinstance(query["value"], list) else [query["value"]]
    within = query.get("within", 0.002)
    return value is not None and any(abs(value - one) <= within * abs(one) for one in wanted)


def marked(case):
    """Return a case as a parameter, marked with the needs that are markers."""
    marks = [pytest.mark.mpi] if "mpi" in case.get("needs", []) else []
    return pytest.param(case, id=case["name"], marks=marks)


@pytest.mark.parametrize("case", [marked(case) for case in EXPECTED])
def test_case(case, run_commands):
    if any(":" in command for command in case["commands"]):
        skip_where_two_programs_crash("mpirun")
    runs = run_commands(case)
    for run in runs:
        assert "Traceback" not in run.text
    ways = [problems_of(runs, right) for right in case["right"]]
    assert any(not problems for problems in ways), ways


def test_every_folder_has_its_case():
    assert {case["name"] for case in EXPECTED} <= {
        path.name for path in CASES.iterdir() if path.is_dir()
    }
