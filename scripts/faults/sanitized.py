"""The profiler and mpibench under the sanitizers of addresses and undefined behaviour.

    .venv/bin/python scripts/faults/sanitized.py [--short] [--part PART] [--journal FILE [--resume]]
        [FOLDER]

Every program of ``native/pmpi/tests``, in each way that it can end, runs with each set of the
profiler's options; it must end as it does without the profiler. Every benchmark of mpibench runs
with each set of its options, valid or not, and must end with an exit code of its own. A sanitizer
that finds something writes a file of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from table import JOURNAL, Count

_PMPI = Path(__file__).resolve().parents[2] / "native" / "pmpi"
_COMMON = _PMPI.parent / "common"
_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
_LIBRARY_FLAGS = (
    "-std=gnu11", "-g", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-omit-frame-pointer",
    "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", f"-I{_PMPI}", f"-I{_COMMON}",
)  # fmt: skip
_BENCH = _PMPI.parent / "mpibench"
_BENCH_COMMON = ("bl_error.c", "bl_json.c", "bl_memory.c", "bl_summary.c", "bl_values.c")
_BENCH_FLAGS = (
    "-std=c11", "-g", "-O1", "-fno-omit-frame-pointer", "-D_POSIX_C_SOURCE=200809L",
    f"-I{_BENCH}", f"-I{_COMMON}",
)  # fmt: skip
_FORTRAN_FLAGS = ("-cpp", "-w", "-fallow-argument-mismatch", "-O1")
_PROGRAM_FLAGS = ("-std=c11", "-O1", "-pthread", "-D_POSIX_C_SOURCE=200809L")
_LAUNCH_S = 120


@dataclass(frozen=True)
class OddProgram:
    """A program of the profiler's tests: its ranks, and its arguments."""

    name: str
    ranks: int
    arguments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it is called in the journal."""
        return " ".join((self.name, *self.arguments))


_PROGRAMS = (
    OddProgram("planted", 4, ("planted.dat",)),
    OddProgram("collectives", 4),
    *(OddProgram(f"planted_{b}", 4, ("planted.dat",)) for b in ("mpif", "mpi", "mpi_f08")),
    OddProgram("files", 2, ("data",)),
    OddProgram("imbalance", 2),
    OddProgram("overlap", 2),
    OddProgram("overhead", 2),
    OddProgram("sizes", 2),
    OddProgram("threads", 2),
    OddProgram("spawn", 2),
    OddProgram("mpi4", 2),
    *(OddProgram("ending", 2, (w,)) for w in ("return", "exit", "abort", "segv", "kill", "term")),
    *(OddProgram("leaving", 3, (w,)) for w in ("late", "return", "exit", "kill", "fork", "other")),
)
_OPTIONS: dict[str, dict[str, str]] = {
    "plain": {},
    "split": {"BARELINE_PROFILE_SPLIT": "1"},
    "trace": {"BARELINE_TRACE": "app.trace"},
    "short trace": {"BARELINE_TRACE": "app.trace", "BARELINE_TRACE_LIMIT": "4096"},
    "regions": {"BARELINE_PROFILE_REGIONS": "3=solver,4=output"},
    "series": {"BARELINE_PROFILE_SERIES": "1", "BARELINE_TRACE": "app.trace"},
}
#: Of mpibench. What is not valid must be refused with its exit code for usage.
_QUICK = ("-i", "3", "-x", "1", "-t", "20", "-W", "4", "--permutations", "2")
_BENCH_OPTIONS: dict[str, tuple[str, ...]] = {
    "no bytes": ("-m", "0:0"),
    "8 B": ("-m", "8:8"),
    "64 KiB": ("-m", "64K:64K"),
    "between": ("-m", "16:128", "--between"),
    "tests": ("-m", "1K:1K", "--test-calls", "5"),
    "one iteration": ("-m", "1:1", "-i", "1", "-x", "0", "-W", "1", "--permutations", "1"),
    "no time": ("-m", "4M:4M", "-t", "0.000001"),
    "no memory": ("-m", "4M:4M", "-M", "4K"),
    "not valid": ("-m", "9:1"),
    "too large": ("-m", "99999999999G"),
    "negative": ("-W", "-1"),
}
#: Exit codes of native/common/bl_error.h: done, failed, usage.
_BENCH_CODES = (0, 1, 2)


class _Laboratory:
    """The profiler, mpibench and the programs, built in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library = folder / "pmpi.so"
        line = ["mpicc", *_LIBRARY_FLAGS, *_SANITIZERS, *sorted(_PMPI.glob("*.c"))]
        subprocess.run([*line, "-o", self._library, "-ldl", "-lpthread", "-lm"], check=True)
        sources = [*sorted(_BENCH.glob("*.c")), *(_COMMON / name for name in _BENCH_COMMON)]
        sources.remove(_BENCH / "agree.c")  # of simulated clusters
        line = ["mpicc", *_BENCH_FLAGS, *_SANITIZERS, *sources, "-o", folder / "mpibench", "-lm"]
        subprocess.run(line, check=True)
        runtime = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        )
        self._runtime = runtime.stdout.strip()

    def built(self, name: str) -> bool:
        """Whether a program can be compiled with this MPI library."""
        target = self._folder / name
        stem, _, binding = name.partition("_")
        line = ["mpicc", *_PROGRAM_FLAGS, _PMPI / "tests" / f"{name}.c", "-o", target]
        if binding:
            source = _PMPI / "tests" / f"{stem}.F90"
            line = ["mpifort", *_FORTRAN_FLAGS, f"-DBL_{binding.upper()}", source, "-o", target]
        if target.exists():
            return True
        return subprocess.run(line, capture_output=True, check=False).returncode == 0

    def profiled(
        self, program: OddProgram, variables: Mapping[str, str] | None
    ) -> tuple[int, list[str]]:
        """Run a program, profiled with these variables; return its exit code and the reports."""
        for left in self._folder.glob("app.*"):
            left.unlink()
        given = {}
        if variables is not None:
            given = {
                "LD_PRELOAD": f"{self._runtime}:{self._library}",
                "BARELINE_PROFILE": str(self._folder / "app.profile"),
                **variables,
            }
        return self._launch(program.ranks, [program.name, *program.arguments], given)

    def benchmarks(self) -> list[str]:
        """List the benchmarks of mpibench."""
        line = [self._folder / "mpibench", "--list"]
        said = subprocess.run(line, capture_output=True, text=True, check=True, env=self._env())
        return [json.loads(row)["name"] for row in said.stdout.splitlines()]

    def benchmark(self, name: str, options: Sequence[str], ranks: int) -> tuple[int, list[str]]:
        """Run a benchmark of mpibench; return its exit code and the reports."""
        return self._launch(ranks, ["mpibench", name, *_QUICK, *options], {})

    def _env(self) -> dict[str, str]:
        return {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            # There are more ranks than cores.
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
            # What MPI and its launcher never free is theirs; a program may end by a signal.
            "ASAN_OPTIONS": f"detect_leaks=0:handle_segv=0:log_path={self._folder}/found",
            "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={self._folder}/found",
        }

    def _launch(
        self, ranks: int, argv: Sequence[str], given: Mapping[str, str]
    ) -> tuple[int, list[str]]:
        exported = [part for key, value in given.items() for part in ("-x", f"{key}={value}")]
        line = ["mpirun", "--oversubscribe", "-n", str(ranks), *exported]
        line += [str(self._folder / argv[0]), *argv[1:]]
        try:
            done = subprocess.run(
                line, cwd=self._folder, env=self._env(), capture_output=True, check=False,
                timeout=_LAUNCH_S,
            )  # fmt: skip
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -9
        reports = []
        for report in self._folder.glob("found*"):
            reports.append(report.read_text(errors="replace")[:2000])
            report.unlink()
        return code, reports


