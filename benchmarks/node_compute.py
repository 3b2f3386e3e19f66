"""Hold our DGEMM against a plain OpenBLAS loop and HPC Challenge, and Linpack against DGEMM.

    python benchmarks/node_compute.py [--rounds 11] [--build FOLDER] [--prefix 'chrt -r 10']

All programs of a comparison run in turns, in seeded random order within each round; ratios are
taken within rounds, and their median and its 95 % interval are printed. The limits: DGEMM at least
0.98 of the loop and of hpcc's figures at hpcc's own order; Linpack on one core within 10 % of what
DGEMM's rate explains:

    sum over s = n/2, n/4, ... of (s n^2/2) / rate(s)                         the products
    + triangular systems + panels + row swaps + triangular solutions          reference_linpack

rate(s) is DGEMM's at order s: the recursive factorisation that LAPACK uses multiplies matrices of
these sizes. `--build` is a folder that CMake configured with tests; without it the programs are
built in a temporary one. On a machine that others use, too, a `--prefix` such as 'chrt -r 10', as
root, keeps the programs of one core from being interrupted; hpcc, on all cores, runs without it.
Last comes DGEMM with OpenBLAS's kernels for older processors: what hidden instruction sets cost on
this hardware. Exit code 1: a limit is not kept.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bareline import stats
from bareline.build.sources import source_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.probes.compute.hpcc import HpccParams, input_text
from bareline.vocabulary.model import Layout
from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: Columns of the narrowest panel: narrower ones are no longer matrix products.
WIDTH = 64
#: OpenBLAS's names of kernels, and the flag that they need.
KERNELS = {"Nehalem": "sse4_2", "Sandybridge": "avx", "Haswell": "fma", "SkylakeX": "avx512vl"}


@dataclass(frozen=True, slots=True)
class Programs:
    """The native programs, and what is put before each."""

    build: Path
    prefix: tuple[str, ...]

    def run(self, program: str, *arguments: str, kernels: str = "") -> str:
        """Run a program of one core to its end, with OpenBLAS's choice of kernels or another."""
        argv = [*self.prefix, str(self.build / "native" / program), *arguments]
        chosen = {"OPENBLAS_CORETYPE": kernels} if kernels else {}
        done = subprocess.run(
            argv,
            env={**os.environ, **chosen},
            capture_output=True,
            text=True,
            check=False,
            timeout=1800,
        )
        if done.returncode != 0:
            sys.exit(f"node_compute: {shlex.join(argv)} failed: {done.stderr.strip()}")
        return done.stdout

    def rate(
        self, benchmark: str, order: int, *arguments: str, repeat: int = 10, kernels: str = ""
    ) -> float:
        """Return nodebench's median rate in flop/s."""
        options = ("--n", str(order), "--repeat", str(repeat), *arguments)
        text = self.run("nodebench/nodebench", benchmark, *options, kernels=kernels)
        return float(json.loads(text.splitlines()[1])["rate"]["median"])

    def loop(self, order: int) -> float:
        """Return the plain loop's median rate in flop/s."""
        return float(self.run("tests/reference_dgemm", str(order), "10").split()[0])

    def parts(self, order: int) -> float:
        """Return the time in s of what is no product in a factorisation."""
        text = self.run("tests/reference_linpack", str(order), str(WIDTH))
        return sum(map(float, text.split()))


def explained_time(order: int, rates: Mapping[int, float], parts_s: float) -> float:
    """Return the time in s that a factorisation takes if its products run at DGEMM's rates."""
    return sum(size * order**2 / 2 / rates[size] for size in rates) + parts_s


def halves(order: int) -> list[int]:
    """List the orders of the products: n/2, n/4, ... down to the panels."""
    return [order >> power for power in range(1, 1 + int(math.log2(order / WIDTH)))]


def linpack_operations(order: int) -> float:
    """Count as HPL does."""
    return (2 / 3 * order + 3 / 2) * float(order) ** 2


