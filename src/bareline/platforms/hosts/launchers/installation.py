"""Installed MPI libraries: the search for a library, and the command lines of its launcher.

`LAUNCHERS` has a class for each library, which only makes command lines and starts no process.
Ranks are always placed node by node: the first `Layout.ranks_per_node` ranks on the first node, and
so on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from bareline.host.tools import package_hint
from bareline.platforms.hosts.launchers.hydra import IntelMpi, Mpich
from bareline.platforms.hosts.launchers.job import Job, Launcher, Transport
from bareline.platforms.hosts.launchers.openmpi import OpenMpi
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Scalar

#: Every library by its flavour. The output of ``mpirun --version`` is tried in this order.
LAUNCHERS: Mapping[str, type[Launcher]] = MappingProxyType(
    {"openmpi": OpenMpi, "intel": IntelMpi, "mpich": Mpich}
)


#: Starts a command with a folder at the beginning of the PATH of the place where it starts.
_WITH_FOLDER_FIRST = 'PATH=$1:$PATH; export PATH; shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class MpiInstallation:
    """An MPI library with its launcher and, where installed, its C compiler wrapper.

    - `mpicc`: path of the compiler wrapper, None when only the runtime is installed.
    - `folder`: the folder of a launcher that the user gave by its path. It comes first in PATH for
      every query and start, because launchers and wrappers search PATH for their parts. Empty for a
      launcher that is on PATH.
    - `choices`: CMake variables for builds with the library; empty, because only the simulator
      (`bareline.platforms.sim`) sets some.
    """

    flavour: str
    version: str
    mpirun: str
    mpicc: str | None = None
    folder: str = ""
    choices: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @property
    def title(self) -> str:
        """Name and version of the library, for people."""
        return f"{LAUNCHERS[self.flavour].title} {self.version}"

    @property
    def variables(self) -> dict[str, str]:
        """Variables that the library's wrappers and launcher need on this machine."""
        return _variables(self.mpirun, self.folder)

    def check_library(self, library: str) -> None:
        """Check that the launcher and the programs that it starts have the same MPI library.

        - `library`: the library's version string, printed by a program that `mpicc` compiled. The
          string of an unknown library, such as a vendor's descendant of MPICH, is accepted.

        Raises PlatformError: the families or the versions differ; the message names both.
        """
        for launcher in LAUNCHERS.values():
            match = launcher.library.search(library)
            if match is None:
                continue
            if launcher is LAUNCHERS[self.flavour] and _same_version(match[1], self.version):
                return
            raise PlatformError(
                f"{self.mpirun} starts programs of {self.title}, but programs that {self.mpicc} "
                f"compiles use {launcher.title} {match[1]}",
                where="mpi",
                hint="give the path of the mpirun that was installed with the library",
            )

    def argv(self, job: Job) -> list[str]:
        """Return the launcher's command line for a job."""
        line = LAUNCHERS[self.flavour](self.mpirun, self.version).argv(job)
        if not self.folder:
            return line
        return ["sh", "-c", _WITH_FOLDER_FIRST, "sh", self.folder, *line]

    def settings(self, job: Job) -> dict[str, str]:
        """Return the environment of a job that a program other than this launcher starts."""
        return LAUNCHERS[self.flavour](self.mpirun, self.version).settings(job)


def identify(text: str) -> tuple[str, str] | None:
    """Return flavour and version from the output of ``mpirun --version``; None if unknown."""
    for flavour, launcher in LAUNCHERS.items():
        if match := launcher.signature.search(text):
            return flavour, match[1].rstrip(".")
    return None


def find_mpi(choice: str = "auto") -> MpiInstallation:
    """Find an MPI library on this machine.

    - `choice`: ``auto`` (the library of ``mpirun``), a flavour, the path of a launcher, or the path
      of a folder into which a library was installed.
    """
    if choice == "auto" or choice in LAUNCHERS:
        return _find_on_path(choice)
    # Absolute, because builds and jobs run in folders of their own. Links stay: Debian's wrappers
    # choose their library by their name.
    given = Path(choice).expanduser().absolute()
    for candidate in (given, given / "bin" / "mpirun", given / "mpirun"):
        if not (candidate.is_file() and os.access(candidate, os.X_OK)):
            continue
        on_path = shutil.which(candidate.name) == str(candidate)
        installation = _inspect(str(candidate), "" if on_path else str(candidate.parent))
        if installation is not None:
            return installation
    raise PlatformError(
        f"'{choice}' is not the launcher of Open MPI, MPICH or Intel MPI",
        where="mpi",
        hint="give auto, openmpi, mpich, intel or the path of mpirun",
    )


def _find_on_path(choice: str) -> MpiInstallation:
    """Return the library whose launcher is on PATH; for ``auto``, a library of any flavour."""
    for path in filter(None, map(shutil.which, launcher_names(choice))):
        installation = _inspect(path)
        if installation is not None and choice in ("auto", installation.flavour):
            return installation
    launcher = LAUNCHERS["openmpi" if choice == "auto" else choice]
    missing = f"{launcher.title} is not installed"
    hint = "install it and give the path of its mpirun as `mpi`"
    if choice == "auto":
        missing = "no MPI library found"
    if launcher.packages:
        hint = package_hint(launcher.packages)
    raise ToolMissing(missing, hint=hint)


def mpi_facts(choice: str, transport: Transport) -> dict[str, Scalar]:
    """Return the facts of MPI on this machine; empty if no library is installed."""
    try:
        mpi = find_mpi(choice)
    except PlatformError:
        return {}
    return {"mpi.flavour": mpi.flavour, "mpi.version": mpi.version, "mpi.transport": transport}


def launcher_names(choice: str) -> tuple[str, ...]:
    """Return the names of the launchers of a flavour, or of all flavours.

    For a flavour, names that contain the flavour come before ``mpirun`` and ``mpiexec``.
    """
    if choice in LAUNCHERS:
        return (*LAUNCHERS[choice].launchers, "mpirun", "mpiexec")
    return ("mpirun", *(name for each in LAUNCHERS.values() for name in each.launchers))


@cache
def _inspect(mpirun: str, folder: str = "") -> MpiInstallation | None:
    try:
        ended = subprocess.run(
            [mpirun, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20.0,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C", **_variables(mpirun, folder)},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    library = identify(ended.stdout + ended.stderr)
    if library is None:
        return None
    # Debian has both libraries side by side under ``mpicc.openmpi`` and ``mpicc.mpich``, and a
    # plain ``mpicc`` that may belong to the other one.
    beside = (Path(mpirun).parent / name for name in LAUNCHERS[library[0]].compilers)
    mpicc = next((str(path) for path in beside if os.access(path, os.X_OK)), None)
    return MpiInstallation(*library, mpirun, mpicc, folder)


def _variables(mpirun: str, folder: str) -> dict[str, str]:
    """Return the environment variables that an installation needs.

    - `folder`: the folder of the launcher; "" if the launcher is on PATH.
    """
    variables = {}
    if folder:
        variables["PATH"] = f"{folder}:{os.environ.get('PATH', os.defpath)}"
    programs = Path(mpirun).parent
    if (programs / "impi_info").exists() and "I_MPI_ROOT" not in os.environ:
        # Intel MPI from a wheel: its wrappers do not know where their library is.
        variables["I_MPI_ROOT"] = str(programs.parent)
    return variables


def _same_version(version: str, other: str) -> bool:
    """Return whether two versions agree in the parts that both have, as 2021.9 and 2021.9.1 do."""
    pairs = zip(version.split("."), other.split("."), strict=False)
    return all(first == second for first, second in pairs)