def _profiler(laboratory: _Laboratory, *, short: bool, skip: set[str]) -> Iterator[_Launch]:
    """Run every program with each set of the profiler's options."""
    for program in _PROGRAMS[:2] if short else _PROGRAMS:
        titles = {name: f"{program.title}, {name}" for name in _OPTIONS}
        if skip.issuperset(titles.values()):
            continue
        if not laboratory.built(program.name):
            yield _Launch(program.title, 0, (0,), [], tried=False)
            continue
        plain, _ = laboratory.profiled(program, None)
        for name, variables in _OPTIONS.items():
            if titles[name] not in skip:
                code, reports = laboratory.profiled(program, variables)
                yield _Launch(titles[name], code, (plain,), reports)


def _mpibench(laboratory: _Laboratory, *, short: bool, skip: set[str]) -> Iterator[_Launch]:
    """Run every benchmark of mpibench with each set of its options, on two and three ranks."""
    names = laboratory.benchmarks()
    for name in names[:2] if short else names:
        for number, (title, options) in enumerate(_BENCH_OPTIONS.items()):
            what = f"mpibench {name}, {title}"
            if what not in skip:
                code, reports = laboratory.benchmark(name, options, 2 + number % 2)
                yield _Launch(what, code, _BENCH_CODES, reports)


