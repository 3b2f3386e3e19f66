"""What every fault works with: a seed, a folder, runs that are checked after each blow."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from table import Count
from zygote import Ended, Zygote

NULLS = '[platform.a]\ntype = "null"\npause_s = 0.001\n[platform.b]\ntype = "null"\nfactor = 2\n'
STUDY = """
[study]
name = "faults"
launches = {launches}
precision = 0
[[measure]]
probe = "null"
params = {{ points = 3 }}
"""
#: A server on one node and a client on the other, for a second.
NETWORK = """
[study]
name = "faults"
launches = {launches}
precision = 0
blocks_per_boot = 50
[[measure]]
probe = "net.nuttcp"
params = {{ duration_s = 1 }}
timeout_s = 30
"""
#: Both on this machine.
ONE_NODE = NETWORK.replace("timeout_s", "nodes = 1\ntimeout_s")
#: Messages are few and may take long: the machine may be busy.
MPI = ONE_NODE.replace('"net.nuttcp"', '"mpi.pingpong"\nranks = 2').replace(
    "duration_s = 1", "iterations = 20, max_bytes = 64, budget_s = 5"
)
SIMULATED = '[platform.s]\ntype = "sim"\nnodes = 2\nnetwork = "10g"\n'
SIMULATION = NETWORK.replace('"net.nuttcp"', '"mpi.pingpong"\nranks = 2').replace(
    "duration_s = 1", "iterations = 20, max_bytes = 1024"
)
LOCAL = '[platform.l]\ntype = "local"\n'
NETNS = '[platform.n]\ntype = "netns"\n'
GUESTS = '[platform.v]\ntype = "vm"\n'


_Case = TypeVar("_Case")


@dataclass
class Bench:
    """A place to break things in.

    - `order`: seeds the order of cases that are listed, which is that of every part of a campaign.
    - `first`: number of this part's first try.
    """

    folder: Path
    random: random.Random
    zygote: Zygote
    order: str = ""
    first: int = 0

    def share(self, cases: Iterable[_Case], tries: int) -> list[_Case]:
        """Return the cases of this part of a campaign: each of them belongs to one part."""
        ordered = list(cases)
        random.Random(self.order).shuffle(ordered)
        return ordered[self.first : self.first + tries]

    def room(self, name: str) -> Path:
        """Return an empty folder."""
        place = self.folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return place

    def make_run(
        self, place: Path, launches: int, platforms: str = NULLS, study: str = STUDY
    ) -> Path:
        """Make a run without executing it."""
        (place / "s.toml").write_text(study.format(launches=launches))
        (place / "p.toml").write_text(platforms)
        names = [line[10:-1] for line in platforms.splitlines() if line.startswith("[platform.")]
        on = [part for name in names for part in ("--on", name)]
        run = place / "run"
        shutil.rmtree(run, ignore_errors=True)
        argv = ["run", "s.toml", "--platforms", "p.toml", *on, "--out", run, "--seed", 1]
        # Ended as soon as the run stands: the rest is what `continue` is for.
        ended = self.zygote.run(argv, place, patches=[_MAKE_ONLY])
        if not (run / "run.toml").exists():
            raise SystemExit(f"faults: the run could not be made: {ended.said}")
        return run


_MAKE_ONLY = """
import os
import bareline.session.runner as _runner
def _stop(*given, **more):
    os._exit(0)
_runner.execute = _stop
"""


def lines_of(run: Path) -> list[bytes]:
    """Return the whole lines of a run's records; none of what is no file of ours."""
    file = run / "records.jsonl"
    ours = file.is_file() and not file.is_symlink() and file.stat().st_size < 1 << 30
    data = file.read_bytes() if ours else b""
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


class Witness:
    """Looks at a run after each blow: what was recorded must stay, and nothing stand twice."""

    def __init__(self, run: Path, count: Count) -> None:
        self._run = run
        self._count = count
        self._seen: list[bytes] = lines_of(run)

    def look(self) -> int:
        """Compare with the last look; give the number of records."""
        now = lines_of(self._run)
        if now[: len(self._seen)] != self._seen:
            self._count.lost += 1
            self._count.notes.append(f"{self._run}: records vanished or changed")
        indices = [json.loads(line)["trial"] for line in now]
        if len(set(indices)) != len(indices):
            self._count.repeated += 1
            self._count.notes.append(f"{self._run}: a trial appears twice")
        self._seen = now
        return len(now)

    def sum_up(self) -> None:
        """Count the trials of a run that is done with, and name why the first one failed."""
        records = [json.loads(line) for line in lines_of(self._run)]
        reasons = [record["reason"] for record in records if record["status"] == "failed"]
        self._count.trials += len(records)
        self._count.failed += len(reasons)
        if reasons:
            self._count.notes.append(f"{self._run}: {len(reasons)} failed, e.g. {reasons[0][:300]}")


