"""Describe the failure of a platform, unless the disk of this machine fails."""

from __future__ import annotations

import errno

from bareline.host.cache import cache_folder
from bareline.vocabulary.errors import BarelineError, StoreError


def failure_of(error: Exception) -> str:
    """Describe why a platform failed.

    Raises StoreError, which ends the run: the disk of this machine fails.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            _refuse_failing_disk(cause, error)
        cause = cause.__cause__ or cause.__context__
    return reason_of(error)


def _refuse_failing_disk(cause: OSError, error: Exception) -> None:
    is_full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
    fails = cause.errno in (errno.EIO, errno.EROFS) and cause.filename
    if not is_full and not fails:
        return
    step = "make room" if is_full else "repair its file system"
    raise StoreError(
        f"the file cannot be written: {cause.strerror}",
        where=str(cause.filename or cache_folder()),
        hint=f"{step}, then `bareline continue` the run; nothing recorded is lost",
    ) from error


def reason_of(error: Exception) -> str:
    """Return the reason of an error as a text; an error of bareline contains this text."""
    if isinstance(error, BarelineError):
        return str(error)
    return f"{type(error).__name__}: {error}".rstrip(": ")
