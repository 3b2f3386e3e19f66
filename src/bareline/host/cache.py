"""The cache of files that bareline can make again: native programs, guest images, scratch."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.host.owner import has_ended, owner_mark
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.files import replace_file

_PRIVATE = 0o700


def cache_folder() -> Path:
    """Return bareline's cache folder.

    The environment variable ``BARELINE_CACHE`` sets the folder. Without this variable, it is a
    folder in the user's cache.

    Raises StoreError: the folder cannot be made, or other users may write to it.
    """
    folder = Path(
        os.environ.get("BARELINE_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bareline"
    )
    try:
        folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        check_trust(folder)
    except OSError as error:
        raise StoreError(
            f"the cache folder cannot be made: {error.strerror}",
            where=str(folder),
            hint="name another folder in the environment variable BARELINE_CACHE",
        ) from error
    return folder


def check_trust(path: Path) -> None:
    """Check that no other user can have written to a path from which programs are executed.

    Raises StoreError: the file belongs neither to this user nor to root, or other users may write
    to it.
    """
    status = path.stat()
    if status.st_uid not in (os.geteuid(), 0):
        raise StoreError(
            f"the cache folder belongs to another user (number {status.st_uid}), but bareline"
            " would execute its programs",
            where=str(path),
            hint="name a folder of your own in the environment variable BARELINE_CACHE",
        )
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise StoreError(
            "other users can write to the folder, but bareline would execute the programs in it",
            where=str(path),
            hint=f"if no other user wrote there: chmod go-w {path}",
        )


#: Inside a scratch folder: the mark of the bareline that made it.
_OWNER = ".owner"


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """Yield a private folder, which is removed afterwards.

    If the process is killed, a later call removes the folder. Each call makes a separate folder,
    even with the same name, because copies of a run may be executed at the same time.
    """
    folder = cache_folder() / "scratch"
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    remove_abandoned_scratch()
    scratch = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))
    try:
        try:
            replace_file(scratch / _OWNER, owner_mark(), durable=False)
        except OSError as error:
            # The error of a failed write names no file; without a name it could be taken for an
            # error of a platform.
            raise OSError(error.errno, error.strerror, str(scratch / _OWNER)) from error
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def remove_abandoned_scratch() -> None:
    """Remove the scratch folders of bareline processes of this host that were killed."""
    for owner in (cache_folder() / "scratch").glob(f"*/{_OWNER}"):
        with contextlib.suppress(OSError):
            if has_ended(owner.read_text(encoding="utf-8")):
                shutil.rmtree(owner.parent, ignore_errors=True)
