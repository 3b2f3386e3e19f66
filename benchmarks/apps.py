"""Times of the mini-apps beside what the machine's bandwidth and arithmetic allow.

    python benchmarks/apps.py [--rounds 5] [--class-name A] [--apps ocean lattice ...]

A round runs every mini-app on one rank and beside it, on one core, what bounds it: STREAM triad
with arrays that together are as large as the app's own, so that a class that fits into a cache is
held against that cache, DGEMM, and the Fourier transform of a cube of its size. The roofline of a
part of an app is the time that its data need at the triad's rate or its operations at DGEMM's and
the transform's, whichever is longer; parts follow one another and add up. Data and operations are
counted from the loops (docs/method/apps.md); as in STREAM a line that is written without being read
counts once. The table holds medians and the best round of either side: on a machine that others use
the best is nearer to the truth, and neither is a measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
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
class Rates:
    """What one core does in a second."""

    triad: Mapping[int, float]  # by the size of its three arrays together, in bytes
    dgemm: float
    fourier: float


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of a run has to do: bytes moved, operations by the rate that bounds them."""

    flops: float = 0.0
    fourier_flops: float = 0.0
    moved_bytes: float = 0.0
    arrays_bytes: int = 0  # what they are moved from and to

    def least_s(self, rates: Rates) -> float:
        """Give the time of the roofline."""
        moving = self.moved_bytes / rates.triad[self.arrays_bytes] if self.moved_bytes else 0.0
        return max(moving, self.flops / rates.dgemm + self.fourier_flops / rates.fourier)


def ocean(problem: Mapping[str, float]) -> list[Part]:
    """Four fields and four tendencies read and written, u and v once more; then the lid.

    An iteration reads r and writes z; reads z and reads and writes p and d and writes q; reads q
    and reads and writes r. Its five arrays are small and stay in a cache.
    """
    columns = problem["n"] ** 2
    cells = columns * problem["levels"]
    iterations = problem["steps"] * problem["iterations"]
    return [
        Part(
            moved_bytes=problem["steps"] * cells * 8 * (2 * 4 + 2 * 4 + 2 * 2),
            arrays_bytes=round(cells * 8 * 8),
            flops=problem["steps"] * cells * 160,
        ),
        Part(
            moved_bytes=iterations * columns * 8 * (2 + 6 + 3),
            arrays_bytes=round(columns * 8 * 5),
            flops=iterations * columns * 30,
        ),
    ]


def lattice(problem: Mapping[str, float]) -> list[Part]:
    """Eight matrices of a site, and half of thirteen vectors of an even and an odd site."""
    sites = math.prod(problem[f"n{axis}"] for axis in "xyzt")
    moved = 8 * 144 + 48 * 13 / 2
    return [
        Part(
            moved_bytes=problem["iterations"] * sites * moved,
            arrays_bytes=round(sites * (8 * 144 + 48 * 5 / 2)),
            flops=problem["iterations"] * sites * (573 + 30),
        )
    ]


def planewave(problem: Mapping[str, float]) -> list[Part]:
    """Products of matrices and lines of Fourier transforms, as the program counts them."""
    n, cutoff, bands = problem["n"], problem["cutoff"], problem["bands"]
    waves = 4 * math.pi / 3 * cutoff**3
    lines = math.pi * cutoff**2 + n * (2 * cutoff + 1) + n**2
    return [
        Part(
            flops=problem["iterations"] * 9.5 * 8 * bands**2 * waves,
            fourier_flops=problem["iterations"] * bands * 2 * lines * 5 * n * math.log2(n),
        )
    ]


def overset(problem: Mapping[str, float]) -> list[Part]:
    """Two passes through a block: state read, change written; change read, state read and written.

    The first does the right-hand side and lines along x and y, the second those along z. The state
    comes from memory; the second pass finds what the first left of a block in a cache. A division
    or root is counted as 16 operations.
    """
    points = problem["points"]
    block = round(points / problem["blocks"] * 8 * (5 + 5))
    return [
        Part(
            moved_bytes=problem["steps"] * points * 8 * (5 + 5),
            arrays_bytes=round(points * 8 * 5),
            flops=problem["steps"] * points * (480 + 16 * 6),
        ),
        Part(
            moved_bytes=problem["steps"] * points * 8 * (5 + 2 * 5),
            arrays_bytes=block,
            flops=problem["steps"] * points * (150 + 16 * 3),
        ),
    ]


