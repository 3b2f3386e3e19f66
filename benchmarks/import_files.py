"""Processor time and memory of ``bareline import`` for few and for many files.

Run with ``python benchmarks/import_files.py [FILES]``; fails above 10 ms of processor time per file
beyond start-up, or where memory grows by more than 20 KiB per file.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MOST_MS = 10.0
MOST_KIB = 20.0
ROWS = 23


def output(number: int) -> str:
    """Return an output of osu_latency, another one for each number."""
    rows = [f"{2**k:<10}{1.0 + k / 10 + number / 1000:>18.2f}\n" for k in range(ROWS)]
    return "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n" + "".join(rows)


def cost(files: int) -> tuple[float, int]:
    """Return processor seconds and peak memory in KiB of one import, measured in a process."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder, "in")
        inputs.mkdir()
        for number in range(files):
            (inputs / f"{number}.out").write_text(output(number))
        argv = [str(inputs), "--platform", "p", "--out", str(Path(folder, "run")), "-q"]
        code = (
            "import resource, sys\nfrom bareline.cli.main import main\n"
            f"sys.argv = ['bareline', 'import', *{argv!r}]\n"
            "try:\n    main()\nfinally:\n"
            "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stderr.split()[-1])


def main() -> int:
    """Print both costs and return 1 where one is above its limit."""
    files = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    one_s, one_kib = cost(1)
    all_s, all_kib = cost(files)
    each_ms = (all_s - one_s) / (files - 1) * 1e3
    each_kib = (all_kib - one_kib) / (files - 1)
    print(f"{files} files: {each_ms:.2f} ms and {each_kib:.2f} KiB each beyond the first")
    print(f"one file: {one_s:.2f} s, {one_kib} KiB; {files} files: {all_s:.2f} s, {all_kib} KiB")
    return int(each_ms > MOST_MS or each_kib > MOST_KIB)


if __name__ == "__main__":
    raise SystemExit(main())
