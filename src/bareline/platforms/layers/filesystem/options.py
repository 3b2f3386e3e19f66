"""The option `filesystem`: what trials of a platform work on."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

#: Options of mount(8), as they stand in its manual page.
MountOptions = Annotated[str, Field(pattern=r"^[A-Za-z0-9_=.,:/+-]*$")]
_REMOTE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*:/[A-Za-z0-9_./-]*")
#: mkfs.xfs makes none below 300 MiB.
_LEAST_BYTES = 320 << 20


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Local(_Part):
    """What is there: the file system of the platform's own working folder.

    - `type`: which it is.
    """

    type: Literal["local"]


class Tmpfs(_Part):
    """A file system in memory.

    - `type`: which it is.
    - `size_bytes`: what it may hold.
    - `options`: further mount options, as ``huge=always``.
    """

    type: Literal["tmpfs"]
    size_bytes: Annotated[int, Field(ge=1 << 20)] = 1 << 30
    options: MountOptions = ""


class Loop(_Part):
    """A file system of its own kind in a sparse file.

    - `type`: which it is.
    - `size_bytes`: what the file may grow to.
    - `direct`: whether the loop device goes around the page cache below it.
    - `options`: mount options, as ``noatime``.
    """

    type: Literal["loop-ext4", "loop-xfs", "loop-btrfs"]
    size_bytes: Annotated[int, Field(ge=_LEAST_BYTES)] = 2 << 30
    direct: bool = False
    options: MountOptions = ""

    @property
    def kind(self) -> str:
        """Its name for mkfs and mount."""
        return self.type.removeprefix("loop-")


class Nfs(_Part):
    """A folder of a file server.

    - `type`: which it is.
    - `server`: where the server is. ``node``: the first node, which trials use, too; ``own``: a
      node of its own behind the network, which has no ranks; ``host``: the machine below the nodes,
      beside the disk; ``HOST:/FOLDER``: a server of yours.
    - `version`: version of the protocol.
    - `options`: further mount options, as ``rsize=1048576,wsize=1048576``.
    """

    type: Literal["nfs"]
    server: str = "node"
    version: Literal["4.0", "4.1", "4.2"] = "4.2"
    options: MountOptions = ""

    @field_validator("server")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in ("node", "own", "host") and not _REMOTE.fullmatch(value):
            raise ValueError(f"{value!r} is neither node, own, host nor HOST:/FOLDER")
        return value

    @property
    def remote(self) -> str | None:
        """The user's own server and its folder, where that is what is measured."""
        return self.server if ":" in self.server else None


class Gluster(_Part):
    """A distributed volume of GlusterFS: each file lies on one brick, chosen by its name.

    - `type`: which it is.
    - `bricks`: folders that it is spread over, on as many nodes; more than there are nodes go
      round.
    - `options`: further mount options of its client.
    """

    type: Literal["gluster"]
    bricks: Annotated[int, Field(ge=1, le=64)] = 2
    options: MountOptions = ""


class Virtiofs(_Part):
    """A folder of the host through a virtual device that the host's kernel serves with FUSE.

    - `type`: which it is.
    - `cache`: what guests may keep of it.
    """

    type: Literal["virtiofs"]
    cache: Literal["default", "none", "always"] = "default"


class NineP(_Part):
    """A folder of the host through a virtual device that talks 9P.

    - `type`: which it is.
    - `cache`: what guests may keep of it: ``none``, ``loose`` (for one guest alone) or ``mmap``.
    - `msize_bytes`: largest message.
    """

    type: Literal["9p"]
    cache: Literal["none", "loose", "mmap"] = "none"
    msize_bytes: Annotated[int, Field(ge=4096, le=1 << 20)] = 256 << 10


#: What one machine can mount for itself.
OneNode = Annotated[Local | Tmpfs | Loop | Nfs, Field(discriminator="type")]
#: What nodes with a network can mount.
Networked = Annotated[Local | Tmpfs | Loop | Nfs | Gluster, Field(discriminator="type")]
#: What guests can mount.
Guests = Annotated[
    Local | Tmpfs | Loop | Nfs | Gluster | Virtiofs | NineP, Field(discriminator="type")
]
FileSystem = Local | Tmpfs | Loop | Nfs | Gluster | Virtiofs | NineP