@dataclass(frozen=True)
class _Launch:
    """What came of a launch: its exit code, those that are right, and reports of sanitizers."""

    title: str
    code: int
    right: tuple[int, ...]
    reports: list[str]
    tried: bool = True


_PARTS = {"profiler": _profiler, "mpibench": _mpibench}


def play(
    folder: Path, *, short: bool, skip: set[str], parts: Sequence[str] = tuple(_PARTS)
) -> Count:
    """Run everything that is not to be skipped; count what a sanitizer found."""
    count = Count()
    laboratory = _Laboratory(folder)
    for part in parts:
        for launch in _PARTS[part](laboratory, short=short, skip=skip):
            if not launch.tried:
                count.record(launch.title, verdict="not tried: it does not compile here")
                continue
            wrong = launch.code not in launch.right and not launch.reports
            count.tries += 1
            count.aborts += bool(launch.reports)
            count.lost += wrong
            count.notes += [f"{launch.title}: {text}" for text in launch.reports]
            if wrong:
                count.notes.append(f"{launch.title}: exit code {launch.code}, not {launch.right}")
            verdict = "BAD" if wrong or launch.reports else "well"
            count.record(launch.title, code=launch.code, verdict=verdict)
    return count


def _well(journal: Path) -> set[str]:
    """Return the launches that a journal calls well."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    entries = [json.loads(line) for line in lines]
    return {entry["what"] for entry in entries if entry.get("verdict") == "well"}


def main() -> None:
    """Play, and print what came of it; the exit code is 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--short", action="store_true", help="two programs, two benchmarks")
    parser.add_argument("--part", choices=_PARTS, action="append", help="of both, this one alone")
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--resume", action="store_true", help="skip what the journal calls well")
    options = parser.parse_args()
    if shutil.which("mpicc") is None:
        sys.exit("faults: mpicc is not installed")
    skip = _well(options.journal) if options.journal and options.resume else set()
    if options.journal is not None:
        os.environ[JOURNAL] = str(options.journal.resolve())
    with tempfile.TemporaryDirectory(prefix="bareline-sane-", dir=options.folder) as made:
        parts = options.part or tuple(_PARTS)
        count = play(Path(made), short=options.short, skip=skip, parts=parts)
    print(f"{count.tries} launches, {count.aborts} with reports, {count.lost} other exit codes")
    print("\n".join(count.notes), file=sys.stderr)
    sys.exit(not count.clean)


if __name__ == "__main__":
    main()
