"""What of the native programs bareline loads itself, instead of launching it."""

from __future__ import annotations

import ctypes
import logging
from functools import cache
from pathlib import Path

from bareline.build import cache as build_cache
from bareline.build.native import build_native, trusted
from bareline.build.sources import source_folder, sources_key
from bareline.host.cache import cache_folder
from bareline.vocabulary.errors import BarelineError

_LOG = logging.getLogger(__name__)
_NAME = Path("lib") / "libbareline_replay.so"


def load_library(*, build: bool) -> ctypes.CDLL | None:
    """Load the compiled half of what bareline itself computes.

    Parameters
    ----------
    build
        Build it where no build of these sources is there: so much is to do that this is worth some
        seconds.

    Returns
    -------
    The library; None where there is none, or it does not load. Whoever asks has the same in Python.
    """
    return _load() or (_load(build=True) if build else None)


@cache
def _load(*, build: bool = False) -> ctypes.CDLL | None:
    try:
        found = _built()
        if found is None and build:
            found = build_native(None, cache_folder()).path
            _load.cache_clear()  # what was not there is now
        return None if found is None else ctypes.CDLL(str(found / _NAME))
    except (BarelineError, OSError) as error:
        _LOG.info("computing in Python, slower: %s", error)
        return None


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
