"""What messages cost on the built-in simulated platforms: within a node, and growing with ranks.

    python benchmarks/simulated_tables.py node        functions within one node, by platform
    python benchmarks/simulated_tables.py allreduce   8 bytes on 2 to 256 ranks, by platform

Times are means over a loop, in us. They are exact: nothing needs a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.platforms.base import Allocation, Context
from bareline.platforms.config import load_platforms
from bareline.platforms.sim import PLATFORM
from bareline.vocabulary.model import Command, Layout

_PLATFORMS = ("sim-ib", "sim-tcpoib", "sim-10g", "sim-1g", "sim-10g-vm", "sim-ec2")
_CORES = 8
_TIMEOUT_S = 600.0
#: Function, ranks, size in bytes.
_ON_A_NODE = (
    ("pingpong", 2, 8),
    ("pingpong", 2, 65_536),
    ("sendrecv", 8, 65_536),
    ("barrier", 8, 0),
    ("allreduce", 4, 8),
    ("allreduce", 8, 8),
    ("allreduce", 8, 65_536),
    ("alltoall", 8, 1024),
    ("bcast", 8, 1 << 20),
)
_RANKS = (2, 4, 8, 16, 32, 64, 128, 256)


@contextmanager
def platform(name: str) -> Iterator[Allocation]:
    spec = load_platforms()[name]
    with tempfile.TemporaryDirectory(dir=cache_folder()) as scratch:
        made = PLATFORM(spec, Context(Path(scratch)))
        with made.acquire(Layout(64)) as allocation:
            yield allocation


def loop_mean_s(allocation: Allocation, function: str, layout: Layout, size: int) -> float:
    sizes = ("-m", f"{size}:{size}") if function != "barrier" else ()
    command = Command(argv=("{native}/mpibench", function, *sizes), mpi=True)
    output = allocation.run(command, layout, timeout_s=_TIMEOUT_S)
    points = [json.loads(line) for line in output.stdout.splitlines()]
    found = [point["loop_mean"] for point in points if "point" in point]
    if output.exit_code != 0 or len(found) != 1:
        raise RuntimeError(f"{function} on {layout}: {output.stderr[-300:] or output.stdout}")
    return float(found[0])


def layout_of(ranks: int) -> Layout:
    return Layout(-(-ranks // _CORES), min(ranks, _CORES))


def node() -> None:
    print(f"{'on one node':28}" + "".join(f"{name:>12}" for name in _PLATFORMS))
    for function, ranks, size in _ON_A_NODE:
        row = [f"{function}, {ranks} ranks, {size} B"]
        for name in _PLATFORMS:
            with platform(name) as allocation:
                seconds = loop_mean_s(allocation, function, Layout(1, ranks), size)
            row.append(f"{1e6 * seconds:.2f}")
        print(f"{row[0]:28}" + "".join(f"{cell:>12}" for cell in row[1:]), flush=True)


def allreduce() -> None:
    """One rank a node up to 64 nodes, then full nodes; beside the steps of recursive doubling."""
    for layouts, said in (
        ([Layout(ranks) for ranks in _RANKS if ranks <= 128], "one rank a node"),
        ([layout_of(ranks) for ranks in _RANKS], f"{_CORES} ranks a node"),
    ):
        print(f"\n{said}: us, and times log2(n) x one way between nodes")
        print(f"{'ranks':>6}" + "".join(f"{name:>20}" for name in _PLATFORMS))
        rows = {layout.ranks: [f"{layout.ranks:6}"] for layout in layouts}
        for name in _PLATFORMS:
            with platform(name) as allocation:
                one_way_s = loop_mean_s(allocation, "pingpong", Layout(2), 8)
                for layout in layouts:
                    seconds = loop_mean_s(allocation, "allreduce", layout, 8)
                    times = seconds / (math.log2(layout.ranks) * one_way_s)
                    rows[layout.ranks].append(f"{1e6 * seconds:12.1f} ({times:5.2f})")
        for row in rows.values():
            print("".join(row), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["node", "allreduce"])
    {"node": node, "allreduce": allreduce}[parser.parse_args().what]()


if __name__ == "__main__":
    main()
