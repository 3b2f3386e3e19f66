"""Rates of our NAS Parallel Benchmarks beside the machine's STREAM and DGEMM.

    python benchmarks/npb.py [--rounds 5] [--classes WA] [--ranks 1 2] [--kernels ep is ...]
        [--before FOLDER]

Each round runs STREAM and DGEMM on one core, then every kernel, class and number of ranks once; the
median over the rounds counts. Wall clock: measure on an idle machine. BT and SP take square numbers
of ranks only. A round takes about a minute on two cores of 2024.

With --before each launch is paired with one of another build's programs (the folder of its
``npb_is`` and so on), in alternating order, and the table has how many times longer that one takes.
BARELINE_INSTRUCTION_SET chooses among the builds of both.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.probes.base import find_probe
from bareline.probes.npb.kernels import BEYOND_CACHES, BYTES_PER_COUNTED, DONE_PER_COUNTED
from bareline.stats.ratio import paired_ratio
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Layout

KERNELS = ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")


@dataclass(frozen=True, slots=True)
class Case:
    """One launch."""

    kernel: str
    problem_class: str
    ranks: int

    @property
    def is_allowed(self) -> bool:
        """Whether the benchmark is defined for so many ranks."""
        probe = find_probe(f"npb.{self.kernel}")
        try:
            params = probe.make_params({"problem_class": self.problem_class})
            probe.check_ranks(params, self.ranks)
        except BarelineError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs, and where."""

    mpi: MpiInstallation
    programs: Path
    before: Path | None

    def alone(self, *words: str) -> dict[str, Any]:
        """Run a benchmark of one node and give its last point."""
        return _points([str(self.programs / "nodebench"), *words, "--threads", "1"])[-1]

    def together(self, case: Case, programs: Path) -> dict[str, Any]:
        """Run a case of a build and give its point."""
        node = Node("localhost", "127.0.0.1", len(os.sched_getaffinity(0)))
        program = [str(programs / f"npb_{case.kernel}"), case.problem_class]
        line = self.mpi.argv(Job(argv=program, layout=Layout(1, case.ranks), nodes=[node]))
        (point,) = _points(line)
        return point


def _points(line: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    rows = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    return rows[1:-1]


@dataclass(frozen=True, slots=True)
class Figures:
    """Rates of one core (B/s, flop/s); times (s) and operations of every case."""

    triad: list[float] = field(default_factory=list)
    dgemm: list[float] = field(default_factory=list)
    times: dict[Case, list[float]] = field(default_factory=lambda: defaultdict(list))
    before: dict[Case, list[float]] = field(default_factory=lambda: defaultdict(list))
    operations: dict[Case, float] = field(default_factory=dict)

    def add_round(self, machine: Machine, cases: list[Case]) -> None:
        """Measure everything once."""
        sides = [(machine.programs, self.times)]
        if machine.before:
            sides.insert(len(self.triad) % 2, (machine.before, self.before))
        self.triad.append(machine.alone("stream")["rate"]["median"])
        self.dgemm.append(machine.alone("dgemm")["rate"]["median"])
        for case in cases:
            for programs, times in sides:
                point = machine.together(case, programs)
                times[case].append(float(point["time_s"]))
                self.operations[case] = float(point["operations"])

    def row(self, case: Case) -> str:
        """Write a case as a line of the table."""
        time_s = statistics.median(self.times[case])
        rate = self.operations[case] / time_s
        flops = rate * DONE_PER_COUNTED.get(case.kernel, 0.0)
        moved = 0.0
        if case.problem_class in BEYOND_CACHES:
            moved = rate * BYTES_PER_COUNTED.get(case.kernel, 0.0)
        peak_flops = case.ranks * statistics.median(self.dgemm)
        peak_moved = case.ranks * statistics.median(self.triad)
        cells = [
            case.kernel.upper(),
            case.problem_class,
            f"{case.ranks}",
            f"{time_s:.3f}",
            f"{min(self.times[case]):.3f}",
            f"{rate / 1e9:.2f}",
            f"{flops / 1e9:.1f}" if flops else "",
            f"{flops / peak_flops:.0%}" if flops else "",
            f"{moved / 1e9:.1f}" if moved else "",
            f"{moved / peak_moved:.0%}" if moved else "",
        ]
        if self.before:
            found = paired_ratio(self.before[case], self.times[case])
            cells.append(f"{found.ratio:.2f} ({found.lo:.2f} to {found.hi:.2f})")
        return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--classes", default="WA")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--kernels", nargs="+", default=list(KERNELS), choices=KERNELS)
    parser.add_argument("--before", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    mpi = find_mpi("auto")
    machine = Machine(mpi, build_native(mpi, cache_folder()).programs, options.before)
    cases = [
        case
        for problem_class in options.classes
        for kernel in options.kernels
        for ranks in options.ranks
        if (case := Case(kernel, problem_class, ranks)).is_allowed
    ]
    figures = Figures()
    for _ in range(options.rounds):
        figures.add_round(machine, cases)
    print(
        f"{mpi.title}; one core: triad {statistics.median(figures.triad) / 1e9:.1f} GB/s, "
        f"DGEMM {statistics.median(figures.dgemm) / 1e9:.1f} Gflop/s; medians of "
        f"{options.rounds} rounds; shares are of one core's figure times the ranks"
    )
    print(
        "| kernel | class | ranks | time s | least s | Gop/s | Gflop/s done | of DGEMM "
        "| GB/s moved | of triad |" + (" before/now |" if options.before else "")
    )
    print("|---|---|" + "---:|" * (9 if options.before else 8))
    for case in cases:
        print(figures.row(case))


if __name__ == "__main__":
    main()
