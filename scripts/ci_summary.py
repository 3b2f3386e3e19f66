#!/usr/bin/env python3
"""Print what the clean roots took, and the tests that no part of continuous integration has run.

    scripts/ci_summary.py FOLDER
    scripts/ci_summary.py --untested FOLDER
    scripts/ci_summary.py --failed FOLDER

FOLDER has for each part a file PART.record: a line of JSON for each test, with ``nodeid``,
``outcome`` (``passed``, ``failed``, ``skipped``) and ``reason`` (see tests/common/record.py). A
file of tests that was skipped as a whole has its own name as ``nodeid``. For a clean root there is
also PART.log, the output of `make test`, and PART.times: seconds on the clock, and processor
seconds of the user and of the system.

``--untested`` prints the names of the tests that no part has run so far, one in a line, for pytest;
``--failed`` those that failed in the part "rest".

A test may be skipped in every part only for hardware that no ordinary machine has, where it belongs
to a command of its own, or for one of the few other reasons in ``EXCUSES``. Exit code 1: others
were skipped in every part. Exit code 2: a part left no record.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

#: What a reason may name, so that a test is skipped everywhere.
EXCUSES = {
    "SR-IOV": r"\bSR-IOV\b",
    "InfiniBand": r"\b(InfiniBand|RDMA)\b",
    "working KVM": r"\bKVM\b",
    "`make cloud`": r"`make cloud`",
    "a control plane of OpenStack, which `make cloud` installs": r"^OpenStack is not installed",
    "`make docs-check`": r"`make docs-check`",
    # A contract is one list of tests for platforms of all kinds.
    "a platform without other layers": r"^tried without the other layers$",
    "a contract that does not apply": r"^its nodes cannot be taken twice$|^it takes no \w+$",
    "an output whose lines need their titles": r"^the lines of a performance log need its titles$",
    # One list of tests for every MPI library.
    "another MPI library has it": (
        r"under Open MPI alone$|an option of Open MPI$|^MPICH .* cannot spawn|is older than MPI 4$"
    ),
    # One list of tests for the compilers of all supported releases.
    "a compiler of another Debian release": r"^gcc-1[1-4] is not installed$",
    # No set-up installs these: they are not packages of Debian, or take minutes to make.
    "EasyBuild": r"\bEasyBuild\b",
    "Docker": r"^docker is not installed$",
    "an image of a container": r'^no image here: a run with image = "bareline"',
}


@dataclass(frozen=True, slots=True)
class Ending:
    """How a test ended in a part: ``passed``, ``failed`` or ``skipped``, and why."""

    nodeid: str
    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class CleanRoot:
    """A run of `make test` in a clean root."""

    suite: str
    setup_s: float
    tests_s: float
    processor_s: float
    counts: Mapping[str, int]

    def __str__(self) -> str:
        """Return the line for people."""
        counts = ", ".join(
            f"{self.counts.get(outcome, 0)} {outcome}"
            for outcome in ("passed", "skipped", "failed")
        )
        return (
            f"{self.suite}: set-up {self.setup_s:.0f} s, tests {self.tests_s:.0f} s, {counts},"
            f" {self.processor_s:.0f} processor seconds"
        )


def read_record(path: Path) -> dict[str, Ending]:
    """Return how each test ended at last, by its name."""
    endings = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        ending = Ending(row["nodeid"], row["outcome"], row.get("reason", ""))
        endings[ending.nodeid] = ending
    return endings


def read_root(folder: Path, suite: str, endings: Mapping[str, Ending]) -> CleanRoot:
    """Return what `make test` took in a clean root; the set-up says itself how long it took."""
    total_s, user_s, system_s = map(float, (folder / f"{suite}.times").read_text().split()[-3:])
    log = (folder / f"{suite}.log").read_text(encoding="utf-8", errors="replace")
    ready = re.search(r"^setup: ready after (\d+) s$", log, re.MULTILINE)
    setup_s = float(ready[1]) if ready else 0.0
    counts = Counter(ending.outcome for ending in endings.values())
    return CleanRoot(suite, setup_s, total_s - setup_s, user_s + system_s, counts)


def never_run(parts: Iterable[Mapping[str, Ending]]) -> Iterator[Ending]:
    """Return the tests that were skipped in every part that has them."""
    skipped: dict[str, Ending] = {}
    ran: set[str] = set()
    for endings in parts:
        for ending in endings.values():
            if ending.outcome == "skipped":
                skipped.setdefault(ending.nodeid, ending)
            else:
                # A file that one part skipped as a whole was run where one of its tests was.
                ran |= {ending.nodeid, ending.nodeid.partition("::")[0]}
    for nodeid in sorted(skipped.keys() - ran):
        yield skipped[nodeid]


def excuse_of(ending: Ending) -> str | None:
    """Return what the reason names that excuses a test which no part ran, or None."""
    for excuse, pattern in EXCUSES.items():
        if re.search(pattern, ending.reason):
            return excuse
    return None


def main() -> None:
    """Print the summary."""
    arguments = sys.argv[1:]
    only_names = arguments[:1] in (["--untested"], ["--failed"])
    if len(arguments) != 1 + only_names:
        sys.exit("usage: scripts/ci_summary.py [--untested | --failed] FOLDER")
    folder = Path(arguments[-1])
    parts = {path.stem: read_record(path) for path in sorted(folder.glob("*.record"))}
    if arguments[0] == "--failed":
        rest = parts.get("rest", {}).values()
        print("\n".join(ending.nodeid for ending in rest if ending.outcome == "failed"))
        return
    if only_names:
        print("\n".join(ending.nodeid for ending in never_run(parts.values())))
        return
    suites = [path.stem for path in sorted(folder.glob("*.times"))]
    lacking = sorted({*suites, "rest"} - parts.keys())
    for suite in suites:
        if suite in parts:
            print(read_root(folder, suite, parts[suite]))
    untested = list(never_run(parts.values()))
    unexcused = [ending for ending in untested if excuse_of(ending) is None]
    for ending in untested:
        excuse = excuse_of(ending)
        note = f" (excused: {excuse})" if excuse else ""
        print(f"ran nowhere: {ending.nodeid}: {ending.reason}{note}")
    if lacking:
        print(f"no record of the tests of: {', '.join(lacking)}", file=sys.stderr)
        sys.exit(2)
    if unexcused:
        print(
            f"{len(unexcused)} tests were skipped everywhere: let a set-up install what they need "
            "(src/bareline/host/programs.txt)",
            file=sys.stderr,
        )
        sys.exit(1)


if __name__ == "__main__":
    main()
