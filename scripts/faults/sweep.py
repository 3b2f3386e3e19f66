"""The k-th call fails: every verb that writes, under a shim that counts its calls below a folder.

Whatever is refused, or wherever a kill ends it, the same command again ends as if nothing had been:
the same records, the same files, nothing beside them.
"""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import NULLS, STUDY, Bench, judge, lines_of
from table import Count
from zygote import Ended, Zygote

_ROOT = Path(__file__).resolve().parents[2]
_CAPTURED = _ROOT / "tests/formats/data"
_LATENCY, _OTHER = (_CAPTURED / f"ib-vs-roce/{name}/omb.Osu_latency.out" for name in ("ib", "roce"))
#: What happens at the k-th call of a kind (see native/tests/fault_shim.c).
_ONCE, _ON, _SHORT, _KILL = range(4)
_FAULTS: dict[str, tuple[tuple[int, int], ...]] = {
    "open": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _KILL)),
    "write": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _SHORT), (0, _KILL)),
    "fsync": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _KILL)),
    "link": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _KILL)),
    "rename": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _KILL)),
    "mkdir": ((errno.EIO, _ONCE), (errno.EDQUOT, _ON), (0, _KILL)),
    "unlink": ((errno.EIO, _ONCE), (errno.EROFS, _ON), (0, _KILL)),
    "flock": ((errno.ENOLCK, _ONCE), (errno.ENOSYS, _ON), (0, _KILL)),
    "ftruncate": ((errno.EIO, _ONCE), (errno.ENOSPC, _ON), (0, _KILL)),
}
#: Keys of a record that differ from one time to the next.
_TIMES = ("started", "duration_s", "foreign_cores", "session", "attempt")


@dataclass(frozen=True)
class Verb:
    """A command that writes: what is there before, how it is begun, and what it leaves.

    - `again`: how it is repeated where the first try left a run; as before where that is empty.
    - `made`: what must be there in the end.
    """

    argv: tuple[str, ...]
    made: tuple[str, ...]
    before: Callable[[Bench, Path], None] = lambda _bench, _place: None
    again: tuple[str, ...] = ()


def _measured(bench: Bench, place: Path) -> None:
    run = bench.make_run(place, 6)
    bench.zygote.run(["continue", run, "-q"], place)


def _twice(bench: Bench, place: Path) -> None:
    _measured(bench, place)
    shutil.copytree(place / "run", place / "later")


def _begun(bench: Bench, place: Path) -> None:
    bench.make_run(place, 6)


def _settings(_bench: Bench, place: Path) -> None:
    (place / "s.toml").write_text(STUDY.format(launches=6))
    (place / "p.toml").write_text(NULLS)


def _outputs(_bench: Bench, place: Path) -> None:
    shutil.copy(_LATENCY, place / "one.out")
    shutil.copy(_OTHER, place / "two.out")


def _imported(bench: Bench, place: Path) -> None:
    _outputs(bench, place)
    bench.zygote.run(["import", "one.out", "--platform", "ib", "--out", "run", "-q"], place)


_RUN = ("run", "s.toml", "--platforms", "p.toml", "--on", "a", "--on", "b", "--seed", "1")
_TWO = ("import", "two.out", "--platform", "roce", "--out", "run", "-q")
VERBS: dict[str, Verb] = {
    "run": Verb((*_RUN, "--out", "run", "-q"), ("run",), _settings, ("continue", "run", "-q")),
    "continue": Verb(("continue", "run", "-q"), ("run",), _begun),
    "import, new": Verb(_TWO, ("run",), _outputs),
    "import, existing": Verb(_TWO, ("run",), _imported),
    "report": Verb(("report", "run", "--out", "page.html"), ("page.html",), _measured),
    "reparse": Verb(("reparse", "run"), ("run",), _measured),
    "export": Verb(("export", "run", "--out", "samples.csv"), ("samples.csv",), _measured),
    "report, in the run": Verb(("report", "run"), ("run",), _measured),
    "report, Markdown": Verb(("report", "run", "--out", "page.md"), ("page.md",), _measured),
    "export, Parquet": Verb(("export", "run", "--out", "x.parquet"), ("x.parquet",), _measured),
    "export, JSON lines": Verb(("export", "run", "--out", "x.jsonl"), ("x.jsonl",), _measured),
    "export, OpenMetrics": Verb(("export", "run", "--out", "x.prom"), ("x.prom",), _measured),
    "compare, JUnit": Verb(("compare", "run", "--junit", "x.xml"), ("x.xml",), _measured),
    "compare, JSON": Verb(("compare", "run", "--json", "--out", "x.json"), ("x.json",), _measured),
    "show": Verb(("show", "run", "--out", "x.txt"), ("x.txt",), _measured),
    "trend": Verb(("trend", "run", "later", "--out", "trend.txt"), ("trend.txt",), _twice),
    "new": Verb(("new", "probe", "thing", "--out", "thing"), ("thing",)),
    "platforms clean": Verb(("platforms", "clean"), ()),
}


def sweep(bench: Bench, tries: int) -> Count:
    """Try every call of every verb with every fault, or so many of them, drawn at random."""
    count = Count()
    shim = bench.room("shim") / "shim.so"
    line = ("cc", "-std=c11", "-O1", "-shared", "-fPIC", "-o", shim)
    subprocess.run((*line, _ROOT / "native/tests/fault_shim.c", "-ldl"), check=True)
    with Zygote(bench.room("said"), {"LD_PRELOAD": str(shim)}) as preloaded:
        trial = _Sweep(Bench(bench.folder, bench.random, preloaded), shim, count)
        every = [point for verb in VERBS for point in trial.points(verb)]
        for verb, kind, fault, number in bench.share(every, tries):
            trial.try_one(verb, kind, fault, number)
    trial.tell()
    return count


