"""Find the MPI library of a program, and the reason if a program cannot be profiled."""

from __future__ import annotations

import contextlib
import re
import shutil
import stat
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.vocabulary.errors import PlatformError

#: Launchers that pass their own environment to every rank.
_BATCH = ("srun", "prun", "aprun", "jsrun", "flux")
#: Launchers of MPI libraries.
LAUNCHER = re.compile(r"(mpirun|mpiexec|orterun|prterun)(\..+|-.+)?")


def installation_of(argv: Sequence[str], mpi: str) -> MpiInstallation:
    """Return the MPI library of a command line.

    It is the library that `mpi` names; for "auto", the library of the launcher or program.
    """
    if mpi != "auto":
        return find_mpi(mpi)
    name = Path(argv[0]).name
    path = shutil.which(argv[0])
    if path is None:
        return find_mpi("auto")
    if LAUNCHER.fullmatch(name):
        return find_mpi(path)
    if name in _BATCH:
        return find_mpi("auto")
    linked = _flavour(_libraries(Path(path)))
    if linked:
        with contextlib.suppress(PlatformError):
            return find_mpi(linked)
    return find_mpi("auto")


def why_nothing(argv: Sequence[str], mpi: MpiInstallation) -> str:
    """Return why the profiler saw no call of a program; if unknown, all likely causes."""
    program = _program_of(argv)
    if program is not None:
        libraries = _libraries(program)
        if program.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
            return f"{program} is set-uid, and the system preloads nothing into such a program"
        if re.search("not a dynamic executable|statically linked", libraries or ""):
            return (
                f"{program} is linked statically, so nothing can be preloaded; link it dynamically"
            )
        flavour = _flavour(libraries)
        if flavour is not None and flavour != mpi.flavour:
            return f"{program} is linked with {flavour}, profiled was {mpi.title}; add --mpi"
        if libraries is not None and flavour is None:
            return f"{program} is linked with no MPI library"
    return (
        "it calls no MPI function, is linked statically, is set-uid, or uses another MPI library "
        f"than {mpi.title} (--mpi names one); a line of the profiler itself may say more"
    )


def _program_of(argv: Sequence[str]) -> Path | None:
    """Return the program of a command line: its first executable that is not a launcher."""
    wrappers = {"env", "nice", "taskset", "numactl"}
    is_launcher = LAUNCHER.fullmatch(Path(argv[0]).name) or argv[0] in _BATCH
    for text in argv[1:] if is_launcher else argv:
        path = shutil.which(text)
        if path is not None and Path(path).name not in wrappers:
            return Path(path).resolve()
    return None


def _libraries(program: Path) -> str | None:
    """Return the output of ``ldd`` for a program; None for a script or without ``ldd``."""
    try:
        with program.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return None
        finished = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, check=False, timeout=20
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return finished.stdout + finished.stderr


def _flavour(libraries: str | None) -> str | None:
    """Return the MPI library in the output of ``ldd``; None without one."""
    text = libraries or ""
    if re.search(r"libmpi\.so\.(20|40)", text):
        return "openmpi"
    if re.search(r"libmpich\.so|libmpi\.so\.12", text):
        return "mpich"
    return None
