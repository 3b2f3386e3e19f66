"""Times of the mini-apps beside what the machine's bandwidth and arithmetic allow.

    python benchmarks/apps.py [--rounds 5] [--class-name A] [--ranks 1] [--apps ocean lattice ...]
        [--programs PREFIX/bin]

A round measures DGEMM (with those kernels of OpenBLAS that are fastest here) and vectors of
divisions and of square roots (apps_rates.c), which a unit of its own does, then runs every
mini-app on one rank and beside it what else bounds it: STREAM triad with arrays that together are
as large as the app's own, so that a class that fits into a cache is held against that cache; an
array of that size that is only read; the Fourier transform of a cube of its size. The roofline of a
part of an app is the longest of four times: that of its data at the triad's rate; that of what it
reads at the rate of reading, for parts that hardly write; that of its operations at DGEMM's and the
transform's; that of its divisions and roots. Parts follow one another and add up.

An app that multiplies matrices by the BLAS has two rows: with the kernels that give the bound, so
that the ratio is the app's own, and with those that the library chooses by itself.

Data and operations are counted from the loops (docs/method/apps.md). As in STREAM a line that is
written without being read counts once. Operations count as DGEMM counts them: a product that is
added at once is two, and so is a sum or a product alone, which keeps the unit busy for as long.
What is exchanged between blocks or bricks is not counted.

With `--ranks N` the app runs on N ranks of this machine, each on a core, and what bounds it is the
triad of as many threads, and the arithmetic of a core as many times. One core alone is often not
able to use all of a memory's bandwidth; all cores together are, as applications run. The app's time
is then that of its slowest rank without MPI calls, so that it is not the network that is judged.

The table holds medians over the rounds, of times and of rates. An app that has taken two minutes
is not run in further rounds. On a machine that others use none of it is a measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.vocabulary.model import Layout

_APP_BUDGET_S = 120.0


@dataclass(frozen=True, slots=True)
class Rates:
    """What the cores in use do in a second, all together."""

    triad: Mapping[int, float]  # by the size of its three arrays together, in bytes
    reads: Mapping[int, float]  # by the size of the array that is read
    dgemm: float
    divisions: float
    roots: float
    fourier: float = math.inf  # where nothing is transformed


@dataclass(frozen=True, slots=True)
class Part:
    """What a part of a run has to do: bytes moved, operations by the rate that bounds them."""

    name: str
    flops: float = 0.0
    fourier_flops: float = 0.0
    divisions: float = 0.0
    roots: float = 0.0
    moved_bytes: float = 0.0
    read_bytes: float = 0.0  # of these, where they are nearly all
    arrays_bytes: int = 0  # what they are moved from and to

    def bounds_s(self, rates: Rates) -> dict[str, float]:
        """Return the time that each of what the part needs takes by itself."""
        moving = self.moved_bytes / rates.triad[self.arrays_bytes] if self.moved_bytes else 0.0
        return {
            "data": moving,
            "reading": self.read_bytes / rates.reads[self.arrays_bytes] if self.read_bytes else 0.0,
            "arithmetic": self.flops / rates.dgemm + self.fourier_flops / rates.fourier,
            "divisions": self.divisions / rates.divisions + self.roots / rates.roots,
        }

    def least_s(self, rates: Rates) -> float:
        """Return the time of the roofline."""
        return max(self.bounds_s(rates).values())

    def limit(self, rates: Rates) -> str:
        """Name the part and what bounds it."""
        bounds_s = self.bounds_s(rates)
        return f"{self.name}: {max(bounds_s, key=lambda bound: bounds_s[bound])}"


def ocean(problem: Mapping[str, float]) -> list[Part]:
    """Four fields and four tendencies read and written; then the lid.

    Of a cell: currents corrected (2), pressure and w integrated (8), currents (26 each), weights of
    the tracers' neighbours (6), tracers (9 each). An iteration for the lid reads r and writes
    q; reads q and reads and writes s; reads s and writes q; reads s and q and reads and writes p
    and r. Its four arrays are small and stay in a cache.
    """
    columns = problem["n"] ** 2
    cells = columns * problem["levels"]
    iterations = problem["steps"] * problem["iterations"]
    return [
        Part(
            "explicit",
            moved_bytes=problem["steps"] * cells * 8 * (2 * 4 + 2 * 4),
            arrays_bytes=round(cells * 8 * 8),
            flops=problem["steps"] * cells * 2 * (2 + 8 + 2 * 26 + 6 + 2 * 9),
        ),
        Part(
            "lid",
            moved_bytes=iterations * columns * 8 * (2 + 3 + 2 + 6),
            arrays_bytes=round(columns * 8 * 4),
            flops=iterations * columns * 2 * 16,
        ),
    ]


def lattice(problem: Mapping[str, float]) -> list[Part]:
    """Sixteen matrices of a site, and half of thirteen vectors of an even and an odd site.

    Five of the thirteen are written.
    """
    sites = math.prod(problem[f"n{axis}"] for axis in "xyzt")
    moved = 16 * 144 + 48 * 13 / 2
    read = 16 * 144 + 48 * 8 / 2
    return [
        Part(
            "iterations",
            moved_bytes=problem["iterations"] * sites * moved,
            read_bytes=problem["iterations"] * sites * read,
            arrays_bytes=round(sites * (16 * 144 + 48 * 5 / 2)),
            flops=problem["iterations"] * sites * 2 * (16 * 36 + 30),
        )
    ]


def planewave(problem: Mapping[str, float]) -> list[Part]:
    """Products of matrices and lines of Fourier transforms, as the program counts them."""
    n, cutoff, bands = problem["n"], problem["cutoff"], problem["bands"]
    waves = 4 * math.pi / 3 * cutoff**3
    lines = math.pi * cutoff**2 + n * (2 * cutoff + 1) + n**2
    return [
        Part("matrices", flops=problem["iterations"] * 9.5 * 8 * bands**2 * waves),
        Part(
            "transforms",
            fourier_flops=problem["iterations"] * bands * 2 * lines * 5 * n * math.log2(n),
        ),
    ]


def overset(problem: Mapping[str, float]) -> list[Part]:
    """Two passes through a block: state read, change written; change read, state read and written.

    The first does the right-hand side (derived values 20, dissipation 65, differences 79, to
    characteristic variables 30) and lines along x and y (50 each, and 10), the second those along
    z (50), the speeds before them (17) and the change of the state (30). A line divides by three
    pivots at each point. The state comes from memory; the second pass finds what the first left of
    a block in a cache.
    """
    point_steps = problem["steps"] * problem["points"]
    block = round(problem["points"] / problem["blocks"] * 8 * (5 + 5))
    return [
        Part(
            "right-hand side, x, y",
            moved_bytes=point_steps * 8 * (5 + 5),
            arrays_bytes=round(problem["points"] * 8 * 5),
            flops=point_steps * 2 * (194 + 110),
            divisions=point_steps * 8,
            roots=point_steps,
        ),
        Part(
            "z",
            moved_bytes=point_steps * 8 * (5 + 2 * 5),
            arrays_bytes=block,
            flops=point_steps * 2 * 97,
            divisions=point_steps * 4,
            roots=point_steps,
        ),
    ]


def cartesian(problem: Mapping[str, float]) -> list[Part]:
    """Two or three states of 40 B a stage, forcing on coarse levels; cells as if none was cut.

    A sweep splits fluxes along three axes (67 each with slopes and a limiter, 33 without) and adds
    them up (55), a stage ends with a step (49, one division, one root).
    """
    parts = []
    for level in range(int(problem["levels"])):
        cells = problem["n"] ** 3 / 8**level
        visits = problem["cycles"] * problem["visits"] ** level
        steps = 1 if level == problem["levels"] - 1 else 2
        coarse = level > 0
        sweeps = 5 * steps + (steps - 1)
        moved: float = steps * (5 * 120 - 40 + (5 * 40 + 40) * coarse)
        moved += (steps - 1) * (40 + 40 * coarse + 80 + 200 / 8)
        parts.append(
            Part(
                f"level {level + 1}",
                moved_bytes=visits * cells * moved,
                arrays_bytes=round(cells * 120),
                flops=visits
                * cells
                * 2
                * (sweeps * (55 + 3 * (33 if coarse else 67)) + 5 * steps * 49),
                divisions=visits * cells * (sweeps * 3 * (not coarse) + 5 * steps),
                roots=visits * cells * 5 * steps,
            )
        )
    return parts


def unstructured(problem: Mapping[str, float]) -> list[Part]:
    """A matrix that each sweep reads; in a step it, normals, flow and sides in four passes.

    A sweep is a pass over each colour, which reads the changes of the other colour's cells, reads
    those of its own, to tell what it changes, and writes them: 15 values for a cell, and what it
    reads of the right-hand side. A column of five unknowns counts as 40 B at the triad's rate
    although it is a line of 64 B somewhere.
    """
    cells = problem["cells"]
    cell_steps = problem["steps"] * cells
    arrays_bytes = round(cells * (8 * (100 + 5 + 5) + 16))
    return [
        Part(
            "residual",
            # Nodes: flow, weights; sides: flow, sides written; fluxes: own sides and across,
            # normals, inflow written; its norm; changes cleared and added to the flow.
            moved_bytes=cell_steps * (8 * (5 + 4 + 10 + 10 + 16 + 5 + 5 + 20) + 80),
            arrays_bytes=arrays_bytes,
            flops=cell_steps * 2 * (4 * (109 + 10) + 20 + 21 + 22 + 5),
            divisions=cell_steps * (4 * 2 + 1),
            roots=cell_steps * 4 * 3,
        ),
        Part(
            "matrix",
            # The matrix written, flow of own cells and across, normals, inflow read and written.
            moved_bytes=cell_steps * (8 * (100 + 10 + 16 + 10) + 16),
            arrays_bytes=arrays_bytes,
            # Jacobians, factors of the diagonal block, and 21 columns solved by them.
            flops=cell_steps * 2 * (4 * 181 + 50 + 21 * 25),
            divisions=cell_steps * (4 + 5),
            roots=cell_steps * 4 * 2,
        ),
        Part(
            "sweeps",
            moved_bytes=cell_steps * problem["sweeps"] * (8 * (100 + 5 + 15) + 16),
            read_bytes=cell_steps * problem["sweeps"] * (8 * (100 + 5 + 10) + 16),
            arrays_bytes=arrays_bytes,
            flops=cell_steps * problem["sweeps"] * 2 * 110,
        ),
    ]


#: What calls the BLAS.
MULTIPLY_MATRICES = {"planewave"}

PARTS = {
    "ocean": ocean,
    "lattice": lattice,
    "planewave": planewave,
    "overset": overset,
    "cartesian": cartesian,
    "unstructured": unstructured,
}


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Operations, divisions and roots of one core in a second, and the BLAS's fastest kernels."""

    rates: Mapping[str, float]
    kernels: str | None  # None where the library has chosen them by itself


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs, and where."""

    mpi: MpiInstallation
    programs: Path
    rates: Path
    ranks: int

    def triad(self, arrays_bytes: int) -> float:
        """Measure STREAM triad on as many cores as the apps have ranks."""
        return self._bench("stream", "--size", str(arrays_bytes // 3), threads=self.ranks)

    def reads(self, arrays_bytes: int) -> float:
        """Measure how fast as many cores read at the same time, each its part."""
        line = [str(self.rates), str(arrays_bytes // self.ranks)]
        with ThreadPoolExecutor(self.ranks) as pool:
            started = [pool.submit(_rows, line) for _ in range(self.ranks)]
            return sum(float(one.result()[0]["reads"]) for one in started)

    def alone(self, *words: str, kernels: str | None = None) -> float:
        """Measure a rate of one core, and give that of all ranks."""
        return self.ranks * self._bench(*words, threads=1, kernels=kernels)

    def _bench(self, *words: str, threads: int, kernels: str | None = None) -> float:
        """Return the median rate of the last point of a benchmark."""
        line = [str(self.programs / "nodebench"), *words, "--threads", str(threads)]
        return float(_rows(line, kernels)[-2]["rate"]["median"])

    def arithmetic(self) -> Arithmetic:
        """Measure a round's arithmetic."""
        (row,) = _rows([str(self.rates)])
        dgemm = {kernels: self.alone("dgemm", kernels=kernels) for kernels in _blas_kernels()}
        fastest = max(dgemm, key=lambda kernels: dgemm[kernels])
        rates = {name: self.ranks * float(row[name]) for name in ("divisions", "roots")}
        return Arithmetic({"dgemm": dgemm[fastest], **rates}, fastest)

    def app(
        self, name: str, problem_class: str, kernels: str | None
    ) -> tuple[Mapping[str, float], float]:
        """Run a mini-app and give its problem and time; without MPI calls on several ranks."""
        node = Node("localhost", "127.0.0.1", len(os.sched_getaffinity(0)))
        program = [str(self.programs / f"app_{name}"), problem_class]
        job = Job(argv=program, layout=Layout(1, self.ranks), nodes=[node], binding="core")
        header, point, _ = _rows(self.mpi.argv(job), kernels)
        if not point["verified"]:
            raise SystemExit(f"app_{name} {problem_class} has computed wrong values")
        time_s = point["time_s"] if self.ranks == 1 else point["compute_s"]["max"]
        return header["problem"], float(time_s)


