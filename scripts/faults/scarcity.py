"""Nothing is left of something: disk, memory, open files, processes."""

from __future__ import annotations

import os
import shutil
import subprocess

from bench import Bench, Witness, count_left, judge
from table import Count, NotHere


def full_disk(bench: Bench, tries: int) -> Count:
    """Run in a file system that fills up, make room, go on."""
    count = Count()
    for number in range(tries):
        place = bench.room(f"disk-{number}")
        size = bench.random.choice((40, 60, 100, 200))
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", place]
        subprocess.run(mount, check=True)
        try:
            run = bench.make_run(place, 60)
            witness = Witness(run, count)
            judge(count, bench.zygote.run(["continue", run], place), "full disk")
            witness.look()
            subprocess.run(["mount", "-o", "remount,size=16m", place], check=True)
            ended = bench.zygote.run(["continue", run], place)
            judge(count, ended, "after room was made")
            if witness.look() != 120:
                count.lost += 1
                count.notes.append(f"full disk: not all trials after room was made: {ended.said}")
        finally:
            subprocess.run(["umount", "-l", place], check=False)
        count.tries += 1
    count_left(count)
    return count


def little_memory(bench: Bench, tries: int) -> Count:
    """Let the runner have less and less memory."""
    return _limited(bench, tries, "RLIMIT_AS", lambda: bench.random.randrange(40, 900) << 20)


def report_without_addresses(bench: Bench, tries: int) -> Count:
    """Let `report` have few addresses: it writes its page, perhaps without drawings."""
    count = Count()
    place = bench.room("addresses")
    run = bench.make_run(place, 8)
    bench.zygote.run(["continue", run], place)
    for _ in range(tries):
        page = place / "page.html"
        page.unlink(missing_ok=True)
        limit = round(bench.random.choice((0.7, 1, 2, 8, 33, 60, 64, 66, 70)) * (1 << 30))
        argv = ["report", run, "--out", page]
        if bench.random.random() < 0.3:
            argv += ["--figures", place / "figures"]
        ended = bench.zygote.run(argv, place, limits={"RLIMIT_AS": limit})
        count.tries += 1
        judge(count, ended, f"report within {limit >> 20} MiB")
        if ended.code == 0 and not page.exists():
            count.lost += 1
            count.notes.append(f"report within {limit >> 20} MiB: no page: {ended.said}")
    return count


def few_files(bench: Bench, tries: int) -> Count:
    """Let it have few open files."""
    return _limited(bench, tries, "RLIMIT_NOFILE", lambda: bench.random.randrange(4, 40))


def small_files(bench: Bench, tries: int) -> Count:
    """Let no file grow beyond some kilobytes, as a quota does."""
    return _limited(bench, tries, "RLIMIT_FSIZE", lambda: bench.random.randrange(1, 30_000))


def _limited(bench: Bench, tries: int, name: str, limit) -> Count:
    count = Count()
    place = bench.room(name)
    run = witness = None
    for _ in range(tries):
        if run is None or witness is None:
            run = bench.make_run(place, 40)
            witness = Witness(run, count)
        value = limit()
        ended = bench.zygote.run(["continue", run], place, limits={name: value})
        count.tries += 1
        judge(count, ended, f"{name} = {value}")
        witness.look()
        if ended.code in (0, 3):
            run = None
        elif bench.random.random() < 0.3:
            ended = bench.zygote.run(["continue", run], place)
            judge(count, ended, f"after {name} = {value}")
            if witness.look() != 80:
                count.lost += 1
                count.notes.append(f"after {name} = {value}: {ended.said}")
            run = None
    bench.zygote.run(["continue", bench.make_run(place, 1)], place)
    count_left(count)
    return count


def few_processes(bench: Bench, tries: int) -> Count:
    """Let a user without privilege start few processes."""
    import sys

    count = Count()
    place = bench.room("processes")
    cache = place / "cache"
    cache.mkdir(mode=0o700)
    (place / "s.toml").write_text(
        '[study]\nname = "s"\nlaunches = 2\nprecision = 0\n[[measure]]\nprobe = "net.nuttcp"\n'
        "nodes = 1\nparams = { duration_s = 1 }\n"
    )
    for path in (place, cache):
        shutil.chown(path, 65534, 65534)
    for parent in (bench.folder, *bench.folder.parents[:1]):
        parent.chmod(parent.stat().st_mode | 0o011)
    probe = [sys.executable, "-c", "import os; os.setuid(65534); import bareline.cli.main, polars"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        raise NotHere("another user cannot run this Python")
    for number in range(tries):
        limit = bench.random.choice((2, 3, 5, 8))
        code = (
            "import os, resource, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534);"
            f"resource.setrlimit(resource.RLIMIT_NPROC, ({limit}, {limit}));"
            "from bareline.cli.main import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "run", "s.toml", "--on", "bare", "--out", f"r{number}"],
            cwd=place,
            env={**os.environ, "BARELINE_CACHE": str(cache), "HOME": str(place)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        count.tries += 1
        from zygote import Ended

        judge(count, Ended(done.returncode, done.stdout + done.stderr), f"{limit} processes")
    count_left(count)
    return count
