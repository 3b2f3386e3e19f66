"""Locks between processes that use the same files; a lock ends with its process.

On a file system without locks, a lease replaces a lock. A lease is a file that names its owner. The
owner first writes a private file and then links the lease to it, so that a lease always has its
complete text. The owner removes its lease. After an owner has ended, one other process (the taker)
removes the lease. The taker first gets a second lease, whose name is made from the text of the dead
lease. Therefore two processes never remove the same lease, and no process removes the lease of the
next owner. This also works if a process is killed between any two of these steps.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import os
import shlex
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bareline.host.owner import has_ended, is_mark, owner_mark
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import read_bounded

_LOG = logging.getLogger(__name__)

#: Users set it where a file system has no locks: lease files then replace them.
LEASES = "BARELINE_LEASES"
#: Lustre without ``-o flock``, NFS without lockd.
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP}
#: How long a lock is waited for in silence.
_SILENT_S, _PAUSE_S = 2.0, 0.05
#: A lease is a line.
_MOST_LEASE_BYTES = 4096
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def try_lock(
    descriptor: int, path: Path, *, wait: bool = False, waiting: str = ""
) -> Iterator[bool]:
    """Keep the lock of an open file during the context; yield False if another process has it.

    On a file system without locks, a file (lease) next to `path` replaces the lock, if allowed.

    - `waiting`: a description of the awaited process, for the warning after some seconds.

    Raises StoreError: the file system has no locks and no lease is allowed, or a lease names no
    owner.
    """
    lease = None
    try:
        taken = _lock(descriptor, path, wait=wait, waiting=waiting)
    except OSError as error:
        if error.errno not in _NO_LOCKS or LEASES not in os.environ:
            raise _no_locks(error, path) from error
        lease = _Lease(lease_of(path))
        taken = lease.take(wait=wait, waiting=waiting)
    try:
        yield taken
    finally:
        if lease is not None and taken:
            lease.release()


@contextmanager
def file_lock(path: Path, waiting: str = "") -> Iterator[int]:
    """Wait for the exclusive lock of a file, keep it during the context, and yield the open file.

    - `waiting`: a description of the awaited process, for the warning after some seconds.

    Raises StoreError: the file cannot be locked (see `try_lock`), cannot be made, or is not a
    regular file.
    """
    while True:
        descriptor = _opened(path)
        try:
            with try_lock(descriptor, path, wait=True, waiting=waiting):
                if os.fstat(descriptor).st_nlink:
                    yield descriptor
                    return
        finally:
            os.close(descriptor)
        # Another process removed it between opening and locking.


def is_locked(descriptor: int, path: Path) -> bool:
    """Return whether any process has the lock of an open file, or the lease that replaces it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    try:
        return not has_ended(_text_of(lease_of(path)))
    except OSError:
        return False


def lease_of(path: Path) -> Path:
    """Return the path of the lease of a file."""
    return path.with_name(f"{path.name}.lease")


def holder_of(path: Path) -> str:
    """Return a description of the owner of a file's lease, with the path of the lease.

    The text is empty if there is no lease.
    """
    with suppress(OSError):
        lease = lease_of(path)
        text = _text_of(lease).partition(" ")[2].strip()
        return f"{text or 'its owner is not named'} ({lease.name})"
    return ""


