"""MPI libraries as they are installed: find one, and give the command lines of its launcher.

Each library is one module with one small class in `LAUNCHERS`; none of them starts anything. Ranks
are always laid node by node: the first `Layout.ranks_per_node` ranks on the first node, and so on.
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
from bareline.platforms.launchers.hydra import IntelMpi, Mpich
from bareline.platforms.launchers.job import Job, Launcher, Transport
from bareline.platforms.launchers.openmpi import OpenMpi
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Scalar

#: Every library by its flavour. What ``mpirun --version`` prints is tried in this order.
LAUNCHERS: Mapping[str, type[Launcher]] = MappingProxyType(
    {"openmpi": OpenMpi, "intel": IntelMpi, "mpich": Mpich}
)


@dataclass(frozen=True, slots=True)
class MpiInstallation:
    """An MPI library with its launcher and, where installed, its C compiler wrapper.

    - `mpicc`: path of the compiler wrapper, None when only the runtime is installed.
    - `compilers`, `choices`: none: programs are compiled by the machine's own, for every processor.
    """

    flavour: str
    version: str
    mpirun: str
    mpicc: str | None = None
    compilers: ClassVar[Mapping[str, str]] = MappingProxyType({})
    choices: ClassVar[Mapping[str, str]] = MappingProxyType({})

    @property
    def title(self) -> str:
        """Name and version for people."""
        return f"{LAUNCHERS[self.flavour].title} {self.version}"

    def argv(self, job: Job) -> list[str]:
        """Give the launcher's command line for a job."""
        return LAUNCHERS[self.flavour](self.mpirun, self.version).argv(job)

    def settings(self, job: Job) -> dict[str, str]:
        """Give the environment of a job that another program than the launcher starts."""
        return LAUNCHERS[self.flavour](self.mpirun, self.version).settings(job)


def identify(text: str) -> tuple[str, str] | None:
    """Read flavour and version from what ``mpirun --version`` printed; None when unknown."""
    for flavour, launcher in LAUNCHERS.items():
        if match := launcher.signature.search(text):
            return flavour, match[1].rstrip(".")
    return None


def find_mpi(choice: str = "auto") -> MpiInstallation:
    """Find an MPI library on this machine.

    - `choice`: ``auto`` (what ``mpirun`` is), a flavour, or the path of a launcher or of the folder
      that it was installed into.
    """
    if choice == "auto" or choice in LAUNCHERS:
        for path in filter(None, map(shutil.which, launcher_names(choice))):
            found = _inspect(path)
            if found is not None and choice in ("auto", found.flavour):
                return found
        launcher = LAUNCHERS["openmpi" if choice == "auto" else choice]
        hint = "install it and give the path of its mpirun as `mpi`"
        raise ToolMissing(
            "no MPI library found" if choice == "auto" else f"{launcher.title} is not installed",
            hint=package_hint(launcher.packages) if launcher.packages else hint,
        )
    given = Path(choice).expanduser()
    for candidate in (given, given / "bin" / "mpirun", given / "mpirun"):
        runs = candidate.is_file() and os.access(candidate, os.X_OK)
        if runs and (found := _inspect(str(candidate))):
            return found
    raise PlatformError(
        f"'{choice}' is not the launcher of Open MPI, MPICH or Intel MPI",
        where="mpi",
        hint="give auto, openmpi, mpich, intel or the path of mpirun",
    )


def mpi_facts(choice: str, transport: Transport) -> dict[str, Scalar]:
    """Describe how MPI runs on this machine; nothing when there is no library."""
    try:
        mpi = find_mpi(choice)
    except PlatformError:
        return {}
    return {"mpi.flavour": mpi.flavour, "mpi.version": mpi.version, "mpi.transport": transport}


def launcher_names(choice: str) -> tuple[str, ...]:
    """Name the launchers of a flavour, or of any: those first that say their flavour."""
    if choice in LAUNCHERS:
        return (*LAUNCHERS[choice].launchers, "mpirun", "mpiexec")
    return ("mpirun", *(name for each in LAUNCHERS.values() for name in each.launchers))


@cache
def _inspect(mpirun: str) -> MpiInstallation | None:
    try:
        done = subprocess.run(
            [mpirun, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20.0,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    known = identify(done.stdout + done.stderr)
    if known is None:
        return None
    # Debian has both libraries side by side under ``mpicc.openmpi`` and ``mpicc.mpich``, and a
    # plain ``mpicc`` that may belong to the other one.
    beside = (Path(mpirun).parent / name for name in LAUNCHERS[known[0]].compilers)
    mpicc = next((str(path) for path in beside if os.access(path, os.X_OK)), None)
    return MpiInstallation(*known, mpirun, mpicc)
