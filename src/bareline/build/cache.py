"""The finished builds of the native programs in the cache: their list, use and removal.

A build is a folder ``<toolchain>-<sources>``; a complete build contains a record. A process that
uses a build has a shared lock on the record until the process ends. The modification time of the
record is the time of the last use. Processes that build for the same toolchain take turns: they
lock a file next to the toolchain's object files.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import stat
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.host.locks import file_lock

#: Written last, so that its presence shows that a build is complete.
RECORD = "build.json"
_MOST_RECORD_BYTES = 1 << 20
#: O_NONBLOCK: opening a fifo would wait for a writer.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Number of builds of a toolchain that stay even if unused, as sources may be changed back.
_MOST_BUILDS = 3
#: A build stays this long after its last use, because scripts use its paths without a lock.
_KEPT_S = 24 * 3600.0
#: The files of a toolchain are removed if the toolchain was not used for this time.
_FORGOTTEN_S = 30 * 24 * 3600.0
#: File names begin with the key of a toolchain, which has 8 digits (20 in the first versions).
_NAME = re.compile(r"([0-9a-f]{20}|[0-9a-f]{8})(?:[-.].*)?")

#: Locked records by path; they stay open until this process ends.
_locks: dict[Path, int] = {}


def use(build: Path) -> str | None:
    """Return the record of a build, and protect the build until this process ends.

    None if the build has no record.
    """
    record = build / RECORD
    try:
        descriptor = os.open(record, _READ)
    except OSError:
        return None
    if not _is_record(descriptor):
        os.close(descriptor)
        return None
    with contextlib.suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    if os.fstat(descriptor).st_nlink == 0:  # removed between opening and locking
        os.close(descriptor)
        return None
    with contextlib.suppress(OSError):  # a cache of another user
        os.utime(descriptor)
    if record in _locks:
        os.close(_locks[record])
    _locks[record] = descriptor
    return os.pread(descriptor, _MOST_RECORD_BYTES, 0).decode(errors="replace")


def _is_record(descriptor: int) -> bool:
    """Return whether an open file is a regular file that is small enough for a record."""
    status = os.fstat(descriptor)
    return stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_RECORD_BYTES


def finished(folder: Path, toolchain: str = "*") -> list[Path]:
    """Return the finished builds of a toolchain, or of all toolchains; the last used is first."""
    used = []
    for record in folder.glob(f"{toolchain}-*/{RECORD}"):
        with contextlib.suppress(OSError):  # just removed
            used.append((record.stat().st_mtime, record.parent))
    return [build for _, build in sorted(used, reverse=True)]


def toolchains(folder: Path) -> set[str]:
    """Return the keys of the toolchains that have builds."""
    return {build.name.partition("-")[0] for build in finished(folder)}


@contextmanager
def locked(folder: Path, toolchain: str) -> Iterator[int]:
    """Keep the lock for builds of a toolchain during the context, and yield its open file.

    Raises StoreError: the file system has no locks, and lock files (leases) are not allowed.
    """
    path = folder / f"{toolchain}.lock"
    with file_lock(path, "another process that builds the native programs") as descriptor:
        with contextlib.suppress(OSError):  # a cache of another user
            os.utime(descriptor)
        yield descriptor


def prune(folder: Path, toolchain: str) -> None:
    """Remove old builds and logs of a toolchain; the caller has the toolchain's lock.

    Builds stay if they are among the last few builds, are in use, or were used within a day.
    """
    for build in finished(folder, toolchain)[_MOST_BUILDS:]:
        if _is_old(build / RECORD):
            _remove(build)
    for log in folder.glob(f"{toolchain}-*.log"):
        if not log.with_suffix("").exists() and _is_old(log):
            log.unlink(missing_ok=True)


def prune_forgotten(folder: Path) -> None:
    """Remove builds, object files, logs and locks of toolchains that were not used for a month."""
    by_toolchain: dict[str, list[Path]] = defaultdict(list)
    for path in folder.iterdir():
        name = _NAME.fullmatch(path.name)
        if name:
            by_toolchain[name[1]].append(path)
    for toolchain, paths in by_toolchain.items():
        lock = folder / f"{toolchain}.lock"
        with contextlib.suppress(OSError):  # another process also removes it
            if all(_is_old(_used(path), _FORGOTTEN_S) for path in paths):
                _forget(lock, [path for path in paths if path != lock])


def _forget(lock: Path, paths: list[Path]) -> None:
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails during a build
        for path in paths:
            if (path / RECORD).exists():
                _remove(path)
            elif path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        lock.unlink(missing_ok=True)


def _used(path: Path) -> Path:
    """Return the file whose modification time is the time of the last use of a build."""
    record = path / RECORD
    return record if record.exists() else path


def _is_old(path: Path, age_s: float = _KEPT_S) -> bool:
    return time.time() - path.stat().st_mtime > age_s


def _remove(build: Path) -> None:
    record = build / RECORD
    # It cannot be locked while it is in use, nor opened if it belongs to another user.
    with contextlib.suppress(OSError), record.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        record.unlink()
        shutil.rmtree(build, ignore_errors=True)
