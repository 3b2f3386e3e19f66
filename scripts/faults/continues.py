"""Continue one run three at a time, on a file system without locks: no trial runs twice.

    .venv/bin/python scripts/faults/continues.py [--rounds N] [--journal FILE] [--json] [FOLDER]

The kernel's locks are refused in every process, and ``BARELINE_LEASES=1`` is set. In each round the
lease of an ended owner is there, and three processes continue the run at the same moment: one
measures, the others refuse or find nothing to do. With a journal, each round is written to it as it
ends, and rounds that it has are not played again.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import gc
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

_PROCESSES = 3
_LAUNCHES = 4
_STUDY = {
    "study": {"name": "thrice", "launches": _LAUNCHES, "precision": 0},
    "measure": [{"probe": "null", "params": {}}],
}
_PLATFORMS = {"platform": {"a": {"type": "null"}, "b": {"type": "null", "pause_s": 0.002}}}


def _refuse(*_: object) -> None:
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


def _continue(run: Path, at: float) -> None:
    """Become `bareline continue`, at a moment that all of a round have in common."""
    from bareline.cli.main import main

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    sys.argv = ["bareline", "continue", str(run), "-q"]
    time.sleep(max(0.0, at - time.monotonic()))
    code = 70
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 70
    finally:
        os._exit(code)


def _load() -> tuple[Any, list[Any]]:
    """Load what the processes have in common; return the study and its platforms."""
    from bareline.host import locks
    from bareline.platforms.base import load_platform_types
    from bareline.platforms.config import platforms_from_toml
    from bareline.probes.base import load_probes
    from bareline.study.study import study_from_toml

    fcntl.flock = _refuse
    os.environ[locks.LEASES] = "1"
    for load in (load_probes, load_platform_types):
        load()
    study = study_from_toml(_STUDY, where="thrice")
    specs = list(platforms_from_toml(_PLATFORMS, where="thrice").values())
    gc.collect()
    gc.freeze()
    return study, specs


def _round(path: Path) -> dict[str, int]:
    """Continue a new run three at a time, beside the lease of an ended owner; count what came."""
    from bareline.host import locks
    from bareline.host.owner import owner_mark

    lease = locks.lease_of(path / "records.jsonl")
    dead = re.sub(r"^\d+-\d+", "999999999-1", owner_mark())
    lease.write_text(f"{dead} process 999999999 on here\n")
    children = []
    at = time.monotonic() + 0.05
    for _ in range(_PROCESSES):
        child = os.fork()
        if child == 0:
            _continue(path, at)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    lines = (path / "records.jsonl").read_text().splitlines()
    trials = [json.loads(line)["trial"] for line in lines]
    return {
        "rounds": 1,
        "trials": len(trials),
        "repeated": len(trials) - len(set(trials)),
        "missing": 2 * _LAUNCHES - len(set(trials)),
        "odd ends": sum(code not in (0, 2) for code in codes),
        "left": sum(".lease" in entry.name for entry in path.iterdir()),
    }


def play(folder: Path, rounds: int, journal: Path | None = None) -> Counter[str]:
    """Play so many rounds; count trials that ran twice or never, and other ends of a command."""
    from bareline.session import begin

    counts: Counter[str] = Counter()
    for line in journal.read_text().splitlines() if journal and journal.exists() else ():
        counts.update(json.loads(line))
    study, specs = _load()
    for number in range(counts["rounds"], rounds):
        path = folder / f"run{number}"
        begin.create_run(study, specs, path, baseline="a")
        played = _round(path)
        counts.update(played)
        if journal is not None:
            with journal.open("a") as file:
                file.write(json.dumps(played) + "\n")
    return counts


def main() -> None:
    """Play the rounds; the exit code is 1 where a trial ran twice or never."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bareline-thrice-", dir=options.folder) as made:
        played = play(Path(made), options.rounds, options.journal)
    if options.json:
        print(json.dumps(played))
    else:
        print(", ".join(f"{number} {name}" for name, number in played.items()))
    sys.exit(any(played[name] for name in ("repeated", "missing", "odd ends", "left")))


if __name__ == "__main__":
    main()
