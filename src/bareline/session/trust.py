"""Whose a run is: another user's is read under limits, and runs no program before it is trusted.

A run says which programs run where, so whoever continues one does what its maker wrote.
"""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path

from bareline.host.cache import cache_folder
from bareline.store.header import HEADER_FILE
from bareline.store.run import Run
from bareline.vocabulary.errors import UsageError

_PRIVATE = 0o700


def owner_of(path: Path) -> int | None:
    """Give the number of the user that a run belongs to; None where it is the caller's own."""
    for place in (path, path / HEADER_FILE):
        owner = place.stat().st_uid
        if owner != os.geteuid():
            return owner
    return None


def see_to_trust(run: Run, *, trust: bool) -> None:
    """Refuse to run what another user wrote, until the caller says once that he trusts it.

    What is trusted is this run as it is now: another study, platform or place is asked for anew.

    - `trust`: the caller says so now.

    Raises UsageError: he never did.
    """
    owner = owner_of(run.path)
    if owner is None:
        return
    mark = cache_folder() / "trusted" / _identity(run)
    if trust:
        mark.parent.mkdir(mode=_PRIVATE, exist_ok=True)
        mark.touch()
    elif not mark.exists():
        raise UsageError(
            f"belongs to another user (number {owner}), whose programs would be run as you",
            where=str(run.path),
            hint=f"read {HEADER_FILE} there, then `bareline continue --trust "
            f"{shlex.quote(str(run.path))}`",
        )


def _identity(run: Run) -> str:
    """Name what is trusted: the run as it was read, not as its file may be by now."""
    text = f"{run.header.to_toml()}\0{run.path.resolve()}"
    return hashlib.sha256(text.encode()).hexdigest()
