"""Whether two builds of a program are told apart where they differ, and only there.

    python benchmarks/two_builds.py [--runs 20] [--work-ms 30] [--launches 10]

Builds a program of known work three times: twice alike, and once with a tenth more work. Each run
measures two builds with ``bareline run --build-a ... --build-b ...``; counted are the verdicts of
``bareline compare`` that call builds different. Alike ones should be at most one time in twenty,
those with more work always. ``time`` is by the wall clock, with all else that the machine does in
it; ``processor`` is the time for which the program had a processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

SOURCE = """
#include <stdio.h>
#include <time.h>

static double now_s(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(void) {
    double begin = now_s(CLOCK_MONOTONIC), busy = now_s(CLOCK_PROCESS_CPUTIME_ID), x = 1.0;
    for (long turn = 0; turn < TURNS; turn++)
        x = x * 0.999999 + 1e-6;
    busy = now_s(CLOCK_PROCESS_CPUTIME_ID) - busy;
    printf("time %.9f\\nprocessor %.9f\\nsum %.9f\\n", now_s(CLOCK_MONOTONIC) - begin, busy, x);
    return 0;
}
"""
STUDY = """
[study]
name = "builds"
launches = {launches}
[app.work]
command = ["{{build}}"]
mpi = false
verify = ["0.99 < sum", "sum < 1.01"]
metrics.time = {{ regex = '^time (\\S+)' }}
metrics.processor = {{ regex = '^processor (\\S+)' }}
values.sum = {{ regex = '^sum (\\S+)' }}
[[measure]]
probe = "app.work"
"""
#: Dependent multiplication and addition: turns of the loop in a millisecond, roughly.
TURNS_PER_MS = 350_000


def build(folder: Path, name: str, turns: int) -> Path:
    """Compile the program with so many turns."""
    source = folder / "work.c"
    source.write_text(SOURCE, encoding="utf-8")
    program = folder / name
    line = ["cc", "-O1", f"-DTURNS={turns}L", "-o", str(program), str(source)]
    subprocess.run(line, check=True)
    return program


def compared(folder: Path, a: Path, b: Path, number: int) -> dict[str, dict[str, object]]:
    """Measure two builds; give the row of each of their times."""
    out = folder / f"{b.name}-{number}"
    command = [sys.executable, "-m", "bareline"]
    given = ["--on", "bare", "--build-a", str(a), "--build-b", str(b), "--out", str(out), "-q"]
    subprocess.run(
        [*command, "run", str(folder / "builds.toml"), *given], check=True, capture_output=True
    )
    said = subprocess.run(
        [*command, "compare", str(out), "--json"], check=True, capture_output=True, text=True
    )
    return {row["metric"]: row for row in json.loads(said.stdout)}


def told(rows: list[dict[str, object]], what: str) -> None:
    """Print how often builds were called different, and the ratios."""
    verdicts = Counter(str(row["verdict"]) for row in rows)
    ratios = sorted(float(str(row["ratio"])) for row in rows)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    middle = ratios[len(ratios) // 2]
    print(f"{what}: {counts}; ratios {ratios[0]:.3f} to {ratios[-1]:.3f}, median {middle:.3f}")


def main() -> None:
    """Count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--work-ms", type=int, default=30)
    parser.add_argument("--launches", type=int, default=10)
    asked = parser.parse_args()
    turns = asked.work_ms * TURNS_PER_MS
    with tempfile.TemporaryDirectory(prefix="two-builds-") as made:
        folder = Path(made)
        (folder / "builds.toml").write_text(STUDY.format(launches=asked.launches), "utf-8")
        base, again = build(folder, "base", turns), build(folder, "again", turns)
        slower = build(folder, "slower", turns + turns // 10)
        for what, other in (("alike", again), ("a tenth more work", slower)):
            runs = [compared(folder, base, other, number) for number in range(asked.runs)]
            for metric in ("time", "processor"):
                told([run[metric] for run in runs], f"{what}, {metric}")


if __name__ == "__main__":
    main()
