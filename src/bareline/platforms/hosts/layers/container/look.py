"""The view from inside a container, and whether programs from outside can run there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from bareline.platforms.hosts.launchers.installation import LAUNCHERS, MpiInstallation, identify
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Scalar

#: Kinds of namespaces, as /proc names them, in words.
_KINDS: Mapping[str, str] = {
    "user": "users",
    "mnt": "mounts",
    "pid": "processes",
    "net": "network",
    "ipc": "System V IPC",
    "uts": "host name",
    "cgroup": "control groups",
    "time": "clocks",
}
_SECCOMP = {"0": "off", "1": "strict", "2": "filter"}
_UNLIMITED = ("", "max", "max 100000")
_NUMBERS = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class ContainerView:
    """A program's view around it; `libraries`: flavour and version of each MPI library there."""

    said: Mapping[str, str]
    libraries: tuple[tuple[str, str], ...]

    @property
    def libc(self) -> str:
        """Version of the GNU C library, "" where it is another one."""
        found = _NUMBERS.search(self.said.get("libc", ""))
        return found[0] if found and "musl" not in self.said["libc"] else ""


def read_look(text: str) -> ContainerView:
    """Read the output of the script."""
    said: dict[str, str] = {}
    libraries = []
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if key == "mpi" and (known := identify(value)):
            libraries.append(known)
        elif key:
            said.setdefault(key.strip(), value.strip())
    return ContainerView(said, tuple(libraries))


def check_mpi(
    inside: ContainerView, outside: ContainerView, mpi: MpiInstallation, where: str
) -> None:
    """Refuse an image whose MPI library does not fit the one outside.

    Ranks inside talk to a launcher outside, and programs were built against its library: both
    change between minor versions.
    """
    title, started = LAUNCHERS[mpi.flavour].title, f"and ranks are started by {mpi.title}"
    own = [version for flavour, version in inside.libraries if flavour == mpi.flavour]
    wanted = f"{title} {_minor(mpi.version)}"
    own_pmix, other_pmix = (look.said.get("pmix", "") for look in (inside, outside))
    # The part of the version that callers depend on: ``2`` of libpmix.so.2.5.2.
    majors = {pmix.partition(".so.")[2].partition(".")[0] for pmix in (own_pmix, other_pmix)}
    if not own:
        others = ", ".join(f"{LAUNCHERS[name].title} {v}" for name, v in inside.libraries)
        what = f"the image has {others or 'no MPI library'}, {started}"
        hint = f"install {wanted} in the image, or choose another `mpi`"
    elif _minor(own[0]) != _minor(mpi.version):
        what = f"the image has {title} {own[0]}, {started}"
        hint = f"use an image with {wanted}, or install {own[0]} outside and give its path as `mpi`"
    elif mpi.flavour == "openmpi" and own_pmix and other_pmix and len(majors) > 1:
        what = f"the image's PMIx is {own_pmix}, and the launcher outside talks by {other_pmix}"
        hint = "use an image with the same PMIx"
    else:
        return
    raise PlatformError(what, where=where, hint=hint)


def check_libc(inside: ContainerView, needed: str, where: str) -> None:
    """Refuse an image whose C library is older than bareline's own programs need."""
    if not needed or (inside.libc and _ordered(inside.libc) >= _ordered(needed)):
        return
    what = f"the image has another C library than glibc, of which programs need {needed}"
    hint = "use an image of Debian, Ubuntu, a RedHat or SUSE"
    if inside.libc:
        what = f"the image has glibc {inside.libc}, and bareline's programs need {needed}"
        hint = "use a newer image, or run bareline on a system as old as the image's"
    raise PlatformError(what, where=where, hint=hint)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _own_namespaces(inside: Mapping[str, str], outside: Mapping[str, str]) -> list[str]:
    """Return the kinds of namespaces in which the inside differs from the outside."""
    kinds = []
    for kind in _KINDS:
        namespace = inside.get(f"ns.{kind}")
        if namespace and namespace != outside.get(f"ns.{kind}"):
            kinds.append(kind)
    return kinds


def look_facts(inside: ContainerView, outside: ContainerView, share: str) -> dict[str, Scalar]:
    """Return the facts of the container's inside, and its differences from the outside."""
    own = inside.said
    other = outside.said
    kinds = _own_namespaces(own, other)
    facts: dict[str, Scalar] = {
        "container.namespaces": ", ".join(_KINDS[kind] for kind in kinds) or "none",
        "container.userns": f"per-{share}" if "user" in kinds else "none",
        "container.rootless": "user" in kinds or other.get("uid") != "0",
    }
    if seccomp := _SECCOMP.get(own.get("Seccomp", "")):
        facts["container.seccomp"] = seccomp
    limits = {name: own.get(f"cgroup.{name}.max", "") for name in ("cpu", "memory", "pids")}
    limited = [f"{name} {limit}" for name, limit in limits.items() if limit not in _UNLIMITED]
    facts["container.limits"] = ", ".join(limited) or "none"
    # The view of programs counts: the image's system, and gVisor's own kernel.
    if own.get("os"):
        facts["os.name"] = own["os"]
    if inside.libc:
        facts["library.libc"] = f"glibc {inside.libc}"
    if own.get("kernel") and own["kernel"] != other.get("kernel"):
        facts["kernel.release"] = own["kernel"]
    return facts
