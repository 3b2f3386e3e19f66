"""The finished builds of the native programs: which there are, who uses them, which may go.

A build is a folder ``<toolchain>-<sources>`` that holds a record once it is complete. Whoever uses
it keeps a shared lock on the record until its process ends, which the kernel sees to; the record's
time of change says when it was used last.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path

#: Written last, so that its presence says that a build is complete.
RECORD = "build.json"
#: So many builds of a toolchain stay, whoever uses them: sources change to and fro.
_KEPT = 3
#: Scripts use the paths of programs and libraries without a lock.
_KEPT_S = 24 * 3600.0

#: Locked records by path; they stay open until this process ends.
_held: dict[Path, int] = {}


def use(build: Path) -> str | None:
    """Give a build's record and keep the build as long as this process lives.

    None where there is no finished build.
    """
    record = build / RECORD
    try:
        descriptor = os.open(record, os.O_RDONLY)
    except OSError:
        return None
    with contextlib.suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    if os.fstat(descriptor).st_nlink == 0:  # removed between opening and locking
        os.close(descriptor)
        return None
    with contextlib.suppress(OSError):  # a cache that others fill
        os.utime(descriptor)
    if record in _held:
        os.close(_held[record])
    _held[record] = descriptor
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace")


def finished(folder: Path, toolchain: str = "*") -> list[Path]:
    """List finished builds, of one toolchain or of all; what was used last comes first."""
    used = []
    for record in folder.glob(f"{toolchain}-*/{RECORD}"):
        with contextlib.suppress(OSError):  # removed meanwhile
            used.append((record.stat().st_mtime, record.parent))
    return [build for _, build in sorted(used, reverse=True)]


def toolchains(folder: Path) -> set[str]:
    """Give the keys of the toolchains that something is built for."""
    return {build.name.partition("-")[0] for build in finished(folder)}


def prune(folder: Path, toolchain: str) -> None:
    """Remove a toolchain's old builds and logs; its lock must be held.

    The last few stay, and what was used within a day or is in use.
    """
    for build in finished(folder, toolchain)[_KEPT:]:
        if _is_old(build / RECORD):
            _remove(build)
    for log in folder.glob(f"{toolchain}-*.log"):
        if not log.with_suffix("").exists() and _is_old(log):
            log.unlink(missing_ok=True)


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > _KEPT_S


def _remove(build: Path) -> None:
    record = build / RECORD
    # Not to be locked: somebody uses it. Not to be opened: it is somebody else's.
    with contextlib.suppress(OSError), record.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        record.unlink()
        shutil.rmtree(build, ignore_errors=True)
