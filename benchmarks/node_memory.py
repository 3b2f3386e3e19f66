"""Our STREAM and RandomAccess beside those of HPC Challenge, on one core.

    python benchmarks/node_memory.py [REPETITIONS] [STREAM_ARRAY_MIB]

Each repetition runs hpcc on one rank and then nodebench with the sizes that hpcc chose, and the
other way round in every second one. Ratios are taken within a repetition: above 1 ours is faster.
STREAM reports the best of its repetitions, so the best of ours are taken; RandomAccess the rate of
all its updates. Intervals are order-statistic ones at 95 % (six repetitions at least). Wall clock:
measure on an idle machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bareline import stats
from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.probes.compute.hpcc import HpccParams, input_text
from bareline.vocabulary.model import Layout

KERNELS = ("Copy", "Scale", "Add", "Triad")
#: HPL_N^2 doubles are what hpcc takes as the memory of its benchmarks; STREAM has three arrays.
ARRAYS = 3


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    array_mib = int(sys.argv[2]) if len(sys.argv) > 2 else 128
    mpi = find_mpi("openmpi")
    program = build_native(mpi, cache_folder()).programs / "nodebench"
    params = HpccParams(memory_bytes=ARRAYS * (array_mib << 20))
    sizes: dict[str, int] = {}
    theirs: list[Mapping[str, float]] = []
    ours: list[Mapping[str, float]] = []

    def measure_theirs() -> None:
        summary = run_hpcc(mpi, params)
        sizes["stream"] = 8 * int(summary["STREAM_VectorSize"])
        sizes["random_access"] = 8 * int(summary["RandomAccess_N"])
        figures = {name: float(summary[f"SingleSTREAM_{name}"]) * 1e9 for name in KERNELS}
        figures["GUPS"] = float(summary["SingleRandomAccess_GUPs"]) * 1e9
        theirs.append(figures)

    def measure_ours() -> None:
        ours.append(run_nodebench(program, sizes))

    measure_theirs()  # to learn the sizes; not counted
    theirs.clear()
    both: list[Callable[[], None]] = [measure_theirs, measure_ours]
    for repetition in range(repetitions):
        for measure in both if repetition % 2 == 0 else reversed(both):
            measure()
        print(f"{repetition + 1} of {repetitions}", file=sys.stderr)
    report(sizes, theirs, ours)


def run_hpcc(mpi: MpiInstallation, params: HpccParams) -> dict[str, str]:
    """Run the whole suite on one rank; give its summary."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(input_text(params, 1), encoding="utf-8")
        node = [Node("localhost", "127.0.0.1", 1)]
        threads = {"OPENBLAS_NUM_THREADS": "1"}
        line = mpi.argv(
            Job(argv=["hpcc"], layout=Layout(1, 1), nodes=node, env=threads, cwd=folder)
        )
        subprocess.run(line, check=True, capture_output=True, cwd=folder, env=os.environ)
        text = Path(folder, "hpccoutf.txt").read_text(encoding="utf-8")
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def run_nodebench(program: Path, sizes: Mapping[str, int]) -> dict[str, float]:
    """Run our two benchmarks with hpcc's sizes; give the figures that hpcc reports."""

    def points(*arguments: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            [str(program), *arguments], check=True, capture_output=True, text=True
        )
        return [json.loads(line) for line in done.stdout.splitlines()][1:-1]

    stream = points("stream", "--threads", "1", "--repeat", "10", "--size", str(sizes["stream"]))
    figures = {
        name: float(point["rate"]["max"]) for name, point in zip(KERNELS, stream, strict=True)
    }
    (updates,) = points("random_access", "--size", str(sizes["random_access"]))
    return {**figures, "GUPS": float(updates["loop_rate"])}


def report(
    sizes: Mapping[str, int],
    theirs: list[Mapping[str, float]],
    ours: list[Mapping[str, float]],
) -> None:
    """Print the medians and the ratios with their intervals."""
    print(
        f"arrays of {sizes['stream'] / 2**20:.0f} MiB, table of "
        f"{sizes['random_access'] / 2**20:.0f} MiB; {len(ours)} repetitions"
    )
    print("| | hpcc | ours | ours / hpcc | 95 % |")
    print("|---|---:|---:|---:|---|")
    for name in (*KERNELS, "GUPS"):
        pairs = [(own[name], other[name]) for own, other in zip(ours, theirs, strict=True)]
        own, other = (stats.summarize([pair[side] for pair in pairs]).median for side in (0, 1))
        ratio = stats.summarize([own / other for own, other in pairs])
        unit = "GUP/s" if name == "GUPS" else "GB/s"
        print(
            f"| {name} | {other / 1e9:.3g} {unit} | {own / 1e9:.3g} {unit} | {ratio.median:.3f} "
            f"| {ratio.lo:.3f} to {ratio.hi:.3f} |"
        )


if __name__ == "__main__":
    main()
