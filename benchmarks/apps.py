"""Times of the mini-apps beside what the machine's bandwidth and arithmetic allow.

    python benchmarks/apps.py [--rounds 5] [--class-name A] [--apps ocean lattice ...]

Each round measures STREAM triad, DGEMM and the Fourier transform of a cube on one core, then every
mini-app on one rank. The roofline of an app is the time that its data need at the triad's rate or
its operations at DGEMM's and the transform's rate, whichever is longer; data and operations are
counted from the loops (docs/method/apps.md). The table holds medians and the best round of either
side: on a machine that others use the best is nearer to the truth, and neither is a measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts import Node
from bareline.platforms.launchers import Job, MpiInstallation, find_mpi
from bareline.vocabulary.model import Layout


@dataclass(frozen=True, slots=True)
class Work:
    """What a run has to do: bytes through memory, operations by the rate that bounds them."""

    memory_bytes: float = 0.0
    flops: float = 0.0
    fourier_flops: float = 0.0

    def least_s(self, triad: float, dgemm: float, fft: float) -> float:
        """Give the time of the roofline."""
        return max(self.memory_bytes / triad, self.flops / dgemm + self.fourier_flops / fft)


def ocean(problem: Mapping[str, float]) -> Work:
    """Four fields and four tendencies read and written, two fields corrected; columns in cache."""
    columns = problem["steps"] * problem["n"] ** 2
    cells = columns * problem["levels"]
    return Work(
        memory_bytes=cells * 8 * (2 * 4 + 2 * 4 + 2 * 2),
        flops=cells * 160 + columns * problem["iterations"] * 30,
    )


def lattice(problem: Mapping[str, float]) -> Work:
    """Eight matrices of a site, and half of thirteen vectors of an even and an odd site."""
    sites = math.prod(problem[f"n{axis}"] for axis in "xyzt") * problem["iterations"]
    return Work(memory_bytes=sites * (8 * 144 + 48 * 13 / 2), flops=sites * (573 + 30))


def planewave(problem: Mapping[str, float]) -> Work:
    """Products of matrices and lines of Fourier transforms, as the program counts them."""
    n, cutoff, bands = problem["n"], problem["cutoff"], problem["bands"]
    waves = 4 * math.pi / 3 * cutoff**3
    lines = math.pi * cutoff**2 + n * (2 * cutoff + 1) + n**2
    return Work(
        flops=problem["iterations"] * 9.5 * 8 * bands**2 * waves,
        fourier_flops=problem["iterations"] * bands * 2 * lines * 5 * n * math.log2(n),
    )


def overset(problem: Mapping[str, float]) -> Work:
    """The state read and written once; a division or root takes as long as 16 operations."""
    points = problem["points"] * problem["steps"]
    return Work(memory_bytes=points * 8 * 2 * 5, flops=points * (630 + 16 * 9))


def cartesian(problem: Mapping[str, float]) -> Work:
    """Two or three states of 40 B a stage, forcing on coarse levels; cells as if none was cut."""
    cells = problem["cycles"] * problem["n"] ** 3
    work = Work()
    for level in range(int(problem["levels"])):
        visited = cells * (problem["visits"] / 8) ** level
        steps = 1 if level == problem["levels"] - 1 else 2
        coarse = level > 0
        sweeps = 5 * steps + (steps - 1)
        moved = steps * (5 * 120 - 40 + (5 * 40 + 40) * coarse)
        moved += (steps - 1) * (40 + 40 * coarse + 80 + 200 / 8)
        arithmetic = sweeps * (158 if coarse else 272) + 5 * steps * 50
        work = Work(work.memory_bytes + visited * moved, work.flops + visited * arithmetic)
    return work


def unstructured(problem: Mapping[str, float]) -> Work:
    """A matrix that each sweep reads; in a step it, sides of faces, areas, flow once or twice."""
    cells = problem["cells"] * problem["steps"]
    sweep_bytes = 8 * (125 + 5 + 5 + 5) + 16
    step_bytes = 8 * (125 + 2 * 12 + 2 * 20 + 4 * 5 + 2 * 5 + 2 * 5) + 96
    return Work(
        memory_bytes=cells * (problem["sweeps"] * sweep_bytes + step_bytes),
        flops=cells * (problem["sweeps"] * 250 + 2200),
    )


WORK = {
    "ocean": ocean,
    "lattice": lattice,
    "planewave": planewave,
    "overset": overset,
    "cartesian": cartesian,
    "unstructured": unstructured,
}


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs, and where."""

    mpi: MpiInstallation
    programs: Path

    def alone(self, *words: str) -> float:
        """Run a benchmark of one core and give the median rate of its last point."""
        line = [str(self.programs / "nodebench"), *words, "--threads", "1"]
        return float(_rows(line)[-2]["rate"]["median"])

    def app(self, name: str, problem_class: str) -> tuple[Mapping[str, float], float]:
        """Run a mini-app on one rank and give its problem and time."""
        node = Node("localhost", "127.0.0.1", len(os.sched_getaffinity(0)))
        program = [str(self.programs / f"app_{name}"), problem_class]
        header, point, _ = _rows(
            self.mpi.argv(Job(argv=program, layout=Layout(1, 1), nodes=[node]))
        )
        return header["problem"], float(point["time_s"])


def _rows(line: list[str]) -> list[dict[str, Any]]:
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--class-name", default="A")
    parser.add_argument("--apps", nargs="+", default=list(WORK), choices=list(WORK))
    options = parser.parse_args()
    mpi = find_mpi("auto")
    machine = Machine(mpi, build_native(mpi, cache_folder()).programs)
    rates: dict[str, list[float]] = defaultdict(list)
    times: dict[str, list[float]] = defaultdict(list)
    problems: dict[str, Mapping[str, float]] = {}
    for _ in range(options.rounds):
        rates["triad"].append(machine.alone("stream"))
        rates["dgemm"].append(machine.alone("dgemm"))
        rates["fft"].append(machine.alone("fft", "--n3", "48"))
        for name in options.apps:
            problems[name], time_s = machine.app(name, options.class_name)
            times[name].append(time_s)
    middle = [statistics.median(rates[name]) for name in ("triad", "dgemm", "fft")]
    best = [max(rates[name]) for name in ("triad", "dgemm", "fft")]
    print(
        f"{mpi.title}, class {options.class_name}, {options.rounds} rounds; one core, median and "
        f"best: triad {middle[0] / 1e9:.1f} and {best[0] / 1e9:.1f} GB/s, DGEMM "
        f"{middle[1] / 1e9:.1f} and {best[1] / 1e9:.1f} Gflop/s, cube {middle[2] / 1e9:.2f} and "
        f"{best[2] / 1e9:.2f} Gflop/s; load {os.getloadavg()[0]:.1f}"
    )
    print("| app | roofline s | median s | over roofline | best s | over best roofline |")
    print("|---|" + "---:|" * 5)
    for name in options.apps:
        work = WORK[name](problems[name])
        usual, fastest = statistics.median(times[name]), min(times[name])
        print(
            f"| {name} | {work.least_s(*middle):.3f} | {usual:.3f} "
            f"| {usual / work.least_s(*middle):.2f} | {fastest:.3f} "
            f"| {fastest / work.least_s(*best):.2f} |"
        )


if __name__ == "__main__":
    main()