def _opened(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, _OPEN, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise _no_file(path) from error
        raise StoreError(
            f"the file cannot be locked: {error.strerror}",
            where=str(path),
            hint="name another cache folder in BARELINE_CACHE",
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_file(path)
    return descriptor


def _no_file(path: Path) -> StoreError:
    return StoreError(
        "the path cannot be locked because it is not a regular file",
        where=str(path),
        hint=f"`rm -r {shlex.quote(str(path))}`",
    )


def _lock(descriptor: int, path: Path, *, wait: bool, waiting: str) -> bool:
    """Take the kernel's lock, and return whether this process has it.

    Raises OSError: the file system has no locks.
    """
    warn_at = time.monotonic() + _SILENT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                return False
        else:
            return True
        if time.monotonic() >= warn_at:
            _LOG.warning("waiting for %s", waiting or f"another process that uses {path}")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return True
        time.sleep(_PAUSE_S)


class _Lease:
    """A lease (a file that replaces a lock) that this process owns or tries to get."""

    def __init__(self, path: Path) -> None:
        self._path = path
        begun = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        about = f"process {os.getpid()} on {socket.gethostname()}, {begun}"
        # No two leases have one text, also of one process.
        self._text = f"{owner_mark()} {about}, {os.urandom(8).hex()}\n"

    def take(self, *, wait: bool = False, waiting: str = "") -> bool:
        """Take the lease; return False if its owner runs here or may run on another host.

        Raises StoreError: a lease names no owner, so that its end cannot be detected; or a lease
        cannot be made here.
        """
        warn_at: float | None = time.monotonic() + _SILENT_S
        unreadable_at = time.monotonic() + _SILENT_S
        while not self._taken():
            nameless = self._is_nameless()
            if nameless and (not wait or time.monotonic() >= unreadable_at):
                raise _nameless(self._path)
            if not wait:
                return False
            if warn_at is not None and time.monotonic() >= warn_at:
                whom = waiting or "another process"
                _LOG.warning("waiting for %s: %s is of %s", whom, self._path, self._owner())
                warn_at = None
            time.sleep(_PAUSE_S)
        self._remove_leftovers()
        return True

    def release(self) -> None:
        """Remove the lease, if this process still owns it."""
        with suppress(OSError):
            _remove_exactly(self._path, self._text)

    def _taken(self) -> bool:
        if self._make():
            return True
        with suppress(OSError):
            text = _text_of(self._path)
            if has_ended(text):
                _remove_dead(self._path, text)
                return self._make()
        return False

    def _make(self) -> bool:
        """Make the lease with its complete text; return False if a lease exists.

        Raises StoreError: the lease cannot be made.
        """
        try:
            return _make(self._path, self._text)
        except OSError as error:
            raise StoreError(
                f"the lease file cannot be made: {error.strerror}",
                where=str(self._path),
                hint="use a folder on a file system with locks, or with hard links",
            ) from error

    def _is_nameless(self) -> bool:
        try:
            return not is_mark(_text_of(self._path))
        except FileNotFoundError:
            return False
        except OSError:
            return True

    def _owner(self) -> str:
        try:
            return _text_of(self._path).partition(" ")[2].strip()
        except OSError as error:
            return f"an unknown owner: it cannot be read ({error.strerror})"

    def _remove_leftovers(self) -> None:
        """Remove the private files of processes that were killed before they had made a lease."""
        beginning = f".{self._path.name}."
        with suppress(OSError):
            for left in self._path.parent.iterdir():
                if left.name.startswith(beginning) and has_ended(left.name.removeprefix(beginning)):
                    left.unlink(missing_ok=True)


def _text_of(lease: Path) -> str:
    data = read_bounded(lease, _MOST_LEASE_BYTES, within=lease.parent)
    return data.decode(errors="replace")


def _aside(lease: Path) -> Path:
    """Return a path for a private file next to a lease; the name identifies this process."""
    return lease.with_name(f".{lease.name}.{owner_mark()}.{os.urandom(8).hex()}")


def _make(lease: Path, text: str) -> bool:
    """Make a lease with its complete text; return False if a lease exists.

    Raises OSError: the lease cannot be made.
    """
    aside = _aside(lease)
    try:
        descriptor = os.open(aside, _NEW, 0o644)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        try:
            os.link(aside, lease)
        except FileExistsError:
            # NFS may say so of a request that it repeated by itself, after it was fulfilled.
            return aside.stat().st_nlink == 2
    finally:
        with suppress(OSError):
            aside.unlink()
    return True


def _remove_dead(lease: Path, text: str) -> None:
    """Remove the lease of an ended owner; no other process can remove it at the same time.

    An ended owner never makes another lease, so the text identifies this lease.

    Raises OSError: the lease cannot be removed.
    """
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    right = lease.with_name(f".{_base(lease)}.lease-{key}")
    claim = f"{owner_mark()} removes a lease, {os.urandom(8).hex()}\n"
    if not _make(right, claim):
        other = _text_of(right)
        if has_ended(other):  # killed while it removed the lease
            _remove_dead(right, other)
        return
    try:
        _remove_exactly(lease, text)
    finally:
        _remove_exactly(right, claim)


def _base(lease: Path) -> str:
    """Return the name of the locked file.

    - `lease`: the path of the file's lease, or of the second lease of the process that removes it.
    """
    return lease.name.removeprefix(".").rpartition(".lease")[0]


def _remove_exactly(lease: Path, text: str) -> None:
    """Remove a lease if it has this text.

    Raises OSError: the lease cannot be removed.
    """
    if _text_of(lease) != text:
        return
    private = _aside(lease)
    lease.rename(private)
    try:
        if _text_of(private) != text:  # removed by hand, and taken by another process
            os.link(private, lease)
    finally:
        private.unlink(missing_ok=True)


def _nameless(lease: Path) -> StoreError:
    return StoreError(
        "the lease contains no owner, so that it never ends",
        where=str(lease),
        hint=f"if no bareline uses the locked file: `rm {shlex.quote(str(lease))}`",
    )


def _no_locks(error: OSError, path: Path) -> StoreError:
    if error.errno not in _NO_LOCKS:
        return StoreError(
            f"the file cannot be locked: {error.strerror}", where=str(path), hint="try again"
        )
    return StoreError(
        f"the file system has no locks: {error.strerror}",
        where=str(path),
        hint="mount it with locks (Lustre: -o flock; NFS: lockd), use another folder, or allow "
        f"lease files with {LEASES}=1 if one host at a time writes there",
    )
