"""Time and memory of what is too large: records, points, platforms, calls, standard input.

    python benchmarks/scale.py [--only PART] [--most N] [--limit-s S]

Each row is one command of bareline in a process of its own, on inputs of growing size: its time,
its memory, its exit code and the last line that it printed. No command may need memory that grows
faster than its input, and a page that no browser opens is a message instead.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from compare_million import record_line


@dataclass(frozen=True)
class Try:
    """A command, the size of its input, and the file that it writes."""

    size: str
    argv: Sequence[object]
    made: Path | None = None
    stdin: Path | None = None
    env: tuple[tuple[str, str], ...] = ()


def _plant(folder: Path, *, platforms: int, launches: int, cases: int, points: int) -> None:
    """Write a run of null trials: lines directly, because each sync would measure the disk."""
    from bareline.platforms.config import platforms_from_toml
    from bareline.session import begin
    from bareline.session.origin import plan_of
    from bareline.study.study import study_from_toml

    sweep = {"median_s": [1e-6 * (1 + k) for k in range(cases)]}
    study = study_from_toml(
        {
            "study": {"name": "scale", "launches": launches, "precision": 0},
            "measure": [{"probe": "null", "sweep": sweep}],
        },
        where="scale",
    )
    tables = {f"p{k}": {"type": "null"} for k in range(platforms)}
    specs = platforms_from_toml({"platform": tables}, where="scale").values()
    run = begin.create_run(study, list(specs), folder, baseline="p0")
    generator = np.random.default_rng(1)
    names = [f"size_bytes={8 * (1 + k)}" for k in range(points)]
    with (folder / "records.jsonl").open("w") as file:
        for trial in plan_of(run):
            values = 1e-6 * np.exp(0.02 * generator.standard_normal(points))
            samples = [
                {"metric": "time", "point": name, "value": float(value)}
                for name, value in zip(names, values, strict=True)
            ]
            file.write(json.dumps(record_line(trial, samples)) + "\n")


def _verbs(run: Path, size: str, verbs: Sequence[str]) -> Iterator[Try]:
    page = run / "report.html"
    lines: dict[str, Try] = {
        "status": Try(size, ("status", run)),
        "show": Try(size, ("show", run, "-o", run.with_suffix(".txt")), run.with_suffix(".txt")),
        "compare": Try(
            size, ("compare", run, "-o", run.with_suffix(".out")), run.with_suffix(".out")
        ),
        "export": Try(
            size, ("export", run, "-o", run.with_suffix(".csv")), run.with_suffix(".csv")
        ),
        "report": Try(size, ("report", run), page),
    }
    for verb in verbs:
        yield lines[verb]


_ALL = ("status", "show", "compare", "export", "report")


def records(folder: Path, most: int) -> Iterator[Try]:
    """Make runs of many records: ten launches of many cases on two platforms."""
    for number in (10_000, 100_000, 1_000_000):
        if number <= most:
            run = folder / f"records-{number}"
            _plant(run, platforms=2, launches=10, cases=number // 20, points=1)
            yield from _verbs(run, f"{number:,} records", _ALL)
            shutil.rmtree(run)


def points(folder: Path, most: int) -> Iterator[Try]:
    """Make pages of many points: one case on two platforms."""
    for number in (100, 1_000, 10_000):
        if number <= most:
            run = folder / f"points-{number}"
            _plant(run, platforms=2, launches=10, cases=1, points=number)
            yield from _verbs(run, f"{number:,} points", ("compare", "report"))


def platforms(folder: Path, most: int) -> Iterator[Try]:
    """Make runs of many platforms."""
    for number in (4, 40, 400):
        if number <= most:
            run = folder / f"platforms-{number}"
            _plant(run, platforms=number, launches=10, cases=4, points=3)
            yield from _verbs(run, f"{number:,} platforms", ("show", "compare", "report"))


_CALLS = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    const long calls = atol(argv[1]);
    int flag;
    MPI_Init(&argc, &argv);
    for (long i = 0; i < calls; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def calls(folder: Path, most: int) -> Iterator[Try]:
    """Make profiles and traces of many calls of two ranks."""
    source = folder / "calls.c"
    source.write_text(_CALLS)
    subprocess.run(["mpicc", "-O2", source, "-o", folder / "calls"], check=True)
    allowed = (("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"))
    for number in (1_000_000, 10_000_000, 100_000_000):
        if number <= most:
            path = folder / f"calls-{number}.profile"
            launch = ("mpirun", "--oversubscribe", "-n", "2", folder / "calls", number // 2)
            argv = ("profile", "--trace", "-o", path, *launch)
            yield Try(f"{number:,} calls", argv, path, env=allowed)
            yield Try(f"{number:,} calls", ("show", path))


def standard_input(folder: Path, most: int) -> Iterator[Try]:
    """Yield a gigabyte to `import`."""
    for number in (10_000_000, 100_000_000, 1_000_000_000):
        if number <= most:
            path = folder / "input"
            with path.open("wb") as file:
                file.truncate(number)
            yield Try(f"{number:,} B", ("import", "/dev/stdin", "-o", folder / "run"), stdin=path)


PARTS: dict[str, Callable[[Path, int], Iterator[Try]]] = {
    "records": records,
    "points": points,
    "platforms": platforms,
    "calls": calls,
    "standard input": standard_input,
}
#: Runs a command, and prints after it on another descriptor what it used.
_MEASURED = """
import os, resource, subprocess, sys
done = subprocess.run(sys.argv[2:], check=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
os.write(int(sys.argv[1]), f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}".encode())
sys.exit(done.returncode)
"""


def measure(one: Try, limit_s: float) -> tuple[object, ...]:
    """Run a command; return its seconds, processor seconds, memory, exit code and last line."""
    reading, writing = os.pipe()
    line = [sys.executable, "-c", _MEASURED, str(writing), sys.executable, "-m", "bareline"]
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [*line, *map(str, one.argv)],
            stdin=one.stdin.open("rb") if one.stdin else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit_s,
            pass_fds=(writing,),
            env={**os.environ, **dict(one.env)},
        )
    except subprocess.TimeoutExpired:
        return (f"more than {limit_s:.0f}", "", "", "", "")
    finally:
        os.close(writing)
    processor_s, memory_kib = os.read(reading, 100).split()
    os.close(reading)
    said = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return (
        f"{time.monotonic() - begun:.1f}",
        f"{float(processor_s):.1f}",
        f"{int(memory_kib) >> 10}",
        done.returncode,
        said[-1][-140:] if said and done.returncode else "",
    )


def main() -> None:
    """Print a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--most", type=int, default=1 << 40, help="no larger inputs")
    parser.add_argument("--limit-s", type=float, default=1200, help="of one command")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("| input | command | s | processor, s | memory, MiB | output, MB | exit | message |")
    print("|---|---|---:|---:|---:|---:|---:|---|")
    for name in options.only or PARTS:
        with tempfile.TemporaryDirectory(prefix="bareline-scale-") as made:
            for one in PARTS[name](Path(made), options.most):
                wall_s, processor_s, memory, code, said = measure(one, options.limit_s)
                size = ""
                if one.made is not None and one.made.exists():
                    size = f"{one.made.stat().st_size / 1e6:.1f}"
                cells = (one.size, one.argv[0], wall_s, processor_s, memory, size, code, said)
                print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
