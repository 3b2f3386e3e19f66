"""What each test used and how it ended, for the lanes of `make test` to sum up.

``BARELINE_TESTS_RECORD`` names a file to which every session appends one JSON object per line and
per test, when the test has ended:

- ``nodeid``: the test, as pytest names it; a file that was skipped as a whole has its own name.
- ``outcome``: ``passed``, ``failed`` (also where only set-up or clean-up failed) or ``skipped``.
- ``reason``: why it was skipped, or the error; absent for a test that passed.
- ``processor_s``: processor seconds of the test with its fixtures and of its child processes.

scripts/test.sh gives each part a file of its own, sums it up with scripts/test_summary.py, and
appends it to the file that ``BARELINE_TESTS_SKIPPED`` names, if the caller set it. A test that is
``skipped`` in every environment that appended to that file was not run in any of them.
"""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "BARELINE_TESTS_RECORD"


def processor_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Meter:
    """Note in each report how many processor seconds its phase took."""

    def __init__(self) -> None:
        self._started_s = processor_s()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._started_s = processor_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Any:
        report = yield
        now_s = processor_s()
        report.processor_s = now_s - self._started_s
        self._started_s = now_s
        return report


class Recorder:
    """Append a line per test to the record; one session has one, and its workers have none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._phases: dict[str, list[pytest.TestReport]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        # A worker that died sends one report of no known phase, and nothing after it.
        if report.when == "teardown" or report.when not in ("setup", "call"):
            del self._phases[report.nodeid]
            self._append(report.nodeid, phases)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._append(report.nodeid, [report])

    def _append(self, nodeid: str, reports: list[Any]) -> None:
        used_s = sum(getattr(report, "processor_s", 0.0) for report in reports)
        line = {"nodeid": nodeid, "outcome": "passed", "processor_s": round(used_s, 3)}
        for outcome in ("failed", "skipped"):
            decisive = [report for report in reports if report.outcome == outcome]
            if decisive:
                line |= {"outcome": outcome, "reason": _reason(decisive[0])}
                break
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _reason(report: Any) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message)
    return report.longreprtext


def pytest_configure(config: pytest.Config) -> None:
    """Let a session record its tests where the environment names a file."""
    if VARIABLE not in os.environ:
        return
    config.pluginmanager.register(Meter())
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(os.environ[VARIABLE])))
