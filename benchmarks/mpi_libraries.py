"""The table of MPI libraries in docs/how-to/mpi-libraries.md: library x language x step.

    python benchmarks/mpi_libraries.py --out DIR debian=openmpi mpich5=PATH/bin/mpirun ...

Each library is a platform, once as it is and once over TCP. A cell is "works", the refusal as
bareline or the library's wrapper prints it, or "WRONG" with the evidence: programs of another
library than the launcher's.

- build: `bareline build`; the programs in C, and NPB and the mini-apps in Fortran;
- quick: C: the study `quick` at its scale `one-node`; Fortran: NPB's EP and CG, class S;
- profile: a program that the library's own wrapper compiles, started by its own launcher;
- predict: that profile, from the library to the library over TCP, with the ladder that it needs.

Only a machine at rest answers the last column: profiles of ranks without a core are refused.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi

LANGUAGES = ("C", "Fortran")
RETRIES = 3
WRAPPERS = {"C": ("mpicc",), "Fortran": ("mpifort", "mpif90")}
_STUDY = """\
study = {{ name = "npb-s", launches = {launches}, precision = 0 }}
[[measure]]
probe = "npb.ep"
params = {{ problem_class = "S" }}
ranks = 2
[[measure]]
probe = "npb.cg"
params = {{ problem_class = "S" }}
ranks = 2
"""
_C = """\
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double mine = 1.0;
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 4000; step++) {
        for (int i = 0; i < 20000; i++)
            mine = mine * 0.999999 + 2e-6;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("%g\\n", sum);
    MPI_Finalize();
    return 0;
}
"""
_FORTRAN = """\
program sums
    use mpi
    implicit none
    integer :: error, step, i
    double precision :: mine, total
    mine = 1.0d0
    call MPI_Init(error)
    do step = 1, 4000
        do i = 1, 20000
            mine = mine * 0.999999d0 + 2.0d-6
        end do
        call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
    end do
    print *, total
    call MPI_Finalize(error)
