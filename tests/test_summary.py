"""The record that a session of pytest leaves of its tests, and what a summary of it prints."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUDGETS = tomllib.loads((ROOT / "tests" / "budgets.toml").read_text())
SESSION = """
import subprocess, sys
import pytest

@pytest.fixture
def unclean():
    yield
    raise OSError("left open")

def test_passes():
    burn = "import time\\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)

def test_fails():
    assert 1 == 2, "planted"

@pytest.mark.skip(reason="no planted tool")
def test_is_skipped():
    pass

def test_is_not_cleaned_up(unclean):
    pass
"""


@pytest.fixture(scope="module", params=[(), ("-n", "2")], ids=["one process", "workers"])
def recorded(request, tmp_path_factory):
    """Run a session of its own with a record; give the lines by the test's name."""
    folder = tmp_path_factory.mktemp("session")
    (folder / "test_planted.py").write_text(SESSION)
    (folder / "test_absent.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    record = folder / "record"
    line = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", folder]
    done = subprocess.run(
        [*line, "-p", "record", *request.param, folder],
        env={
            **os.environ,
            "BARELINE_TESTS_RECORD": str(record),
            "PYTHONPATH": str(ROOT / "tests" / "common"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [json.loads(text) for text in record.read_text().splitlines()]
    named = {line["nodeid"].rpartition("::")[2]: line for line in lines}
    assert len(named) == len(lines)
    return named


def test_each_test_has_one_line_with_its_outcome(recorded):
    outcomes = {name: line["outcome"] for name, line in recorded.items()}
    assert outcomes == {
        "test_absent.py": "skipped",
        "test_passes": "passed",
        "test_fails": "failed",
        "test_is_skipped": "skipped",
        "test_is_not_cleaned_up": "failed",
    }


def test_a_line_has_the_reason_and_a_passed_test_has_none(recorded):
    assert recorded["test_is_skipped"]["reason"] == "no planted tool"
    assert "no_such_module" in recorded["test_absent.py"]["reason"]
    assert "planted" in recorded["test_fails"]["reason"]
    assert "left open" in recorded["test_is_not_cleaned_up"]["reason"]
    assert "reason" not in recorded["test_passes"]


def test_the_processor_seconds_of_child_processes_count(recorded):
    assert recorded["test_passes"]["processor_s"] >= 0.3
    assert recorded["test_is_skipped"]["processor_s"] < 0.3


@pytest.fixture
def summary(tmp_path, monkeypatch):
    """Sum up the lines of a record; give the exit code and the printed lines."""
    monkeypatch.delenv("CI", raising=False)

    def go(*tests, part="quick", lanes=("first=0",)):
        record = tmp_path / "record"
        record.write_text("".join(json.dumps(test) + "\n" for test in tests))
        script = ROOT / "scripts" / "test_summary.py"
        line = [sys.executable, script, part, record, "71", *lanes]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout.splitlines()

    return go


def line(nodeid, outcome="passed", processor_s=0.1, **reason):
    return {"nodeid": nodeid, "outcome": outcome, "processor_s": processor_s, **reason}


def test_the_end_is_one_line(summary):
    tests = [line("tests/store/test_a.py::one"), line("tests/store/test_a.py::two")]
    assert summary(*tests) == (0, ["all 2 tests passed, 0 skipped, 71 s"])


def test_reasons_of_skipped_tests_are_counted_above_the_end(summary):
    tests = [line(f"tests/a.py::{number}", "skipped", reason="no fio") for number in range(3)]
    tests.append(line("tests/a.py::kvm", "skipped", reason="no KVM"))
    code, printed = summary(*tests, line("tests/a.py::passed"))
    assert code == 0
    assert printed == [
        "skipped:",
        "     3  no fio",
        "     1  no KVM",
        "all 1 tests passed, 4 skipped (reasons above), 71 s",
    ]


def test_what_failed_is_listed_with_its_error(summary):
    failed = line("tests/a.py::bad", "failed", reason="AssertionError: planted\n  more")
    code, printed = summary(failed, line("tests/a.py::good"), lanes=("first=1",))
    assert code == 1
    assert printed == [
        "failed:",
        "  tests/a.py::bad: AssertionError: planted",
        "1 of 2 tests failed, 0 skipped, 71 s",
    ]


@pytest.mark.parametrize("code", [2, 3, 4, 137])
def test_a_session_that_did_not_finish_is_a_failure(summary, code):
    ended, printed = summary(line("tests/a.py::good"), lanes=("first=0", f"others={code}"))
    assert ended == 1
    assert f"code {code} in the lane others" in printed[-2]
    assert "passed" not in printed[-1]


def test_a_part_without_tests_is_a_failure(summary):
    assert summary(lanes=("first=5",))[0] == 1


@pytest.mark.parametrize(
    ("times", "environment", "code"),
    [(1.2, "1", 0), (100, None, 0), (100, "1", 1)],
    ids=["little above, in CI", "far above, elsewhere", "far above, in CI"],
)
def test_a_budget_that_is_far_exceeded_fails_in_ci(summary, monkeypatch, times, environment, code):
    if environment is not None:
        monkeypatch.setenv("CI", environment)
    used_s = BUDGETS["quick"]["store"] * times
    ended, printed = summary(line("tests/store/test_a.py::one", processor_s=used_s))
    assert ended == code
    if times > 2:
        assert any(text.startswith("tests/store used") for text in printed)


def test_all_tests_have_the_budgets_of_both_parts(summary):
    both_s = BUDGETS["quick"]["platforms"] + BUDGETS["rest"]["platforms"]
    inside = line("tests/platforms/localhost/test_local.py::one", processor_s=0.9 * both_s)
    assert summary(inside, part="all") == (0, ["all 1 tests passed, 0 skipped, 71 s"])


def test_a_test_counts_in_the_innermost_folder_that_has_a_budget(summary):
    used_s = BUDGETS["quick"]["platforms/made/vm"] * 100
    _, printed = summary(line("tests/platforms/made/vm/deep/test_a.py::one", processor_s=used_s))
    assert any(text.startswith("tests/platforms/made/vm used") for text in printed)


def test_budgets_are_of_folders_and_ten_minutes_together():
    tests = ROOT / "tests"
    folders = {str(path.relative_to(tests)) for path in tests.rglob("*") if path.is_dir()}
    for part in ("quick", "rest"):
        assert set(BUDGETS[part]) - {"others"} <= folders
    # Two processors for five minutes, and half of them to spare; set-up takes the rest of ten.
    assert sum(BUDGETS["quick"].values()) <= 950
