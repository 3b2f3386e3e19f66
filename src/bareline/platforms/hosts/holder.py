"""Processes (holders) that keep namespaces open, and command lines that run programs in them.

A holder ends when its standard input ends, so it never survives bareline. The kernel then removes
everything that exists only in the holder's namespaces: mounts, links, processes.
"""

from __future__ import annotations

import os
import select
import time
from pathlib import Path

from bareline.host.tools import require
from bareline.platforms.hosts.process import Process, local_environment
from bareline.vocabulary.errors import PlatformError

#: The loop of a holder after its namespaces are ready. A daemon that detaches itself becomes a
#: child of the holder. bash reaps such a child when it ends, and the kernel then adds the child's
#: processor time to the holder's statistics. (The kernel drops this time if SIGCHLD is ignored, and
#: dash reaps no children while it reads.)
WAIT = "echo ready\nexec bash --norc -c 'while read -r _; do :; done'\n"
#: How long a program of the set-up may take: making a file system on a slow disk.
SETUP_S = 120.0
_READY_S = 20.0


def tool(name: str) -> str:
    """Return the path of a program, from PATH or from the folders that only root's PATH has."""
    return require(name, path=system_path())


def system_path() -> str:
    """Return the search path with the folders of ip, tc and mkfs, which users' PATH often lacks."""
    return f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"


def system_environment() -> dict[str, str]:
    """Return the environment for set-up commands on this machine, with `system_path` as PATH."""
    return local_environment({"PATH": system_path()})


def wait_ready(process: Process, who: str) -> int:
    """Wait until a holder reports that it is ready; return the holder's process number."""
    assert process.stdout is not None and process.stderr is not None
    deadline = time.monotonic() + _READY_S
    output = b""
    while b"ready\n" not in output:
        left_s = max(0, deadline - time.monotonic())
        readable, _, _ = select.select([process.stdout], [], [], left_s)
        chunk = os.read(process.stdout.fileno(), 4096) if readable else b""
        if not chunk:
            reason = "it printed nothing in time"
            if readable:
                lines = process.stderr.read().decode(errors="replace").strip().splitlines()
                reason = lines[-1] if lines else "it ended"
            raise PlatformError(f"{who} did not come up: {reason}")
        output += chunk
    pid = process.pid  # follow the only child of each process down to the holder, which has none
    while children := Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        pid = int(children[0])
    return pid
