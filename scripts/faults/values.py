"""Odd values in files that are valid: JSON, TOML, numbers of variable length; and no files at all.

A byte that was flipped is caught by whatever reads the format. Here the format stays whole, and one
value in it is what nobody expects there.
"""

from __future__ import annotations

import base64
import copy
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w
from bench import STUDY, Bench, Witness, judge, lines_of
from table import Count

VALUES: tuple[Any, ...] = (
    0,
    -1,
    2**31,
    2**63,
    10**30,
    1e308,
    -0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    "NaN",
    "²",
    "../../etc",
    "/dev/zero",
    "\x00\x01\x1b[2J\x9b",
    "\ufffe\uffff\u202e",
    "$(touch OWNED)",
    "2x1",
    "0x0x0",
    f"{'9' * 30}x1x1",
    "nosuch:table-1",
    "a=1 b",
    "y" * 20_000,
    [],
    {},
    [1, "a"],
    {"a": {"b": 1}},
    True,
    None,
)
#: Names of keys, which are names of platforms, probes, metrics, parameters, too.
NAMES = (*(value for value in VALUES if isinstance(value, str)), "/tmp/OWNED", "../../OWNED", "a/b")
#: Verbs that read a run; `continue` and `reparse` write to it, too.
READERS = ("status", "show", "compare", "explain", "report", "export", "reparse", "continue")
OPTIONS = {
    "show": ((), ("--facts",), ("--all",), ("--json",)),
    "compare": ((), ("--json",), ("--all",)),
    "report": (("--out", "page.html"), ("--out", "page.md", "--format", "md")),
    "export": (("--out", "samples.csv"),),
}


def places(node: Any, path: tuple = ()) -> list[tuple]:
    """Return the way to every value below."""
    found = [path] if path else []
    if isinstance(node, dict | list):
        for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
            found += places(inner, (*path, key))
    return found


def changed(bench: Bench, node: Any, *, nulls: bool) -> Any:
    """Put an odd value somewhere, take one away, or call it otherwise."""
    ways = places(node)
    if not ways:
        return node
    # Each kind of key as often: a line has a hundred samples and one layout.
    kinds: dict[tuple, list[tuple]] = {}
    for way in ways:
        kinds.setdefault(tuple("" if isinstance(k, int) else k for k in way), []).append(way)
    way = bench.random.choice(kinds[bench.random.choice(list(kinds))])
    at = node
    for key in way[:-1]:
        at = at[key]
    drawn = bench.random.random()
    if drawn < 0.1:
        del at[way[-1]]
    elif drawn < 0.3 and isinstance(at, dict):
        at[bench.random.choice(NAMES)] = at.pop(way[-1])
    else:
        chosen = bench.random.choice([v for v in VALUES if nulls or v is not None])
        at[way[-1]] = copy.deepcopy(chosen)
    return node


def change_toml(bench: Bench, file: Path) -> None:
    """Change one value of a TOML file."""
    node = changed(bench, tomllib.loads(file.read_text()), nulls=False)
    file.write_text(tomli_w.dumps(node))


def change_json(bench: Bench, file: Path) -> None:
    """Change one value of a JSON file, or of a line of JSON lines."""
    text = file.read_text()
    if file.suffix == ".json":
        file.write_text(json.dumps(changed(bench, json.loads(text), nulls=True)))
        return
    lines = text.splitlines()
    if not lines:
        return
    number = bench.random.randrange(len(lines))
    lines[number] = json.dumps(changed(bench, json.loads(lines[number]), nulls=True))
    file.write_text("\n".join([*lines, ""]))


#: What a study may hold beside its measures.
_MORE = """
[role.first]
title = "First"
platform = "a"
published = ["nebula:pleiades"]
[role.second]
title = "Second"
platform = "b"
[[exhibit]]
kind = "table"
title = "T"
caption = "c"
probe = "null"
metric = "time"
where = {{ platform = "a" }}
[[exhibit]]
kind = "curve"
probe = "null"
x = "index"
published = ["nebula:table-4"]
[scale.small]
launches = 6
"""


