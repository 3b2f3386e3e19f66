"""The option `filesystem`: the file system of trials, and checks that this machine can mount it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bareline.platforms.hosts.holder import system_path, tool
from bareline.vocabulary.errors import PlatformError

#: Options of mount(8), as in its manual page.
MountOptions = Annotated[str, Field(pattern=r"^[A-Za-z0-9_=.,:/+-]*$")]
_REMOTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*:/[A-Za-z0-9_./-]*")
#: mkfs.xfs makes none below 300 MiB.
_LEAST_BYTES = 320 << 20


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Local(_Part):
    """The file system that already contains the platform's working folder.

    - `type`: name of this kind of file system.
    """

    type: Literal["local"]


class Tmpfs(_Part):
    """A file system in memory.

    - `type`: name of this kind of file system.
    - `size_bytes`: capacity of the file system.
    - `options`: further mount options, such as ``huge=always``.
    """

    type: Literal["tmpfs"]
    size_bytes: Annotated[int, Field(ge=1 << 20)] = 1 << 30
    options: MountOptions = ""


class Loop(_Part):
    """A file system such as ext4 in a sparse file, through a loop device.

    - `type`: name of this kind of file system.
    - `size_bytes`: the largest size of the file.
    - `direct`: whether the loop device bypasses the page cache when it reads or writes the file.
    - `options`: mount options, such as ``noatime``.
    """

    type: Literal["loop-ext4", "loop-xfs", "loop-btrfs"]
    size_bytes: Annotated[int, Field(ge=_LEAST_BYTES)] = 2 << 30
    direct: bool = False
    options: MountOptions = ""

    @property
    def kind(self) -> str:
        """Name of the file system for mkfs and mount."""
        return self.type.removeprefix("loop-")


class Nfs(_Part):
    """A folder of a file server.

    - `type`: name of this kind of file system.
    - `server`: location of the server: ``node`` (the first node, which trials also use), ``own``
      (an additional node without ranks), ``host`` (the machine on which the nodes run), or
      ``HOST:/FOLDER`` (an existing server of the user).
    - `version`: version of the protocol.
    - `options`: further mount options, such as ``rsize=1048576,wsize=1048576``.
    """

    type: Literal["nfs"]
    server: str = "node"
    version: Literal["4.0", "4.1", "4.2"] = "4.2"
    options: MountOptions = ""

    @field_validator("server")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in ("node", "own", "host") and not _REMOTE.fullmatch(value):
            raise ValueError(
                f"{value!r} is not a valid server; write node, own, host or HOST:/FOLDER"
            )
        return value

    @property
    def remote(self) -> str | None:
        """Server and folder of the user's own server; None if bareline starts the server."""
        return self.server if ":" in self.server else None


class Gluster(_Part):
    """A distributed volume of GlusterFS: the name of a file determines the brick that contains it.

    - `type`: name of this kind of file system.
    - `bricks`: number of folders over which the volume is distributed. The nodes get the bricks in
      turn, so that a node gets several bricks if there are more bricks than nodes.
    - `options`: further mount options of the GlusterFS client.
    """

    type: Literal["gluster"]
    bricks: Annotated[int, Field(ge=1, le=64)] = 2
    options: MountOptions = ""


class Virtiofs(_Part):
    """A folder of the host, which guests reach through a virtual device that speaks FUSE.

    - `type`: name of this kind of file system.
    - `cache`: mode of caching in guests.
    """

    type: Literal["virtiofs"]
    cache: Literal["default", "none", "always"] = "default"


class NineP(_Part):
    """A folder of the host, which guests reach through a virtual device that speaks 9P.

    - `type`: name of this kind of file system.
    - `cache`: mode of caching in guests: ``none``, ``loose`` (for one guest alone) or ``mmap``.
    - `msize_bytes`: largest message, in bytes.
    """

    type: Literal["9p"]
    cache: Literal["none", "loose", "mmap"] = "none"
    msize_bytes: Annotated[int, Field(ge=4096, le=1 << 20)] = 256 << 10


FileSystem = Local | Tmpfs | Loop | Nfs | Gluster | Virtiofs | NineP
#: The file systems of one machine, of nodes with a network, and of guests.
OneNode = Annotated[Local | Tmpfs | Loop | Nfs, Field(discriminator="type")]
Networked = Annotated[Local | Tmpfs | Loop | Nfs | Gluster, Field(discriminator="type")]
Guests = Annotated[FileSystem, Field(discriminator="type")]
_WHERE = "filesystem"


def check_here(
    chosen: FileSystem | None, *, root: bool, user_namespace: bool, network: bool
) -> None:
    """Check that this machine meets the requirements of a file system.

    - `root`: whether devices of this machine can be mounted.
    - `user_namespace`: whether nodes have a user namespace, in which some file systems can be
      mounted.
    - `network`: whether nodes have their own network, in which a file server can run.
    """
    if chosen is None or chosen.type == "local":
        return
    if not root and not (user_namespace and isinstance(chosen, Tmpfs)):
        raise PlatformError(
            f"only root can mount a file system of type '{chosen.type}' here",
            where=_WHERE,
            hint="run bareline as root, or set `io_folder` to a folder of a mounted file system",
        )
    if isinstance(chosen, Nfs) and (problem := _misplaced(chosen, network)):
        raise PlatformError(
            problem, where=_WHERE, hint="docs/how-to/file-systems.md explains `server`"
        )
    programs, kind = _needs(chosen)
    for name in programs:
        tool(name)
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
    if not network and not chosen.remote:
        return "an NFS server here needs nodes with a network of their own: use type netns or vm"
    if network and chosen.remote:
        return "nodes of type netns cannot reach a server outside of this machine: use type local"
    if chosen.server == "host":
        return 'nodes of type netns cannot use server = "host": use server = "node" or "own"'
    return ""


def _needs(chosen: FileSystem) -> tuple[tuple[str, ...], str]:
    """Return the programs that a file system needs, and its name in the kernel."""
    match chosen:
        case Loop():
            return ("mount", f"mkfs.{chosen.kind}", "losetup"), chosen.kind
        case Nfs():
            return ("mount.nfs4", *(() if chosen.remote else ("ganesha.nfsd",))), "nfs4"
        case Gluster():
            return ("glusterd", "gluster", "mount.glusterfs"), "fuse"
    return ("mount",), chosen.type


def kernel_has(kind: str) -> bool:
    """Return whether the kernel supports a file system, by itself or with a loadable module."""
    registered = Path("/proc/filesystems").read_text(encoding="ascii").split()
    modprobe = shutil.which("modprobe", path=system_path())
    if kind in registered or modprobe is None:
        return kind in registered
    argv = [modprobe, "--dry-run", "--quiet", f"fs-{kind}"]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
