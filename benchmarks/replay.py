"""Calls a second of a replay and of reading a trace, compiled and in Python, in interleaved pairs.

    python benchmarks/replay.py

Goal: 5 million calls a second and core. Each step of the program posts two receives and two sends,
waits for them and adds 8 bytes up over all ranks. Processor time, so that others may run meanwhile.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

PAIRS = 9
STEPS = {2: 60_000, 64: 2_000}
SOURCE = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    static char in[8192], out[8192];
    double one = 1.0, all;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = atoi(argv[1]); step > 0; step--) {
        MPI_Request all_four[4];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(in + 4096 * i, 4096, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, all_four + i);
        for (int i = 0; i < 2; i++)
            MPI_Isend(out + 4096 * i, 4096, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD,
                      all_four + 2 + i);
        MPI_Waitall(4, all_four, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
"""


def rate(calls: int, work: Callable[[], object]) -> float:
    """Return calls per second of processor time."""
    begin = time.process_time()
    work()
    return calls / (time.process_time() - begin)


def compare(
    what: str, calls: int, compiled: Callable[[], object], plain: Callable[[], object]
) -> None:
    """Print the medians of both, and of their ratio with its least and largest."""
    pairs = [(rate(calls, compiled), rate(calls, plain)) for _ in range(PAIRS)]
    ratios = sorted(one / other for one, other in pairs)
    fast, slow = (median(side) / 1e6 for side in zip(*pairs, strict=True))
    print(
        f"{what}: {calls:,} calls; compiled {fast:.1f}, Python {slow:.2f} million/s; "
        f"{median(ratios):.0f} times [{ratios[0]:.0f}, {ratios[-1]:.0f}] of {PAIRS} pairs"
    )


def main() -> None:
    """Measure both on planted programs of 2 and 64 ranks, and reading on a traced one."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from predict.planted import network, program
    from predict.stepping import step_through

    from bareline.predict.curves.costs import Costs
    from bareline.predict.replay.engine import replay
    from bareline.predict.replay.trace_files import read_trace
    from bareline.profile.trace import read_trace as read_in_python

    for ranks, count in STEPS.items():
        trace = program(ranks=ranks, steps=count)
        costs = Costs(network(ranks=ranks))
        calls = sum(len(stream.shape) for stream in trace.streams)
        compare(
            f"replay, {ranks} ranks",
            calls,
            lambda trace=trace, costs=costs: replay(trace, costs),
            lambda trace=trace, costs=costs: step_through(trace, costs),
        )
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / "steps.c", Path(folder) / "steps.profile"
        source.write_text(SOURCE, encoding="utf-8")
        built = source.with_suffix("")
        subprocess.run(["mpicc", "-O2", str(source), "-o", str(built)], check=True)
        launch = ["mpirun", "--oversubscribe", "-n", "2", str(built), str(STEPS[2])]
        argv = [sys.executable, "-m", "bareline", "profile", "--trace", "-o", str(path), "--"]
        subprocess.run([*argv, *launch], check=True, capture_output=True)
        whole = path.with_suffix(".trace")
        calls = sum(len(stream.shape) for stream in read_trace(whole).streams)

        compare("reading, 2 ranks", calls, lambda: read_trace(whole), lambda: read_in_python(whole))


if __name__ == "__main__":
    main()
