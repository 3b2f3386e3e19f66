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
    """The parts of an MPI library that matter for a build.

    See `bareline.platforms.hosts.launchers`.
    """

    @property
    def flavour(self) -> str:
        """Which library it is, e.g. ``openmpi``."""

    @property
    def title(self) -> str:
        """Name and version for people."""

    @property
    def mpicc(self) -> str | None:
        """Path of the compiler wrapper, None when only the runtime is installed."""

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables of a build for it, such as CC, FC or PATH."""

    @property
    def choices(self) -> Mapping[str, str]:
        """CMake's variables that a build for it sets."""

    def check_library(self, library: str) -> None:
        """Raise PlatformError where programs are linked with another library than this one.

        - `library`: the version of its library that a program of the build prints.
        """


def missing_tool(mpi: MpiCompiler | None) -> ToolMissing | None:
    """Return the error for a missing build program, with its installation; None if all are here.

    These are CMake, a C compiler and the MPI library's compiler wrapper.
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
    """Return the environment of a build: ours, in the C locale, with the library's compilers."""
    environment = {**os.environ, "LC_ALL": "C"}
    if mpi:
        environment |= mpi.variables
    return environment


def _compiler(mpi: MpiCompiler | None) -> str:
    return build_environment(mpi).get("CC", "cc").split()[0]


def toolchain_title(mpi: MpiCompiler | None) -> str:
    """Name compiler and MPI library in one line for people."""
    return f"{_version(_compiler(mpi))}, {library_title(mpi)}"


def library_title(mpi: MpiCompiler | None) -> str:
    """Return the end of a toolchain's name: its MPI library."""
    return mpi.title if mpi else "no MPI"


def toolchain_key(toolchain: str, mpi: MpiCompiler | None) -> str:
    """Hash the properties of this machine on which the programs depend."""
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
    """Return the first line of a program's version output, empty when it is missing."""
    arguments = line if len(line) > 1 else (*line, "--version")
    plain = {**os.environ, "LC_ALL": "C"}
    try:
        finished = subprocess.run(arguments, capture_output=True, text=True, env=plain, check=False)
    except OSError:
        return ""
    return finished.stdout.strip().partition("\n")[0] if len(line) == 1 else finished.stdout.strip()
