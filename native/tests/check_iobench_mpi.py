"""Run iobench_mpi on small files: what it prints, writes, finds, refuses and leaves behind."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from protocol import Launcher, check_lines

KIB = 1 << 10

#: Segmented, strided, and IO500's transfers, which are no whole pages; of two ranks.
PATTERNS = {
    "segmented": ("--block", "256K", "--transfer", "64K"),
    "strided": ("--block", "64K", "--transfer", "64K", "--segments", "4"),
    "odd": ("--block", "47008", "--transfer", "47008", "--segments", "5"),
}
RANK_BYTES = {"segmented": 256 * KIB, "strided": 256 * KIB, "odd": 5 * 47008}
APIS = ("posix", "mpiio", "mpiio-collective")


@dataclass(frozen=True)
class Bench:
    """The program, and a folder that has to be empty after each of its runs."""

    launcher: Launcher
    program: str
    folder: str

    def run(
        self, ranks: int, *arguments: str, before: Sequence[str] = (), folder: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run it to the end."""
        benchmark, *options = arguments
        line = [*before, self.program, benchmark, "--folder", folder or self.folder, *options]
        done = self.launcher.run(ranks, *line)
        left = list(Path(self.folder).glob("*"))
        assert left == [], (arguments, left)
        return done

    def good(self, ranks: int, *arguments: str) -> list[dict[str, Any]]:
        """Give the points of a run that ends well."""
        done = self.run(ranks, *arguments)
        assert done.returncode == 0, (arguments, done)
        points, cut = check_lines(done.stdout, "iobench_mpi", arguments[0])
        assert not cut, cut
        for point in points:
            for way in ("write", "read", "phase"):
                if f"{way}_rank_time" in point:
                    slowest = point[f"{way}_rank_time"]["max"]
                    assert point[f"{way}_call_max_s"] <= slowest <= point[f"{way}_time_s"], point
        return points

    def said(self, done: subprocess.CompletedProcess[str]) -> str:
        """Give the one line that is the program's own."""
        lines = [line for line in done.stderr.splitlines() if line.startswith("iobench_mpi: ")]
        assert len(lines) == 1, done
        return lines[0]


def check_parallel(bench: Bench) -> None:
    """Write and read in every pattern with every way of access, to one file and to own ones."""
    for name, pattern in PATTERNS.items():
        for api in APIS if name != "segmented" else APIS[:1]:
            own = name == "odd" and api != "mpiio-collective"
            for files in ("shared", "own") if own else ("shared",):
                (point,) = bench.good(2, "parallel", "--api", api, "--files", files, *pattern)
                amount = 2 * RANK_BYTES[name]
                assert point["written_bytes"] == point["read_bytes"] == amount, point
                rate = point["loop_write_rate"] * point["write_time_s"]
                assert abs(rate / amount - 1) < 1e-6, point
                assert point["sync_s"] > 0, point
    (point,) = bench.good(3, "parallel", "--sync", "none", "--readers", "same", "--block", "1M")
    assert point["sync_s"] < point["write_time_s"], point


def check_duration(bench: Bench) -> None:
    """End writing by the clock: every rank has then written the same, in whole transfers."""
    for api in APIS:
        pattern = ("--block", "64K", "--transfer", "16K", "--segments", "200")
        (point,) = bench.good(2, "parallel", "--api", api, *pattern, "--duration", "1e-6")
        assert 0 < point["written_bytes"] < 2 * 200 * 64 * KIB, point
        assert point["written_bytes"] % (2 * 16 * KIB) == 0, point
        assert point["read_bytes"] == point["written_bytes"], point


def check_metadata(bench: Bench) -> None:
    """Make files of some bytes and of none, in own directories and in one of all."""
    for files, size in (("own", "3901"), ("shared", "0")):
        points = bench.good(3, "metadata", "--files", files, "--size", size, "--items", "7")
        phases = [point["point"]["phase"] for point in points]
        assert phases == ["create", "stat", "read", "remove"], phases
        assert all(point["iterations"] == 21 for point in points), points


def check_spoilt(bench: Bench, library: str) -> None:
    """Change a byte of what is written, or write it elsewhere: one line, exit 3, no result."""
    strided = PATTERNS["strided"]
    runs = [("flip", "parallel", "--api", api, *strided) for api in APIS]
    runs += [("flip", "metadata", "--items", "5"), ("shift", "parallel", *strided)]
    runs += [("shift", "parallel", "--files", "own", *PATTERNS["odd"])]
    for kind, *arguments in runs:
        before = ("env", f"LD_PRELOAD={library}", f"BL_SPOIL={kind}")
        done = bench.run(2, *arguments, before=before)
        assert done.returncode == 3, (arguments, kind, done)
        assert "does not hold what rank" in bench.said(done), done
        assert '"end"' not in done.stdout, done