def in_turns(
    tasks: Mapping[str, Callable[[], float]], rounds: int, order: random.Random
) -> dict[str, list[float]]:
    """Run every task once a round, in random order."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        names = list(tasks)
        order.shuffle(names)
        for name in names:
            found[name].append(tasks[name]())
    return found


def hpcc_figures(ranks: int, params: HpccParams) -> dict[str, float]:
    """Run hpcc once; give the numbers of its summary."""
    mpi = find_mpi("openmpi")
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(input_text(params, ranks))
        node = [Node("localhost", "127.0.0.1", ranks)]
        argv = mpi.argv(Job(argv=["hpcc"], layout=Layout(1, ranks), nodes=node, env=threads))
        subprocess.run(
            argv, cwd=folder, env={**os.environ, **threads}, check=True, capture_output=True
        )
        text = Path(folder, "hpccoutf.txt").read_text()
    return {name: float(value) for name, value in re.findall(r"^(\w+)=([\d.eE+-]+)$", text, re.M)}


def told(name: str, ratios: Sequence[float], low: float = 0, high: float = math.inf) -> bool:
    """Print a row; tell whether the median is within its limits."""
    summary = stats.summarize(list(ratios))
    median = float(summary.median)
    limit = f"{low:g} to {high:g}" if high < math.inf else f"at least {low:g}" if low else "none"
    print(
        f"| {name} | {len(ratios)} | {median:.3f} | {float(summary.lo):.3f} to "
        f"{float(summary.hi):.3f} | {limit} |",
        flush=True,
    )
    return low <= median <= high


def over(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Divide within rounds."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def compare_with_loop(programs: Programs, options: argparse.Namespace) -> bool:
    """DGEMM on one core against the plain loop."""
    kept = True
    for order in options.orders:
        found = in_turns(
            {
                "ours": lambda order=order: programs.rate("dgemm", order),
                "loop": lambda order=order: programs.loop(order),
            },
            options.rounds,
            random.Random(options.seed),
        )
        kept &= told(f"DGEMM, n = {order} / plain loop", over(found["ours"], found["loop"]), 0.98)
    return kept


def compare_with_hpcc(programs: Programs, options: argparse.Namespace) -> bool:
    """DGEMM on one core and on every core against hpcc's, at the order that hpcc chooses."""
    params = HpccParams(memory_bytes=options.hpcc_bytes)
    ranks = len(os.sched_getaffinity(0))
    plain = Programs(programs.build, ())
    order = int(hpcc_figures(ranks, params)["DGEMM_N"])
    figures: list[dict[str, float]] = []

    def hpcc() -> float:
        figures.append(hpcc_figures(ranks, params))
        return figures[-1]["SingleDGEMM_Gflops"] * 1e9

    found = in_turns(
        {
            "hpcc": hpcc,
            "single": lambda: plain.rate("dgemm", order),
            "star": lambda: plain.rate("dgemm", order, "--mode", "star"),
        },
        options.rounds,
        random.Random(options.seed),
    )
    star = [run["StarDGEMM_Gflops"] * 1e9 for run in figures]
    name = f"DGEMM, n = {order}"
    single_kept = told(f"{name} / hpcc's SingleDGEMM", over(found["single"], found["hpcc"]), 0.98)
    star_kept = told(f"{name}, every core / hpcc's StarDGEMM", over(found["star"], star), 0.98)
    return single_kept and star_kept


def explain_linpack(programs: Programs, options: argparse.Namespace) -> bool:
    """Linpack's time on one core against what DGEMM's rates explain."""
    kept = True
    for order in options.linpack_orders:
        tasks: dict[str, Callable[[], float]] = {
            str(size): lambda size=size: programs.rate("dgemm", size) for size in halves(order)
        }
        tasks["linpack"] = lambda order=order: programs.rate(
            "linpack", order, "--mode", "single", repeat=3
        )
        tasks["parts"] = lambda order=order: programs.parts(order)
        found = in_turns(tasks, options.rounds, random.Random(options.seed))
        ratios = []
        for number in range(options.rounds):
            rates = {size: found[str(size)][number] for size in halves(order)}
            time_s = linpack_operations(order) / found["linpack"][number]
            ratios.append(time_s / explained_time(order, rates, found["parts"][number]))
        kept &= told(f"Linpack's time, n = {order} / explained by DGEMM", ratios, 0.9, 1.1)
        share = statistics.median(over(found["linpack"], found[str(order // 2)]))
        print(f"|   its rate / DGEMM's at n = {order // 2} | | {share:.3f} | | |")
    return kept


def compare_kernels(programs: Programs, options: argparse.Namespace) -> None:
    """DGEMM with kernels of older instruction sets: what a guest loses whose processor hides sets.

    The same hardware runs all of them.
    """
    order = 1000
    shown = Path("/proc/cpuinfo").read_text().split()
    chosen = [name for name, flag in KERNELS.items() if flag in shown]
    found = in_turns(
        {name: lambda name=name: programs.rate("dgemm", order, kernels=name) for name in chosen},
        options.rounds,
        random.Random(options.seed),
    )
    for older, newer in pairwise(chosen):
        name = f"DGEMM, n = {order}, {newer}'s kernels / {older}'s"
        told(name, over(found[newer], found[older]))


def built(folder: Path) -> Path:
    """Build nodebench and the reference programs; give the folder."""
    configure = ["cmake", "-S", str(source_folder()), "-B", str(folder)]
    targets = ("nodebench", "reference_dgemm", "reference_linpack")
    make = ["cmake", "--build", str(folder), "--parallel", "--target", *targets]
    for argv in (configure, make):
        subprocess.run(argv, check=True, capture_output=True)
    return folder


def compare(programs: Programs, options: argparse.Namespace) -> int:
    """Print the table; give the exit code."""
    print("| ratio | rounds | median | 95 % interval | limit |")
    print("|---|---:|---:|---:|---|")
    kept = compare_with_loop(programs, options)
    if options.hpcc_bytes:
        kept &= compare_with_hpcc(programs, options)
    kept &= explain_linpack(programs, options)
    compare_kernels(programs, options)
    return 0 if kept else 1


def main() -> int:
    """Compare all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--build", type=Path)
    parser.add_argument("--prefix", default="", help="put before the programs of one core")
    parser.add_argument("--orders", type=int, nargs="*", default=[512, 2000])
    parser.add_argument("--linpack-orders", type=int, nargs="*", default=[2000, 4000])
    parser.add_argument("--hpcc-bytes", type=int, default=32 << 20, help="a rank; 0: without hpcc")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.rounds < MIN_LAUNCHES:
        parser.error(f"--rounds: an interval needs {MIN_LAUNCHES}")
    with tempfile.TemporaryDirectory(prefix="node-compute-") as folder:
        build = (options.build or built(Path(folder))).resolve()
        return compare(Programs(build, tuple(shlex.split(options.prefix))), options)


if __name__ == "__main__":
    sys.exit(main())
