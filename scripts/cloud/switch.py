"""The switch that all instances are on, and how anything is started that ends with this process."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from eventlet import sleep
from nova import exception
from nova.conf import CONF

#: What is started ends with this process, however that ends.
_ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
_SWITCH: list[subprocess.Popen[bytes]] = []
_MAKING = threading.Lock()


def switch(folder: Path) -> int:
    """Return the process in whose network the switch is, made for the first instance.

    In a network of its own, so that it goes with that process; what connects it to ours goes with
    it, too.
    """
    with _MAKING:
        if not _SWITCH:
            _SWITCH.append(_make_switch(folder))
    return _SWITCH[0].pid


def _make_switch(folder: Path) -> subprocess.Popen[bytes]:
    words = ["unshare", "--net", "sh", "-c", 'touch "$1" && exec sleep infinity', "sh"]
    up = folder / "switch.up"
    made = start([*words, str(up)], folder / "log/switch.log")
    wait_for(up, made)
    network = CONF.bareline_subnet
    there = inside(made.pid)
    ours = f"bl{os.getpid()}"
    check(*there, "ip", "link", "add", "switch", "type", "bridge")
    check(*there, "ip", "link", "set", "switch", "up")
    check(
        *("ip", "link", "add", ours, "type", "veth"),
        *("peer", "name", "outside", "netns", str(made.pid)),
    )
    check(*there, "ip", "link", "set", "outside", "master", "switch", "up")
    check("ip", "address", "add", network, "dev", ours)
    check("ip", "link", "set", ours, "up")
    return made


def inside(pid: int) -> tuple[str, ...]:
    """Return the words that let a command use the network of a process."""
    return ("nsenter", "--target", str(pid), "--net")


def start(argv: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start what ends with this process."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [*_ENDS_WITH_US, *argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )


def wait_for(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has made a file."""
    while not file.exists():
        if process.poll() is not None:
            raise exception.InternalError(err=f"a host ended with {process.returncode}")
        sleep(0.01)


def check(*argv: str) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise exception.InternalError(err=f"{' '.join(argv)}: {done.stderr.strip()}")
