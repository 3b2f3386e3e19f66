"""Where bareline keeps what it can make again: native programs, guest images, scratch files."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.errors import StoreError
from bareline.owner import has_ended, owner_mark


def cache_folder() -> Path:
    """Give bareline's cache folder, made if need be.

    ``BARELINE_CACHE`` names another one than the user's own cache folder.

    Raises
    ------
    StoreError
        It cannot be made.
    """
    chosen = os.environ.get("BARELINE_CACHE")
    if chosen:
        folder = Path(chosen)
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bareline"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the cache folder cannot be made: {error.strerror}",
            where=str(folder),
            hint="name another one in the environment variable BARELINE_CACHE",
        ) from error
    return folder


#: Inside a scratch folder: the mark of the bareline that made it.
_OWNER = ".owner"


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """Give a private folder that is gone afterwards, at the latest when the next one is made."""
    folder = cache_folder() / "scratch" / name
    _remove_abandoned(folder.parent)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _OWNER).write_text(owner_mark(), encoding="utf-8")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Remove the scratch folders of this host's barelines that have ended without doing so."""
    for owner in folder.glob(f"*/{_OWNER}"):
        with contextlib.suppress(OSError):
            if has_ended(owner.read_text(encoding="utf-8")):
                shutil.rmtree(owner.parent, ignore_errors=True)
