"""Streams that cannot print every character."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_PRINT = (
    "from bareline.report.writers.encoding import allow_any_text; allow_any_text(); "
    "print('12.5–13.1 µs ≥ 2 → \\u2003“x” ▁▇█ ─┼ \\u6f22')"
)


@pytest.mark.parametrize(
    ("encoding", "printed"),
    [
        ("ascii", '12.5-13.1 us >= 2 ->  "x" _*# -+ ?'),
        ("latin-1", '12.5-13.1 µs >= 2 ->  "x" _*# -+ ?'),
        ("utf-8", "12.5–13.1 µs ≥ 2 → \u2003“x” ▁▇█ ─┼ \u6f22"),
    ],
)
def test_a_similar_character_is_printed(encoding: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PRINT],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode(encoding) == printed + "\n"


@pytest.mark.parametrize("verb", [["--help"], ["doctor", "--help"], ["probes"], ["studies"]])
def test_no_verb_fails_on_a_terminal_of_ascii(verb: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bareline", *verb],
        env=os.environ | {"PYTHONIOENCODING": "ascii:strict"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.isascii()
