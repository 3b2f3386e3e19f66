"""What the profiler costs: ns per call on calls that do next to nothing, and on real programs.

    python benchmarks/profile_overhead.py
    python benchmarks/profile_overhead.py --kernels A
    python benchmarks/profile_overhead.py --blocks 10 -- mpirun -n 2 ./app

Goals: at most 150 ns per call, and at most 1 % on the NAS kernels of class A at 2 ranks; with
`--trace`, which also says how large the trace is, 150 ns, 2 %, and less than 64 MB for LU.

A block is four runs, plain - profiled - profiled - plain or the other way round, so that a drift
of the machine falls on both alike; of the two runs of a kind the faster one counts, because
disturbances only add. The ratio is the paired Hodges-Lehmann ratio over blocks with its 95 %
interval. A program's time is its own ``"time_s": ...`` if it prints one, as the kernels do, else
that of the whole command.

Other programs: the share of the cores that they had is measured, and a block in which that was
more than `--busy` is run again: this depends on the others, never on the result. `--realtime`
starts everything by ``chrt -r 1`` instead, before which others have to give way (it needs the right
to do so); they then have the cores only while a job starts and ends.

Beside that ratio stand the ratio of the lower quartiles of all runs of a kind, with its bootstrap
interval (on a shared machine the slower half of the runs tells mostly of the neighbours), and a
bound that no noise touches: the calls that the profile counted, times 150 ns, over the plain time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bareline.build.native import build_native
from bareline.build.sources import source_folder
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.profile.files import read_profile
from bareline.profile.trace import read_trace
from bareline.session.profiling import preloaded, profiler_library
from bareline.stats.ratio import paired_ratio
from bareline.stats.summary import summarize

#: Ranks share cores here; root may start Open MPI.
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
#: Those that run on two ranks.
KERNELS = ("ep", "is", "cg", "mg", "ft", "lu")
NS_PER_CALL = 150
_MOST_REPEATS = 3
_RESAMPLES = 5000


@dataclass(frozen=True, slots=True)
class Bench:
    """How commands are run: with which library, and how undisturbed.

    Parameters
    ----------
    library
        The profiler.
    profile
        Where profiles are written.
    """

    mpi: MpiInstallation
    library: Path
    profile: Path
    realtime: bool
    trace: bool

    def run(self, command: list[str], *, profiled: bool) -> subprocess.CompletedProcess[str]:
        """Run a command that must succeed."""
        variables = {"LD_PRELOAD": str(self.library), "BARELINE_PROFILE": str(self.profile)}
        if self.trace:
            variables["BARELINE_TRACE"] = str(self.profile.with_suffix(".trace"))
        line = preloaded(command, self.mpi.flavour, variables)[0] if profiled else command
        first = ["chrt", "-r", "1"] if self.realtime else []
        return subprocess.run([*first, *line], check=True, capture_output=True, text=True)

    def time_s(self, command: list[str], *, profiled: bool) -> tuple[float, float]:
        """Return a run's time, and the share of all cores that other programs had meanwhile."""
        busy, own = _busy_s(), _children_s()
        begin = time.perf_counter()
        done = self.run(command, profiled=profiled)
        whole = time.perf_counter() - begin
        others = max(0.0, (_busy_s() - busy) - (_children_s() - own))
        found = re.search(r'"time_s":\s*([\d.eE+-]+)', done.stdout)
        return float(found[1]) if found else whole, others / whole / (os.cpu_count() or 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="What does the profiler cost?")
    parser.add_argument("--mpi", default="auto", help="openmpi, mpich or the path of a launcher")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--build", type=Path, help="an existing CMake build with pmpi_tests")
    parser.add_argument("--kernels", metavar="CLASS", help="the NAS kernels of this class")
    parser.add_argument("--only", nargs="+", default=KERNELS, choices=KERNELS)
    parser.add_argument("--realtime", action="store_true", help="before all other programs")
    parser.add_argument("--trace", action="store_true", help="profile with a trace")
    parser.add_argument("--busy", type=float, default=0.05, help="most that others may have")
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args()
    if asked.command and asked.mpi == "auto":
        asked.mpi = shutil.which(asked.command[0]) or "auto"
    mpi = find_mpi(asked.mpi)
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        profile = folder / "app.profile"
        if not asked.command and not asked.kernels:
            build = asked.build or build_tests(mpi, folder / "build")
            bench = Bench(mpi, profiler_in(build), profile, asked.realtime, asked.trace)
            program = build / "native" / "pmpi" / "tests" / "overhead"
            measure_calls(bench, [mpi.mpirun, "-n", "1", str(program)], asked.blocks)
            return
        native = build_native(mpi, cache_folder())
        library = profiler_in(asked.build) if asked.build else profiler_library(native.path)
        bench = Bench(mpi, library, profile, asked.realtime, asked.trace)
        commands = {" ".join(asked.command): asked.command} if asked.command else {}
        for kernel in asked.only if asked.kernels else ():
            program = native.programs / f"npb_{kernel}"
            line = [mpi.mpirun, "-n", "2", str(program), asked.kernels]
            commands[f"npb_{kernel} {asked.kernels}"] = line
        print(f"{mpi.title}, {asked.blocks} blocks of 4 runs; profiled / plain [95 %]")
        for name, command in commands.items():
            measure_command(name, command, bench, asked.blocks, asked.busy)


