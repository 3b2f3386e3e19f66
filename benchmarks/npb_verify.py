"""Which problem classes of our NAS Parallel Benchmarks verify, on how many ranks, under which MPI.

    python benchmarks/npb_verify.py RESULTS [--classes SWAB] [--ranks 1 2 4 9] [--mpi openmpi mpich]

Every case is run once, cheap ones first, at the lowest priority, and appended to the file RESULTS
as it ends; cases that the file already holds are not run again, so that the command can be
interrupted and repeated. The matrix is printed at the end. Exit code 1: a case did not verify.
Cores may be shared and oversubscribed: the times in RESULTS are no measurements.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.probes.base import find_probe
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Layout

#: In the order of what they cost.
KERNELS = ("ep", "is", "mg", "ft", "cg", "lu", "bt", "sp")
CLASSES = "SWABC"
ADDRESS = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Case:
    """One launch of one benchmark."""

    mpi: str
    kernel: str
    problem_class: str
    ranks: int


@dataclass(frozen=True, slots=True)
class Result:
    """How a case ended; `deviation` is the largest one in units of its tolerance."""

    case: Case
    verified: bool
    time_s: float
    deviation: float
    reason: str


def cases_of(options: argparse.Namespace) -> list[Case]:
    """List what is asked for and permitted, cheap cases first."""
    return [
        Case(mpi, kernel, problem_class, ranks)
        for problem_class in sorted(options.classes, key=CLASSES.index)
        for kernel in KERNELS
        if kernel in options.kernels
        for ranks in options.ranks
        for mpi in options.mpi
        if allowed(kernel, problem_class, ranks)
    ]


def allowed(kernel: str, problem_class: str, ranks: int) -> bool:
    """Return whether the benchmark is defined for so many ranks."""
    probe = find_probe(f"npb.{kernel}")
    try:
        probe.check_ranks(probe.make_params({"problem_class": problem_class}), ranks)
    except BarelineError:
        return False
    return True


def run(case: Case, mpi: MpiInstallation, programs: Path, timeout_s: float) -> Result:
    """Run a case to its end."""
    cores = len(os.sched_getaffinity(0))
    line = mpi.argv(
        Job(
            argv=[str(programs / f"npb_{case.kernel}"), case.problem_class],
            layout=Layout(1, case.ranks),
            nodes=[Node("localhost", ADDRESS, cores)],
            crowded=True,
        )
    )
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return Result(case, False, timeout_s, 0.0, f"no end after {timeout_s:.0f} s")
    rows = [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]
    points = [row for row in rows if "verified" in row]
    if len(points) != 1:
        return Result(case, False, 0.0, 0.0, done.stderr.strip()[-200:] or "no result")
    point: dict[str, Any] = points[0]
    deviation = max(
        quantity["deviation"] / quantity["tolerance"] if quantity["tolerance"] else 0.0
        for quantity in point["verification"]
    )
    verified = bool(point["verified"]) and done.returncode == 0
    reason = "" if verified else f"exit code {done.returncode}: wrong result"
    return Result(case, verified, point["time_s"], deviation, reason)


def read_results(path: Path) -> dict[Case, Result]:
    """Read what earlier calls found; a case that was repeated counts as it ended last."""
    if not path.exists():
        return {}
    found = {}
    for row in map(json.loads, path.read_text().splitlines()):
        case = Case(**row.pop("case"))
        found[case] = Result(case, **row)
    return found


def matrix(results: dict[Case, Result]) -> str:
    """Show for each benchmark, class and MPI library the ranks on which it verified."""
    libraries = sorted({case.mpi for case in results}, reverse=True)
    classes = [name for name in CLASSES if any(c.problem_class == name for c in results)]
    columns = [(name, mpi) for name in classes for mpi in libraries]
    columns = [at for at in columns if any((c.problem_class, c.mpi) == at for c in results)]
    lines = [
        "| | " + " | ".join(f"{name} {mpi}" for name, mpi in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for kernel in sorted({case.kernel for case in results}, key=KERNELS.index):
        cells = []
        for name, mpi in columns:
            mine = [
                results[case]
                for case in sorted(results, key=lambda case: case.ranks)
                if (case.kernel, case.problem_class, case.mpi) == (kernel, name, mpi)
            ]
            shown = [str(r.case.ranks) if r.verified else f"({r.case.ranks} failed)" for r in mine]
            cells.append(" ".join(shown))
        lines.append(f"| {kernel.upper()} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    """Run what is missing and print the matrix."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("results", type=Path)
    parser.add_argument("--classes", default="SWAB")
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS), choices=KERNELS)
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4, 9])
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"])
    parser.add_argument("--timeout-s", type=float, default=900)
    options = parser.parse_args()
    os.nice(19)
    installed = {name: find_mpi(name) for name in options.mpi}
    programs = {name: build_native(mpi, cache_folder()).programs for name, mpi in installed.items()}
    results = read_results(options.results)
    for case in cases_of(options):
        if case in results and results[case].verified:
            continue
        started = time.monotonic()
        result = run(case, installed[case.mpi], programs[case.mpi], options.timeout_s)
        results[case] = result
        with options.results.open("a") as file:
            file.write(json.dumps(asdict(result)) + "\n")
        label = f"{case.kernel} {case.problem_class} {case.ranks} {case.mpi}"
        verdict = f"verified, {result.deviation:.0e} of the tolerance" if result.verified else ""
        spent_s = time.monotonic() - started
        print(f"{label}: {verdict or result.reason} ({spent_s:.0f} s)", file=sys.stderr)
    print(matrix(results))
    failed = [result for result in results.values() if not result.verified]
    for result in failed:
        print(f"{result.case}: {result.reason}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
