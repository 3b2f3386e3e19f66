"""The MPI library inside the guests, and whether it is the one outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bareline.platforms.launchers.installation import LAUNCHERS, MpiInstallation, identify
from bareline.platforms.process import Finished
from bareline.platforms.vm.image import AutoImage

#: Debian package of each library's launcher, and the launcher's name in a guest.
_PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
#: Where Fedora's kin and SUSE's put launchers, off the path until a module is loaded.
_ELSEWHERE = {
    "openmpi": ("/usr/lib64/openmpi/bin/mpirun", "/usr/lib64/mpi/gcc/openmpi4/bin/mpirun"),
    "mpich": ("/usr/lib64/mpich/bin/mpirun", "/usr/lib64/mpi/gcc/mpich/bin/mpirun"),
}


def guest_mpi(
    host: MpiInstallation | None, run: Callable[[list[str]], Finished], image: AutoImage | None
) -> MpiInstallation:
    """Find the library in a guest that belongs to the host's.

    - `run`: runs a command in a guest.
    - `image`: bareline's own image, whose packages are known without asking.
    """
    flavour = host.flavour if host else "openmpi"
    if image is not None and flavour in _PACKAGES:
        version = image.packages[_PACKAGES[flavour]]
        return MpiInstallation(flavour, upstream_version(version), f"mpirun.{flavour}")
    for name in (f"mpirun.{flavour}", "mpirun", *_ELSEWHERE.get(flavour, ())):
        done = run([name, "--version"])
        known = identify(done.stdout + done.stderr) if done.exit_code == 0 else None
        if known is not None and known[0] == flavour:
            return MpiInstallation(flavour, known[1], name)
    return MpiInstallation(flavour, "0", "mpirun")


def upstream_version(version: str) -> str:
    """Give a library's own version out of its Debian package's, e.g. 4.1.4 of 4.1.4-3+b1."""
    return version.rpartition(":")[2].partition("-")[0].partition("+")[0]


def mpi_caveats(host: MpiInstallation | None, inside: MpiInstallation) -> tuple[Any, ...]:
    """Say when the guests run another library than the host."""
    if host is None or host.version == inside.version:
        return ()
    title = LAUNCHERS[inside.flavour].title
    if inside.version == "0":
        return (f"the guests have no {title}",)
    return (f"the guests run {title} {inside.version}, the host {host.version}",)
