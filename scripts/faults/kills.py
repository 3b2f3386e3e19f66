"""The runner is killed at random moments and continued, with null, namespace and guest trials."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import (
    GUESTS,
    LOCAL,
    MPI,
    NETNS,
    NETWORK,
    NULLS,
    ONE_NODE,
    SIMULATED,
    SIMULATION,
    STUDY,
    Bench,
    Witness,
    count_left,
    judge,
)
from table import Count

_VERSION = re.compile(r'^bareline = ".*"', re.MULTILINE)


def kill_null(bench: Bench, tries: int) -> Count:
    """Kill the runner of null trials, which take a millisecond each."""
    return kill_runs(bench, tries, "null", NULLS, longest_s=0.12, launches=150)


def kill_namespaces(bench: Bench, tries: int) -> Count:
    """Kill it with hosts in network namespaces up, and a server and a client running."""
    return kill_runs(bench, tries, "netns", NETNS, longest_s=4.0, launches=400, study=NETWORK)


def kill_programs(bench: Bench, tries: int) -> Count:
    """Kill it while a server and a client, or the ranks of an MPI job, run on this machine."""
    half = tries // 2
    count = kill_runs(
        bench, tries - half, "servers", LOCAL, longest_s=2.0, launches=400, study=ONE_NODE
    )
    count.add(kill_runs(bench, half, "mpi", LOCAL, longest_s=2.0, launches=400, study=MPI))
    return count


def kill_guests(bench: Bench, tries: int) -> Count:
    """Kill it with virtual machines up or coming up."""
    return kill_runs(bench, tries, "guests", GUESTS, longest_s=60.0, launches=400, study=NETWORK)


def kill_simulated(bench: Bench, tries: int) -> Count:
    """Kill it while a simulated cluster runs."""
    return kill_runs(bench, tries, "sim", SIMULATED, longest_s=2.0, launches=400, study=SIMULATION)


def kill_second_version(bench: Bench, tries: int) -> Count:
    """Kill it while it goes on with a run of another version."""

    def age(run: Path) -> None:
        header = (run / "run.toml").read_text()
        older = _VERSION.sub('bareline = "0.0.1"', header, count=1)
        (run / "run.toml").write_text(older)

    return kill_runs(
        bench, tries, "old", NULLS, longest_s=0.12, launches=150, age=age, more=("--anyway",)
    )


def kill_runs(
    bench: Bench,
    tries: int,
    name: str,
    platforms: str,
    *,
    longest_s: float,
    launches: int,
    study: str = STUDY,
    age: Callable[[Path], None] | None = None,
    more: Sequence[str] = (),
) -> Count:
    """Kill the runner of a run at random moments, and let it go on, again and again.

    Parameters
    ----------
    age
        Changes a run after it was made.
    more
        Options of `continue`.
    """
    count = Count()
    place = bench.room(f"kill-{name}")
    run = witness = None
    for _ in range(3 * tries):
        if run is None or witness is None:
            run = bench.make_run(place, launches, platforms, study)
            if age is not None:
                age(run)
            witness = Witness(run, count)
        ended = bench.zygote.killed(
            ["continue", run, *more],
            place,
            bench.random.uniform(0.0, longest_s),
            when=_grown(run / "records.jsonl", bench.random.choice(_MORE_TRIALS)),
        )
        count.tries += ended.code == -signal.SIGKILL  # what had ended before was not killed
        judge(count, ended, f"continue, kill {count.tries}", killed=True)
        witness.look()
        if count.tries == tries:
            break
        if ended.code in (0, 3):
            witness.sum_up()
            run = None  # all of it was done: begin another
        elif ended.code != -signal.SIGKILL:
            count.lost += 1
            count.notes.append(f"continue after kill {count.tries} refused: {ended.said[-500:]}")
    if witness is not None:
        witness.sum_up()
    _start_and_stop(bench)
    count_left(count)
    return count


#: After so many more trials it is killed: in the middle, or still at the beginning.
_MORE_TRIALS = (0, 0, 1, 2, 5)


def _grown(file: Path, trials: int) -> Callable[[], bool]:
    """Return when a file has so many more lines than now."""

    def lines() -> int:
        return file.read_bytes().count(b"\n") if file.exists() else 0

    before = lines()
    return lambda: lines() >= before + trials


def _start_and_stop(bench: Bench) -> None:
    """Begin another run: the next start removes what the last kill left."""
    place = bench.room("next")
    bench.zygote.run(["continue", bench.make_run(place, 1)], place)
    bench.zygote.run(["platforms", "clean"], place)
