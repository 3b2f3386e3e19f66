"""Time and memory of comparing a run of a million samples, and how both grow.

    python benchmarks/compare_million.py

Goal: at most 3 s and 1.5 GiB for 10^6 samples, growing linearly. Runs in two shapes: many points
(the curves of a large study) and many trials. Each measurement is a fresh process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SHAPES = {"10 trials, many points": 10, "30 trials, many points": 30}
SAMPLES = (125_000, 250_000, 500_000, 1_000_000)
POINTS_PER_CASE = 24

MEASURE = """
import resource, sys, time
from pathlib import Path
begin = time.perf_counter()
from bareline.analysis.judgements.comparison import JudgedComparison
from bareline.analysis.numbers.records import read_runs
from bareline.store.run import Run
table = JudgedComparison(read_runs([Run.open(Path(sys.argv[1]))])).table
seconds = time.perf_counter() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(table.height, seconds, peak)
"""


def plant(folder: Path, samples: int, trials: int) -> None:
    """Write a run of two platforms whose records hold this many samples."""
    from bareline.platforms.config import platforms_from_toml
    from bareline.session import begin
    from bareline.session.origin import plan_of
    from bareline.study.study import study_from_toml

    cases = samples // (2 * trials * POINTS_PER_CASE)
    study = study_from_toml(
        {
            "study": {"name": "million", "launches": trials, "precision": 0},
            "measure": [
                {"probe": "null", "sweep": {"median_s": [1e-6 * (1 + k) for k in range(cases)]}}
            ],
        },
        where="benchmark",
    )
    tables = {"platform": {"a": {"type": "null"}, "b": {"type": "null"}}}
    specs = list(platforms_from_toml(tables, where="benchmark").values())
    run = begin.create_run(study, specs, folder, baseline="a")
    generator = np.random.default_rng(1)
    # Lines are written directly: a million fsyncs would measure the disk.
    with (folder / "records.jsonl").open("w") as file:
        for trial in plan_of(run):
            values = 1e-6 * np.exp(0.02 * generator.standard_normal(POINTS_PER_CASE))
            samples = [
                {"metric": "time", "point": f"size_bytes={1 << k}", "value": float(value)}
                for k, value in enumerate(values)
            ]
            file.write(json.dumps(record_line(trial, samples)) + "\n")


def record_line(trial: Any, samples: list[dict[str, object]]) -> dict[str, object]:
    """Return the line of records.jsonl of a measured null trial."""
    return {
        "trial": trial.index,
        "attempt": 1,
        "block": trial.block,
        "platform": trial.platform,
        "probe": "null",
        "params": trial.case.params,
        "ranks": 1,
        "threads": 1,
        "nodes": None,
        "placement": "spread",
        "layout": "1x1x1",
        "timeout_s": 300,
        "started": "",
        "duration_s": 0.1,
        "clock": "wall",
        "status": "measured",
        "stage": None,
        "reason": None,
        "caveats": [],
        "samples": samples,
    }


def main() -> None:
    print("| shape | samples | rows | seconds | peak MiB | µs per sample |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, trials in SHAPES.items():
        for samples in SAMPLES:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary) / "run"
                plant(folder, samples, trials)
                best = min((_measure(folder) for _ in range(3)), key=lambda measured: measured[1])
            rows, seconds, peak_mib = best
            print(
                f"| {name} | {samples:,} | {rows:.0f} | {seconds:.2f} | {peak_mib:.0f} "
                f"| {seconds / samples * 1e6:.2f} |"
            )


def _measure(folder: Path) -> tuple[float, float, float]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(folder)], capture_output=True, text=True, check=True
    )
    rows, seconds, peak_mib = (float(word) for word in done.stdout.split())
    return rows, seconds, peak_mib


if __name__ == "__main__":
    main()
