"""What bareline itself costs: time per null trial, and the start of ``bareline --help``.

    python benchmarks/runner_overhead.py

Goals: at most 10 ms per trial beyond its own time over 1,000 trials, and 0.3 s for ``--help``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STUDY = '[study]\nname = "null"\nlaunches = 500\nprecision = 0\n[[measure]]\nprobe = "null"\n'
PLATFORMS = '[platform.a]\ntype = "null"\n[platform.b]\ntype = "null"\n'


def main() -> None:
    bareline = [sys.executable, "-m", "bareline"]
    starts = [_timed([*bareline, "--help"]) for _ in range(9)]
    print(f"bareline --help: median {statistics.median(starts):.3f} s of {len(starts)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "null.toml").write_text(STUDY)
        (folder / "platforms.toml").write_text(PLATFORMS)
        per_trial = []
        for repetition in range(3):
            command = ["run", "null.toml", "--on", "a", "--on", "b", "--out", f"r{repetition}"]
            per_trial.append(_timed([*bareline, *command], folder) / 1000)
    milliseconds = ", ".join(f"{value * 1e3:.2f}" for value in per_trial)
    print(f"1,000 null trials, start included: {milliseconds} ms per trial")


def _timed(argv: list[str], folder: Path | None = None) -> float:
    begin = time.perf_counter()
    subprocess.run(argv, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
