"""Hold io.sequential with direct I/O against fio at the same block size and file size.

    python benchmarks/storage.py --folder FOLDER [--iobench PROGRAM] [--rounds 11] [--size 256M]

In every round both write a new file of their own and read it back, in seeded random order; both
count the fsync at the end of writing. Given is the paired ratio of the rates, fio's over ours, with
its 95 % interval, and the same of the rate that follows from the median time of a call, which a
single stall of a shared disk does not change. fio knows its time in milliseconds: the file shall be
large enough for a second. Exit code 1: a ratio of rates is further from 1 than the limit, 5 %.

iobench's buffer lies in large pages. fio's does where root may reserve some (they are given back);
without them fio shows, above a block of 1 MiB, how fragmented the machine's memory is.

On a machine that others use, too, `--prefix 'chrt -r 10'` lets both run before all else, as root.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bareline.build.native import ensure_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.stats import paired_ratio
from bareline.vocabulary.units import format_value, parse_size

WAYS = ("write", "read")
#: Rates in B/s, by block size, way and figure.
Rates = dict[tuple[int, str, str], list[float]]
#: Of one launch, by way and figure.
Found = dict[tuple[str, str], float]
_RESERVED = Path("/proc/sys/vm/nr_hugepages")


@dataclass(frozen=True, slots=True)
class Job:
    """What both programs do."""

    folder: str
    size_bytes: int
    block_bytes: int


def run_iobench(line: Sequence[str], job: Job) -> Found:
    """Write and read with iobench; give the rates in B/s."""
    sizes = ("--size", str(job.size_bytes), "--blocks", str(job.block_bytes), "--budget", "3600")
    text = _output([*line, "sequential", "--folder", job.folder, "--mode", "direct", *sizes])
    point = json.loads(text.splitlines()[1])
    rates = {(way, "rate"): point[f"loop_{way}_rate"] for way in WAYS}
    calls = {(way, "call"): job.block_bytes / point[f"{way}_time"]["median"] for way in WAYS}
    return rates | calls


def run_fio(line: Sequence[str], job: Job) -> Found:
    """Write, then read the same file, with fio; give the rates in B/s.

    Two launches: fio would write the file for the second job before the first one begins.
    """
    file = Path(job.folder, "fio.data")
    common = (
        *(*line, "--output-format=json", "--name=job", f"--filename={file}"),
        *(f"--bs={job.block_bytes}", f"--size={job.size_bytes}", "--direct=1"),
        *("--ioengine=psync", "--end_fsync=1", "--fallocate=none", "--thread"),
        # The preparation of data counts as fio's time; iobench counts its calls alone.
        "--scramble_buffers=0",
        *(("--mem=mmaphuge", "--hugepage-size=2M") if _reserved_pages() else ()),
    )
    figures: Found = {}
    for way in WAYS:
        text = _output([*common, f"--rw={way}"])
        found = json.loads(text[text.index("{") :])["jobs"][0]
        figures[way, "rate"] = found[way]["bw_bytes"]
        call_ns = found[way]["clat_ns"]["percentile"]["50.000000"]
        figures[way, "call"] = job.block_bytes / call_ns * 1e9
    file.unlink()
    return figures


def _reserved_pages() -> int:
    return int(_RESERVED.read_text()) if _RESERVED.exists() else 0


@contextmanager
def huge_pages(size_bytes: int) -> Iterator[None]:
    """Reserve pages of 2 MiB for buffers of fio, if root may, and give them back."""
    before = _reserved_pages()
    wanted = before + size_bytes // parse_size("2M") + 2
    try:
        _RESERVED.write_text(str(wanted))
    except OSError as error:
        print(f"no large pages for fio: {error}", file=sys.stderr)
        yield
        return
    try:
        yield
    finally:
        _RESERVED.write_text(str(before))


def _output(line: Sequence[str]) -> str:
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode != 0:
        sys.exit(f"storage: {' '.join(line)} failed: {done.stderr.strip()}")
    return done.stdout


def run_rounds(arguments: argparse.Namespace) -> tuple[Rates, Rates]:
    """Run both programs in turns; give iobench's rates and fio's."""
    program = arguments.iobench or Path(ensure_native(find_mpi("auto"), cache_folder()), "iobench")
    prefix = shlex.split(arguments.prefix)
    order = random.Random(arguments.seed)
    ours: Rates = defaultdict(list)
    theirs: Rates = defaultdict(list)
    blocks_bytes = [parse_size(block) for block in arguments.blocks.split(",")]
    with (
        tempfile.TemporaryDirectory(dir=arguments.folder) as folder,
        huge_pages(max(blocks_bytes)),
    ):
        for _ in range(arguments.rounds):
            for block_bytes in blocks_bytes:
                job = Job(folder, parse_size(arguments.size), block_bytes)
                runs = [(run_iobench, str(program), ours), (run_fio, "fio", theirs)]
                order.shuffle(runs)
                for run, name, rates in runs:
                    os.sync()  # what the removal of the last file left to do is not this run's
                    for (way, figure), value in run([*prefix, name], job).items():
                        rates[block_bytes, way, figure].append(value)
    return ours, theirs


def print_table(ours: Rates, theirs: Rates) -> float:
    """Print a line for each case; give the largest deviation of a ratio from 1."""
    print(f"{'block':>10} {'':<11}{'iobench':>11} {'fio':>11}  fio/iobench, 95 % interval")
    largest = 0.0
    for block_bytes, way, figure in sorted(ours, key=lambda case: (case[0], case[2], case[1])):
        pair = [rates[block_bytes, way, figure] for rates in (ours, theirs)]
        found = paired_ratio(pair[1], pair[0])
        ratio, low, high = (float(part) for part in (found.ratio, found.lo, found.hi))
        if figure == "rate":
            largest = max(largest, abs(ratio - 1))
        medians = [format_value(statistics.median(values), "B/s") for values in pair]
        print(
            f"{format_value(block_bytes, 'B'):>10} {way + ' ' + figure:<11}{medians[0]:>11}"
            f" {medians[1]:>11}  {ratio:.3f} [{low:.3f}, {high:.3f}]"
        )
    return largest


def main() -> int:
    """Run the rounds and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--folder", required=True, help="on the file system to be measured")
    parser.add_argument("--iobench", type=Path, help="the program; built if not given")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--size", default="256M", help="of the file")
    parser.add_argument("--blocks", default="64K,1M,16M")
    parser.add_argument("--limit", type=float, default=0.05, help="largest deviation of a ratio")
    parser.add_argument("--prefix", default="", help="put before each program")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    return 0 if print_table(*run_rounds(arguments)) <= arguments.limit else 1


if __name__ == "__main__":
    sys.exit(main())
