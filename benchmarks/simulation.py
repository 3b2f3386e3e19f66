"""What simulations cost and how exact they are.

    python benchmarks/simulation.py costs [--long] [--only CASE]...   processor seconds, memory
    python benchmarks/simulation.py exact                             same bytes beside load

CASE is a part of a case's name, as the table prints it: "npb_cg C", "64 ranks".

A case that has no recorded computation yet is recorded first (one to three simulations more); its
cost is shown apart. Processor seconds are user and system time of smpirun and all below it: other
programs do not count, but take caches and clock from it, so that a busy machine adds a third or so.
Memory is the largest process of the case.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.base import Allocation, Context
from bareline.platforms.config import load_platforms
from bareline.platforms.sim import PLATFORM
from bareline.study.plan import lay_out
from bareline.vocabulary.model import Case, Command
from bareline.vocabulary.platform import Capacity

_TIMEOUT_S = 3600.0
_COSTS = [
    *(("mpibench", ("allreduce", "-m", "8:8"), ranks) for ranks in (256, 1024)),
    ("mpibench", ("alltoall", "-m", "8:8"), 1024),
    *(
        (f"npb_{kernel}", ("A",), ranks)
        for kernel in ("cg", "is", "mg", "ft")
        for ranks in (16, 64)
    ),
]
_LONG = [
    *((f"npb_{kernel}", ("A",), 256) for kernel in ("cg", "is", "mg", "ft")),
    ("npb_is", ("C",), 64),
    ("npb_cg", ("C", "-i", "3"), 1024),
]
#: What is aimed at, in processor seconds.
_GOALS = {"mpibench allreduce": 5.0, "npb_cg C": 300.0, "npb": 60.0}
_EXACT = [("mpibench", ("alltoall", "-m", "8:65536"), 16), ("npb_cg", ("S",), 16)]


@contextmanager
def cluster() -> Iterator[Allocation]:
    spec = load_platforms()["sim-10g"]
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        platform = PLATFORM(spec, Context(Path(scratch)))
        layout, _ = lay_out(Case(probe="mpi.barrier", ranks=1024), spec.capacity)
        assert layout is not None
        with platform.acquire(layout) as allocation:
            yield allocation


def simulate(allocation: Allocation, program: str, arguments: tuple[str, ...], ranks: int) -> str:
    layout, misfit = lay_out(Case(probe=program, ranks=ranks), Capacity(128))
    if layout is None:
        raise RuntimeError(f"{program} on {ranks} ranks: {misfit}")
    command = Command(argv=(f"{{native}}/{program}", *arguments), mpi=True)
    output = allocation.run(command, layout, timeout_s=_TIMEOUT_S)
    if output.exit_code != 0:
        said = output.stderr[-300:]
        raise RuntimeError(f"{program} {' '.join(arguments)} on {ranks} ranks: {said}")
    return output.stdout


@dataclass(frozen=True)
class Cost:
    """Processor seconds of a case and of recording it, and its peak memory."""

    alone_s: float
    recording_s: float
    peak_mib: float


def spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cost_of(program: str, arguments: tuple[str, ...], ranks: int) -> Cost:
    with cluster() as allocation:
        before = spent()
        simulate(allocation, program, arguments, ranks)
        first = spent() - before
        recorded = bool(allocation.events())
        if recorded:
            before = spent()
            simulate(allocation, program, arguments, ranks)
        alone = spent() - before if recorded else first
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return Cost(alone, first - alone if recorded else 0.0, peak)


def name_of(program: str, arguments: tuple[str, ...], ranks: int) -> str:
    return f"{program} {' '.join(arguments)}, {ranks} ranks"


def goal_of(name: str) -> str:
    return next((f"{goal:.0f}" for begin, goal in _GOALS.items() if name.startswith(begin)), "-")


def costs(long: bool, only: list[str]) -> None:
    cases = [
        case
        for case in _COSTS + (_LONG if long else [])
        if not only or any(part in name_of(*case) for part in only)
    ]
    if not cases:
        every = ", ".join(name_of(*case) for case in _COSTS + _LONG)
        raise SystemExit(f"no case is named so; with --long there are: {every}")
    print(f"{'case':44} {'processor s':>11} {'goal':>5} {'recording s':>11} {'peak MiB':>8}")
    for program, arguments, ranks in cases:
        # A process for each case: what its children cost is then this case's alone.
        with multiprocessing.get_context("fork").Pool(1) as pool:
            cost = pool.apply(cost_of, (program, arguments, ranks))
        name = name_of(program, arguments, ranks)
        recording = f"{cost.recording_s:.1f}" if cost.recording_s else "-"
        goal = goal_of(name)
        print(
            f"{name:44} {cost.alone_s:11.1f} {goal:>5} {recording:>11} {cost.peak_mib:8.0f}",
            flush=True,
        )


def burn() -> None:
    while True:
        pass


def exact() -> None:
    with cluster() as allocation:
        for program, arguments, ranks in _EXACT:
            first = simulate(allocation, program, arguments, ranks)
            busy = [multiprocessing.Process(target=burn, daemon=True) for _ in range(2)]
            for process in busy:
                process.start()
            time.sleep(0.2)
            second = simulate(allocation, program, arguments, ranks)
            for process in busy:
                process.kill()
            said = "the same bytes" if first == second else "DIFFERENT"
            print(f"{program} {' '.join(arguments)}, {ranks} ranks: {said}, beside two busy cores")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["costs", "exact"])
    parser.add_argument(
        "--long", action="store_true", help="256 ranks, IS class C on 64, CG class C on 1024"
    )
    parser.add_argument(
        "--only", metavar="CASE", action="append", default=[], help="part of a case's name"
    )
    given = parser.parse_args()
    os.environ.setdefault("LC_ALL", "C")
    if given.what == "costs":
        costs(given.long, given.only)
    else:
        exact()


if __name__ == "__main__":
    main()
