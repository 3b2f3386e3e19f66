"""Rates of our NAS Parallel Benchmarks beside the machine's STREAM and DGEMM.

    python benchmarks/npb.py [REPETITIONS] [CLASSES]

Every kernel on 1 and 2 ranks, classes W and A, repetitions interleaved over all cases; the median
counts. Wall clock: measure on an idle machine. Rates use the specification's operation counts.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

from bareline.build import build_native
from bareline.cache import cache_folder
from bareline.model import Layout
from bareline.platforms.hosts import Node
from bareline.platforms.launcher import find_mpi

KERNELS = ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")
#: NPB 3.4 on one core, class A, Gop/s, for orientation: gfortran -O3 -march=native on a machine of
#: this kind, noisy.
REFERENCE_GOPS = {
    "ep": 0.133, "is": 0.128, "cg": 1.4, "mg": 4.2, "ft": 2.7, "bt": 2.6, "sp": 4.3, "lu": 4.8,
}  # fmt: skip


def main() -> None:
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    classes = sys.argv[2] if len(sys.argv) > 2 else "WA"
    mpi = find_mpi("auto")
    programs = build_native(mpi, cache_folder()).programs
    node = [Node("localhost", "127.0.0.1", 2)]

    def run(ranks: int, argv: list[str]) -> list[dict[str, object]]:
        line = mpi.argv(argv, Layout(1, ranks), node, {}, "auto") if ranks else argv
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        return [json.loads(text) for text in done.stdout.splitlines()][1:-1]

    cases = [
        (kernel, problem_class, ranks)
        for problem_class in classes
        for kernel in KERNELS
        for ranks in (1, 2)
        if not (ranks == 2 and kernel in ("bt", "sp"))  # they take square numbers
    ]
    seconds: dict[tuple[str, str, int], list[float]] = {case: [] for case in cases}
    rates: dict[tuple[str, str, int], list[float]] = {case: [] for case in cases}
    stream, dgemm = [], []
    for _ in range(repetitions):
        triad = run(0, [str(programs / "nodebench"), "stream", "--threads", "1"])[-1]
        stream.append(triad["rate"]["median"])  # type: ignore[index]
        product = run(0, [str(programs / "nodebench"), "dgemm", "--threads", "1"])[-1]
        dgemm.append(product["rate"]["median"])  # type: ignore[index]
        for case in cases:
            kernel, problem_class, ranks = case
            (point,) = run(ranks, [str(programs / f"npb_{kernel}"), problem_class])
            seconds[case].append(float(point["time_s"]))  # type: ignore[arg-type]
            rates[case].append(float(point["rate_op_s"]))  # type: ignore[arg-type]
    print(
        f"{mpi.title}; one core: triad {statistics.median(stream) / 1e9:.1f} GB/s, "
        f"DGEMM {statistics.median(dgemm) / 1e9:.1f} Gflop/s; medians of {repetitions}"
    )
    print("| kernel | class | ranks | time s | Gop/s | share of DGEMM | to the reference |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for case in cases:
        kernel, problem_class, ranks = case
        rate = statistics.median(rates[case])
        share = rate / ranks / statistics.median(dgemm)
        orientation = ""
        if problem_class == "A" and ranks == 1:
            orientation = f"{rate / 1e9 / REFERENCE_GOPS[kernel]:.1f}"
        print(
            f"| {kernel} | {problem_class} | {ranks} | {statistics.median(seconds[case]):.3f} "
            f"| {rate / 1e9:.2f} | {share:.0%} | {orientation} |"
        )


if __name__ == "__main__":
    main()