def build_tests(mpi: MpiInstallation, build: Path) -> Path:
    configure = ["cmake", "-S", str(source_folder()), "-B", str(build)]
    configure += [f"-DMPI_C_COMPILER={mpi.mpicc}"]
    make = ["cmake", "--build", str(build), "--target", "pmpi_tests", "--parallel"]
    for line in (configure, make):
        subprocess.run(line, check=True, capture_output=True)
    return build


def profiler_in(build: Path) -> Path:
    return build / "native" / "pmpi" / "libbareline_pmpi.so"


def measure_calls(bench: Bench, program: list[str], blocks: int) -> None:
    differences: dict[str, list[float]] = {}
    plain_ns: dict[str, list[float]] = {}
    for _ in range(blocks):
        found = {
            profiled: json.loads(bench.run(program, profiled=profiled).stdout)
            for profiled in random.sample([False, True], 2)
        }
        for call, value in found[False].items():
            plain_ns.setdefault(call, []).append(value)
            differences.setdefault(call, []).append(found[True][call] - value)
    print(f"{bench.mpi.title}, {blocks} interleaved pairs of runs; ns per call, median [95 %]")
    for call, values in differences.items():
        added, alone = summarize(values), summarize(plain_ns[call])
        print(
            f"{call:32} adds {float(added.median):6.1f} "
            f"[{float(added.lo):.1f}, {float(added.hi):.1f}] to {float(alone.median):6.1f}"
        )


def measure_command(name: str, command: list[str], bench: Bench, blocks: int, busy: float) -> None:
    runs: dict[bool, list[float]] = {False: [], True: []}
    best: dict[bool, list[float]] = {False: [], True: []}
    disturbed, again = [], 0
    for _ in range(blocks):
        for repeat in range(_MOST_REPEATS):
            block, others = run_block(command, bench)
            if bench.realtime or others <= busy or repeat == _MOST_REPEATS - 1:
                break
            again += 1
        disturbed.append(others)
        for profiled, times in block.items():
            runs[profiled] += times
            best[profiled].append(min(times))
    ratio = paired_ratio(best[True], best[False])
    quartiles = quartile_ratio(runs[True], runs[False])
    plain = statistics.median(best[False])
    calls = int(read_profile(bench.profile).rank_table["calls"].max() or 0)  # type: ignore[arg-type]
    print(
        f"{name}: {float(ratio.ratio):.4f} [{float(ratio.lo):.4f}, {float(ratio.hi):.4f}]; "
        f"lower quartiles {quartiles[0]:.4f} [{quartiles[1]:.4f}, {quartiles[2]:.4f}]; "
        f"plain {plain:.3f} s; {calls} calls a rank at {NS_PER_CALL} ns each would be "
        f"{calls * NS_PER_CALL * 1e-9 / plain:.2%}; others had {statistics.median(disturbed):.0%} "
        f"of the cores, {again} blocks run again{_traced(bench)}",
        flush=True,
    )


def _traced(bench: Bench) -> str:
    """Describe how large the trace is and whether it is whole."""
    if not bench.trace:
        return ""
    path = bench.profile.with_suffix(".trace")
    trace = read_trace(path)
    whole = f"cut: {trace.why_partial}" if trace.why_partial else "whole"
    return f"; trace {path.stat().st_size / 1e6:.2f} MB, {whole}"


def run_block(command: list[str], bench: Bench) -> tuple[dict[bool, list[float]], float]:
    """Run both kinds twice; give the times of each, and the most that others had."""
    first = random.random() < 0.5
    found: dict[bool, list[float]] = {False: [], True: []}
    others = []
    for profiled in (first, not first, not first, first):
        time_s, share = bench.time_s(command, profiled=profiled)
        found[profiled].append(time_s)
        others.append(share)
    return found, max(others)


def quartile_ratio(values: list[float], baseline: list[float]) -> tuple[float, float, float]:
    """Return the ratio of the lower quartiles and its 95 % bootstrap interval."""
    draw = np.random.default_rng(1)

    def quartiles(times: list[float]) -> NDArray[np.float64]:
        again = draw.choice(times, size=(_RESAMPLES, len(times)))
        return np.quantile(again, 0.25, axis=1)

    low, high = np.quantile(quartiles(values) / quartiles(baseline), (0.025, 0.975))
    return float(np.quantile(values, 0.25) / np.quantile(baseline, 0.25)), float(low), float(high)


def _busy_s() -> float:
    """Return the time in which all cores were busy since the machine began."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    first = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    ticks = dict(zip(names, map(int, first), strict=False))
    return (sum(ticks.values()) - ticks["idle"] - ticks["iowait"]) / os.sysconf("SC_CLK_TCK")


def _children_s() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