def judge(count: Count, ended: Ended, what: str, *, killed: bool = False) -> None:
    """Count a command that ended as none of ours does."""
    if killed and ended.code == -9:
        count.record(what, code=-9, verdict="killed, as it should be")
        return
    before = (count.large, count.tracebacks, count.aborts)
    _judge(count, ended, what)
    fine = before == (count.large, count.tracebacks, count.aborts)
    count.record(what, code=ended.code, verdict="well" if fine else "BAD")


def _judge(count: Count, ended: Ended, what: str) -> None:
    if ended.memory_kib > 1_000_000_000 // 1024:
        count.large += 1
        count.notes.append(f"{what}: {ended.memory_kib >> 10} MiB: {ended.said[-300:]}")
    if ended.late:
        count.tracebacks += 1
        count.notes.append(f"{what}: it did not end: {ended.said[-300:]}")
    elif ended.code < 0:
        count.aborts += 1
        count.notes.append(f"{what}: signal {-ended.code}: {ended.said[-1500:]}")
    elif ended.broke:
        count.tracebacks += 1
        count.notes.append(f"{what}: exit {ended.code}: {ended.said[-1500:]}")


#: In the environment of all that this campaign starts: others on this machine leave things, too.
MARK = "BARELINE_FAULTS"
_STARTED_S = time.time()
#: How long the kernel may take to end what has lost its bareline.
_GRACE_S = 3.0


def left_processes() -> list[int]:
    """List the processes of this campaign that belong to nobody any more.

    Those of trials whose bareline has ended, and daemons: what does not descend from this process.
    """
    from bareline.host.owner import has_ended
    from bareline.platforms.hosts.process import processes_with

    ended = set(processes_with(has_ended))
    own = f"{MARK}={os.environ[MARK]}".encode()
    left = []
    for pid, ancestors in _lineage().items():
        try:
            ours = own in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if ours and pid != os.getpid() and (pid in ended or os.getpid() not in ancestors):
            left.append(pid)
    return left


def parents_of_all() -> dict[int, int]:
    """Return the parent of every process on this machine."""
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_text(errors="replace")
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents


def _lineage() -> dict[int, set[int]]:
    """Return the ancestors of every process on this machine."""
    parents = parents_of_all()
    found = {}
    for pid, parent in parents.items():
        found[pid] = set()
        while parent in parents and parent not in found[pid]:
            found[pid].add(parent)
            parent = parents[parent]
    return found


def abandoned_scratch() -> list[Path]:
    """List scratch folders whose bareline has ended."""
    from bareline.host.cache import cache_folder
    from bareline.host.owner import has_ended

    found = []
    for owner in (cache_folder() / "scratch").glob("*/.owner"):
        try:
            if has_ended(owner.read_text()):
                found.append(owner.parent)
        except OSError:
            continue
    return found


def abandoned_claims() -> list[Path]:
    """List claims of guests' platforms, made since the campaign began, whose bareline has ended."""
    from bareline.host.cache import cache_folder
    from bareline.host.owner import has_ended
    from bareline.platforms.made.vm.leftovers import claims_folder

    found = []
    for path in claims_folder(cache_folder()).glob("*.json"):
        try:
            new = path.stat().st_mtime > _STARTED_S
            if new and has_ended(json.loads(path.read_text())["owner"]):
                found.append(path)
        except (OSError, ValueError, KeyError):
            continue
    return found


def count_left(count: Count) -> None:
    """Count what is left behind of barelines that have ended; to be asked after the next start."""
    deadline = time.monotonic() + _GRACE_S
    while (processes := left_processes()) and time.monotonic() < deadline:
        time.sleep(0.1)
    left = [_describe(pid) for pid in processes]
    left += [str(path) for path in (*abandoned_scratch(), *abandoned_claims())]
    if left:
        count.left += len(left)
        count.notes.append(f"left behind: {', '.join(left[:5])}")


def _describe(pid: int) -> str:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        line = "gone meanwhile"
    return f"process {pid} ({line[:200].strip()})"


def is_root() -> bool:
    """Whether this is root."""
    return os.geteuid() == 0
