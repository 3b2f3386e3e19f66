"""Processes that hold namespaces open, and how to run programs in them.

Nothing is named or mounted outside: the switch is a process that is the init of a process
namespace, and every host is one inside it. When bareline ends, in whatever way, the switch reads
the end of its standard input and ends too, and the kernel then kills every process of the switch
and its hosts and removes their links.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from bareline.host.load import orphans_s
from bareline.platforms.holder import SETUP_S, WAIT, system_environment, tool, wait_ready
from bareline.platforms.process import Finished, holding, run_process
from bareline.vocabulary.errors import PlatformError

#: Makes a host of new namespaces. The arguments are its name and a file to lie over /etc/hosts.
_HOLD = f"""
set -e
hostname "$1"
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t sysfs sysfs /sys
[ -z "$2" ] || [ ! -e /etc/hosts ] || mount --bind "$2" /etc/hosts
ip link set lo up
{WAIT}"""
#: Tries what `acquire` will need, in namespaces that end at once with an empty input.
_TRY = f"""
set -e
ip link add br0 type bridge
ip link add port1 type veth peer name eth0
{_HOLD}
"""
_KINDS = ("--net", "--mount", "--uts", "--ipc", "--pid")
_TOOLS = ("unshare", "nsenter", "mount", "hostname", "ip", "tc", "taskset", "ethtool", "bash")


class Privilege(Enum):
    """As whom namespaces are made."""

    ROOT = "root"
    USER_NAMESPACE = "user namespace"

    @property
    def unshare(self) -> list[str]:
        """Options of unshare(1) for the outermost namespaces."""
        return ["--user", "--map-root-user"] if self is Privilege.USER_NAMESPACE else []

    @property
    def nsenter(self) -> list[str]:
        """Options of nsenter(1) to get into them from outside."""
        return ["--user", "--preserve-credentials"] if self is Privilege.USER_NAMESPACE else []


@dataclass(frozen=True, slots=True)
class Namespaces:
    """The namespaces of the switch or of one host.

    - `pid_in_switch`: the same process as those in the switch see it.
    """

    pid: int
    pid_in_switch: int
    privilege: Privilege

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Give the command line that runs a program inside, from outside of all of them."""
        return [
            tool("nsenter"),
            f"--target={self.pid}",
            *self.privilege.nsenter,
            *_KINDS,
            "--",
            *argv,
        ]

    def run(self, argv: Sequence[str], stdin: str = "") -> Finished:
        """Run a program of the set-up inside."""
        line = self.enter(argv)
        return run_process(line, env=system_environment(), timeout_s=SETUP_S, stdin=stdin)

    def alive(self) -> bool:
        """Tell whether they still exist."""
        return Path(f"/proc/{self.pid}/ns/net").exists()

    def processor_s(self) -> float:
        """Give the processor time so far of what detached itself here, in seconds.

        Programs that were entered from outside are their parents', who wait for them there.
        """
        return orphans_s(self.pid)

    def enter_from_switch(self, argv: Sequence[str]) -> list[str]:
        """Give the command line that runs a program inside, from inside the switch."""
        return [tool("nsenter"), f"--target={self.pid_in_switch}", *_KINDS, "--", *argv]


def find_privilege() -> Privilege:
    """Find out how namespaces can be made here, by making some; asked once."""
    for name in _TOOLS:
        tool(name)
    return _try_privileges()


@cache
def _try_privileges() -> Privilege:
    order = [Privilege.ROOT] if os.geteuid() == 0 else []
    reasons = []
    for privilege in (*order, Privilege.USER_NAMESPACE):
        reason = obstacle(privilege)
        if not reason:
            return privilege
        reasons.append(reason)
    raise PlatformError(
        f"network namespaces cannot be made here: {reasons[0]}", hint=_privilege_hint()
    )


def obstacle(privilege: Privilege) -> str:
    """Make namespaces and say what went wrong; empty when nothing did."""
    line = _unshare(privilege, ["sh", "-c", _TRY, "try", "try", ""])
    done = run_process(line, env=system_environment(), timeout_s=SETUP_S)
    return done.why if done.exit_code else ""


def _privilege_hint() -> str:
    """Say what would let this user make namespaces."""
    if os.geteuid() == 0:
        return "start the container with CAP_SYS_ADMIN and CAP_NET_ADMIN (--privileged)"
    switches = {
        "kernel/unprivileged_userns_clone": ("0", "kernel.unprivileged_userns_clone=1"),
        "kernel/apparmor_restrict_unprivileged_userns": (
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        "user/max_user_namespaces": ("0", "user.max_user_namespaces=10000"),
    }
    for name, (forbidding, setting) in switches.items():
        try:
            value = Path("/proc/sys", name).read_text(encoding="ascii").strip()
        except OSError:
            continue
        if value == forbidding:
            return f"run bareline as root, or allow it with `sudo sysctl {setting}`"
    return "run bareline as root"


def _unshare(privilege: Privilege, argv: Sequence[str]) -> list[str]:
    return [
        tool("unshare"),
        *privilege.unshare,
        *_KINDS,
        "--mount-proc",
        "--fork",
        "--kill-child",
        "--",
        *argv,
    ]


@contextmanager
def open_switch(privilege: Privilege, hosts_file: Path) -> Iterator[Namespaces]:
    """Hold the namespaces in which the hosts and the bridge live."""
    argv = ["sh", "-c", _HOLD, "switch", "switch", str(hosts_file)]
    with holding(_unshare(privilege, argv), env=system_environment()) as process:
        init = wait_ready(process, "the switch")
        yield Namespaces(init, 1, privilege)


@contextmanager
def open_hosts(switch: Namespaces, names: Sequence[str]) -> Iterator[tuple[Namespaces, ...]]:
    """Hold the namespaces of hosts inside the switch."""
    with ExitStack() as stack:
        started = []
        for name in names:
            inner = _unshare(Privilege.ROOT, ["sh", "-c", _HOLD, "host", name, ""])
            holder = holding(switch.enter(inner), env=system_environment())
            started.append((name, stack.enter_context(holder)))
        found = []
        for name, process in started:
            init = wait_ready(process, f"host {name}")
            found.append(Namespaces(init, _pid_in_parent(init), switch.privilege))
        yield tuple(found)


def _pid_in_parent(pid: int) -> int:
    """Give the number of a namespace's init in the namespace around it."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-2])
    raise PlatformError("this kernel does not report process numbers of namespaces (no NSpid)")
