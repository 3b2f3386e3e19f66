"""What a trial costs bareline itself on 128 and on 1,024 pretended nodes, over ssh and in Slurm.

    python benchmarks/fleet_overhead.py [--nodes 128 1024] [--on ssh slurm] [--trials 5]

The programs in ``benchmarks/fleet`` take the place of ssh and Slurm's: they answer for the nodes,
since a thousand real shells on one machine would measure only these. Printed are commands for each
node and in all, the wall time of a trial beyond its command's own, and the processor time that
bareline itself takes, which tells on a busy machine. Goals: 2 s at 128 nodes, 5 s at 1,024. Exit
code 1: one is missed.
"""

from __future__ import annotations

import argparse
import base64
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bareline.facts.gather import script
from bareline.platforms.base import Platform
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.testing.bench import open_bench
from bareline.vocabulary.model import Layout

FAKES = Path(__file__).parent / "fleet"
SLURM = ("salloc", "squeue", "scontrol", "srun", "sinfo", "scancel", "sbatch")
GOALS_S = {128: 2.0, 1024: 5.0}


def take_places(folder: Path, nodes: int) -> Path:
    """Put the pretended programs first on the path; give the file that counts their calls."""
    for name in ("ssh", "mpirun"):
        (folder / name).symlink_to(FAKES / name)
    for name in SLURM:
        (folder / name).symlink_to(FAKES / "slurm")
    line = ["sh", "-s", "--", "127.0.0.1", "/tmp"]
    told = subprocess.run(line, input=script().encode(), capture_output=True, check=True).stdout
    (folder / "facts").write_text(base64.b64encode(told).decode())
    os.environ |= {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "FLEET_CALLS": str(folder / "calls"),
        "FLEET_FACTS": str(folder / "facts"),
        "FLEET_NODES": str(nodes),
    }
    return folder / "calls"


def own_s() -> float:
    """Return the processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def counted(calls: Path) -> int:
    """Count the calls since the last time."""
    found = len(calls.read_text().splitlines()) if calls.exists() else 0
    calls.write_text("")
    return found


def measure(
    platform: type[Platform[Any]], count: int, trials: int, options: dict[str, Any]
) -> float:
    """Print what it takes to take nodes, describe them, and for a trial on all; give the last."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as made:
        path = os.environ["PATH"]
        calls = take_places(Path(made), count)
        try:
            begun, own = time.monotonic(), own_s()
            with open_bench(
                platform, Path(made), folder=made, mpi=f"{made}/mpirun", **options
            ) as bench:
                taken_s = time.monotonic() - begun
                print(
                    f"{platform.type_name}, {count} nodes: taken in {taken_s:.1f} s "
                    f"(own {own_s() - own:.1f} s), {counted(calls)} commands"
                )
                begun, own = time.monotonic(), own_s()
                facts = bench.allocation.facts()
                print(
                    f"  facts in {time.monotonic() - begun:.1f} s (own {own_s() - own:.1f} s), "
                    f"{counted(calls)} commands, {len(facts)} keys"
                )
                return _trials(bench, count, trials, calls)
        finally:
            os.environ["PATH"] = path


def _trials(bench: Any, nodes: int, trials: int, calls: Path) -> float:
    walls, owns, commands = [], [], []
    for _ in range(trials + 1):
        counted(calls)
        begun, own = time.monotonic(), own_s()
        output = bench.run("true", mpi=True, layout=Layout(nodes, 1))
        assert output.exit_code == 0, output.stderr
        walls.append(time.monotonic() - begun - output.duration_s)
        owns.append(own_s() - own)
        commands.append(counted(calls))
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  a trial: {median(walls[1:]):.2f} s beyond its own (most {max(walls[1:]):.2f}), own "
        f"processor time {median(owns[1:]):.2f} s, {median(commands[1:]):.0f} commands; "
        f"peak {peak_mib:.0f} MiB"
    )
    return median(walls[1:])


def main(arguments: Sequence[str]) -> int:
    """Measure both kinds of platform; give the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=list(GOALS_S))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--on", nargs="+", choices=("ssh", "slurm"), default=["ssh", "slurm"])
    given = parser.parse_args(arguments)
    print(f"load {Path('/proc/loadavg').read_text(encoding='ascii').split()[0]}")
    met = True
    for nodes in given.nodes:
        goal_s = GOALS_S.get(nodes, 5.0)
        hosts = {"hosts": (f"node[0001-{nodes:04d}]",)}
        more = {"nodes": nodes, "launcher": "srun", "native": "copy"}
        if "ssh" in given.on:
            met &= measure(SshPlatform, nodes, given.trials, hosts) <= goal_s
        if "slurm" in given.on:
            met &= measure(SlurmPlatform, nodes, given.trials, more) <= goal_s
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
