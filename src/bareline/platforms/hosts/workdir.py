"""Working directories of trials on the nodes, and facts of the file system below them.

A directory's name contains the bareline and the host that made it: the next bareline that works in
the same folder removes the directories of killed ones.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.host.owner import has_ended, owner_mark
from bareline.platforms.hosts.nodes import Nodes
from bareline.vocabulary.errors import PlatformError

#: How the name of a folder begins that must not outlive the bareline that made it.
PREFIX = "bareline-work-"
#: Where MPI libraries share memory, and how a folder of bareline's there begins.
MEMORY = Path("/dev/shm")
SESSION = "bareline-session-"
#: File systems of another machine, as stat names them; BeeGFS is fhgfs there.
_SERVED = ("nfs", "lustre", "gpfs", "fhgfs", "ceph", "cifs", "smb2", "panfs")
#: In addition to the data: block maps, directories, the journal.
_OVERHEAD_BYTES = 1 << 20


@contextmanager
def owned_folder(where: Path, prefix: str) -> Iterator[Path]:
    """Yield a folder of this bareline's own; `remove_ended` removes it after a kill."""
    with tempfile.TemporaryDirectory(
        prefix=f"{prefix}{owner_mark()}-", dir=where, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def remove_ended(where: Path, prefix: str) -> list[str]:
    """Remove such folders of barelines that have ended; say which."""
    folders = where.glob(f"{prefix}*")
    ended = [folder for folder in folders if has_ended(folder.name.removeprefix(prefix))]
    for folder in ended:
        shutil.rmtree(folder, ignore_errors=True)
    return [f"removed {folder}" for folder in ended]


def folder_name(token: str) -> str:
    """Name the working directory of the trial with that mark."""
    mark = owner_mark()
    return PREFIX + (token if token.startswith(mark) else f"{mark}-{token or 'trial'}")


def session_folder(token: str) -> str:
    """Return the folder in memory for the leftovers of a trial's killed MPI library."""
    return f"{MEMORY}/{SESSION}{token}"


def is_abandoned(name: str) -> bool:
    """Return whether a directory belongs to a bareline of this host that has ended."""
    begins = PREFIX if name.startswith(PREFIX) else SESSION
    return name.startswith(begins) and has_ended(name.removeprefix(begins))


def remove_abandoned(nodes: Nodes, folder: str) -> None:
    """Remove the leftovers of killed barelines of this host on nodes."""
    count = len(nodes.nodes)
    with contextlib.suppress(PlatformError):
        listings = nodes.on_every_node(
            'for begins in "$@"; do ls -1d -- "$begins"* 2>/dev/null; done; :',
            [(f"{folder}/{PREFIX}", f"{MEMORY}/{SESSION}")] * count,
        )
        left = [
            [path for path in finished.stdout.splitlines() if is_abandoned(path.rpartition("/")[2])]
            for finished in listings
        ]
        if any(left):
            nodes.on_every_node('[ $# = 0 ] || rm -rf -- "$@"', left)


def check_storage(storage: str, folder: str, needed_bytes: int) -> tuple[str, ...]:
    """Check the free space in the output of `look_at_storage`; return the file system's caveats."""
    match = re.match(r"(\d+) (\d+) (\S+)", storage)
    if match is None:
        raise PlatformError(
            f"the free space of '{folder}' is not known", hint=f"try `stat -f {folder}` there"
        )
    free_bytes = int(match[1]) * int(match[2])
    if free_bytes < needed_bytes + _OVERHEAD_BYTES:
        raise PlatformError(
            f"{needed_bytes + _OVERHEAD_BYTES} B are needed, and only {free_bytes} B are free in "
            f"'{folder}'",
            hint="measure with less data, or name another folder as `io_folder`",
        )
    if match[3] in ("tmpfs", "ramfs"):
        return ("memory-file-system",)
    caveats = []
    if "hypervisor" in storage:
        caveats.append("host-cache")
    if match[3] in _SERVED:
        caveats.append("server-cache")
    return tuple(caveats)


def runs_virtually() -> bool:
    """Return whether a hypervisor runs below this machine; on x86 the processor has a flag."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return re.search(r"\bhypervisor\b", text) is not None


def check_io_folder(folder: Path | None) -> None:
    """Refuse a folder of this machine in which trials cannot work."""
    if folder is not None and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise PlatformError(
            f"'{folder}' is not a folder that can be written to",
            hint="make it, or name another one as `io_folder`",
        )
