"""Locks between processes that use the same files; they go with the process."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bareline.host.owner import has_ended, owner_mark
from bareline.vocabulary.errors import StoreError

#: Users set it where a file system has no locks: lease files then stand in their place.
LEASES = "BARELINE_LEASES"
#: Lustre without ``-o flock``, NFS without lockd.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}
_PAUSE_S = 0.1


@contextmanager
def try_lock(descriptor: int, path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold the lock of an open file; False where another process has it, unless that is awaited.

    Raises StoreError: there are no locks, and no lease is allowed.
    """
    lease = None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        taken = True
    except BlockingIOError:
        taken = False
    except OSError as error:
        if error.errno not in _NO_LOCKS or LEASES not in os.environ:
            raise _no_locks(error, path) from error
        lease = _lease_of(path)
        while not (taken := _take(lease)) and wait:
            time.sleep(_PAUSE_S)
    try:
        yield taken
    finally:
        if lease and taken:
            lease.unlink(missing_ok=True)


def is_locked(descriptor: int, path: Path) -> bool:
    """Tell whether a process holds the lock or the lease of an open file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    try:
        return not has_ended(_lease_of(path).read_text(encoding="utf-8"))
    except OSError:
        return False


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold a lock that no two processes have at once; waits for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file, try_lock(file.fileno(), path, wait=True):
        yield


def _lease_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lease")


def _take(lease: Path) -> bool:
    """Make a lease file; one whose process has ended, on this host, is taken over."""
    with suppress(OSError):
        if has_ended(lease.read_text(encoding="utf-8")):
            lease.unlink()
    try:
        with lease.open("x", encoding="utf-8") as file:
            begun = time.strftime("%Y-%m-%dT%H:%M:%S%z")
            file.write(f"{owner_mark()} process {os.getpid()} on {socket.gethostname()}, {begun}\n")
    except FileExistsError:
        return False
    return True


def _no_locks(error: OSError, path: Path) -> StoreError:
    if error.errno not in _NO_LOCKS:
        return StoreError(f"cannot be locked: {error.strerror}", where=str(path), hint="try again")
    return StoreError(
        f"its file system has no locks: {error.strerror}",
        where=str(path),
        hint="mount it with locks (Lustre: -o flock; NFS: lockd), use another folder, or allow "
        f"lease files with {LEASES}=1 if one host at a time writes there",
    )
