"""The toolchain of a build: compilers, MPI library, and properties of this machine."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from typing import Protocol

from bareline.host.tools import install_hint, package_hint
from bareline.vocabulary.errors import ToolMissing

#: Libraries that pkg-config looks for: without them programs are left out.
_LIBRARIES = ("openblas", "fftw3", "scalapack-openmpi", "scalapack-mpich")


class MpiCompiler(Protocol):
    """The interface of an MPI library for a build.

    See `bareline.platforms.hosts.launchers`.
    """

    @property
    def flavour(self) -> str:
        """Name of the library's flavour, e.g. ``openmpi``."""

    @property
    def title(self) -> str:
        """Name and version of the library, for people."""

    @property
    def mpicc(self) -> str | None:
        """Path of the compiler wrapper; None if only the runtime is installed."""

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables for builds with the library, such as CC, FC or PATH."""

    @property
    def choices(self) -> Mapping[str, str]:
        """CMake variables for a build with the library, by name."""

    def check_library(self, library: str) -> None:
        """Check that programs are linked with this library, or raise PlatformError.

        - `library`: the version text of the library that a program of the build printed.
        """


def missing_tool(mpi: MpiCompiler | None) -> ToolMissing | None:
    """Return the error for a missing build program; None if all are installed.

    The programs are CMake, a C compiler and the MPI library's compiler wrapper. The error has the
    command that installs the program.
    """
    if mpi is not None and mpi.mpicc is None:
        package = {"openmpi": "libopenmpi-dev", "mpich": "libmpich-dev"}.get(mpi.flavour)
        hint = package_hint(package) if package else "install its development files"
        return ToolMissing(
            f"{mpi.title} is installed without its compiler wrapper mpicc", hint=hint
        )
    for tool, program, package in (("cmake", "cmake", "cmake"), ("cc", _compiler(mpi), "gcc")):
        if shutil.which(program) is None:
            return ToolMissing(
                f"'{tool}' is not installed, and the native programs have to be built",
                hint=install_hint(package),
            )
    return None


def build_environment(mpi: MpiCompiler | None) -> dict[str, str]:
    """Return the environment of a build: bareline's own environment in the C locale.

    The variables of the MPI library, such as its compilers, are added.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    if mpi:
        environment |= mpi.variables
    return environment


def _compiler(mpi: MpiCompiler | None) -> str:
    return build_environment(mpi).get("CC", "cc").split()[0]


def toolchain_title(mpi: MpiCompiler | None) -> str:
    """Return the names of compiler and MPI library in one line, for people."""
    return f"{_version(_compiler(mpi))}, {library_title(mpi)}"


def library_title(mpi: MpiCompiler | None) -> str:
    """Return the part of a toolchain's name that names the MPI library."""
    return mpi.title if mpi else "no MPI"


def toolchain_key(toolchain: str, mpi: MpiCompiler | None) -> str:
    """Return a hash of all properties of this machine that the programs depend on."""
    parts: dict[str, str] = {
        "toolchain": toolchain,
        "wrapper": "",
        "flags": " ".join(os.environ.get(name, "") for name in ("CFLAGS", "FFLAGS", "LDFLAGS")),
        "fortran": _version(build_environment(mpi).get("FC", "gfortran")),
        # Installing a library later must bring the programs that wanted it.
        "libraries": " ".join(
            f"{name} {_version('pkg-config', '--modversion', name)}" for name in _LIBRARIES
        ),
        "machine": platform.machine(),
    }
    if mpi:
        parts["wrapper"] = str(mpi.mpicc)
        parts |= mpi.choices
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:8]


@cache
def _version(*line: str) -> str:
    """Return the first line of a program's version output; "" if the program is missing."""
    arguments = line if len(line) > 1 else (*line, "--version")
    plain = {**os.environ, "LC_ALL": "C"}
    try:
        finished = subprocess.run(arguments, capture_output=True, text=True, env=plain, check=False)
    except OSError:
        return ""
    return finished.stdout.strip().partition("\n")[0] if len(line) == 1 else finished.stdout.strip()