@dataclass(slots=True)
class Measured:
    """All rounds of one app: a row of the table."""

    app: str
    choose_kernels: bool = True  # of the BLAS, those that give the bound
    parts: list[Part] = field(default_factory=list)
    times_s: list[float] = field(default_factory=list)
    triads: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    reads: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    rates: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def title(self) -> str:
        """Name the row."""
        return self.app if self.choose_kernels else f"{self.app}, kernels of the library's choice"

    def run(self, machine: Machine, problem_class: str, arithmetic: Arithmetic) -> None:
        """Take one more round: the app, then what bounds it besides the round's arithmetic."""
        kernels = arithmetic.kernels if self.choose_kernels else None
        problem, time_s = machine.app(self.app, problem_class, kernels)
        self.times_s.append(time_s)
        self.parts = PARTS[self.app](problem)
        for size in {part.arrays_bytes for part in self.parts if part.moved_bytes}:
            self.triads[size].append(machine.triad(size))
        for size in {part.arrays_bytes for part in self.parts if part.read_bytes}:
            self.reads[size].append(machine.reads(size))
        if any(part.fourier_flops for part in self.parts):
            cube = str(int(problem["n"]))
            self.rates["fourier"].append(machine.alone("fft", "--n3", cube))
        for unit, rate in arithmetic.rates.items():
            self.rates[unit].append(rate)

    def row(self) -> str:
        """Return the app's row of the table."""
        rates = self.usual()
        least_s = sum(part.least_s(rates) for part in self.parts)
        time_s = statistics.median(self.times_s)
        shares = ", ".join(
            f"{part.limit(rates)} {part.least_s(rates) / least_s:.0%}" for part in self.parts
        )
        return (
            f"| {self.title} | {len(self.times_s)} | {time_s:.3f} | {min(self.times_s):.3f} "
            f"| {least_s:.3f} | {time_s / least_s:.2f} | {shares} |"
        )

    def usual(self) -> Rates:
        """Return the medians of the rates."""
        return Rates(
            triad={size: statistics.median(rates) for size, rates in self.triads.items()},
            reads={size: statistics.median(rates) for size, rates in self.reads.items()},
            **{unit: statistics.median(rates) for unit, rates in self.rates.items()},
        )

    def rates_row(self) -> str:
        """Return the rates that the app's roofline is made of."""
        rates = self.usual()
        triads, reads = (
            ", ".join(
                f"{size / 2**20:.1f} MiB {rate / 1e9:.1f} GB/s" for size, rate in moved.items()
            )
            for moved in (rates.triad, rates.reads)
        )
        transform = f"{rates.fourier / 1e9:.2f}" if math.isfinite(rates.fourier) else "none"
        return (
            f"| {self.title} | {triads or 'none'} | {reads or 'none'} "
            f"| {rates.dgemm / 1e9:.1f} | {transform} "
            f"| {rates.divisions / 1e9:.2f} | {rates.roots / 1e9:.2f} |"
        )