def _kept_run(bench: Bench, name: str) -> tuple[Path, Path]:
    """Make a run that is nearly done, with predictions' and events' files in it."""
    place = bench.room(name)
    whole = bench.make_run(place, 8, study=STUDY + _MORE)
    bench.zygote.killed(["continue", whole], place, 0.06)
    kept = place / "kept"
    shutil.move(whole, kept)
    event = {"time": "2026-01-01T00:00:00+00:00", "platform": "a", "event": "x", "seconds": 1.0}
    (kept / "events.jsonl").write_text(json.dumps(event) + "\n")
    (kept / "submission.json").write_text('{"system": "slurm", "job": "7"}\n')
    return place, kept


def _each(bench: Bench, tries: int, name: str, spoil: Callable[[Path], str]) -> Count:
    """Spoil a copy of a run, let a verb read it, and look whether anything else changed."""
    count = Count()
    place, kept = _kept_run(bench, name)
    for _ in range(tries):
        run = place / "run"
        shutil.rmtree(run, ignore_errors=True)
        shutil.copytree(kept, run)
        what = spoil(run)
        verb = bench.random.choice(READERS)
        more = bench.random.choice(OPTIONS.get(verb, ((),)))
        before = lines_of(run)
        ended = bench.zygote.run([verb, run, *more], place)
        count.tries += 1
        judge(count, ended, f"{verb} with {what}")
        if verb == "continue" and ended.code in (0, 3):
            if lines_of(run)[: len(before)] != before:
                count.lost += 1
            Witness(run, count).look()
        if [*place.parent.rglob("OWNED*"), *Path("/tmp").glob("OWNED*")]:
            count.left += 1
            count.notes.append(f"{verb} with {what}: it was executed")
    return count


def run_values(bench: Bench, tries: int) -> Count:
    """Change one value in one file of a run."""

    def spoil(run: Path) -> str:
        files = [p for p in run.rglob("*") if p.suffix in (".json", ".jsonl", ".toml")]
        top = [path for path in files if path.parent == run]
        file = bench.random.choice(sorted(top) * 4 + sorted(files))
        (change_toml if file.suffix == ".toml" else change_json)(bench, file)
        return f"a value of {file.relative_to(run)}"

    return _each(bench, tries, "values", spoil)


def special_files(bench: Bench, tries: int) -> Count:
    """Put a device, a fifo, a folder, a link or an endless file in place of one of a run's."""

    def spoil(run: Path) -> str:
        files = sorted(path for path in run.rglob("*") if path.is_file())
        top = [path for path in files if path.parent == run]
        file = bench.random.choice(top * 4 + files)
        kind = bench.random.choice(("zero", "elsewhere", "fifo", "folder", "endless", "loop"))
        file.unlink()
        if kind == "fifo":
            os.mkfifo(file)
        elif kind == "folder":
            file.mkdir()
        elif kind == "endless":
            with file.open("wb") as made:
                made.truncate(1 << 40)
        else:
            target = {"zero": "/dev/zero", "elsewhere": "/etc/passwd", "loop": file.name}[kind]
            file.symlink_to(target)
        return f"{file.relative_to(run)} as {kind}"

    return _each(bench, tries, "special", spoil)


def second_version(bench: Bench, tries: int) -> Count:
    """Change values in a run of another version, with keys that this one does not know."""

    def spoil(run: Path) -> str:
        header = tomllib.loads((run / "run.toml").read_text())
        header["versions"]["bareline"] = bench.random.choice(("0.0.1", "99.0.0", "x"))
        header["later"] = {"key": 1}
        for key in bench.random.sample(sorted(header), 1):
            if bench.random.random() < 0.2 and key not in ("versions", "later"):
                del header[key]
        (run / "run.toml").write_text(tomli_w.dumps(header))
        for name in ("records", "events"):
            file = run / f"{name}.jsonl"
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            for line in lines:
                line["later"] = 1
                for key in ("boot", "foreign_cores", "session", "seconds"):
                    line.pop(key, None)
            file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (run / "sessions.jsonl").unlink(missing_ok=True)
        return "another version's keys"

    return _each(bench, tries, "version", spoil)


