"""What of the native programs bareline loads itself, instead of launching it."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from bareline.build import cache as build_cache
from bareline.build.native import build_native, trusted
from bareline.build.sources import source_folder, sources_key
from bareline.host.cache import cache_folder
from bareline.vocabulary.errors import BuildError

_NAME = Path("lib") / "libbareline_replay.so"


@cache
def load_library() -> ctypes.CDLL:
    """Load the compiled half of what bareline itself computes, built where it is not yet.

    Raises ToolMissing, BuildError: it cannot be built; the hint says what to install.
    """
    found = _built() or build_native(None, cache_folder()).path
    try:
        return ctypes.CDLL(str(found / _NAME))
    except OSError as error:
        raise BuildError(
            f"the compiled replay cannot be loaded: {error}",
            where=str(found / _NAME),
            hint="build it again: `bareline build --force`",
        ) from error


def _built() -> Path | None:
    """Give the build of these sources that was used last, for whatever MPI library."""
    for build in build_cache.finished(cache_folder() / "native"):
        if build.name.endswith(f"-{_key()}") and (build / _NAME).exists():
            build_cache.use(build)
            trusted(build)
            return build
    return None


@cache
def _key() -> str:
    return sources_key(source_folder())
