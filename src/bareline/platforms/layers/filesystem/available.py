"""Whether this machine can mount what a platform asks for, looked at before anything starts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from bareline.platforms.held import system_path, tool
from bareline.platforms.layers.filesystem.options import FileSystem, Gluster, Loop, Nfs, Tmpfs
from bareline.vocabulary.errors import PlatformError

_WHERE = "filesystem"


def check_here(
    chosen: FileSystem | None, *, root: bool, user_namespace: bool, network: bool
) -> None:
    """See that this machine has what a file system needs.

    - `root`: whether devices of this machine can be mounted.
    - `user_namespace`: whether nodes have a user namespace, in which some file systems can be
      mounted all the same.
    - `network`: whether nodes have a network of their own, in which they can serve.
    """
    if chosen is None or chosen.type == "local":
        return
    if not root and not (user_namespace and isinstance(chosen, Tmpfs)):
        raise PlatformError(
            f"only root can mount a file system of type '{chosen.type}' here",
            where=_WHERE,
            hint="run bareline as root, or name a folder that is mounted already as `io_folder`",
        )
    if isinstance(chosen, Nfs) and (problem := _misplaced(chosen, network)):
        raise PlatformError(problem, where=_WHERE, hint='see `server` in "Compare file systems"')
    for name in _programs(chosen):
        tool(name)
    for kind in _kinds(chosen):
        if not kernel_has(kind):
            raise PlatformError(
                f"this machine's kernel has no {kind}",
                where=_WHERE,
                hint=f"load it (`modprobe {kind}`), or use guests (platform type vm), whose own "
                "kernel has it",
            )
    if isinstance(chosen, Loop) and not Path("/dev/loop-control").exists():
        raise PlatformError(
            "this machine has no loop devices", where=_WHERE, hint="load them: `modprobe loop`"
        )


def _misplaced(chosen: Nfs, network: bool) -> str:
    """Say why a server cannot be where it is wanted."""
    if not network and not chosen.remote:
        return "this machine serves itself nothing over a network: use hosts (type netns) or guests"
    if network and chosen.remote:
        return "hosts as namespaces reach no server outside: use platform type local"
    if chosen.server == "host":
        return 'hosts as namespaces have no machine below them: use server = "node" or "own"'
    return ""


def _programs(chosen: FileSystem) -> tuple[str, ...]:
    match chosen:
        case Loop():
            return ("mount", f"mkfs.{chosen.kind}", "losetup")
        case Nfs():
            return ("mount.nfs4",) if chosen.remote else ("mount.nfs4", "ganesha.nfsd")
        case Gluster():
            return ("glusterd", "gluster", "mount.glusterfs")
    return ("mount",)


def _kinds(chosen: FileSystem) -> tuple[str, ...]:
    """Name what the kernel must have."""
    match chosen:
        case Loop():
            return (chosen.kind,)
        case Nfs():
            return ("nfs4",)
        case Gluster():
            return ("fuse",)
    return (chosen.type,)


def kernel_has(kind: str) -> bool:
    """Tell whether the kernel has a file system, or a module of it that can be loaded."""
    known = Path("/proc/filesystems").read_text(encoding="ascii").split()
    modprobe = shutil.which("modprobe", path=system_path())
    if kind in known or modprobe is None:
        return kind in known
    asked = [modprobe, "--dry-run", "--quiet", f"fs-{kind}"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0
