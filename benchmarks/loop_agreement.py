"""Hold mpibench's loop means against plain reference loops in the manner of OSU and IMB.

For every MPI library and transport, mpibench and a reference loop run in turns, in seeded random
order within each round. At each size from 8 B to 1 MiB the two of a round give a ratio, and the
rounds its paired Hodges-Lehmann estimate: where the host moves the cores of a virtual machine, the
latency of shared memory changes by a third every few seconds, for both alike. The figure of a
comparison is the median deviation of the ratios from 1 over the sizes. The limit is 3 %.

    python benchmarks/loop_agreement.py [--build mpiexec.openmpi=build/openmpi]

A build is a folder that CMake configured with tests; the option may be repeated. Without it the
programs are built for every MPI library that is installed. On a machine that others use, too,
`--prefix 'chrt -r 10'` lets the ranks run before all else, as root. Exit code 1: a figure is above
the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bareline.stats import Ratio, paired_ratio

SIZE_MIN_BYTES, SIZE_MAX_BYTES = 8, 1 << 20
Figures = dict[int, float]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure of mpibench and the reference loop that measures the same."""

    benchmark: str
    figure: str
    reference: str
    small: int
    large: int
    warmup_small: int
    warmup_large: int
    style: str = ""

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.benchmark} {self.figure} / {self.reference}"


# mpibench's default iterations and warm-up, which are OSU's; the reference loops are told.
COMPARISONS = (
    Comparison("pingpong", "loop_mean", "reference_pingpong", 10000, 1000, 100, 10),
    Comparison("bandwidth", "loop_rate", "reference_bandwidth", 100, 20, 10, 2),
    Comparison("sendrecv", "loop_mean_max", "reference_sendrecv", 1000, 100, 100, 10),
    Comparison("exchange", "loop_mean_max", "reference_exchange", 1000, 100, 100, 10),
    *(
        Comparison(function, "rank_mean", "reference_collective", 1000, 100, 100, 10, function)
        for function in (
            *("allreduce", "bcast", "reduce", "reduce_scatter"),
            *("scatter", "gather", "allgather", "alltoall"),
        )
    ),
)


@dataclass(frozen=True, slots=True)
class Transport:
    """How messages travel between two ranks of one host."""

    name: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