end program sums
"""
SOURCES = {"C": ("sums.c", _C), "Fortran": ("sums.f90", _FORTRAN)}


class Refused(Exception):
    """A step that ended with a message instead of a result."""


def printed(line: Sequence[object], folder: Path) -> str:
    """Return the output of a command; raise Refused with its first error, or its last line."""
    words = [str(word) for word in line]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.strip()]
        named = [line for line in errors if "error" in line.lower()]
        lines = named[:1] or errors[-1:] or [f"exit code {done.returncode}"]
        raise Refused(message_of(done.stdout) or lines[0])
    return done.stdout


def message_of(output: str) -> str:
    """Return the error that a command with --json prints, "" without one."""
    try:
        return str(json.loads(output)["error"])
    except (ValueError, KeyError, TypeError):
        return ""


def bareline(folder: Path, *words: object) -> str:
    """Return the standard output of a command of bareline."""
    return printed([sys.executable, "-m", "bareline", *words], folder)


def failed_in(run: Path) -> list[str]:
    """Return why trials of a run have failed, by their latest attempt."""
    latest = {}
    for line in (run / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        latest[record["trial"]] = record
    return [record["reason"] for record in latest.values() if record["status"] != "measured"]


@dataclass(frozen=True)
class Library:
    """A library of the table, with the folder of its runs."""

    name: str
    choice: str
    folder: Path
    launches: int

    @property
    def mpi(self) -> MpiInstallation:
        """The library as bareline finds it."""
        return find_mpi(self.choice)

    @property
    def tcp(self) -> str:
        """The platform of the library over TCP."""
        return f"{self.name}-tcp"

    def build(self, language: str) -> str:
        """Return the cell of `bareline build`."""
        (built,) = json.loads(bareline(self.folder, "build", "--on", self.name, "--json"))
        family = self.mpi.title.rpartition(" ")[0]
        if family not in built["library"].replace("Intel(R)", "Intel").replace("(R)", ""):
            return f"WRONG: {self.mpi.title} builds with {built['library']}"
        owner = {"C": "mpibench", "Fortran": "npb"}[language]
        for reason in built["left_out"]:
            if reason.startswith(f"{owner}: "):
                raise Refused(reason)
        return "works"

    def quick(self, language: str) -> str:
        """Return the cell of a run of the programs in a language."""
        out = self.folder / f"run-{language}"
        study: list[object] = ["quick", "--scale", "one-node"]
        if language == "Fortran":
            file = self.folder / "npb.toml"
            file.write_text(_STUDY.format(launches=self.launches))
            study = [file]
        where = ["--on", self.name, "--on", self.tcp, "--no-control"]
        try:
            if not out.exists():
                launches = ["--launches", self.launches]
                bareline(self.folder, "run", *study, *where, *launches, "--out", out)
        except Refused:
            if not out.exists():
                raise
        # Other programs take launches over their budget of time: those are launched once more.
        for _ in range(RETRIES):
            if not failed_in(out) or language == "Fortran":
                break
            with contextlib.suppress(Refused):
                bareline(self.folder, "continue", out, "--retry-failed")
        failed = failed_in(out)
        if failed:
            raise Refused(f"{len(failed)} trials failed: {failed[0]}")
        facts = json.loads((out / "facts" / f"{self.name}.json").read_text())
        if facts["mpi.library"] != self.mpi.title:
            return f"WRONG: {self.mpi.title} starts {facts['mpi.library']}"
        return "works"

    def profile(self, language: str) -> str:
        """Return the cell of a profile of a program that the library's wrapper compiles."""
        name, text = SOURCES[language]
        (self.folder / name).write_text(text)
        names = (str(self.mpi.mpicc).replace("mpicc", name) for name in WRAPPERS[language])
        wrapper = next(filter(os.path.exists, names), None)
        if wrapper is None:
            raise Refused(f"no {' or '.join(WRAPPERS[language])} in the library's folder")
        environment = ["env", *(f"{key}={value}" for key, value in self.mpi.variables.items())]
        program = self.folder / f"sums-{language}"
        printed([*environment, wrapper, "-O2", "-o", program, name], self.folder)
        root = ["--allow-run-as-root"] if "Open MPI" in self.mpi.title and not os.geteuid() else []
        line = [self.mpi.mpirun, *root, "-n", 2, program]
        profile = self._profile(language)
        if not profile.exists():
            bareline(self.folder, "profile", "--trace", "--out", profile, "--", *line)
        return "works"

    def _profile(self, language: str) -> Path:
        return self.folder / f"{language}.profile"

    def predict(self, language: str) -> str:
        """Return the cell of a prediction, with the predicted time and its interval."""
        if not self._profile(language).exists():
            raise Refused("no profile")
        ladder = self.folder / "ladder"
        if not ladder.exists():
            plan = bareline(self.folder, "predict", "--plan", self._profile(language))
            (self.folder / "ladder.toml").write_text(plan)
            with contextlib.suppress(Refused):  # what is missing, `predict` names
                bareline(self.folder, "run", "ladder.toml", "--on", self.name, "--on", self.tcp,
                         "--launches", max(6, self.launches), "--out", ladder)  # fmt: skip
        between = ["--base", self.name, "--to", self.tcp, "--json"]
        rows = json.loads(
            bareline(self.folder, "predict", self._profile(language), "--from", ladder, *between)
        )
        (row,) = (row for row in rows if row["platform"] == self.tcp)
        base, time, low, high = (row[key] * 1e3 for key in ("base_s", "time_s", "lo_s", "hi_s"))
        return f"works: {base:.3g} ms to {time:.3g} [{low:.3g}, {high:.3g}]"

    def cells(self, language: str) -> Iterator[str]:
        """Yield the four cells of a language."""
        for step in (self.build, self.quick, self.profile, self.predict):
            try:
                cell = step(language)
            except Refused as refusal:
                cell = re.sub(r"\s+", " ", str(refusal))
            print(f"{self.name}, {language}, {step.__name__}: {cell}", file=sys.stderr, flush=True)
            yield cell


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="+", metavar="NAME=MPI")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--launches", type=int, default=2)
    arguments = parser.parse_args()
    print("| library | language | build | quick | profile | predict |")
    print("|---|---|---|---|---|---|")
    for given in arguments.libraries:
        name, _, choice = given.partition("=")
        if "/" in choice:
            choice = str(Path(choice).absolute())
        folder = arguments.out.absolute() / name
        folder.mkdir(parents=True, exist_ok=True)
        entries = f'type = "local"\nmpi = "{choice}"\n'
        text = f'[platform.{name}]\n{entries}[platform.{name}-tcp]\n{entries}transport = "tcp"\n'
        (folder / "platforms.toml").write_text(text)
        library = Library(name, choice, folder, arguments.launches)
        for language in LANGUAGES:
            cells = " | ".join(library.cells(language))
            print(f"| {library.mpi.title} | {language} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
