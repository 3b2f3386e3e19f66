"""Not alone: two at once, a clock that goes back, strings that are meant to hurt."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench import NULLS, Bench, Witness, count_left, judge
from table import Count
from zygote import Ended

SLOW = NULLS.replace("0.001", "0.02")
HOSTILE = (
    "$(touch OWNED)",
    "`touch OWNED`",
    "; touch OWNED;",
    "' || touch OWNED '",
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "\u202egnirts",
    "[bold red]markup[/]",
    "%s%n{0}",
    "\ud7ff\U0010ffff",
    "a\nb\rc",
)
#: What no terminal may be sent.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e]")


def two_of_one_run(bench: Bench, tries: int) -> Count:
    """Continue one run twice at once: one of the two must refuse."""
    count = Count()
    for _ in range(tries):
        place = bench.room("two")
        run = bench.make_run(place, 10, SLOW)
        witness = Witness(run, count)
        both = [_apart(["continue", run], place) for _ in range(2)]
        ended = [_end(process) for process in both]
        for one in ended:
            judge(count, one, "two at once")
        if sorted(one.code for one in ended) not in ([0, 0], [0, 2]) or witness.look() != 20:
            count.lost += 1
            count.notes.append(str(ended))
        count.tries += 1
    return count


def two_copies(bench: Bench, tries: int) -> Count:
    """Continue two copies of one run at once: neither disturbs the other."""
    count = Count()
    for _ in range(tries):
        place = bench.room("copies")
        run = bench.make_run(place, 10, SLOW)
        (place / "other").mkdir()
        copy = place / "other" / "run"
        shutil.copytree(run, copy)
        both = [_apart(["continue", one], place) for one in (run, copy)]
        for process in both:
            judge(count, _end(process), "two copies")
        for one in (run, copy):
            if Witness(one, count).look() != 20:
                count.lost += 1
            statuses = {json.loads(line)["status"] for line in _lines(one)}
            if statuses != {"measured"}:
                count.lost += 1
                count.notes.append(f"{one}: trials were killed by the other copy")
        count.tries += 1
    count_left(count)
    return count


def _lines(run: Path) -> list[bytes]:
    return (run / "records.jsonl").read_bytes().splitlines()


def _apart(argv, place) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "bareline", *map(str, argv)],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _end(process: subprocess.Popen) -> Ended:
    said, _ = process.communicate(timeout=120)
    return Ended(process.returncode, said)


_CLOCK = """
import datetime as _dt, itertools as _it, time as _time
import bareline.store.run_files as _run
_steps = _it.count()
class _Back(_dt.datetime):
    @classmethod
    def now(cls, tz=None):
        return _dt.datetime(2026, 1, 1, tzinfo=tz) - _dt.timedelta(hours=next(_steps))
_run.datetime = _Back
_time.time = lambda: 1e9 - next(_steps) * 3600
"""


_JUMPS = """
import datetime as _dt, random as _random, time as _time
import bareline.store.run_files as _beside
_chosen = _random.Random({seed})
class _Jumps(_dt.datetime):
    @classmethod
    def now(cls, tz=None):
        ahead = _dt.timedelta(days=_chosen.uniform(-4000, 4000))
        return _dt.datetime(2026, 1, 1, tzinfo=tz) + ahead
_beside.datetime = _Jumps
_time.time = lambda: max(0.0, 1.7e9 + _chosen.uniform(-1.7e9, 1e10))
"""


def clock_jumps(bench: Bench, tries: int) -> Count:
    """Let the wall clock jump by years, to and fro, at every look; kill now and then."""
    count = Count()
    for _ in range(tries):
        place = bench.room("jumps")
        run = bench.make_run(place, 6)
        witness = Witness(run, count)
        patch = [_JUMPS.format(seed=bench.random.randrange(1 << 30))]
        ended = bench.zygote.killed(["continue", run], place, 0.03, patches=patch)
        judge(count, ended, "clock jumps", killed=True)
        witness.look()
        judge(count, bench.zygote.run(["continue", run], place, patches=patch), "clock jumps")
        if witness.look() != 12:
            count.lost += 1
        for verb in ("status", "compare", "report"):
            ended = bench.zygote.run([verb, run], place, patches=patch)
            judge(count, ended, f"clock jumps, {verb}")
        count.tries += 1
    return count


def clock_set_back(bench: Bench, tries: int) -> Count:
    """Let the wall clock go back by an hour at every look."""
    count = Count()
    for _ in range(tries):
        place = bench.room("clock")
        run = bench.make_run(place, 6)
        witness = Witness(run, count)
        judge(count, bench.zygote.run(["continue", run], place, patches=[_CLOCK]), "clock")
        if witness.look() != 12:
            count.lost += 1
        durations = [json.loads(line)["duration_s"] for line in _lines(run)]
        if min(durations) < 0 or max(durations) > 60:
            count.lost += 1
            count.notes.append(f"clock: durations {durations}")
        for verb in ("status", "compare", "report"):
            judge(count, bench.zygote.run([verb, run], place), f"clock, {verb}")
        count.tries += 1
    return count


_SAYING = """
import bareline.platforms.null as _null
_real = _null.NullAllocation.run
def _run(self, command, layout, *, timeout_s):
    done = _real(self, command, layout, timeout_s=timeout_s)
    from dataclasses import replace
    if {mode!r} == "fails":
        return replace(done, exit_code=3, stderr={text!r} * 3, stdout={text!r})
    return replace(done, stderr={text!r})
_null.NullAllocation.run = _run
"""


def hostile_strings(bench: Bench, tries: int) -> Count:
    """Run studies with hostile texts, and programs that print them; look at what is shown."""
    count = Count()
    for _ in range(tries):
        place = bench.room("hostile")
        text = bench.random.choice(HOSTILE)
        _study(place, text)
        mode = bench.random.choice(("fails", "prints"))
        patch = _SAYING.format(mode=mode, text=text)
        argv = ["run", "s.toml", "--platforms", "p.toml", "--on", "a", "--on", "b", "--out", "run"]
        said = [bench.zygote.run(argv, place, patches=[patch])]
        for verb in ("show", "compare", "explain", "status", "report"):
            said.append(bench.zygote.run([verb, "run"], place))
        for ended in said:
            judge(count, ended, f"hostile {text!r}")
            if _CONTROL.search(ended.said):
                count.tracebacks += 1
                count.notes.append(f"control characters reach the terminal: {ended.said[:300]!r}")
        page = place / "run" / "report.html"
        if page.exists() and any(
            raw in page.read_text() for raw in ("<script>alert(1)", "<img src=x onerror")
        ):
            count.tracebacks += 1
            count.notes.append(f"{text!r} stands in the page as HTML")
        if list(place.rglob("OWNED")):
            count.left += 1
            count.notes.append(f"{text!r} was executed")
        count.tries += 1
    return count


def _study(place: Path, text: str) -> None:
    import tomli_w

    study = {
        "study": {
            "name": "hostile",
            "title": text,
            "description": text,
            "launches": 6,
            "precision": 0,
        },
        "measure": [{"probe": "null", "params": {"points": 2}}],
        "exhibit": [{"kind": "table", "title": text, "caption": text, "probe": "null"}],
    }
    (place / "s.toml").write_text(tomli_w.dumps(study))
    table = {
        name: {"type": "null", "title": text, "factor": factor}
        for name, factor in (("a", 1.0), ("b", 2.0))
    }
    (place / "p.toml").write_text(tomli_w.dumps({"platform": table}))