TRANSPORTS = {
    "openmpi": (
        Transport("shared memory", ("--mca", "pml", "ob1", "--mca", "btl", "self,vader")),
        Transport(
            "tcp",
            (
                *("--mca", "pml", "ob1", "--mca", "btl", "self,tcp"),
                "--mca",
                "btl_tcp_if_include",
                "lo",
            ),
        ),
    ),
    "mpich": (
        Transport("shared memory"),
        Transport(
            "tcp",
            environment={
                "MPIR_CVAR_NOLOCAL": "1",
                "UCX_TLS": "tcp,self",
                "UCX_NET_DEVICES": "lo",
                "FI_PROVIDER": "tcp",
            },
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class Build:
    """The native programs, and the launcher of the MPI that they were built with."""

    launcher: str
    folder: Path
    prefix: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """Describe Open MPI from MPICH by what the launcher says about itself."""
        said = subprocess.run(
            [self.launcher, "--version"], capture_output=True, text=True, check=True
        ).stdout
        return "openmpi" if "Open MPI" in said or "OpenRTE" in said else "mpich"

    def run(self, transport: Transport, program: str, *arguments: str) -> str:
        """Run a program on two ranks; give its output."""
        environment = dict(os.environ, **transport.environment)
        if os.geteuid() == 0:
            environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        path = str(self.folder / "native" / program)
        command = [self.launcher, *transport.arguments, "-n", "2", *self.prefix, path, *arguments]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        if done.returncode != 0:
            sys.exit(f"loop_agreement: {' '.join(command)} failed: {done.stderr.strip()}")
        return done.stdout


def run_mpibench(build: Build, transport: Transport, comparison: Comparison) -> Figures:
    """Measure with mpibench; one figure a size."""
    # A budget that no size reaches: the iterations have to be the reference's.
    options = ("-m", f"{SIZE_MIN_BYTES}:{SIZE_MAX_BYTES}", "-t", "60")
    text = build.run(transport, "mpibench/mpibench", comparison.benchmark, *options)
    points = [json.loads(line) for line in text.splitlines()[1:-1]]
    return {point["point"]["size_bytes"]: point[comparison.figure] for point in points}


def run_reference(build: Build, transport: Transport, comparison: Comparison) -> Figures:
    """Measure with the plain loop; one figure a size."""
    numbers = (
        *(SIZE_MIN_BYTES, SIZE_MAX_BYTES, comparison.small, comparison.large),
        *(comparison.warmup_small, comparison.warmup_large),
    )
    text = build.run(
        transport, f"tests/{comparison.reference}", *map(str, numbers), comparison.style
    )
    lines = [line.split() for line in text.splitlines()]
    return {int(size): float(figure) for size, figure in lines}


@dataclass(frozen=True, slots=True)
class Schedule:
    """How often and in which order to run."""

    rounds: int
    order: random.Random


def compare(
    build: Build, transport: Transport, comparison: Comparison, schedule: Schedule
) -> dict[int, Ratio]:
    """Return the ratio of mpibench's figure to the reference's at each size."""
    ours: list[Figures] = []
    theirs: list[Figures] = []
    for _ in range(schedule.rounds):
        runs = [(run_mpibench, ours), (run_reference, theirs)]
        schedule.order.shuffle(runs)
        for run, results in runs:
            results.append(run(build, transport, comparison))
    return {
        size: paired_ratio([found[size] for found in ours], [found[size] for found in theirs])
        for size in ours[0]
    }


def built(folder: Path) -> list[str]:
    """Build mpibench and the reference loops for every MPI library found; give --build's values."""
    names = sorted({comparison.reference for comparison in COMPARISONS})
    builds = []
    for family in TRANSPORTS:
        compiler, tree = shutil.which(f"mpicc.{family}"), folder / family
        if compiler is None:
            continue
        source = str(Path(__file__).resolve().parents[1])
        configure = ["cmake", "-S", source, "-B", str(tree), f"-DMPI_C_COMPILER={compiler}"]
        for line in (configure, ["cmake", "--build", str(tree), "--target", "mpibench", *names]):
            subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        builds.append(f"mpiexec.{family}={tree}")
    return builds


def main() -> int:
    """Compare all and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", action="append", default=[], metavar="LAUNCHER=FOLDER")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--limit", type=float, default=0.03, help="largest median deviation")
    parser.add_argument("--prefix", default="", help="put before each rank's program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="comparisons whose name holds this text")
    parser.add_argument(
        "--sizes", action="store_true", help="print the ratio at every size, [95 %%]"
    )
    arguments = parser.parse_args()
    schedule = Schedule(arguments.rounds, random.Random(arguments.seed))
    agrees = True
    print(f"{'MPI':<9}{'transport':<15}{'comparison':<45}{'median deviation':>17}{'worst':>9}")
    for text in arguments.build or built(Path(tempfile.mkdtemp(prefix="loop-agreement-"))):
        launcher, _, folder = text.partition("=")
        build = Build(launcher, Path(folder), tuple(shlex.split(arguments.prefix)))
        for transport in TRANSPORTS[build.family]:
            for comparison in COMPARISONS:
                if arguments.only not in comparison.name:
                    continue
                ratios = compare(build, transport, comparison, schedule)
                deviations = [abs(float(found.ratio) - 1) for found in ratios.values()]
                figure = statistics.median(deviations)
                agrees = agrees and figure <= arguments.limit
                print(
                    f"{build.family:<9}{transport.name:<15}{comparison.name:<45}"
                    f"{figure:>16.2%}{max(deviations):>10.2%}",
                    flush=True,
                )
                if arguments.sizes:
                    for size, found in ratios.items():
                        ratio, low, high = (float(x) for x in (found.ratio, found.lo, found.hi))
                        print(f"    {size:>8} B  {ratio:.3f} [{low:.3f}, {high:.3f}]")
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
