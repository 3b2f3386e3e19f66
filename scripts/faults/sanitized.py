"""The profiler under the sanitizers of addresses and undefined behaviour, with odd MPI programs.

    python scripts/faults/sanitized.py [--short] [--journal FILE] [FOLDER]

Every program of ``native/pmpi/tests`` runs with each set of the profiler's options. A program must
end as it does without the profiler; a sanitizer that finds something writes a file of its own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
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
    OddProgram("files", 2, ("data",)),
    OddProgram("imbalance", 2),
    OddProgram("overlap", 2),
    OddProgram("sizes", 2),
    OddProgram("threads", 2),
    OddProgram("spawn", 2),
    OddProgram("mpi4", 2),
    *(OddProgram("ending", 2, (w,)) for w in ("return", "exit", "abort", "segv", "kill", "term")),
)
_OPTIONS: dict[str, dict[str, str]] = {
    "plain": {},
    "split": {"BARELINE_PROFILE_SPLIT": "1"},
    "trace": {"BARELINE_TRACE": "app.trace"},
    "short trace": {"BARELINE_TRACE": "app.trace", "BARELINE_TRACE_LIMIT": "4096"},
    "regions": {"BARELINE_PROFILE_REGIONS": "3=solver,4=output"},
}


class _Laboratory:
    """The profiler and the programs, built in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._library = folder / "pmpi.so"
        line = ["mpicc", *_LIBRARY_FLAGS, *_SANITIZERS, *sorted(_PMPI.glob("*.c"))]
        subprocess.run([*line, "-o", self._library, "-ldl", "-lpthread", "-lm"], check=True)
        runtime = subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
        )
        self._runtime = runtime.stdout.strip()

    def built(self, name: str) -> bool:
        """Whether a program can be compiled with this MPI library."""
        if (self._folder / name).exists():
            return True
        source = _PMPI / "tests" / f"{name}.c"
        line = ["mpicc", *_PROGRAM_FLAGS, source, "-o", self._folder / name]
        return subprocess.run(line, capture_output=True, check=False).returncode == 0

    def run(self, program: OddProgram, variables: dict[str, str] | None) -> tuple[int, list[str]]:
        """Run a program, profiled with these variables; give its exit code and what was found."""
        for left in self._folder.glob("app.*"):
            left.unlink()
        given = {}
        if variables is not None:
            given = {
                "LD_PRELOAD": f"{self._runtime}:{self._library}",
                # What MPI and its launcher never free is theirs; a program may end by a signal.
                "ASAN_OPTIONS": f"detect_leaks=0:handle_segv=0:log_path={self._folder}/found",
                "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={self._folder}/found",
                "BARELINE_PROFILE": str(self._folder / "app.profile"),
                **variables,
            }
        exported = [part for key, value in given.items() for part in ("-x", f"{key}={value}")]
        line = ["mpirun", "--oversubscribe", "-n", str(program.ranks), *exported]
        line += [str(self._folder / program.name), *program.arguments]
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        try:
            done = subprocess.run(
                line, cwd=self._folder, env={**os.environ, **allowed}, capture_output=True,
                check=False, timeout=_LAUNCH_S,
            )  # fmt: skip
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -9
        found = []
        for report in self._folder.glob("found*"):
            found.append(report.read_text(errors="replace")[:2000])
            report.unlink()
        return code, found


def play(folder: Path, *, short: bool) -> Count:
    """Run every program with each set of options; count what a sanitizer found."""
    count = Count()
    laboratory = _Laboratory(folder)
    for program in _PROGRAMS[:2] if short else _PROGRAMS:
        if not laboratory.built(program.name):
            count.record(program.title, verdict="not tried: this MPI library lacks it")
            continue
        plain, _ = laboratory.run(program, None)
        for name, variables in _OPTIONS.items():
            code, found = laboratory.run(program, variables)
            what = f"{program.title}, {name}"
            count.tries += 1
            count.aborts += bool(found)
            count.lost += code != plain and not found
            count.notes += [f"{what}: {text}" for text in found]
            if code != plain:
                count.notes.append(f"{what}: exit code {code}, not {plain}")
            count.record(what, code=code, plain=plain, found=len(found))
    return count


def main() -> None:
    """Play, and print what came of it; the exit code is 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--short", action="store_true", help="two programs")
    parser.add_argument("--journal", type=Path)
    options = parser.parse_args()
    if shutil.which("mpicc") is None:
        sys.exit("faults: mpicc is not installed")
    if options.journal is not None:
        os.environ[JOURNAL] = str(options.journal.resolve())
    with tempfile.TemporaryDirectory(prefix="bareline-sane-", dir=options.folder) as made:
        count = play(Path(made), short=options.short)
    print(f"{count.tries} launches, {count.aborts} reports, {count.lost} other exit codes")
    print("\n".join(count.notes), file=sys.stderr)
    sys.exit(not count.clean)


if __name__ == "__main__":
    main()
