"""The counts of `scripts/density.py`, on code whose counts are known."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("complexipy", reason="complexipy is not installed: see `make setup-tests`")
SCRIPT = Path(__file__).parents[1] / "scripts" / "density.py"

SOURCE = '''\
"""A docstring, which is not code."""

# A comment, which is not code either.
def add(first, second):
    """Return the sum.

    In two paragraphs.
    """
    return (
        first + second
    )
TEXT = """two
lines"""
'''


@pytest.fixture(scope="module")
def density():
    sys.path.insert(0, str(SCRIPT.parent))  # where the script finds `limits`
    spec = importlib.util.spec_from_file_location("density", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["density"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules["density"]
    sys.path.remove(str(SCRIPT.parent))


def nested(depth):
    """Return a function of `depth` nested conditions: 1 + 2 + ... + depth of complexity."""
    lines = ["def f(x):"]
    lines += [f"{'    ' * (level + 1)}if x > {level}:" for level in range(depth)]
    lines += [f"{'    ' * (depth + 1)}x()"]
    return "\n".join(lines) + "\n"


def test_expressions_and_lines_of_code_are_counted_without_docstrings_comments_and_constants(
    density,
):
    counts = density.density_of(SOURCE)
    assert counts.lines == 6  # one of def, three of return, two of TEXT
    assert counts.expressions == 4  # the sum, its two names, TEXT


def test_a_function_is_complex_from_sixteen(density):
    assert density.density_of(nested(5)).complex_functions == 0  # 15
    assert density.density_of(nested(6)).complex_functions == 1  # 21


def test_an_empty_module_has_no_density(density):
    assert density.density_of("").expressions_per_line == 0.0


@pytest.mark.parametrize(
    ("name", "dense", "readable"),
    [
        ("tuples", "a, b = x, y", "a, b = b, a"),
        ("tuples", "a, (b, c) = x, y", "a, b = pair"),
        ("inner if", "f(x if x else y)", "a = x if x else y"),
        ("inner if", "f(a=[x if x else y for x in z])", "def f(): return x if x else y"),
        ("double for", "[x for y in z for x in y]", "[x for x in y]"),
        ("double for", "{x: f([a for a in x]) for x in y}", "for x in y: a = [a for a in x]"),
        ("names", "found = 1", "path = found"),
        ("names", "for _one in x: pass", "for trial in x: one.y = 1"),
        ("names", "def f(*, what): pass", "f(what=1)"),
    ],
)
def test_each_dense_form_is_counted_once_and_its_readable_form_is_not(
    density, name, dense, readable
):
    assert density.density_of(dense + "\n").counts()[name] == 1
    assert density.density_of(readable + "\n").counts()[name] == 0


def test_the_table_adds_the_packages_up(tmp_path):
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "module.py").write_text(SOURCE + "one, two = TEXT, TEXT\n")
    command = [sys.executable, SCRIPT, tmp_path]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in table.splitlines()[1:]]
    assert rows == [
        ["a", "7", "1.43", "0", "1", "0", "0", "1"],
        ["b", "7", "1.43", "0", "1", "0", "0", "1"],
        ["all", "14", "1.43", "0", "2", "0", "0", "2"],
    ]


def test_places_are_listed_with_their_lines(tmp_path):
    module = tmp_path / "module.py"
    module.write_text(SOURCE + "one = TEXT\n")
    command = [sys.executable, SCRIPT, "--list", "names", tmp_path]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"{module}:14\n"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    command = [sys.executable, SCRIPT, tmp_path / "none"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert (
        result.stderr
        == f"density: {tmp_path / 'none'}: not a folder; give one such as src/bareline\n"
    )
