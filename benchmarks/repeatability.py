"""Does a measurement repeat? Two independent runs of the ping-pong, compared with each other.

    python benchmarks/repeatability.py [LAUNCHES]

For shared memory and for TCP over loopback, and for each message size, it prints the loop mean's
median of both runs and whether their 95 % intervals meet. Honest intervals nearly always do.
The two runs' trials are interleaved block by block (run 1, run 2, run 1, ...): what differs between
them is the launch alone, not the hour.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl
from rich.console import Console

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.platforms.config import platforms_from_toml
from bareline.report.terminal.progress import PlainProgress
from bareline.session import begin
from bareline.session.runner import execute
from bareline.study.study import study_from_toml
from bareline.vocabulary.units import format_size, format_value

METRIC = "latency_loop_mean"


def main() -> None:
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    study = study_from_toml(
        {
            "study": {"name": "repeat", "launches": launches, "precision": 0},
            "measure": [
                {"probe": "mpi.pingpong", "ranks": 2, "params": {"min_bytes": 1, "budget_s": 0.05}}
            ],
        },
        where="benchmark",
    )
    # The same platform under two names is two independent runs in common blocks.
    tables = {
        f"{transport}-{number}": {"type": "local", "transport": transport}
        for transport in ("shm", "tcp")
        for number in (1, 2)
    }
    specs = list(platforms_from_toml({"platform": tables}, where="benchmark").values())
    with tempfile.TemporaryDirectory() as temporary:
        run = begin.create_run(study, specs, Path(temporary) / "run", baseline="shm-1")
        execute(run, PlainProgress(Console(stderr=True)))
        summary = summarize(read_runs([run]))
    for transport in ("shm", "tcp"):
        _report(summary.filter(pl.col("metric") == METRIC), transport)


def _report(summary: pl.DataFrame, transport: str) -> None:
    first = summary.filter(pl.col("platform") == f"{transport}-1")
    second = summary.filter(pl.col("platform") == f"{transport}-2")
    both = first.join(second, on="point", suffix="_2")
    print(f"\n{transport}: {METRIC}, median and 95 % interval of {both['n'].max()} launches")
    met = 0
    for row in both.iter_rows(named=True):
        meets = row["lo"] <= row["hi_2"] and row["lo_2"] <= row["hi"]
        met += meets
        size = format_size(int(row["point"].partition("=")[2]))
        texts = [
            f"{format_value(row['value' + s], 's'):>9} "
            f"[{format_value(row['lo' + s], 's')}, {format_value(row['hi' + s], 's')}]"
            for s in ("", "_2")
        ]
        print(f"{size:>8}  {texts[0]:<36} {texts[1]:<36} {'meet' if meets else 'DO NOT MEET'}")
    print(f"{met} of {both.height} pairs of intervals meet")


if __name__ == "__main__":
    main()