def settings_values(bench: Bench, tries: int) -> Count:
    """Change one value of a study or of a platform file, and ask for plan or list."""
    count = Count()
    root = Path(__file__).resolve().parents[2] / "src" / "bareline"
    sources = [*sorted((root / "studies").glob("*.toml")), root / "platforms" / "builtin.toml"]
    place = bench.room("settings")
    (place / "p.toml").write_text('[platform.a]\ntype = "null"\n')
    for _ in range(tries):
        source = bench.random.choice(sources)
        file = place / "spoilt.toml"
        shutil.copy(source, file)
        for _ in range(bench.random.choice((1, 1, 2))):
            change_toml(bench, file)
        if source.name == "builtin.toml":
            argv = ["platforms", "--platforms", file, "--json"]
        else:
            argv = ["run", file, "--on", "a", "--platforms", "p.toml", "--dry-run", "--json"]
        count.tries += 1
        judge(count, bench.zygote.run(argv, place), f"a value of {source.name}")
    return count


_PROGRAM = """#include <mpi.h>
int main(int c, char **v) { int r, x = 0; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &r);
for (int i = 0; i < 9; i++) { if (r) MPI_Send(&x, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
else MPI_Recv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); } MPI_Finalize(); }
"""
#: Reads a trace and replays it where that is possible, and ends as a command does.
_READ_TRACE = """
import os, sys
from pathlib import Path
from bareline.predict.replay.engine import why_not_replayable
from bareline.profile.trace import read_trace
from bareline.vocabulary.errors import BarelineError
try:
    why_not_replayable(read_trace(Path("spoilt.trace")))
except BarelineError as error:
    print(error)
    os._exit(2)
os._exit(0)
"""


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def profiles_and_traces(bench: Bench, tries: int) -> Count:
    """Change one value of a profile, or one number of a trace."""
    count = Count()
    place = bench.room("profiles-values")
    (place / "p.c").write_text(_PROGRAM)
    subprocess.run(["mpicc", "-o", place / "p", place / "p.c"], check=True, capture_output=True)
    line = ["mpirun", "--oversubscribe", "-np", "2", place / "p"]
    made = bench.zygote.run(
        ["profile", "--trace", "-o", "app.profile", "--", *line],
        place,
        env={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    if not (place / "app.trace").exists():
        raise SystemExit(f"faults: no trace could be made: {made.said}")
    raw = base64.b64decode((place / "app.trace").read_bytes())
    for _ in range(tries):
        count.tries += 1
        if bench.random.random() < 0.5:
            (place / "spoilt.profile").write_bytes((place / "app.profile").read_bytes())
            lines = (place / "app.profile").read_text().splitlines()
            number = bench.random.choice((0, bench.random.randrange(len(lines))))
            lines[number] = json.dumps(changed(bench, json.loads(lines[number]), nulls=True))
            (place / "spoilt.profile").write_text("\n".join([*lines, ""]))
            argv = [bench.random.choice(("show", "show", "report")), "spoilt.profile"]
            judge(count, bench.zygote.run(argv, place), f"a profile, try {count.tries}")
            continue
        # Somewhere in the streams or in a head: a number of one byte becomes another one.
        at = bench.random.choice((8, 12, 16, bench.random.randrange(65536, len(raw))))
        number = bench.random.choice((0, 1, 5, 2**31 - 1, 2**32 - 1, 2**63, 2**64 - 1, 10**30))
        new = _varint(number)
        if at < 65536:
            new = (number & (2**32 - 1)).to_bytes(4, "little")
        spoilt = raw[:at] + new + raw[at + (len(new) if bench.random.random() < 0.7 else 1) :]
        (place / "spoilt.trace").write_bytes(base64.b64encode(spoilt))
        ended = bench.zygote.run(["--version"], place, patches=[_READ_TRACE])
        judge(count, ended, f"a trace, {number} at {at}")
    return count
