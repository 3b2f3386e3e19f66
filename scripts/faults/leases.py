"""Let processes take over the lease of an ended owner at once, and count rounds with two owners.

    .venv/bin/python scripts/faults/leases.py [--rounds N] [--processes N] [--naive] [--json] FOLDER

In each round the lease of an ended process is there, and all processes try to take it at the same
moment. Who has it makes a file that nobody else may find there, waits a moment, and removes it.
``--naive`` takes leases as releases before 0.12 did (read, unlink, create), to show that the rounds
notice two owners.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from types import TracebackType

from bareline.host import locks
from bareline.host.owner import has_ended, owner_mark

#: How long an owner holds its lease: another one that takes it meanwhile is noticed.
_HELD_S = 0.0005
#: Tries of a process in a round: a lease that was released may be taken again.
_TRIES = 40


class _Naive:
    """Leases as they were taken before."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self) -> bool:
        with suppress(OSError):
            if has_ended(self._path.read_text(encoding="utf-8")):
                self._path.unlink()
        try:
            with self._path.open("x", encoding="utf-8") as file:
                file.write(f"{owner_mark()}\n")
        except FileExistsError:
            return False
        return True

    def release(self) -> None:
        self._path.unlink(missing_ok=True)


class _Owned:
    """A file that one owner makes at a time; `double` counts those that found one there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.double = 0

    def __enter__(self) -> None:
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            self.double += 1
        time.sleep(_HELD_S * random.random())

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()


def _take_turns(folder: Path, rounds: int, barrier: Barrier, naive: bool, answer) -> None:
    owned = _Owned(folder / "owned")
    kind = _Naive if naive else locks._Lease
    taken = 0
    for _ in range(rounds):
        barrier.wait()  # the lease of an ended process is there
        for _ in range(_TRIES):
            lease = kind(locks.lease_of(folder / "x"))
            if lease.take():
                taken += 1
                with owned:
                    pass
                lease.release()
                break
        barrier.wait()
    answer.put((owned.double, taken))


def play(folder: Path, rounds: int, processes: int, *, naive: bool = False) -> dict[str, int]:
    """Play so many rounds; give those that had an owner too many, and how often one was taken."""
    context = get_context("fork")
    barrier, answer = context.Barrier(processes + 1), context.Queue()
    arguments = (folder, rounds, barrier, naive, answer)
    workers = [context.Process(target=_take_turns, args=arguments) for _ in range(processes)]
    for worker in workers:
        worker.start()
    dead = re.sub(r"^\d+-\d+", "999999999-1", owner_mark())
    for number in range(rounds):
        lease = locks.lease_of(folder / "x")
        with suppress(FileNotFoundError):
            lease.unlink()
        lease.write_text(f"{dead} process 999999999 on here, {number}\n")
        barrier.wait()
        barrier.wait()
    counts = [answer.get() for _ in workers]
    for worker in workers:
        worker.join()
    left = [path for path in folder.iterdir() if path.name not in ("x", "owned")]
    return {
        "rounds": rounds,
        "processes": processes,
        "taken": sum(taken for _, taken in counts),
        "double": sum(double for double, _ in counts),
        "left": len(left),
    }


def main() -> None:
    """Play the rounds; the exit code is 1 where two processes owned one lease."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--naive", action="store_true", help="as before, to see two owners")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bareline-leases-", dir=options.folder) as made:
        played = play(Path(made), options.rounds, options.processes, naive=options.naive)
    if options.json:
        print(json.dumps(played))
    else:
        print(", ".join(f"{number} {name}" for name, number in played.items()))
    sys.exit(played["double"] > 0)


if __name__ == "__main__":
    main()
