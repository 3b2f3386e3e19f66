#!/usr/bin/env python3
"""Say how a part of the tests ended: what was skipped and why, what failed, what used too much.

    scripts/test_summary.py PART RECORD SECONDS [LANE=CODE ...]

PART is ``quick``, ``rest`` or ``all``, RECORD the file that tests/common/record.py describes,
SECONDS the time of the whole part, and LANE=CODE how pytest ended in each lane. The last line that
is printed is the result. The exit code is 0 if all tests passed.
"""

from __future__ import annotations

import json
import os
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BUDGETS = Path(__file__).parents[1] / "tests" / "budgets.toml"
#: A budget that is exceeded by more than this fails where CI is set.
TOLERANCE = 1.25
#: What pytest ends with where all passed, where some failed, and where a lane has no test.
USUAL_CODES = (0, 1, 5)


@dataclass(frozen=True)
class Test:
    """How one test ended."""

    nodeid: str
    outcome: str
    processor_s: float
    reason: str = ""


@dataclass(frozen=True)
class Excess:
    """A folder of tests that used more processor seconds than it may."""

    folder: str
    used_s: float
    budget_s: float

    @property
    def is_failure(self) -> bool:
        """Whether it fails where CI is set."""
        return self.used_s > TOLERANCE * self.budget_s

    def __str__(self) -> str:
        return (
            f"tests/{self.folder} used {self.used_s:.0f} processor seconds, its budget is"
            f" {self.budget_s:.0f} (tests/budgets.toml)"
        )


def read_record(path: Path) -> list[Test]:
    """Return the tests of a record, each once: as it ended last."""
    tests: dict[str, Test] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        test = Test(**json.loads(line))
        tests[test.nodeid] = test
    return [*tests.values()]


def folder_of(nodeid: str, budgeted: Collection[str]) -> str:
    """Return the folder of a test below ``tests``: the innermost one that has a budget.

    Parameters
    ----------
    nodeid
        The name of the test, as pytest prints it.
    budgeted
        The folders that have a budget of their own.
    """
    folders = Path(nodeid.partition("::")[0]).parts[1:-1]
    if not folders:
        return "others"
    for depth in range(len(folders), 1, -1):
        folder = "/".join(folders[:depth])
        if folder in budgeted:
            return folder
    return folders[0]


def slowness(reference_s: float) -> float:
    """Return how many times longer this processor takes than the one of the budgets, at least 1."""
    times_s = []
    for _ in range(5):
        start_s = time.process_time()
        total = 0
        for number in range(1_000_000):
            total += number * number
        times_s.append(time.process_time() - start_s)
    return max(1.0, min(times_s) / reference_s)


def excesses(tests: list[Test], part: str, budgets: dict[str, Any], slower: float) -> list[Excess]:
    """Return the folders above their budget, the largest excess first.

    Parameters
    ----------
    tests
        The tests of a part.
    part
        ``quick``, ``rest`` or ``all``, whose budget is the sum of both.
    budgets
        The content of tests/budgets.toml.
    slower
        How many times slower this processor is than the one of the budgets.
    """
    allowed = Counter[str]()
    for name in ("quick", "rest"):
        if part in (name, "all"):
            allowed.update(budgets[name])
    used = Counter[str]()
    for test in tests:
        used[folder_of(test.nodeid, allowed)] += test.processor_s  # type: ignore[assignment]
    found = []
    for folder, used_s in used.items():
        budget_s = slower * allowed.get(folder, allowed["others"])
        if used_s > budget_s:
            found.append(Excess(folder, used_s, budget_s))
    return sorted(found, key=lambda excess: excess.budget_s - excess.used_s)


def result_line(tests: list[Test], seconds: float) -> str:
    """Return the line that says how all of it ended."""
    outcomes = Counter(test.outcome for test in tests)
    run = outcomes["passed"] + outcomes["failed"]
    skipped = f"{outcomes['skipped']} skipped"
    if outcomes["skipped"]:
        skipped += " (reasons above)"
    if outcomes["failed"]:
        return f"{outcomes['failed']} of {run} tests failed, {skipped}, {seconds:.0f} s"
    return f"all {run} tests passed, {skipped}, {seconds:.0f} s"


def print_skipped(tests: list[Test]) -> None:
    """Print each reason for which tests were skipped, with their number."""
    reasons = Counter(test.reason for test in tests if test.outcome == "skipped")
    if not reasons:
        return
    print("skipped:")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")


def print_failed(tests: list[Test]) -> None:
    """Print each test that failed, with the first line of its error."""
    failed = [test for test in tests if test.outcome == "failed"]
    if not failed:
        return
    print("failed:")
    for test in failed:
        error = next(iter(test.reason.splitlines()), "")
        print(f"  {test.nodeid}: {error[:200]}")


def main() -> None:
    """Print the summary of a part and exit with its code."""
    part, record, seconds, *lanes = sys.argv[1:]
    tests = read_record(Path(record))
    budgets = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))
    broken = [lane for lane in lanes if int(lane.partition("=")[2]) not in USUAL_CODES]
    exceeded = excesses(tests, part, budgets, slowness(budgets["reference_s"]))

    print_skipped(tests)
    print_failed(tests)
    for excess in exceeded:
        print(excess)
    for lane in broken:
        name, _, code = lane.partition("=")
        print(f"pytest ended with code {code} in the lane {name}: its output is above")

    too_much = "CI" in os.environ and any(excess.is_failure for excess in exceeded)
    failed = any(test.outcome == "failed" for test in tests)
    if too_much and not failed:
        print(
            "a budget is exceeded by more than 25 %: make the tests faster, or say why in the table"
        )
    if broken or not tests:
        print(f"the tests did not finish: {len(tests)} ended, {float(seconds):.0f} s")
    else:
        print(result_line(tests, float(seconds)))
    sys.exit(1 if failed or too_much or broken or not tests else 0)


if __name__ == "__main__":
    main()
