"""The start, readiness check and end of a server that runs while a command is measured."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bareline.platforms.hosts.process import Process, end_group, holding, spawn
from bareline.vocabulary.errors import PlatformError

#: How long a server may take until it listens.
_READY_S = 20.0
#: So much is read of the end of a server's output.
_TAIL_BYTES = 1 << 16
_PORTS = range(20_000, 32_000)  # below the kernel's own ephemeral range


@dataclass(frozen=True, slots=True)
class Ports:
    """The TCP ports of one node: how to find the ports in use, and whether a port is in use."""

    taken: Callable[[], Collection[int]]
    listens: Callable[[int], bool]


@contextmanager
def serving(
    program: str,
    line: Callable[[Mapping[str, str]], Sequence[str]],
    ports: Ports,
    *,
    env: Mapping[str, str],
    clean: Callable[[str], str] = lambda text: text,
    hold: bool = False,
) -> Iterator[dict[str, str]]:
    """Start a server, wait until it listens, and yield its ports by name; end it afterwards.

    - `line`: returns the local command line; its argument maps placeholders to the server's ports.
    - `clean`: removes the lines that the connection to the node adds to the server's output.
    - `hold`: whether the server ends when its standard input ends; see `holding`.
    """
    problem = ""
    start = holding if hold else spawn
    for _ in range(3):
        taken = ports.taken()
        free = [number for number in _PORTS if number not in taken]
        if len(free) < 2:
            raise PlatformError(
                f"fewer than two of the ports from {_PORTS[0]} to {_PORTS[-1]} are free"
            )
        port, data_port = random.sample(free, 2)
        values = {"server_port": str(port), "server_data_port": str(data_port)}
        # A file for its output: pipes have no reader while the command is measured.
        with tempfile.TemporaryFile() as log, start(line(values), env=env, output=log) as process:
            problem = _wait_listening(ports, port, process)
            if not problem:
                yield values
                return
            end_group(process)
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TAIL_BYTES))
            lines = clean(log.read(_TAIL_BYTES).decode(errors="replace")).strip().splitlines()
            problem = lines[-1] if lines else problem
    raise PlatformError(f"the server '{program}' did not start: {problem}")


def _wait_listening(ports: Ports, port: int, process: Process) -> str:
    """Wait until a program listens on a port; return the reason if no program does, else ""."""
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        if ports.listens(port):
            return ""
        if process.poll() is not None:
            return "it ended"
        time.sleep(0.02)
    return f"nothing listens on port {port} after {_READY_S:.0f} s"
