"""The end of continuous integration: a line per clean root, and the tests that ran nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "ci_summary.py"


@pytest.fixture
def summary(tmp_path):
    """Summarize parts: ``summary(rest={"tests/a.py::test_b": "skipped: reason"})``."""

    def call(**parts):
        for part, endings in parts.items():
            lines = []
            for nodeid, ending in endings.items():
                outcome, _, reason = ending.partition(": ")
                line = {"nodeid": nodeid, "outcome": outcome, "processor_s": 0.1}
                lines.append(json.dumps(line | ({"reason": reason} if reason else {})))
            (tmp_path / f"{part}.record").write_text("".join(f"{line}\n" for line in lines))
        command = [sys.executable, SCRIPT, tmp_path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return call


def test_a_test_that_was_skipped_everywhere_fails_the_run(summary):
    absent = {"tests/a.py::test_b": "skipped: xfsprogs is not installed"}
    result = summary(bookworm=absent, rest=absent | {"tests/a.py::test_c": "passed"})
    assert result.returncode == 1
    assert result.stdout == "ran nowhere: tests/a.py::test_b: xfsprogs is not installed\n"
    assert "1 tests were skipped everywhere" in result.stderr


def test_a_test_that_ran_in_one_part_is_no_gap(summary):
    absent = {"tests/a.py::test_b": "skipped: xfsprogs is not installed"}
    result = summary(bookworm=absent, rest={"tests/a.py::test_b": "passed"})
    assert (result.returncode, result.stdout) == (0, "")


def test_a_file_that_was_skipped_as_a_whole_ran_where_one_of_its_tests_did(summary):
    absent = {"tests/a.py": "skipped: playwright is not installed"}
    result = summary(bookworm=absent, rest={"tests/a.py::test_b": "passed"})
    assert (result.returncode, result.stdout) == (0, "")
    result = summary(bookworm=absent, rest={"tests/b.py::test_b": "passed"})
    assert result.returncode == 1
    assert "tests/a.py: playwright is not installed" in result.stdout


def test_named_hardware_excuses_a_test(summary):
    result = summary(rest={"tests/a.py::test_b": "skipped: no NIC with SR-IOV here"})
    assert result.returncode == 0
    assert result.stdout.endswith("no NIC with SR-IOV here (excused: SR-IOV)\n")


def test_a_root_has_one_line(summary, tmp_path):
    (tmp_path / "trixie.times").write_text("612.4 500.0 80.6\n")
    (tmp_path / "trixie.log").write_text("setup: ready after 200 s\n... 1 passed\n")
    counted = {"tests/a.py::test_a": "passed", "tests/a.py::test_b": "failed: AssertionError"}
    result = summary(trixie=counted, rest={})
    assert result.stdout == (
        "trixie: set-up 200 s, tests 412 s, 1 passed, 0 skipped, 1 failed, 581 processor seconds\n"
    )


def test_a_root_without_a_record_is_named(summary, tmp_path):
    (tmp_path / "trixie.times").write_text("1 1 1\n")
    result = summary(rest={})
    assert result.returncode == 2
    assert result.stderr == "no record of the tests of: trixie\n"
