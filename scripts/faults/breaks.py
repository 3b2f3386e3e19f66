"""What trials stand on is killed under them: a server program, a guest, libvirtd, saved states."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

from bench import (
    GUESTS,
    NETNS,
    NETWORK,
    Bench,
    Witness,
    count_left,
    judge,
    lines_of,
    parents_of_all,
)
from table import Count


def server_killed(bench: Bench, tries: int) -> Count:
    """Kill the server program of a network trial: that trial fails, the next ones do not."""
    return _struck(bench, tries, "server", NETNS, ("nuttcp",), first_s=1.5)


def guest_killed(bench: Bench, tries: int) -> Count:
    """Kill a guest's process: it is rebuilt."""
    return _struck(bench, tries, "guest", GUESTS, ("qemu-system-x86",), first_s=90.0)


def libvirtd_killed(bench: Bench, tries: int) -> Count:
    """Kill the guests' libvirtd: it is made anew with its guests."""
    return _struck(bench, tries, "libvirtd", GUESTS, ("libvirtd", "virtqemud"), first_s=90.0)


def guest_hangs(bench: Bench, tries: int) -> Count:
    """Stop a guest's process: it hangs in silence, and is rebuilt."""
    return _struck(
        bench, tries, "hang", GUESTS, ("qemu-system-x86",), first_s=90.0, blow=signal.SIGSTOP
    )


def _struck(
    bench: Bench,
    tries: int,
    name: str,
    platforms: str,
    programs: tuple[str, ...],
    *,
    first_s: float,
    blow: signal.Signals = signal.SIGKILL,
) -> Count:
    """Let a run of ten trials go on while its programs are struck, one blow per run."""
    count = Count()
    for _ in range(tries):
        place = bench.room(f"struck-{name}")
        run = bench.make_run(place, 8, platforms, NETWORK)
        witness = Witness(run, count)
        with bench.zygote.started(["continue", run], place) as child:
            _wait_for_record(run, first_s * 6)
            time.sleep(bench.random.uniform(0.0, 1.0))
            _strike(child, programs, blow)
        ended = bench.zygote.ended()
        judge(count, ended, name)
        done = witness.look()
        outcomes = [json.loads(line)["status"] for line in lines_of(run)]
        if done != 8 or outcomes[-2:] != ["measured"] * 2:
            count.lost += 1
            count.notes.append(f"{name}: {outcomes}; {ended.said[-800:]}")
        count.tries += 1
    count_left(count)
    return count


def _wait_for_record(run: Path, longest_s: float) -> None:
    deadline = time.monotonic() + longest_s
    while not lines_of(run) and time.monotonic() < deadline:
        time.sleep(0.02)


def _strike(bareline: int, programs: tuple[str, ...], blow: signal.Signals) -> None:
    """Strike one of the programs that descend from this bareline, and of no other."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for pid in _descendants(bareline):
            try:
                comm = Path(f"/proc/{pid}/comm").read_text().strip()
                if any(comm.startswith(program[:15]) for program in programs):
                    os.kill(pid, blow)
                    return
            except OSError:
                continue
        time.sleep(0.01)


def _descendants(root: int) -> list[int]:
    children_of: dict[int, list[int]] = {}
    for pid, parent in parents_of_all().items():
        children_of.setdefault(parent, []).append(pid)
    found, waiting = [], [root]
    while waiting:
        children = children_of.get(waiting.pop(), [])
        found += children
        waiting += children
    return found