def _blas_kernels() -> list[str | None]:
    """Return the kernels of OpenBLAS to try; for a newer processor it takes the oldest ones."""
    flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    by_flag = {"avx512f": "SKYLAKEX", "avx2": "HASWELL"}
    return [None, *(kernels for flag, kernels in by_flag.items() if flag in flags)]


def _rows(line: list[str], kernels: str | None = None) -> list[dict[str, Any]]:
    environment = {**os.environ, **({"OPENBLAS_CORETYPE": kernels} if kernels else {})}
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    return [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]


def _compile_rates(folder: Path) -> Path:
    program = folder / "apps_rates"
    source = Path(__file__).with_name("apps_rates.c")
    # As the mini-apps' own loops: vectors of eight, where the processor has them. A square root
    # that may set errno would not be a vector.
    flags = ["-O3", "-march=native", "-mprefer-vector-width=512", "-fno-math-errno"]
    subprocess.run(["cc", *flags, str(source), "-o", str(program), "-lm"], check=True)
    return program


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--class-name", default="A")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--apps", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--programs", type=Path, help="what CMake installed, instead of a build")
    options = parser.parse_args()
    mpi = find_mpi("auto")
    programs = options.programs or build_native(mpi, cache_folder()).programs
    measured = []
    for name in options.apps:
        measured += [Measured(name)] + [Measured(name, False)] * (name in MULTIPLY_MATRICES)
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(mpi, programs, _compile_rates(Path(folder)), options.ranks)
        for count in range(options.rounds):
            arithmetic = machine.arithmetic()
            for app in measured:
                if sum(app.times_s) < _APP_BUDGET_S:
                    app.run(machine, options.class_name, arithmetic)
                    time_s = app.times_s[-1]
                    print(f"round {count + 1}, {app.title}: {time_s:.3f} s", file=sys.stderr)
    cores = "one core" if options.ranks == 1 else f"{options.ranks} cores"
    print(f"{mpi.title}, class {options.class_name}, {cores}, load {os.getloadavg()[0]:.1f}\n")
    print("| app | rounds | median s | best s | roofline s | ratio | what bounds each part |")
    print("|---|" + "---:|" * 5 + "---|")
    for app in measured:
        print(app.row())
    units = "DGEMM Gflop/s | transform Gflop/s | divisions G/s | roots G/s"
    print(f"\n| app | triad | reading alone | {units} |")
    print("|---|---|---|" + "---:|" * 4)
    for app in measured:
        print(app.rates_row())


if __name__ == "__main__":
    main()
