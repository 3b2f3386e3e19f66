"""The patterns of `scripts/prose.py`, in texts that have each of them."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "prose.py"
WIDE = (
    "A run measures a case on each of its platforms, and a comparison has a row for each of these "
    "cases of the run"
)


@pytest.fixture(scope="module")
def prose():
    sys.path.insert(0, str(SCRIPT.parent))  # where the script finds `limits`
    spec = importlib.util.spec_from_file_location("prose", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["prose"] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    yield module
    del sys.modules["prose"]
    sys.path.remove(str(SCRIPT.parent))


def uses_in(prose, text, docstring=False):
    """Return the names of the patterns that a text has."""
    piece = prose.Text(Path("page.md"), 1, text, docstring=docstring)
    return [pattern.name for pattern, _, _ in prose.places_of(piece)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("what-clause", "It prints what is asked."),
        ("what-clause", "What a trial needs."),
        ("is no X, is none of", "The value is no number."),
        ("is no X, is none of", "It is none of the platforms."),
        ("said, tells", "The file says so."),
        ("said, tells", "It told the reason."),
        ("stand, lie, hold", "The facts lie in a file."),
        ("stand, lie, hold", "A run holds its records."),
        ("nobody, whoever", "Nobody reads it."),
        ("beside", "It prints the mean beside the median."),
        ("others, those of", "It is compared with the others."),
        ("others, those of", "These are the one that failed."),
        ("anew, alike, meanwhile", "The guest is made anew."),
        ("anew, alike, meanwhile", "The file is read all the same."),
        ("too at the end", "Guests are counted, too."),
        ("too at the end", "Guests are counted, too"),
        ("sentences on a wide line", f"{WIDE}. It goes on."),
        ("sentences on a wide line", f"2. It goes on (at once.) {WIDE}."),
    ],
)
def test_each_pattern_is_counted_once(prose, name, text):
    assert uses_in(prose, text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "What does a platform cost? It depends.",
        "It asks (what does it cost?) first.",
        "There is no platform here, and it is no longer needed.",
        "It holds the lock, holds a lock and holds its reservation.",
        "The blocks are held out; held-out blocks are not fitted.",
        "The threshold is standard.",
        "Guests, too many of them, are refused.",
        "whatever happens",
        f"{WIDE}.\nIt goes on.",
        f"1. {WIDE}.",
        f"| {WIDE}. | It goes on. |",
        f"**Runs.** {WIDE}.",
        f"It prints a line ... {WIDE} of N. A. Petitet.",
    ],
)
def test_plain_english_is_not_counted(prose, text):
    assert uses_in(prose, text) == []


def test_only_a_docstring_may_not_begin_with_give(prose):
    assert uses_in(prose, "Give the value.", docstring=True) == ["docstring: Give, Say, Tell"]
    assert uses_in(prose, "Give the value.") == []
    assert uses_in(prose, "Return a value, or Give up.", docstring=True) == []


MODULE = '''"""Says hello."""

VALUE = "beside"

def f(x):  # too short, too
    """Return `what` it is.

    It lies here.
    """
    # A comment that
    # says nothing.
    raise ValueError(f"{x} is no number: " "give what is asked")
'''


def test_docstrings_comments_and_messages_of_a_module_are_read(prose, tmp_path):
    module = tmp_path / "module.py"
    module.write_text(MODULE)
    places = {
        (line, pattern.name)
        for text in prose.texts_of(module)
        for pattern, line, _ in prose.places_of(text)
    }
    assert places == {
        (1, "docstring: Give, Say, Tell"),
        (1, "said, tells"),
        (5, "too at the end"),
        (8, "stand, lie, hold"),
        (11, "said, tells"),
        (12, "is no X, is none of"),
        (12, "what-clause"),
    }


PAGE = """\
# Says

A line `what` with code
and what it means.

```
what
```
Nobody.
"""


def test_blocks_and_spans_of_code_in_a_page_are_not_read(prose, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    places = [
        (line, pattern.name)
        for text in prose.texts_of(page)
        for pattern, line, _ in prose.places_of(text)
    ]
    assert places == [(1, "said, tells"), (4, "what-clause"), (9, "nobody, whoever")]


def test_code_and_addresses_of_links_make_no_line_wide(prose, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"See `{WIDE}`. It goes on.\n\nSee [it]({'x' * 100}.md). It goes on.\n")
    assert prose.count([page])["sentences on a wide line"] == 0


def test_wide_lines_are_counted_in_pages_only(prose):
    piece = prose.Text(Path("module.py"), 1, f"{WIDE}. It goes on.")
    assert not list(prose.places_of(piece))


def test_the_places_of_a_file_are_listed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Nobody reads it.\n")
    command = [sys.executable, SCRIPT, page]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == f"{page}:1: nobody, whoever: Nobody reads it.\n"
