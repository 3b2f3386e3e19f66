"""Programs and files for nodes that do not see this machine's file systems."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

from bareline.platforms.hosts import local_environment
from bareline.platforms.process import run_process
from bareline.vocabulary.errors import PlatformError

_COPY_S = 300.0


def pack(folder: Path) -> bytes:
    """Pack a folder's content into a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, arcname=".")
    return packed.getvalue()


def send(line: Sequence[str], archive: bytes, where: str) -> str:
    """Give an archive to a command line that unpacks it on a node; give what that says.

    Raises
    ------
    PlatformError
        It did not arrive whole.
    """
    done = run_process(line, env=local_environment(), timeout_s=_COPY_S, stdin=archive)
    if done.timed_out:
        raise PlatformError(f"files could not be copied within {_COPY_S:.0f} s", where=where)
    if done.exit_code:
        raise PlatformError(f"files could not be copied: {done.stderr.strip()}", where=where)
    return done.stdout
