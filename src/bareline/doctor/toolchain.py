"""Look at bareline itself, at what builds its native programs, and at MPI."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from bareline import __version__
from bareline.build import cache as build_cache
from bareline.build.sources import source_folder
from bareline.doctor.check import Area, Health, HostCheck, ask
from bareline.doctor.programs import find_program, program
from bareline.host.cache import cache_folder
from bareline.host.tools import install_hint, package_hint
from bareline.platforms.launchers.installation import LAUNCHERS, MpiInstallation, find_mpi
from bareline.platforms.launchers.job import Job, Node
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Layout

_COMPILE_S = 60.0
_JOB_S = 60.0

#: Distributions without which parts of bareline do not start.
_LIBRARIES = (
    "pydantic",
    "typer",
    "rich",
    "polars",
    "numpy",
    "altair",
    "vl-convert-python",
    "jinja2",
    "tomli-w",
)
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
    """Look at the interpreter and the libraries."""
    enough = sys.version_info >= (3, 11)
    yield HostCheck(
        "bareline",
        Area.BARELINE,
        Health.OK if enough else Health.WARN,
        f"{__version__}, Python {platform.python_version()} in {sys.prefix}",
        "" if enough else "use Python 3.11 or later",
    )
    versions, absent = [], []
    for name in _LIBRARIES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            absent.append(name)
    yield HostCheck(
        "libraries",
        Area.BARELINE,
        Health.MISSING if absent else Health.OK,
        f"not installed: {', '.join(absent)}" if absent else ", ".join(versions),
        f"run `{sys.executable} -m pip install {' '.join(absent)}`" if absent else "",
    )


def cache() -> Iterable[HostCheck]:
    """Look whether the cache folder can be written and has room."""
    folder = cache_folder()
    hint = "name another folder in the environment variable BARELINE_CACHE"
    if not os.access(folder, os.W_OK):
        yield HostCheck("cache", Area.BARELINE, Health.MISSING, f"{folder} cannot be written", hint)
        return
    free_bytes = shutil.disk_usage(folder).free
    room = free_bytes > 2 << 30
    yield HostCheck(
        "cache",
        Area.BARELINE,
        Health.OK if room else Health.WARN,
        f"{folder}, {free_bytes / 2**30:.1f} GiB free",
        "" if room else f"guest images want 2 GiB; {hint}",
    )


def compilers() -> Iterable[HostCheck]:
    """Look for what builds the native programs."""
    yield program("gcc", Area.BUILD, title="C compiler")
    yield program("gfortran", Area.BUILD, title="Fortran compiler")
    yield program("cmake", Area.BUILD, title="CMake")
    if find_program("ninja") is None and find_program("make") is not None:
        yield program("make", Area.BUILD)
    else:
        yield program("ninja", Area.BUILD, title="Ninja")
    yield _library("OpenBLAS", ("openblas",), "libopenblas-dev")
    yield _library("FFTW", ("fftw3",), "libfftw3-dev")
    yield _library(
        "ScaLAPACK",
        ("scalapack-openmpi", "scalapack-mpich", "scalapack"),
        "libscalapack-openmpi-dev",
    )


def _library(name: str, modules: tuple[str, ...], debian: str) -> HostCheck:
    if find_program("pkg-config") is None:
        return HostCheck(
            name, Area.BUILD, Health.WARN, "cannot tell: no pkg-config", install_hint("pkg-config")
        )
    for module in modules:
        done = ask(["pkg-config", "--modversion", module])
        if done.exit_code == 0:
            return HostCheck(name, Area.BUILD, Health.OK, done.stdout.strip())
    return HostCheck(name, Area.BUILD, Health.MISSING, "not installed", package_hint(debian))


def native() -> Iterable[HostCheck]:
    """Look whether the native programs are built, or can be."""
    folder = cache_folder() / "native"
    try:
        source_folder()
    except BarelineError as error:
        yield HostCheck("native programs", Area.BUILD, Health.MISSING, error.what, error.hint or "")
        return
    builds = build_cache.finished(folder)
    if not builds:
        yield HostCheck(
            "native programs",
            Area.BUILD,
            Health.WARN,
            "not built yet; the first run builds them",
            "run `bareline build` to have it done before",
        )
        return
    programs = sorted(path.name for path in (builds[0] / "bin").glob("*"))
    toolchains = len(build_cache.toolchains(folder))
    yield HostCheck(
        "native programs",
        Area.BUILD,
        Health.OK,
        f"built for {toolchains} toolchain{'s' * (toolchains > 1)}; last: {', '.join(programs)}",
    )


def mpi() -> Iterable[HostCheck]:
    """Look for every MPI flavour."""
    return _flavours(deep=False)


def mpi_jobs() -> Iterable[HostCheck]:
    """Look for every MPI flavour, and compile and run a job of two ranks with each."""
    return _flavours(deep=True)


def _flavours(*, deep: bool) -> Iterator[HostCheck]:
    found: list[MpiInstallation] = []
    for flavour, launcher in LAUNCHERS.items():
        try:
            library = find_mpi(flavour)
        except BarelineError as error:
            if launcher.packages:
                yield HostCheck(
                    launcher.title, Area.MPI, Health.MISSING, error.what, error.hint or ""
                )
            continue
        found.append(library)
        if library.mpicc is None:
            yield HostCheck(
                launcher.title,
                Area.MPI,
                Health.WARN,
                f"{library.version}, {library.mpirun}, but no compiler wrapper",
                package_hint(launcher.packages) if launcher.packages else "install its compiler",
            )
        elif deep:
            yield _two_ranks(library)
        else:
            yield HostCheck(launcher.title, Area.MPI, Health.OK, _seen(library))
    if not found:
        yield HostCheck(
            "MPI", Area.MPI, Health.MISSING, "no MPI library was found", install_hint("mpirun")
        )


def _seen(library: MpiInstallation) -> str:
    """Say which library it is, and what is known to go wrong with it."""
    hangs = library.flavour == "mpich" and str(library.version).startswith("4.0")
    known = "; may hang in MPI_Finalize, about once in some hundred launches" if hangs else ""
    return f"{library.version}, {library.mpirun}{known}"


def _two_ranks(library: MpiInstallation) -> HostCheck:
    """Compile a program with the library's wrapper and run it on two ranks."""
    title, seen = LAUNCHERS[library.flavour].title, _seen(library)
    assert library.mpicc is not None
    with tempfile.TemporaryDirectory(prefix="bareline-doctor-") as folder:
        Path(folder, "hello.c").write_text(_HELLO, encoding="ascii")
        done = ask([library.mpicc, "-o", "hello", "hello.c"], timeout_s=_COMPILE_S, cwd=folder)
        if done.exit_code != 0:
            return HostCheck(
                title,
                Area.MPI,
                Health.WARN,
                f"{seen}: a program does not compile: {done.why}",
                f"try `{library.mpicc} --version`",
            )
        host = [Node("localhost", "127.0.0.1", len(os.sched_getaffinity(0)))]
        line = library.argv(Job(argv=[f"{folder}/hello"], layout=Layout(1, 2), nodes=host))
        done = ask(line, timeout_s=_JOB_S, cwd=folder)
    if re.search(r"^ranks 2 sum 1$", done.stdout, re.MULTILINE):
        return HostCheck(
            title, Area.MPI, Health.OK, f"{seen}, two ranks ran in {done.duration_s:.1f} s"
        )
    return HostCheck(
        title,
        Area.MPI,
        Health.WARN,
        f"{seen}: a job of two ranks fails: {done.why}",
        f"try `{' '.join(line)}`",
    )
