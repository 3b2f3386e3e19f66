"""Checks of bareline itself, of the compilers for its native programs, and of MPI."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path

from bareline import __version__
from bareline.build import cache as build_cache
from bareline.build.sources import source_folder
from bareline.doctor.check import Health, HostCheck, ask, judged, refused
from bareline.doctor.programs import find_program, program
from bareline.host.cache import cache_folder
from bareline.host.tools import install_hint, package_hint
from bareline.platforms.hosts.launchers.installation import LAUNCHERS, MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Layout

_COMPILE_S = _JOB_S = 60.0

#: Python packages without which parts of bareline do not start.
_LIBRARIES = [
    "pydantic",
    "typer",
    "rich",
    "polars",
    "numpy",
    "vl-convert-python",
    "jinja2",
    "tomli-w",
]
_HELLO = """\
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ranks %d sum %d\\n", size, sum);
    }
    return MPI_Finalize();
}
"""


def python() -> Iterable[HostCheck]:
    """Check the Python interpreter and the libraries."""
    text = f"{__version__}, Python {platform.python_version()} in {sys.prefix}"
    enough = sys.version_info >= (3, 11)
    yield judged("bareline", enough, text, text, "use Python 3.11 or later")
    versions = []
    absent = []
    for name in _LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(name)
    yield judged(
        "libraries",
        not absent,
        f"not installed: {', '.join(absent)}",
        ", ".join(versions),
        f"run `{sys.executable} -m pip install {' '.join(absent)}`",
        ill=Health.MISSING,
    )


def cache() -> Iterable[HostCheck]:
    """Check that the cache folder can be written and has space."""
    folder = cache_folder()
    hint = "name another folder in the environment variable BARELINE_CACHE"
    if not os.access(folder, os.W_OK):
        yield HostCheck("cache", Health.MISSING, f"{folder} cannot be written", hint)
        return
    free_bytes = shutil.disk_usage(folder).free
    text = f"{folder}, {free_bytes / 2**30:.1f} GiB free"
    yield judged("cache", free_bytes > 2 << 30, text, text, f"guest images want 2 GiB; {hint}")


def compilers() -> Iterable[HostCheck]:
    """Check for the compilers and CMake, which build the native programs."""
    yield program("gcc", title="C compiler")
    yield program("gfortran", title="Fortran compiler")
    yield program("cmake", title="CMake")
    if find_program("ninja") is None and find_program("make") is not None:
        yield program("make")
    else:
        yield program("ninja", title="Ninja")
    yield _library("OpenBLAS", ["openblas"], "libopenblas-dev")
    yield _library("FFTW", ["fftw3"], "libfftw3-dev")
    scalapack = ["scalapack-openmpi", "scalapack-mpich", "scalapack"]
    yield _library("ScaLAPACK", scalapack, "libscalapack-openmpi-dev")


def _library(name: str, modules: Iterable[str], debian: str) -> HostCheck:
    if find_program("pkg-config") is None:
        hint = install_hint("pkg-config")
        return HostCheck(name, Health.WARN, "cannot tell: no pkg-config", hint)
    for module in modules:
        finished = ask(["pkg-config", "--modversion", module])
        if finished.exit_code == 0:
            return HostCheck(name, Health.OK, finished.stdout.strip())
    return HostCheck(name, Health.MISSING, "not installed", package_hint(debian))


def native_programs() -> Iterable[HostCheck]:
    """Check that the native programs are built or can be built."""
    source_folder()  # raises an error with the next step where there is none
    folder = cache_folder() / "native"
    last = next(iter(build_cache.finished(folder)), folder)
    programs = ", ".join(sorted(path.name for path in (last / "bin").glob("*")))
    toolchains = len(build_cache.toolchains(folder))
    yield judged(
        "native programs",
        toolchains,
        "not built yet; the first run builds them",
        f"built for {toolchains} toolchain{'s' * (toolchains > 1)}; last: {programs}",
        "run `bareline build` to have it done before",
    )


def mpi() -> Iterable[HostCheck]:
    """Check for every flavour of MPI."""
    return _flavours(_seen)


def mpi_jobs() -> Iterable[HostCheck]:
    """Check every flavour of MPI by compiling and running a job of two ranks."""
    return _flavours(_two_ranks)


def _flavours(look: Callable[[MpiInstallation], HostCheck]) -> Iterator[HostCheck]:
    any_found = False
    for flavour, launcher in LAUNCHERS.items():
        try:
            library = find_mpi(flavour)
        except BarelineError as error:
            if launcher.packages:
                yield refused(launcher.title, error)
            continue
        any_found = True
        if library.mpicc is not None:
            yield look(library)
            continue
        detail = f"{library.version}, {library.mpirun}, but no compiler wrapper"
        hint = package_hint(launcher.packages) if launcher.packages else "install its compiler"
        yield HostCheck(launcher.title, Health.WARN, detail, hint)
    if not any_found:
        yield HostCheck("MPI", Health.MISSING, "no MPI library was found", install_hint("mpirun"))


def _seen(library: MpiInstallation) -> HostCheck:
    hangs = library.flavour == "mpich" and str(library.version).startswith("4.0")
    warning = "; may hang in MPI_Finalize, about once in some hundred launches" if hangs else ""
    text = f"{library.version}, {library.mpirun}{warning}"
    return HostCheck(LAUNCHERS[library.flavour].title, Health.OK, text)


def _two_ranks(library: MpiInstallation) -> HostCheck:
    seen = _seen(library)
    assert library.mpicc is not None
    with tempfile.TemporaryDirectory(prefix="bareline-doctor-") as folder:
        replace_file(Path(folder, "hello.c"), _HELLO, durable=False)
        finished = ask([library.mpicc, "-o", "hello", "hello.c"], timeout_s=_COMPILE_S, cwd=folder)
        if finished.exit_code != 0:
            detail = f"{seen.detail}: a program does not compile: {finished.why}"
            return HostCheck(seen.name, Health.WARN, detail, f"try `{library.mpicc} --version`")
        host = [Node("localhost", "127.0.0.1", len(os.sched_getaffinity(0)))]
        line = library.argv(Job(argv=[f"{folder}/hello"], layout=Layout(1, 2), nodes=host))
        finished = ask(line, timeout_s=_JOB_S, cwd=folder)
    return judged(
        seen.name,
        re.search(r"^ranks 2 sum 1$", finished.stdout, re.MULTILINE),
        f"{seen.detail}: a job of two ranks fails: {finished.why}",
        f"{seen.detail}, two ranks ran in {finished.duration_s:.1f} s",
        f"try `{' '.join(line)}`",
    )
