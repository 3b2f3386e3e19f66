"""Where bareline keeps what it can make again: native programs, guest images, scratch files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bareline.errors import StoreError


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


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """Give an empty private folder that is gone afterwards."""
    folder = cache_folder() / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
