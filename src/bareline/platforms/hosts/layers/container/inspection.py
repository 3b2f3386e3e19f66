"""Inspection of a container from inside, and checks that programs from outside can run in it."""

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
    """The properties of a container that its programs see.

    - `libraries`: flavour and version of each MPI library in the container.
    """

    answers: Mapping[str, str]
    libraries: tuple[tuple[str, str], ...]

    @property
    def libc(self) -> str:
        """Version of the container's GNU C library; "" if it has another C library."""
        library = self.answers.get("libc", "")
        match = _NUMBERS.search(library)
        if match is None or "musl" in library:
            return ""
        return match[0]


def read_look(text: str) -> ContainerView:
    """Read the output of the script that inspects a container."""
    answers: dict[str, str] = {}
    libraries = []
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        library = identify(value) if key == "mpi" else None
        if library:
            libraries.append(library)
        elif key:
            answers.setdefault(key.strip(), value.strip())
    return ContainerView(answers, tuple(libraries))


def check_mpi(
    inside: ContainerView, outside: ContainerView, mpi: MpiInstallation, where: str
) -> None:
    """Check that the image's MPI library fits the library outside of the container.

    Ranks inside communicate with a launcher outside, and the programs were built with the outer
    library. The launcher's protocol and the library's interface both change between minor versions.
    """
    title = LAUNCHERS[mpi.flavour].title
    launcher = f"but {mpi.title} starts the ranks"
    versions = [version for flavour, version in inside.libraries if flavour == mpi.flavour]
    wanted = f"{title} {_minor(mpi.version)}"
    inside_pmix = inside.answers.get("pmix", "")
    outside_pmix = outside.answers.get("pmix", "")
    if not versions:
        others = [f"{LAUNCHERS[name].title} {version}" for name, version in inside.libraries]
        text = f"the image has {', '.join(others) or 'no MPI library'}, {launcher}"
        hint = f"install {wanted} in the image, or choose another `mpi`"
    elif _minor(versions[0]) != _minor(mpi.version):
        version = versions[0]
        text = f"the image has {title} {version}, {launcher}"
        hint = (
            f"use an image with {wanted}, or install {version} outside and give its path as `mpi`"
        )
    elif mpi.flavour == "openmpi" and _are_other_pmix(inside_pmix, outside_pmix):
        text = (
            f"the image has PMIx {inside_pmix}, but the launcher outside uses PMIx {outside_pmix}"
        )
        hint = "use an image with the same PMIx"
    else:
        return
    raise PlatformError(text, where=where, hint=hint)


def _are_other_pmix(inside: str, outside: str) -> bool:
    """Return whether two names like libpmix.so.2.5.2 differ in the major version.

    False if one of the names is "", which means unknown.
    """
    if not inside or not outside:
        return False
    return _pmix_major(inside) != _pmix_major(outside)


def _pmix_major(name: str) -> str:
    """Return the major version in the name of a library, such as ``2`` for libpmix.so.2.5.2."""
    _, _, version = name.partition(".so.")
    major, _, _ = version.partition(".")
    return major


def check_libc(inside: ContainerView, needed: str, where: str) -> None:
    """Check that the image's C library is as new as bareline's own programs need."""
    if not needed or (inside.libc and _ordered(inside.libc) >= _ordered(needed)):
        return
    text = f"the image has no glibc, but bareline's programs need glibc {needed}"
    hint = "use an image of Debian, Ubuntu, Red Hat or SUSE"
    if inside.libc:
        text = f"the image has glibc {inside.libc}, but bareline's programs need glibc {needed}"
        hint = "use a newer image, or run bareline on a system with an older glibc"
    raise PlatformError(text, where=where, hint=hint)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _own_namespaces(inside: Mapping[str, str], outside: Mapping[str, str]) -> list[str]:
    """Return the kinds of namespaces that the container does not share with the node."""
    kinds = []
    for kind in _KINDS:
        namespace = inside.get(f"ns.{kind}")
        if namespace and namespace != outside.get(f"ns.{kind}"):
            kinds.append(kind)
    return kinds


def look_facts(inside: ContainerView, outside: ContainerView, share: str) -> dict[str, Scalar]:
    """Return the facts of a container: its properties, and its differences from the node."""
    answers = inside.answers
    other = outside.answers
    kinds = _own_namespaces(answers, other)
    facts: dict[str, Scalar] = {
        "container.namespaces": ", ".join(_KINDS[kind] for kind in kinds) or "none",
        "container.userns": f"per-{share}" if "user" in kinds else "none",
        "container.rootless": "user" in kinds or other.get("uid") != "0",
    }
    seccomp = _SECCOMP.get(answers.get("Seccomp", ""))
    if seccomp:
        facts["container.seccomp"] = seccomp
    limited = []
    for name in ("cpu", "memory", "pids"):
        limit = answers.get(f"cgroup.{name}.max", "")
        if limit not in _UNLIMITED:
            limited.append(f"{name} {limit}")
    facts["container.limits"] = ", ".join(limited) or "none"
    # The view of programs counts: the image's system, and gVisor's own kernel.
    if answers.get("os"):
        facts["os.name"] = answers["os"]
    if inside.libc:
        facts["library.libc"] = f"glibc {inside.libc}"
    if answers.get("kernel") and answers["kernel"] != other.get("kernel"):
        facts["kernel.release"] = answers["kernel"]
    return facts
