"""Run iobench on small files and check what it prints, refuses and leaves behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from protocol import check_lines

MIB = 1 << 20


def run(
    program: str, folder: str, benchmark: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run it to the end on a folder, which has to be empty afterwards."""
    done = subprocess.run(
        [program, benchmark, "--folder", folder, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert left_in(folder) == [], (arguments, left_in(folder))
    return done


def left_in(folder: str) -> list[Path]:
    """List what lies in a folder, if it exists."""
    return list(Path(folder).glob("*"))


def check_sequential(program: str, folder: str) -> None:
    """Write and read in every mode, with blocks that do not divide each other."""
    for mode in ("buffered", "direct", "synced"):
        done = run(
            *(program, folder, "sequential"),
            *("--mode", mode, "--size", "1M", "--blocks", "16K,48K,256K"),
        )
        if mode == "direct" and "direct I/O" in done.stderr:
            assert done.returncode == 1, done
            print("sequential: no direct I/O here, not tested")
            continue
        assert done.returncode == 0, done
        points, cut = check_lines(done.stdout, "iobench", "sequential")
        blocks = [point["point"]["block_bytes"] for point in points]
        assert blocks == [16384, 49152, 262144] and not cut, done.stdout
        for point in points:
            block_bytes = point["point"]["block_bytes"]
            whole = MIB // block_bytes * block_bytes
            assert point["written_bytes"] == point["read_bytes"] == whole, point
            assert (point["sync_s"] > 0) == (mode != "synced"), point
            assert point["loop_write_rate"] <= whole / point["sync_s"] if point["sync_s"] else True
            assert 0 <= point["cached_before_read_bytes"] <= whole + 65536, point
            assert ("loop_cached_read_rate" in point) == (mode != "direct"), point
            if mode != "direct":
                assert point["cached_read_bytes"] == whole, point
                assert 0 <= point["kept_bytes"] <= whole + 65536, point


def check_budget(program: str, folder: str) -> None:
    """Let the time for writing run out after the first block."""
    done = run(
        *(program, folder, "sequential", "--mode", "synced"),
        *("--size", "8M", "--blocks", "16K", "--budget", "1e-6"),
    )
    ((point,), _) = check_lines(done.stdout, "iobench", "sequential")
    assert point["iterations"] == 1 and point["written_bytes"] == 16384, point


def check_create(program: str, folder: str) -> None:
    """Make files in every way, with threads and directories that do not come out even."""
    synced = {"none": [], "fsync": ["sync"], "directory": []}
    for sync, more in synced.items():
        done = run(
            *(program, folder, "create", "--files", "23", "--size", "1000"),
            *("--threads", "3", "--directories", "4", "--sync", sync),
        )
        assert done.returncode == 0, done
        points, _ = check_lines(done.stdout, "iobench", "create")
        phases = [point["point"]["phase"] for point in points]
        last = ["directory_sync", "unlink"] if sync == "directory" else ["unlink"]
        assert phases == ["create", "write", *more, "close", "file", *last], phases
        counts = {point["point"]["phase"]: point["iterations"] for point in points}
        assert counts["file"] == 23 and counts.get("directory_sync", 4) == 4, counts
        rates = [point["point"]["phase"] for point in points if "loop_rate" in point]
        assert rates == ["file", "unlink"], rates


def check_empty_files(program: str, folder: str) -> None:
    """Files of no bytes are not written."""
    done = run(program, folder, "create", "--files", "3", "--size", "0", "--sync", "none")
    points, _ = check_lines(done.stdout, "iobench", "create")
    assert [p["point"]["phase"] for p in points] == ["create", "close", "file", "unlink"], points


def check_errors(program: str, folder: str) -> None:
    """Give wrong command lines, folders that cannot be used, and a place that takes no output."""
    for benchmark, *arguments in (
        ("swim",),
        ("sequential", "--files", "5"),
        ("sequential", "--blocks", "1000"),
        ("sequential", "--blocks", "16K,16K"),
        ("sequential", "--blocks", "16K,"),
        ("sequential", "--blocks", "16K", "--size", "8K"),
        ("sequential", "--mode", "odd"),
        ("sequential", "--budget", "0"),
        ("create", "--mode", "direct"),
        ("create", "--files", "0"),
        ("create", "--files", "3", "--threads", "4"),
        ("create", "--sync"),
        ("create", "more"),
    ):
        done = run(program, folder, benchmark, *arguments)
        assert done.returncode == 2 and done.stdout == "", (arguments, done)
        assert done.stderr.startswith("iobench: ") and done.stderr.count("\n") == 1, done
    for place, reason in ((f"{folder}/no", "No such file"), ("/proc", "")):
        done = run_anywhere(program, place, "sequential")
        assert done.returncode == 1 and done.stdout == "" and reason in done.stderr, done
    done = run(program, folder, "sequential", "--size", "900000G")
    assert done.returncode == 1 and "are needed and" in done.stderr, done
    with Path("/dev/full").open("w") as full:
        failed = subprocess.run(
            [program, "sequential", "--folder", folder, "--size", "64K", "--blocks", "16K"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert failed.returncode == 1 and "cannot write results" in failed.stderr, failed
    assert left_in(folder) == [], "a failure left files"


def check_interrupted(program: str, folder: str) -> None:
    """End it in the middle of many writes."""
    with subprocess.Popen(
        [program, "sequential", "--folder", folder, "--mode", "synced", "--size", "1G"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 1
        assert "Interrupted system call, start again" in process.stderr.read()
    assert left_in(folder) == []


def run_anywhere(program: str, folder: str, benchmark: str) -> subprocess.CompletedProcess[str]:
    """Run it on a folder that is not ours to look into."""
    return subprocess.run(
        [program, benchmark, "--folder", folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=".") as name:
        check_sequential(sys.argv[1], name)
        check_budget(sys.argv[1], name)
        check_create(sys.argv[1], name)
        check_empty_files(sys.argv[1], name)
        check_errors(sys.argv[1], name)
        check_interrupted(sys.argv[1], name)
