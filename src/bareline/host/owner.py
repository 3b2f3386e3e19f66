"""Marks of processes, in the names of resources that must not outlive a process.

Such resources are folders, shared memory and bridges. A mark is short, and also identifies the
host, because several hosts may share a folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
from pathlib import Path

_MARK = re.compile(r"(\d{1,10})-(\d{1,20})-([0-9a-f]{8})\b")


def owner_mark() -> str:
    """Return the mark of this process: its number, its start in ticks since boot, its host.

    A later process may have the same number, but not the same start. The mark has a hash of the
    host's name, because a long name would exceed the limit of 108 characters for paths of sockets.
    """
    return f"{os.getpid()}-{_start_ticks(os.getpid())}-{_host()}"


def owner_pid(mark: str) -> int:
    """Return the number of the process in a mark."""
    return int(mark.partition("-")[0])


def is_mark(text: str) -> bool:
    """Return whether a text begins with the mark of a process."""
    return _MARK.match(text) is not None


def has_ended(mark: str) -> bool:
    """Return whether the process of a mark has certainly ended.

    - `mark`: a text that begins with a mark. The result is False for any other text, and for a mark
      of another host.
    """
    match = _MARK.match(mark)
    if match is None or match[3] != _host():
        return False
    pid = int(match[1])
    if not _exists(pid):
        return True
    try:
        return _start_ticks(pid) != int(match[2])
    except OSError:  # too many open files, or /proc hides the processes of other users
        return not _exists(pid)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return pid > 0


def _host() -> str:
    """Return a short hash of the host's name and of the PID namespace, which a container has."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return hashlib.sha256(f"{socket.gethostname()} {numbers}".encode()).hexdigest()[:8]


def _start_ticks(pid: int) -> int:
    """Return the start time of a process, in ticks since boot.

    Raises OSError: the start time cannot be read.
    """
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return int(text.rpartition(")")[2].split()[19])
