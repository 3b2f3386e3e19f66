"""Which process something belongs to that must not outlive it: folders, shared memory, bridges.

A mark is short and fit for the name of a folder, which several hosts may share.
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

    A later process may get the same number, but never the same start. The host is hashed, because
    a long name would leave no room in paths of sockets, which end at 108 characters.
    """
    return f"{os.getpid()}-{_start_ticks(os.getpid())}-{_host()}"


def owner_pid(mark: str) -> int:
    """Return the number of the process that a mark names."""
    return int(mark.partition("-")[0])


def is_mark(text: str) -> bool:
    """Return whether a text begins with the mark of a process."""
    return _MARK.match(text) is not None


def has_ended(mark: str) -> bool:
    """Return whether the process of a mark is gone for sure.

    - `mark`: a text that begins with a mark. Of other texts and of other hosts nothing is known.
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
    """Return the name of the PID namespace: this machine, or a container on it."""
    try:
        numbers = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        numbers = ""
    return hashlib.sha256(f"{socket.gethostname()} {numbers}".encode()).hexdigest()[:8]


def _start_ticks(pid: int) -> int:
    """Return when a process was started, in ticks since boot.

    Raises OSError where none can tell.
    """
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    return int(text.rpartition(")")[2].split()[19])
