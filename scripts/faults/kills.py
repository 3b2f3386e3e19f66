"""The runner is killed at random moments and continued, with null, namespace and guest trials."""

from __future__ import annotations

from bench import (
    GUESTS,
    LOCAL,
    MPI,
    NETNS,
    NETWORK,
    NULLS,
    ONE_NODE,
    STUDY,
    Bench,
    Witness,
    count_left,
    judge,
)
from table import Count


def kill_null(bench: Bench, tries: int) -> Count:
    """Kill the runner of null trials, which take a millisecond each."""
    return _kills(bench, tries, "null", NULLS, longest_s=0.12, launches=150)


def kill_namespaces(bench: Bench, tries: int) -> Count:
    """Kill it with hosts in network namespaces up, and a server and a client running."""
    return _kills(bench, tries, "netns", NETNS, longest_s=4.0, launches=400, study=NETWORK)


def kill_programs(bench: Bench, tries: int) -> Count:
    """Kill it while a server and a client, or the ranks of an MPI job, run on this machine."""
    half = tries // 2
    count = _kills(
        bench, tries - half, "servers", LOCAL, longest_s=2.0, launches=400, study=ONE_NODE
    )
    count.add(_kills(bench, half, "mpi", LOCAL, longest_s=2.0, launches=400, study=MPI))
    return count


def kill_guests(bench: Bench, tries: int) -> Count:
    """Kill it with virtual machines up or coming up."""
    return _kills(bench, tries, "guests", GUESTS, longest_s=60.0, launches=400, study=NETWORK)


def _kills(
    bench: Bench,
    tries: int,
    name: str,
    platforms: str,
    *,
    longest_s: float,
    launches: int,
    study: str = STUDY,
) -> Count:
    count = Count()
    place = bench.room(f"kill-{name}")
    run = witness = None
    while count.tries < tries:
        if run is None or witness is None:
            run = bench.make_run(place, launches, platforms, study)
            witness = Witness(run, count)
        ended = bench.zygote.killed(["continue", run], place, bench.random.uniform(0.0, longest_s))
        count.tries += 1
        judge(count, ended, f"continue, kill {count.tries}", killed=True)
        witness.look()
        if ended.code in (0, 3):
            run = None  # all of it was done: begin another
    _start_and_stop(bench)
    count_left(count)
    return count


def _start_and_stop(bench: Bench) -> None:
    """Begin another run: the next start removes what the last kill left."""
    place = bench.room("next")
    bench.zygote.run(["continue", bench.make_run(place, 1)], place)
    bench.zygote.run(["platforms", "clean"], place)
