"""A run of 1,024 ranks and ten million samples: time and memory to read, compare and go on with it.

    python benchmarks/store_at_scale.py [SAMPLES ...]

The run is made by bareline's own writer: two platforms, ten launches, one sample for each of 1,024
ranks and 16 message sizes. Each verb is a fresh process. Goals for 10^7 samples: reading below
2 GiB and comparing below 4 GiB, both growing linearly with the samples. A page shows a bounded
number of points and stays below 5 MB, while its verdicts rest on all of them; it is made up to 10^6
samples.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RANKS, SIZES, LAUNCHES = 1024, 16, 10
PER_CASE = 2 * LAUNCHES * RANKS * SIZES
SAMPLES = (PER_CASE, 1_000_000, 10_000_000)
MOST_REPORTED = 1_000_000

PROLOGUE = """
import resource, sys, time
from pathlib import Path
begin = time.perf_counter()
from bareline.store.run import Run
run = Run.open(Path(sys.argv[1]))
"""
EPILOGUE = """
seconds = time.perf_counter() - begin
print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
VERBS = {
    "read": "tables = run.tables()\n",
    "compare": (
        "from bareline.analysis.words.comparison import Comparison\n"
        "from bareline.analysis.numbers.records import read_runs\n"
        "comparison = Comparison(read_runs([run]))\n"
        "assert comparison.table.height == int(sys.argv[2])\n"
    ),
    "statements": (
        "from bareline.analysis.words.comparison import Comparison\n"
        "from bareline.analysis.numbers.records import read_runs\n"
        "assert Comparison(read_runs([run])).statements\n"
    ),
    "status": (
        "from bareline.session.status import status_of\nassert status_of(run)['remaining'] == 0\n"
    ),
    "report": (
        "from bareline.analysis.words.comparison import Comparison\n"
        "from bareline.analysis.numbers.records import read_runs\n"
        "from bareline.report.content.document import document_of\n"
        "from bareline.report.page.files import write_report\n"
        "write_report(document_of(Comparison(read_runs([run]))), run.path / 'report.html')\n"
    ),
}


def plant(folder: Path, cases: int) -> int:
    """Write a run with so many cases; give the number of its samples."""
    from bareline.platforms.config import platforms_from_toml
    from bareline.session import begin
    from bareline.session.origin import plan_of
    from bareline.study.study import study_from_toml
    from bareline.vocabulary.model import Measured, Record, Sample

    study = study_from_toml(
        {
            "study": {"name": "scale", "launches": LAUNCHES, "precision": 0},
            "measure": [
                {
                    "probe": "null",
                    "ranks": RANKS,
                    "sweep": {"median_s": [1e-6 * (1 + k) for k in range(cases)]},
                }
            ],
        },
        where="benchmark",
    )
    tables = {name: {"type": "null", "nodes": 64} for name in ("a", "b")}
    specs = platforms_from_toml({"platform": tables}, where="benchmark").values()
    run = begin.create_run(study, list(specs), folder, baseline="a")
    points = [{"rank": k, "size_bytes": 1 << s} for k in range(RANKS) for s in range(SIZES)]
    generator = np.random.default_rng(1)
    written = 0
    with run.writing():
        for trial in plan_of(run):
            factor = 1.1 if trial.platform == "b" else 1.0
            values = 1e-6 * factor * np.exp(0.02 * generator.standard_normal(len(points)))
            samples = tuple(
                Sample("time", float(value), point)
                for value, point in zip(values, points, strict=True)
            )
            run.append(Record(trial=trial, outcome=Measured(samples), started="", duration_s=0.1))
            written += len(samples)
    return written


def main() -> None:
    wanted = [int(word) for word in sys.argv[1:]] or SAMPLES
    print("| samples | file, MiB | verb | seconds | peak MiB | bytes per sample |")
    print("|---:|---:|---|---:|---:|---:|")
    for samples in wanted:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "run"
            cases = max(1, round(samples / PER_CASE))
            begin = time.perf_counter()
            written = plant(folder, cases)
            seconds = time.perf_counter() - begin
            size_mib = (folder / "records.jsonl").stat().st_size / (1 << 20)
            print(f"| {written:,} | {size_mib:.0f} | written | {seconds:.1f} | | |", flush=True)
            for verb, body in VERBS.items():
                if verb == "report" and written > MOST_REPORTED:
                    continue
                seconds, peak_mib = _measure(folder, body, cases * RANKS * SIZES)
                each = peak_mib * (1 << 20) / written
                page = folder / "report.html"
                size = f"{page.stat().st_size / (1 << 20):.1f}" if page.exists() else ""
                cells = (f"{written:,}", size, verb, f"{seconds:.1f}", f"{peak_mib:.0f}")
                print(f"| {' | '.join(cells)} | {each:.0f} |", flush=True)


def _measure(folder: Path, body: str, rows: int) -> tuple[float, float]:
    script = PROLOGUE + body + EPILOGUE
    argv = [sys.executable, "-c", script, str(folder), str(rows)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return float("nan"), float("nan")
    seconds, peak_mib = (float(word) for word in done.stdout.split())
    return seconds, peak_mib


if __name__ == "__main__":
    main()
