"""What a trial costs beyond its own time on hosts reached by ssh and on nodes of a Slurm cluster.

    python benchmarks/remote_overhead.py [--trials 20]

Both clusters are made here, of network namespaces with real daemons (sshd; slurmctld, slurmd and
munge), as the tests make them; needs root. The overhead is the time of a trial of two nodes as
bareline spends it, less the time from the start of its command to that command's end. Goals: at
most 1.0 s over ssh, 1.5 s in Slurm. Exit code 1: one is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "platforms" / "reached"))

from machines import slurm_cluster, ssh_hosts

from bareline.platforms.base import Platform
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.testing.bench import Bench, open_bench
from bareline.vocabulary.model import Layout

TWO = Layout(2, 1, 1)
SUBNET = "10.94.0.0/24"


@contextmanager
def ssh() -> Iterator[dict[str, Any]]:
    """Work among two hosts with sshd; gives the platform's options."""
    with ssh_hosts(2) as (machines, config), machines.inside():
        agent = f"ssh -F {config}"
        yield {"hosts": ("node[1-2]",), "config": config, "agent": agent, "subnet": SUBNET}


@contextmanager
def slurm() -> Iterator[dict[str, Any]]:
    """Work with two nodes of a Slurm cluster; gives the platform's options."""
    with slurm_cluster(2) as cluster, cluster.inside():
        yield {"subnet": SUBNET, "time_min": 10}


def trials(bench: Bench, count: int, **more: Any) -> list[float]:
    """Run a trial again and again; give what each cost beyond its own time."""
    costs = []
    for _ in range(count + 1):
        started = time.monotonic()
        output = bench.run("true", layout=TWO, **more)
        costs.append(time.monotonic() - started - output.duration_s)
        assert output.exit_code == 0, output.stderr
    return costs[1:]  # the first one finds the MPI library


def measure(
    title: str,
    goal_s: float,
    count: int,
    platform: type[Platform[Any]],
    cluster: AbstractContextManager[dict[str, Any]],
) -> bool:
    """Print a line for each kind of trial; tell whether the goal is met."""
    started = time.monotonic()
    with cluster as options, tempfile.TemporaryDirectory() as scratch:
        up_s = time.monotonic() - started
        with open_bench(platform, Path(scratch), mpi="openmpi", **options) as bench:
            taken_s = time.monotonic() - started - up_s
            print(f"{title}: daemons up after {up_s:.1f} s, nodes taken after {taken_s:.1f} s")
            met = True
            for what, more in (
                ("a program", {}),
                ("an MPI job", {"mpi": True}),
                ("with files", {"mpi": True, "inputs": (("in", "x"),), "outputs": ("in",)}),
            ):
                costs = trials(bench, count, **more)
                met &= median(costs) <= goal_s
                print(f"  {what:12} {median(costs):.2f} s (most {max(costs):.2f} s), n = {count}")
    return met


def main(arguments: Sequence[str]) -> int:
    """Measure both; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=20)
    count = parser.parse_args(arguments).trials
    load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
    print(f"load {load}")
    met = measure("ssh, goal 1.0 s", 1.0, count, SshPlatform, ssh())
    met &= measure("Slurm, goal 1.5 s", 1.5, count, SlurmPlatform, slurm())
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
