"""False verdicts and power of ``bareline ab`` beside hyperfine's, on the same pairs of programs.

    python benchmarks/commands.py [--runs 20] [--launches 20] [--work-ms 10] [--sleep] [--start 7]

A program of known work is built alike twice, and with 1, 5 and 20 % more work; with ``--sleep`` it
waits so long instead, which other programs disturb less. Each pair is given to both tools in turn,
with the same number of launches, once as the machine is and once while as many processes spin as
it has cores. Counted is who calls the second program different:

- ab: its grade is certain, or certain or likely;
- hyperfine: the summary's ratio is more than its printed uncertainty away from 1; and the Welch
  test of its exported times (``scripts/welch_ttest.py`` of hyperfine) at 5 %.

``--start N`` measures instead, N times in turn, when each tool starts the first command, and how
long it takes in all, for two commands that do nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from two_builds import TURNS_PER_MS, build

AB = (sys.executable, "-m", "bareline", "ab", "-q")
HYPERFINE = ("hyperfine", "-N", "--style", "none")
FACTORS = (1.0, 1.01, 1.05, 1.2)
#: A spinning process with the priority of any other.
_SPIN = "while :; do :; done"
_STARTED = """#!/bin/sh
[ -e "$0.mark" ] || date +%s.%N >"$0.mark"
"""


def by_ab(folder: Path, pair: Sequence[Path], launches: int) -> set[str]:
    """Return which of ab's words claim a difference."""
    out = folder / "run"
    line = [*AB, "--json", "--launches", str(launches), "--out", str(out), "--", *map(str, pair)]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    subprocess.run(["rm", "-r", str(out)], check=True)
    grade = json.loads(done.stdout)[1]["grade"]
    claims = {"ab, certain"} if grade == "certain" else set()
    return claims | ({"ab, certain or likely"} if grade in ("certain", "likely") else set())


def by_hyperfine(folder: Path, pair: Sequence[Path], launches: int) -> set[str]:
    """Return which readings of hyperfine claim a difference."""
    from scipy.stats import ttest_ind

    out = folder / "hyperfine.json"
    runs = ["--warmup", "1", "--runs", str(launches), "--export-json", str(out)]
    line = [*HYPERFINE, *runs, *map(str, pair)]
    subprocess.run(line, check=True, capture_output=True)
    first, second = (row["times"] for row in json.loads(out.read_text())["results"])
    spreads = [np.std(times, ddof=1) / np.mean(times) for times in (first, second)]
    ratio = np.mean(second) / np.mean(first)
    claims = set()
    if abs(ratio - 1) > ratio * np.hypot(*spreads):
        claims.add("hyperfine, beyond its ±")
    if ttest_ind(first, second, equal_var=False).pvalue < 0.05:
        claims.add("hyperfine, Welch test")
    return claims


READINGS = (
    "ab, certain",
    "ab, certain or likely",
    "hyperfine, beyond its ±",
    "hyperfine, Welch test",
)


@contextmanager
def spinning(processes: int) -> Iterator[None]:
    """Keep so many processes busy."""
    # They end by themselves should the benchmark be killed.
    line = ["timeout", "3600", "sh", "-c", _SPIN]
    started = [subprocess.Popen(line) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
            process.wait()


def sleeping(folder: Path, name: str, seconds: float) -> Path:
    """Write a program that waits."""
    program = folder / name
    program.write_text(f"#!/bin/sh\nexec sleep {seconds:.6f}\n")
    program.chmod(0o755)
    return program


def working(folder: Path, name: str, turns: float) -> Path:
    """Compile a program that computes."""
    return build(folder, name, round(turns))


def compare_tools(arguments: argparse.Namespace, folder: Path) -> None:
    """Print how often each reading calls a pair different."""
    make = sleeping if arguments.sleep else working
    each = 1e-3 * arguments.work_ms if arguments.sleep else arguments.work_ms * TURNS_PER_MS
    base = make(folder, "base", each)
    programs = {factor: make(folder, f"times-{factor}", factor * each) for factor in FACTORS}
    for load in (0, os.cpu_count() or 1):
        counts: dict[float, Counter[str]] = defaultdict(Counter)
        with spinning(load):
            for number in range(arguments.runs):
                for factor, other in programs.items():
                    tools = [by_ab, by_hyperfine]
                    for tool in tools if number % 2 else reversed(tools):
                        counts[factor].update(tool(folder, (base, other), arguments.launches))
        print(f"{load} processes spin, {arguments.runs} runs of {arguments.launches} launches")
        for reading in READINGS:
            cells = "".join(f"{counts[factor][reading]:8d}" for factor in FACTORS)
            print(f"  {reading:26s}{cells}", flush=True)


def first_start(folder: Path, line: Sequence[str]) -> tuple[float, float]:
    """Return after how many seconds a tool starts the first command, and is done."""
    program = folder / "started"
    mark = folder / "started.mark"
    mark.unlink(missing_ok=True)
    began = time.time()
    subprocess.run([*line, str(program), str(program)], check=True, capture_output=True)
    ended = time.time()
    return float(mark.read_text()) - began, ended - began


def compare_starts(times: int, folder: Path) -> None:
    """Print when each tool starts the first command, as medians of turns taken in pairs."""
    program = folder / "started"
    program.write_text(_STARTED)
    program.chmod(0o755)
    out = folder / "run"
    tools = {
        "ab": [*AB, "--launches", "10", "--out", str(out), "--"],
        "hyperfine": [*HYPERFINE, "--warmup", "1", "--runs", "10"],
    }
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for _ in range(times):
        for name, line in tools.items():
            found[name].append(first_start(folder, line))
            subprocess.run(["rm", "-rf", str(out)], check=True)
    for name, pairs in found.items():
        first, whole = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"{name:10s} first command after {first:.3f} s, done after {whole:.3f} s")
    apart = [one[0] - two[0] for one, two in zip(found["ab"], found["hyperfine"], strict=True)]
    print(f"ab starts {statistics.median(apart):.3f} s later (least {min(apart):.3f} s)")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--launches", type=int, default=20)
    parser.add_argument("--work-ms", type=float, default=10.0)
    parser.add_argument("--sleep", action="store_true")
    parser.add_argument("--start", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if arguments.start:
            compare_starts(arguments.start, Path(name))
        else:
            compare_tools(arguments, Path(name))


if __name__ == "__main__":
    main()
