"""The versions of bareline and of the libraries that its figures depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from bareline import __version__

_LIBRARIES = ("polars", "numpy", "altair", "pydantic")


def versions() -> dict[str, str]:
    """Give the versions that measure today, by name."""
    found = {"bareline": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
