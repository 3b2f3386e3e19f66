"""Working directories of trials on the nodes, and facts of their file system.

The name of a directory contains the bareline process and the host that made the directory. The next
bareline that works in the same folder removes the directories of killed processes.
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

#: Beginning of the names of folders that must not outlive the bareline process that made them.
PREFIX = "bareline-work-"
#: The folder in which MPI libraries share memory, and the beginning of bareline's names there.
MEMORY = Path("/dev/shm")
SESSION = "bareline-session-"
#: File systems of other machines, by the names that stat prints; fhgfs is BeeGFS.
_SERVED = ("nfs", "lustre", "gpfs", "fhgfs", "ceph", "cifs", "smb2", "panfs")
#: Space in addition to the data, for block maps, directories and the journal.
_OVERHEAD_BYTES = 1 << 20


@contextmanager
def owned_folder(where: Path, prefix: str) -> Iterator[Path]:
    """Yield a folder that belongs to this process; after a kill, `remove_ended` removes it."""
    with tempfile.TemporaryDirectory(
        prefix=f"{prefix}{owner_mark()}-", dir=where, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


def remove_ended(where: Path, prefix: str) -> list[str]:
    """Remove the folders of ended bareline processes; return a line for each.

    - `prefix`: the beginning of the folders' names, as in `owned_folder`.
    """
    folders = where.glob(f"{prefix}*")
    ended = [folder for folder in folders if has_ended(folder.name.removeprefix(prefix))]
    for folder in ended:
        shutil.rmtree(folder, ignore_errors=True)
    return [f"removed {folder}" for folder in ended]


def folder_name(token: str) -> str:
    """Return the name of a trial's working directory.

    - `token`: the mark of the trial.
    """
    mark = owner_mark()
    return PREFIX + (token if token.startswith(mark) else f"{mark}-{token or 'trial'}")


def session_folder(token: str) -> str:
    """Return the folder in memory for files that a killed MPI library would leave in /tmp."""
    return f"{MEMORY}/{SESSION}{token}"


def is_abandoned(name: str) -> bool:
    """Return whether a directory belongs to an ended bareline process of this host."""
    begins = PREFIX if name.startswith(PREFIX) else SESSION
    return name.startswith(begins) and has_ended(name.removeprefix(begins))


def remove_abandoned(nodes: Nodes, folder: str) -> None:
    """Remove the leftovers of this host's killed bareline processes from nodes."""
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
    """Check the free space of a folder, and return the caveats of its file system.

    - `storage`: the output of `look_at_storage`.
    """
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
            hint="measure with less data, or set `io_folder` to another folder",
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
    """Return whether this machine runs on a hypervisor; an x86 processor has a flag for it."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return re.search(r"\bhypervisor\b", text) is not None


def check_io_folder(folder: Path | None) -> None:
    """Check that trials can work in a folder of this machine."""
    if folder is not None and not (folder.is_dir() and os.access(folder, os.W_OK)):
        raise PlatformError(
            f"'{folder}' is not a folder that can be written to",
            hint="make it, or set `io_folder` to another folder",
        )
