"""A stranger's trace, as libFuzzer makes it, under the sanitizers of addresses and behaviour."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from bench import Bench
from table import Count

_REPLAY = Path(__file__).resolve().parents[2] / "native" / "replay"


def fuzz_traces(bench: Bench, tries: int) -> Count:
    """Fuzz the reader of traces and the replay for so many seconds, one process."""
    count = Count()
    place = bench.room("fuzz")
    program = place / "fuzz"
    sources = [_REPLAY / "tests" / "fuzz.c", *sorted(_REPLAY.glob("*.c"))]
    flags = ["-g", "-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
    line = ["clang", *flags, "-I", _REPLAY, *sources, "-lm", "-o", program]
    built = subprocess.run(line, capture_output=True, text=True, check=False)
    if built.returncode:  # clang without its run-time library
        count.notes.append(f"does not build: {built.stderr.strip().splitlines()[-1]}")
        count.lost += 1
        return count
    corpus = place / "corpus"
    corpus.mkdir()
    seed = bench.random.randrange(1, 1 << 31)
    done = subprocess.run(
        [program, f"-max_total_time={tries}", f"-seed={seed}", corpus],
        cwd=place, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    ran = re.search(r"Done (\d+) runs", done.stderr)
    count.tries = int(ran[1]) if ran else 1
    if done.returncode:
        count.lost += 1
        error = next((one for one in done.stderr.splitlines() if "ERROR" in one), "it stopped")
        count.notes.append(error)
    return count