def check_errors(bench: Bench) -> None:
    """Give wrong command lines, and places that cannot be used."""
    for arguments in (
        ("swim",),
        ("parallel", "--items", "5"),
        ("metadata", "--api", "posix"),
        ("parallel", "--transfer", "1001"),
        ("parallel", "--api", "mpiio", "--mode", "direct"),
        ("parallel", "--api", "mpiio-collective", "--files", "own"),
        ("parallel", "--sync"),
    ):
        done = bench.run(2, *arguments)
        assert done.returncode == 2 and done.stdout == "", (arguments, done)
        assert bench.said(done), done
    for benchmark in ("parallel", "metadata"):
        done = bench.run(2, benchmark, folder=f"{bench.folder}/no")
        assert done.returncode == 1 and done.stdout == "", done
        assert "No such file" in bench.said(done), done
    done = bench.run(2, "parallel", "--segments", "90000", "--block", "64M")
    assert done.returncode == 1 and "are needed and" in bench.said(done), done


def check_limit(bench: Bench, library: str) -> None:
    """Fail in the middle, on all ranks or on one: the reason is told once, nothing is left."""
    # Blocks of 512 B: enough for what the MPI library keeps in files.
    limited = ("sh", "-c", 'ulimit -f 40960; exec "$@"', "sh")
    done = bench.run(2, "parallel", "--block", "16M", before=limited)
    assert done.returncode == 1 and "File too large, take a smaller size" in bench.said(done), done
    full = ("env", f"LD_PRELOAD={library}", "BL_SPOIL=full")
    runs = [("parallel", "--api", api, *PATTERNS["strided"]) for api in APIS]
    for arguments in (*runs, ("metadata", "--items", "5")):
        done = bench.run(2, *arguments, before=full)
        assert done.returncode == 1 and '"end"' not in done.stdout, (arguments, done)
        assert "No space left on device, take less data" in bench.said(done), (arguments, done)


CALL = re.compile(r"^(p(?:write|read)64)\(\d+<[^>]*/iobench-.*?, (\d+), (\d+)\) = (\d+)$", re.M)


def check_counts(bench: Bench) -> None:
    """Count calls, bytes and places with strace: what is claimed is what the kernel was asked."""
    trace = Path(bench.folder).with_name(Path(bench.folder).name + "-trace")
    line = ("strace", "-ff", "-y", "-e", "trace=pwrite64,pread64", "-o", str(trace))
    if shutil.which("strace") is None or subprocess.run([*line, "true"], check=False).returncode:
        print("counts: strace does not run here, not tested")
        return
    for name, pattern in PATTERNS.items():
        if name == "segmented":
            continue
        for old in trace.parent.glob(f"{trace.name}.*"):
            old.unlink()
        done = bench.run(2, "parallel", *pattern, before=line)
        assert done.returncode == 0, done
        (point,), _ = check_lines(done.stdout, "iobench_mpi", "parallel")
        text = "\n".join(path.read_text() for path in trace.parent.glob(f"{trace.name}.*"))
        calls = [(way, int(size), int(at)) for way, size, at, _ in CALL.findall(text)]
        written = sorted((at, size) for way, size, at in calls if way == "pwrite64")
        assert len(written) == point["iterations"], (name, len(written), point)
        assert sum(size for _, size in written) == point["written_bytes"], (name, point)
        ends = [at + size for at, size in written]
        assert [at for at, _ in written] == [0, *ends[:-1]], f"{name}: holes or overlaps"
        got = sorted((at, size) for way, size, at in calls if way == "pread64")
        assert got == sorted(written * 2), f"{name}: read once timed and once compared"
        print(f"counts: {name}: {len(written)} writes, {ends[-1]} B without holes")


def main() -> None:
    """Check all of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--spoil", required=True)
    parser.add_argument("program")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as folder:
        (Path(folder) / "measured").mkdir()
        bench = Bench(Launcher(asked.launcher), asked.program, f"{folder}/measured")
        check_parallel(bench)
        check_duration(bench)
        check_metadata(bench)
        check_spoilt(bench, asked.spoil)
        check_errors(bench)
        check_limit(bench, asked.spoil)
        check_counts(bench)


if __name__ == "__main__":
    main()