class _Sweep:
    def __init__(self, bench: Bench, shim: Path, count: Count) -> None:
        self._bench = bench
        self._shim = shim
        self._count = count
        self._hits: Counter[tuple[str, str]] = Counter()
        self._calls: dict[tuple[str, str], int] = {}
        self._truth: dict[str, dict[str, object]] = {}

    def points(self, verb: str) -> list[tuple[str, str, tuple[int, int], int]]:
        """Run a verb undisturbed; list every call of it with every fault."""
        place = self._fresh(verb)
        ended = self._run(verb, place, ("none", (0, _ONCE), 0))
        assert ended.code == 0, (verb, ended.said)
        self._truth[verb] = _state(place, VERBS[verb])
        kinds = Counter(row[0] for row in self._log())
        self._calls |= {(verb, kind): number for kind, number in kinds.items()}
        return [
            (verb, kind, fault, number)
            for kind, faults in _FAULTS.items()
            for fault in faults
            for number in range(1, kinds[kind] + 1)
        ]

    def try_one(self, name: str, kind: str, fault: tuple[int, int], number: int) -> None:
        """Let one call fail, begin again, and hold what is there against the undisturbed."""
        verb, place, count = VERBS[name], self._fresh(name), self._count
        code = errno.errorcode.get(fault[0], "")
        what = f"{name}: {kind} {number} {('once', 'on', 'short', 'kill')[fault[1]]} {code}"
        ended = self._run(name, place, (kind, fault, number))
        hit = any(row[0].startswith("!") for row in self._log())
        self._hits[name, kind] += hit
        count.tries += hit
        judge(count, ended, what, killed=fault[1] == _KILL)
        if ended.code == 0:
            self._compare(what, place, name)
        if ended.code == 0 and name == "new":
            return  # the package is there, and a second one of its name is refused
        before = lines_of(place / "run")
        goes_on = verb.again and (place / "run" / "run.toml").exists()
        again = self._bench.zygote.run(verb.again if goes_on else verb.argv, place, **_here(place))
        judge(count, again, f"{what}, again")
        if again.code != 0:
            count.lost += 1
            count.record(what, verdict="BAD: again it fails")
            count.notes.append(f"{what}: again ends with {again.code}: {again.said[-300:]}")
            return
        if lines_of(place / "run")[: len(before)] != before:
            count.lost += 1
            count.notes.append(f"{what}: records changed")
        notes = len(count.notes)
        self._compare(f"{what}, again", place, name)
        count.record(
            what, hit=hit, verdict="as undisturbed" if len(count.notes) == notes else "BAD"
        )

    def _compare(self, what: str, place: Path, name: str) -> None:
        found, truth = _state(place, VERBS[name]), self._truth[name]
        for path in sorted(found.keys() | truth.keys()):
            if found.get(path) != truth.get(path):
                self._count.lost += path in truth
                self._count.left += path not in truth
                told = "is left" if path not in truth else "differs" if path in found else "lacks"
                self._count.notes.append(f"{what}: {path} {told}")

    def _fresh(self, name: str) -> Path:
        kept = self._bench.folder / "kept" / name.replace(" ", "-")
        if not kept.exists():
            kept.mkdir(parents=True)
            VERBS[name].before(self._bench, kept)
        place = self._bench.folder / "place"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(kept, place)
        return place

    def _run(self, name: str, place: Path, point: tuple[str, tuple[int, int], int]) -> Ended:
        kind, (error, mode), number = point
        log = self._bench.folder / "log"
        log.unlink(missing_ok=True)
        given = (str(place).encode(), str(log).encode(), kind.encode(), number, error, mode)
        arm = f"import ctypes\nctypes.CDLL({str(self._shim)!r}).bl_fault_arm(*{given!r})"
        return self._bench.zygote.run(VERBS[name].argv, place, patches=[arm], **_here(place))

    def _log(self) -> list[list[str]]:
        log = self._bench.folder / "log"
        text = log.read_text(errors="replace") if log.exists() else ""
        return [line.split("\t") for line in text.splitlines()]

    def tell(self) -> None:
        """Print calls and hits of each verb and kind, and all that went wrong."""
        head = "  ".join(f"{kind:>11}" for kind in _FAULTS)
        print(f"{'verb: hits/calls':18}{head}", file=sys.stderr)
        for verb in VERBS:
            cells = (
                f"{self._hits[verb, kind]}/{self._calls.get((verb, kind), 0)}" for kind in _FAULTS
            )
            print(f"{verb:18}" + "  ".join(f"{cell:>11}" for cell in cells), file=sys.stderr)
        print("\n".join(self._count.notes), file=sys.stderr)


def _here(place: Path) -> dict[str, dict[str, str]]:
    return {"env": {"BARELINE_CACHE": str(place / "cache")}}


def _state(place: Path, verb: Verb) -> dict[str, object]:
    """Return what a verb made: records without times, every other file by name, outputs whole."""
    found: dict[str, object] = {}
    for path in sorted(place.rglob("*")):
        name = path.relative_to(place).as_posix()
        # Facts have a folder for each session: there are two where the first one was ended.
        if name.startswith(("cache", "run/facts/")) or path.is_dir():
            continue
        found[name] = ""
        if name == "run/records.jsonl":
            found[name] = _records(lines_of(place / "run"))
        elif (name in verb.made and path.suffix in (".csv", ".txt")) or name.startswith("thing/"):
            found[name] = path.read_bytes()
        elif name in verb.made:
            found[name] = path.read_bytes()[-20:]
    return found


def _records(lines: Sequence[bytes]) -> list[str]:
    records = (json.loads(line) for line in lines)
    return sorted(json.dumps({k: v for k, v in one.items() if k not in _TIMES}) for one in records)
