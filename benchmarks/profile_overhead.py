"""What the profiler costs: ns per call on calls that do next to nothing, and on a real program.

    python benchmarks/profile_overhead.py
    python benchmarks/profile_overhead.py --blocks 10 -- mpirun -n 2 npb_cg A

Every block runs the program without and with the profiler, in random order. Goals: at most 150 ns
per call, and at most 1 % on the NAS kernels of class A at 2 ranks. A program's time is its own
``"time_s": ...`` if it prints one, as the kernels do, else that of the whole command.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from bareline.build import build_native, source_folder
from bareline.cache import cache_folder
from bareline.platforms.launcher import MpiInstallation, find_mpi
from bareline.profile.run import preloaded, profiler_library
from bareline.stats.ratio import paired_ratio
from bareline.stats.summary import summarize

#: Ranks share cores here; root may start Open MPI.
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def main() -> None:
    parser = argparse.ArgumentParser(description="What does the profiler cost?")
    parser.add_argument("--mpi", default="auto", help="openmpi, mpich or the path of a launcher")
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--build", type=Path, help="an existing CMake build with pmpi_tests")
    parser.add_argument("command", nargs="*")
    asked = parser.parse_args()
    if asked.command and asked.mpi == "auto":
        asked.mpi = shutil.which(asked.command[0]) or "auto"
    mpi = find_mpi(asked.mpi)
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if asked.command:
            if asked.build:
                library = profiler_in(asked.build)
            else:
                library = profiler_library(build_native(mpi, cache_folder()).path)
            measure_command(asked.command, mpi, library, asked.blocks, folder)
        else:
            build = asked.build or build_tests(mpi, folder / "build")
            measure_calls(mpi, build, asked.blocks, folder)


def build_tests(mpi: MpiInstallation, build: Path) -> Path:
    configure = ["cmake", "-S", str(source_folder()), "-B", str(build)]
    configure += [f"-DMPI_C_COMPILER={mpi.mpicc}"]
    make = ["cmake", "--build", str(build), "--target", "pmpi_tests", "--parallel"]
    for line in (configure, make):
        subprocess.run(line, check=True, capture_output=True)
    return build


def profiler_in(build: Path) -> Path:
    return build / "native" / "pmpi" / "libbareline_pmpi.so"


def measure_calls(mpi: MpiInstallation, build: Path, blocks: int, folder: Path) -> None:
    program = [mpi.mpirun, "-n", "1", str(build / "native" / "pmpi" / "tests" / "overhead")]
    differences: dict[str, list[float]] = {}
    plain_ns: dict[str, list[float]] = {}
    for _ in range(blocks):
        found = in_random_order(program, mpi, profiler_in(build), folder)
        plain, profiled = json.loads(found[False][0]), json.loads(found[True][0])
        for call, value in plain.items():
            plain_ns.setdefault(call, []).append(value)
            differences.setdefault(call, []).append(profiled[call] - value)
    print(f"{mpi.title}, {blocks} interleaved pairs of runs; ns per call, median [95 %]")
    for call, values in differences.items():
        added, alone = summarize(values), summarize(plain_ns[call])
        print(
            f"{call:32} adds {float(added.median):6.1f} "
            f"[{float(added.lo):.1f}, {float(added.hi):.1f}] to {float(alone.median):6.1f}"
        )


def measure_command(
    command: list[str], mpi: MpiInstallation, library: Path, blocks: int, folder: Path
) -> None:
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(blocks):
        for profiled, (output, whole_s) in in_random_order(command, mpi, library, folder).items():
            own = re.search(r'"time_s":\s*([\d.eE+-]+)', output)
            times[profiled].append(float(own[1]) if own else whole_s)
    ratio = paired_ratio(times[True], times[False])
    print(
        f"{' '.join(command)}: profiled / plain = {float(ratio.ratio):.4f} "
        f"[{float(ratio.lo):.4f}, {float(ratio.hi):.4f}], {blocks} interleaved pairs, {mpi.title}"
    )


def in_random_order(
    command: list[str], mpi: MpiInstallation, library: Path, folder: Path
) -> dict[bool, tuple[str, float]]:
    """Run once without and once with the profiler; give output and time in s of both."""
    variables = {"LD_PRELOAD": str(library), "BARELINE_PROFILE": str(folder / "app.profile")}
    found = {}
    for profiled in random.sample([False, True], 2):
        line = preloaded(command, mpi.flavour, variables)[0] if profiled else command
        begin = time.perf_counter()
        done = subprocess.run(line, check=True, capture_output=True, text=True)
        found[profiled] = (done.stdout, time.perf_counter() - begin)
    return found


if __name__ == "__main__":
    main()
