"""The runner is killed while it uses clusters of real daemons, and while a host lies to it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import NETWORK, Bench, Witness, judge
from kills import kill_runs
from table import Count, NotHere
from zygote import Zygote

_TESTS = Path(__file__).resolve().parents[2] / "tests" / "platforms" / "reached"


@contextmanager
def _inside(bench: Bench, make: Callable[[], object], need: tuple[str, ...]) -> Iterator[tuple]:
    """Bring a cluster up, and give it with a bench whose commands run in its network."""
    for program in need:
        if shutil.which(program, path="/usr/sbin:/usr/bin") is None:
            raise NotHere(f"{program} is not installed")
    sys.path.insert(0, str(_TESTS))
    with make() as cluster:
        place = cluster[0] if isinstance(cluster, tuple) else cluster
        said = bench.room("said")
        with place.inside(), Zygote(said) as zygote:
            yield cluster, Bench(bench.folder, bench.random, zygote)


def kill_ssh(bench: Bench, tries: int) -> Count:
    """Kill it with two hosts behind real sshd taken, and a server and a client running."""

    def make():
        from machines import ssh_hosts

        return ssh_hosts(2)

    with _inside(bench, make, ("sshd", "ssh")) as ((_, config), inner):
        platforms = (
            f'[platform.h]\ntype = "ssh"\nhosts = ["node[1-2]"]\nconfig = "{config}"\n'
            f'agent = "ssh -F {config}"\nsubnet = "10.94.0.0/24"\nconnect_s = 5\n'
        )
        return kill_runs(inner, tries, "ssh", platforms, longest_s=6.0, launches=400, study=NETWORK)


def kill_slurm(bench: Bench, tries: int) -> Count:
    """Kill it with an allocation of a real Slurm, and a server and a client running."""

    def make():
        from machines import slurm_cluster

        return slurm_cluster(2)

    with _inside(bench, make, ("slurmctld", "slurmd", "munged", "salloc")) as (_, inner):
        platforms = (
            '[platform.n]\ntype = "slurm"\nnodes = 2\nsubnet = "10.94.0.0/24"\ntime_min = 10\n'
        )
        return kill_runs(
            inner, tries, "slurm", platforms, longest_s=8.0, launches=400, study=NETWORK
        )


_WORDS = ("cores", "user", "flags", "pid", "host", "address", "load", "stat", "ports", "file")
_VALUES = ("", "-1", "0", "9" * 25, "1" * 5000, "NaN", "²", "a\x1b[2Jb", "{}", "x" * 100_000)
_KINDS = (
    *("left out", "instead", "instead", "more", "for another", "twice", "garbage", "gone"),
    *("endless line", "endless lines", "endless complaint"),
)
_NAMES = ("other.txt", "../../../evil", "/tmp/evil", "")
STUDY_OF_HELLO = """
[study]
name = "lies"
launches = 2
precision = 0
[app.hello]
command = ["sh", "-c", "echo time 1.5 >result.txt"]
mpi = false
verify = ["time > 0"]
[app.hello.metrics.time]
unit = "s"
better = "lower"
regex = "time ([0-9.]+)"
file = "result.txt"
[[measure]]
probe = "app.hello"
"""
_PLATFORMS = """
[platform.here]
type = "local"
[platform.host]
type = "ssh"
hosts = ["liar"]
connect_s = 2
"""


def _lie(bench: Bench) -> dict:
    kind = bench.random.choice(_KINDS)
    lie = {"kind": kind, "word": bench.random.choice(_WORDS)}
    lie["value"] = bench.random.choice(_VALUES)
    if kind == "more":
        lie["other"] = bench.random.choice(("file", "file", "failed", "missing", "busy", "kind"))
        lie["value"] = f"{bench.random.choice(_NAMES)} Zm9v"
    if kind == "garbage":
        lie["value"] = bench.random.randbytes(200).replace(b"\n", b"").hex()
    return lie


def lying_host(bench: Bench, tries: int) -> Count:
    """Let a host lie: its platform fails alone, and what it says is in the reason."""
    count = Count()
    programs = bench.room("programs")
    shutil.copy(Path(__file__).with_name("liar.py"), programs / "ssh")
    for _ in range(tries):
        place = bench.room("lies")
        lie = _lie(bench)
        (programs / "lie.json").write_text(json.dumps(lie))
        (place / "s.toml").write_text(STUDY_OF_HELLO)
        (place / "p.toml").write_text(_PLATFORMS)
        argv = ["run", "s.toml", "--platforms", "p.toml", "--on", "here", "--on", "host"]
        env = {"PATH": f"{programs}:{os.environ['PATH']}"}
        ended = bench.zygote.run([*argv, "--out", "run"], place, env=env)
        count.tries += 1
        judge(count, ended, f"{lie['kind']} {lie['word']}")
        run = place / "run"
        # A program that a host says to lack is skipped, and not asked for again.
        fewest = 3 if "skipped: app.hello on host" in ended.said else 4
        if not fewest <= Witness(run, count).look() <= 4:
            count.lost += 1
            count.notes.append(f"{lie}: not all trials have a record: {ended.said[-500:]}")
            continue
        records = map(json.loads, (run / "records.jsonl").read_text().splitlines())
        for record in records:
            reason = record["reason"] or ""
            if record["platform"] == "here" and record["status"] != "measured":
                count.lost += 1
                count.notes.append(f"{lie}: another platform failed: {reason}")
            if "Error:" in reason or "None" in reason:
                count.tracebacks += 1
                count.notes.append(f"{lie}: {reason[:300]}")
        if list(bench.folder.rglob("evil*")) or Path("/tmp/evil").exists():
            count.left += 1
            count.notes.append(f"{lie}: a file was written elsewhere")
    return count
