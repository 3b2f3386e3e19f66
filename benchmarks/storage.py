"""Hold io.sequential with direct I/O against fio at the same block size and file size.

    python benchmarks/storage.py --folder FOLDER [--iobench PROGRAM] [--rounds 11] [--size 256M]

In every round both write a new file of their own and read it back, in seeded random order; both
count the fsync at the end of writing. Given is the paired ratio of the rates, fio's over ours, with
its 95 % interval, and beside it the ratio of the fastest rounds, which others disturbed least. Exit
code 1: a paired ratio is further from 1 than the limit, 5 %. fio knows its time in milliseconds: the
file shall be large enough for a second.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from bareline.build import ensure_native
from bareline.cache import cache_folder
from bareline.platforms.launcher import find_mpi
from bareline.stats import paired_ratio
from bareline.units import format_value, parse_size

WAYS = ("write", "read")


def run_iobench(program: Path, folder: str, size_bytes: int, block_bytes: int) -> dict[str, float]:
    """Write and read with iobench; give the rates in B/s."""
    sizes = ("--size", str(size_bytes), "--blocks", str(block_bytes), "--budget", "3600")
    text = _output([str(program), "sequential", "--folder", folder, "--mode", "direct", *sizes])
    point = json.loads(text.splitlines()[1])
    return {way: point[f"loop_{way}_rate"] for way in WAYS}


def run_fio(folder: str, size_bytes: int, block_bytes: int) -> dict[str, float]:
    """Write, then read the same file, with fio; give the rates in B/s.

    Two launches: fio would write the file for the second job before the first one begins.
    """
    common = (
        *("fio", "--output-format=json", "--name=job", f"--filename={folder}/fio.data"),
        *(f"--bs={block_bytes}", f"--size={size_bytes}", "--direct=1", "--ioengine=psync"),
        *("--end_fsync=1", "--fallocate=none", "--thread"),
    )
    rates = {}
    for way in WAYS:
        text = _output([*common, f"--rw={way}"])
        job: dict[str, Any] = json.loads(text[text.index("{") :])["jobs"][0]
        rates[way] = float(job[way]["bw_bytes"])
    Path(folder, "fio.data").unlink()
    return rates


def _output(line: list[str]) -> str:
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        sys.exit(f"storage: {' '.join(line)} failed: {done.stderr.strip()}")
    return done.stdout


def main() -> int:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folder", required=True, help="on the file system to be measured")
    parser.add_argument("--iobench", type=Path, help="the program; built if not given")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--size", default="256M", help="of the file")
    parser.add_argument("--blocks", default="64K,1M,16M")
    parser.add_argument("--limit", type=float, default=0.05, help="largest deviation of a ratio")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    program = arguments.iobench or Path(ensure_native(find_mpi("auto"), cache_folder()), "iobench")
    size_bytes = parse_size(arguments.size)
    order = random.Random(arguments.seed)
    ours: dict[tuple[int, str], list[float]] = defaultdict(list)
    theirs: dict[tuple[int, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for _ in range(arguments.rounds):
            for block_bytes in map(parse_size, arguments.blocks.split(",")):
                programs = [
                    (
                        ours,
                        lambda block=block_bytes: run_iobench(program, folder, size_bytes, block),
                    ),
                    (theirs, lambda block=block_bytes: run_fio(folder, size_bytes, block)),
                ]
                order.shuffle(programs)
                for rates, run in programs:
                    for way, rate in run().items():
                        rates[block_bytes, way].append(rate)
    agrees = True
    print(
        f"{'block':>10} {'way':<6} {'iobench':>11} {'fio':>11}  fio/iobench, 95 % interval  fastest"
    )
    for case, values in ours.items():
        found = paired_ratio(theirs[case], values)
        ratio, low, high = (float(part) for part in (found.ratio, found.lo, found.hi))
        agrees = agrees and abs(ratio - 1) <= arguments.limit
        medians = [format_value(statistics.median(part), "B/s") for part in (values, theirs[case])]
        print(
            f"{format_value(case[0], 'B'):>10} {case[1]:<6} {medians[0]:>11} {medians[1]:>11}"
            f"  {ratio:.3f} [{low:.3f}, {high:.3f}]"
            f"       {max(theirs[case]) / max(values):.3f}"
        )
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