def cartesian(problem: Mapping[str, float]) -> list[Part]:
    """Two or three states of 40 B a stage, forcing on coarse levels; cells as if none was cut."""
    parts = []
    for level in range(int(problem["levels"])):
        cells = problem["n"] ** 3 / 8**level
        visits = problem["cycles"] * problem["visits"] ** level
        steps = 1 if level == problem["levels"] - 1 else 2
        coarse = level > 0
        sweeps = 5 * steps + (steps - 1)
        moved = steps * (5 * 120 - 40 + (5 * 40 + 40) * coarse)
        moved += (steps - 1) * (40 + 40 * coarse + 80 + 200 / 8)
        arithmetic = sweeps * (158 if coarse else 272) + 5 * steps * 50
        parts.append(
            Part(
                moved_bytes=visits * cells * moved,
                arrays_bytes=round(cells * 120),
                flops=visits * cells * arithmetic,
            )
        )
    return parts


def unstructured(problem: Mapping[str, float]) -> list[Part]:
    """A matrix that each sweep reads; in a step it, sides of faces, areas, flow once or twice."""
    cells = problem["cells"]
    sweep_bytes = 8 * (125 + 5 + 5 + 5) + 16
    step_bytes = 8 * (125 + 2 * 12 + 2 * 20 + 4 * 5 + 2 * 5 + 2 * 5) + 96
    return [
        Part(
            moved_bytes=problem["steps"] * cells * (problem["sweeps"] * sweep_bytes + step_bytes),
            arrays_bytes=round(cells * sweep_bytes),
            flops=problem["steps"] * cells * (problem["sweeps"] * 250 + 2200),
        )
    ]


PARTS = {
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
    parser.add_argument("--apps", nargs="+", default=list(PARTS), choices=list(PARTS))
    options = parser.parse_args()
    mpi = find_mpi("auto")
    machine = Machine(mpi, build_native(mpi, cache_folder()).programs)
    print(f"{mpi.title}, class {options.class_name}, {options.rounds} rounds, one core")
    print("| app | roofline s | median s | over roofline | best s | over best roofline |")
    print("|---|" + "---:|" * 5)
    for name in options.apps:
        (usual, best), times = _rounds(machine, name, options)
        time_s, fastest_s = statistics.median(times), min(times)
        print(
            f"| {name} | {usual:.3f} | {time_s:.3f} | {time_s / usual:.2f} "
            f"| {fastest_s:.3f} | {fastest_s / best:.2f} |",
            flush=True,
        )
    print(f"load {os.getloadavg()[0]:.1f}")


def _rounds(
    machine: Machine, name: str, options: argparse.Namespace
) -> tuple[tuple[float, float], list[float]]:
    """Measure an app beside what bounds it; give its usual and best roofline, and its times."""
    measured: dict[str, list[float]] = defaultdict(list)
    triads: dict[int, list[float]] = defaultdict(list)
    for _ in range(options.rounds):
        problem, time_s = machine.app(name, options.class_name)
        measured["time"].append(time_s)
        parts = PARTS[name](problem)
        for size in {part.arrays_bytes for part in parts if part.moved_bytes}:
            triads[size].append(machine.alone("stream", "--size", str(size // 3)))
        measured["dgemm"].append(machine.alone("dgemm"))
        cube = str(int(problem["n"])) if name == "planewave" else "48"
        measured["fourier"].append(machine.alone("fft", "--n3", cube))
    usual, best = (
        Rates(
            {size: pick(values) for size, values in triads.items()},
            pick(measured["dgemm"]),
            pick(measured["fourier"]),
        )
        for pick in (statistics.median, max)
    )
    shown = ", ".join(
        f"triad of {size / 2**20:.1f} MiB {rate / 1e9:.1f} and {best.triad[size] / 1e9:.1f} GB/s"
        for size, rate in usual.triad.items()
    )
    print(
        f"{name}, median and best: {shown or 'no data counted'}, DGEMM {usual.dgemm / 1e9:.1f} and "
        f"{best.dgemm / 1e9:.1f}, cube {usual.fourier / 1e9:.2f} and {best.fourier / 1e9:.2f} "
        "Gflop/s",
        file=sys.stderr,
    )
    rooflines = tuple(sum(part.least_s(rates) for part in parts) for rates in (usual, best))
    return (rooflines[0], rooflines[1]), measured["time"]


if __name__ == "__main__":
    main()
