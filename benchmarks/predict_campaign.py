"""How good predictions are on this machine: applications and ladders measured, all pairs predicted.

    flock LOCK python benchmarks/predict_campaign.py --size short --out /tmp/campaign

`tiny` takes some two minutes and only shows that everything runs; `short` some 15 minutes: five
NAS kernels of class W on two ranks, six interleaved launches, shared memory, TCP loopback, and two
hosts at 10, 2.5 and 1 Gb/s; `full` some hours: eight kernels of classes W and A, and two ranks on
one core beside. The machine must be quiet: launches whose ranks had no core for over 5 % of their
time are left out, and the last table says how many. `--max-queued 1` lets them in, for a trial of
this script on a busy machine.

Network namespaces need root. The run directory can be looked at again with
``bareline predict --validate DIR``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PLATFORMS = """
[platform.shm]
type = "local"
transport = "shm"

[platform.tcp]
type = "local"
transport = "tcp"

[platform.net-10g]
type = "netns"
rate = "10gbit"

[platform.net-2g5]
type = "netns"
rate = "2500mbit"

[platform.net-1g]
type = "netns"
rate = "1gbit"

[platform.one-core]
type = "local"
transport = "shm"
cores = [0]
"""
#: Curves with the smallest and largest message and the time for each size: short messages many
#: times, long ones at least twenty times on the slowest link.
_CURVES = (
    ("allreduce", 8, 4 << 10, 0.1),
    ("reduce", 8, 4 << 10, 0.1),
    ("bcast", 1, 4 << 10, 0.1),
    ("alltoall", 1, 32 << 10, 0.1),
    ("alltoall", 64 << 10, 2 << 20, 0.8),
)
_MESSAGES = (
    ("pingpong", 1, 32 << 10, 0.1),
    ("pingpong", 64 << 10, 256 << 10, 0.2),
    ("bandwidth", 1, 32 << 10, 0.1),
    ("bandwidth", 64 << 10, 256 << 10, 0.2),
)
#: Class A sends more.
_LARGE = 4


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    kernels: tuple[str, ...]
    classes: str
    platforms: tuple[str, ...]
    launches: int


_TWO_HOSTS = ("net-10g", "net-2g5", "net-1g")
SIZES = {
    "tiny": Size(("cg", "mg", "is", "ft"), "S", ("shm", "tcp", "net-1g"), 2),
    "short": Size(("cg", "mg", "is", "ft", "lu"), "W", ("shm", "tcp", *_TWO_HOSTS), 6),
    "full": Size(
        ("ep", "cg", "mg", "is", "ft", "lu", "bt", "sp"),
        "WA",
        ("shm", "tcp", *_TWO_HOSTS, "one-core"),
        6,
    ),
}


def _ranks(kernel: str) -> int:
    """BT and SP take a square number of ranks."""
    return 4 if kernel in ("bt", "sp") else 2


def study(size: Size) -> str:
    """Write the study: the ladder, then each kernel under the profiler."""
    blocks = [
        f'[study]\nname = "predict-campaign"\ntitle = "Predictions held against measurements"\n'
        f"launches = {size.launches}\nprecision = 0\n"
    ]
    times = _LARGE if "A" in size.classes else 1
    for ranks in sorted({_ranks(kernel) for kernel in size.kernels}):
        for name, least, most, budget_s in (*_CURVES, *(_MESSAGES if ranks == 2 else ())):
            more = times if most > 32 << 10 else 1
            params = f"min_bytes = {least}, max_bytes = {more * most}, budget_s = {more * budget_s}"
            blocks.append(_measure(f"mpi.{name}", params, ranks))
        if ranks > 2:  # messages within a node, of two ranks
            for name, least, most, budget_s in _MESSAGES:
                params = f"min_bytes = {least}, max_bytes = {most}, budget_s = {budget_s}"
                blocks.append(_measure(f"mpi.{name}", params, 2) + "nodes = 1\n")
        blocks.append(_measure("mpi.barrier", "budget_s = 0.1", ranks))
        blocks.append(_measure("mpi.init", "", ranks))
    for kernel in size.kernels:
        for problem in size.classes:
            params = f'problem_class = "{problem}"'
            blocks.append(_measure(f"npb.{kernel}", params, _ranks(kernel)) + "profile = true\n")
    return "\n".join(blocks)


def _measure(probe: str, params: str, ranks: int) -> str:
    given = f"params = {{ {params} }}\n" if params else ""
    return f'[[measure]]\nprobe = "{probe}"\n{given}ranks = {ranks}\ntimeout_s = 600\n'


def main() -> None:
    """Measure, then predict."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--size", choices=SIZES, default="short")
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    parser.add_argument("--max-queued", type=float, default=0.05)
    parser.add_argument("--dry-run", action="store_true", help="show the study")
    arguments = parser.parse_args()
    size = SIZES[arguments.size]
    if arguments.dry_run:
        print(study(size))
        return
    arguments.out.mkdir(parents=True)
    (arguments.out / "platforms.toml").write_text(PLATFORMS, encoding="utf-8")
    (arguments.out / "study.toml").write_text(study(size), encoding="utf-8")
    bareline = [sys.executable, "-m", "bareline"]
    on = [part for name in size.platforms for part in ("--on", name)]
    run = arguments.out / "run"
    subprocess.run(
        [*bareline, "run", str(arguments.out / "study.toml"), *on, "--baseline", "shm",
         "--platforms", str(arguments.out / "platforms.toml"), "--out", str(run)],
        check=False,
    )  # fmt: skip
    subprocess.run(
        [*bareline, "predict", "--validate", str(run), "--max-queued", str(arguments.max_queued)],
        check=True,
    )


if __name__ == "__main__":
    main()
