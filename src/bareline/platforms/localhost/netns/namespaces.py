"""The namespaces of the switch and of the hosts, and command lines to run programs in them.

The namespaces have no names and no mount points outside. The switch is the init of a process
namespace, and every host's namespaces are inside it, so that all hosts and links end with the
switch. See `holder`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

from bareline.platforms.hosts.holder import SETUP_S, WAIT, system_environment, tool, wait_ready
from bareline.platforms.hosts.process import Finished, holding, run_process
from bareline.vocabulary.errors import PlatformError

#: Makes a host of new namespaces. The arguments are its name and a file to mount over /etc/hosts.
_HOLD = f"""
set -e
hostname "$1"
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t sysfs sysfs /sys
[ -z "$2" ] || [ ! -e /etc/hosts ] || mount --bind "$2" /etc/hosts
ip link set lo up
{WAIT}"""
#: Tries the needs of `acquire`, in namespaces that end at once with an empty input.
_TRY = f"""
set -e
ip link add br0 type bridge
ip link add port1 type veth peer name eth0
{_HOLD}
"""
#: Settings of the kernel that forbid it to ordinary users: a name, the forbidding value, the other.
_SWITCHES = (
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "10000"),
)
_KINDS = ("--net", "--mount", "--uts", "--ipc", "--pid")
_TOOLS = ("unshare", "nsenter", "mount", "hostname", "ip", "tc", "taskset", "ethtool", "bash")


class Privilege(Enum):
    """The right by which namespaces are made: that of root, or that of a user namespace."""

    ROOT = "root"
    USER_NAMESPACE = "user namespace"

    def option(self, option: str) -> list[str]:
        """Return ``--user`` and a further option of unshare or nsenter for a user namespace.

        The list is empty if no user namespace is used.
        """
        return ["--user", option] if self is Privilege.USER_NAMESPACE else []


@dataclass(frozen=True, slots=True)
class Namespaces:
    """The namespaces of the switch or of a host.

    - `pid_in_switch`: number of the namespaces' process in the switch's process namespace.
    """

    pid: int
    pid_in_switch: int
    privilege: Privilege

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Return the command line by which bareline runs a program in the namespaces."""
        kinds = [*self.privilege.option("--preserve-credentials"), *_KINDS]
        return [tool("nsenter"), f"--target={self.pid}", *kinds, "--", *argv]

    def run(self, argv: Sequence[str], stdin: str = "") -> Finished:
        """Run a set-up program in the namespaces."""
        line = self.enter(argv)
        return run_process(line, env=system_environment(), timeout_s=SETUP_S, stdin=stdin)

    def run_checked(self, argv: Sequence[str], lines: Sequence[str] = ()) -> None:
        """Run a set-up command in the namespaces, with input lines; raise an error if it fails."""
        ended = self.run([tool(argv[0]), *argv[1:]], "\n".join([*lines, ""]))
        if ended.exit_code != 0:
            complaint = ended.stderr.strip() or "no reason given"
            first_line = complaint.splitlines()[0]
            text = f"'{argv[0]}' could not set up the network: {first_line}"
            doctor = "`bareline doctor --all` shows whether the kernel has"
            raise PlatformError(text, hint=f"{doctor} veth, bridge, sch_htb, sch_tbf")

    def alive(self) -> bool:
        """Return whether the namespaces still exist."""
        return Path(f"/proc/{self.pid}/ns/net").exists()

    def enter_from_switch(self, argv: Sequence[str]) -> list[str]:
        """Return the command line that runs a program in the namespaces, for use in the switch."""
        return [tool("nsenter"), f"--target={self.pid_in_switch}", *_KINDS, "--", *argv]


@cache
def find_privilege() -> Privilege:
    """Return the right by which namespaces can be made here; the test is made once."""
    for name in _TOOLS:
        tool(name)
    order = [Privilege.ROOT] if os.geteuid() == 0 else []
    reasons = []
    for privilege in (*order, Privilege.USER_NAMESPACE):
        reason = obstacle(privilege)
        if not reason:
            return privilege
        reasons.append(reason)
    text = f"network namespaces cannot be made here: {reasons[0]}"
    raise PlatformError(text, hint=_privilege_hint())


def obstacle(privilege: Privilege) -> str:
    """Make namespaces as a test, and return the error; "" if there is none."""
    line = _unshare(privilege, ["sh", "-c", _TRY, "try", "try", ""])
    ended = run_process(line, env=system_environment(), timeout_s=SETUP_S)
    return ended.why if ended.exit_code else ""


def _privilege_hint() -> str:
    if os.geteuid() == 0:
        return "start the container with CAP_SYS_ADMIN and CAP_NET_ADMIN (--privileged)"
    for name, forbidding, allowing in _SWITCHES:
        path = Path("/proc/sys", name.replace(".", "/"))
        with suppress(OSError):
            if path.read_text(encoding="ascii").strip() == forbidding:
                return f"run bareline as root, or allow it with `sudo sysctl {name}={allowing}`"
    return "run bareline as root"


def _unshare(privilege: Privilege, argv: Sequence[str]) -> list[str]:
    kinds = [*privilege.option("--map-root-user"), *_KINDS]
    return [tool("unshare"), *kinds, "--mount-proc", "--fork", "--kill-child", "--", *argv]


@contextmanager
def open_switch(privilege: Privilege, hosts_file: Path) -> Iterator[Namespaces]:
    """Open the namespaces that contain the bridge and the hosts; close them with the context."""
    argv = ["sh", "-c", _HOLD, "switch", "switch", str(hosts_file)]
    with holding(_unshare(privilege, argv), env=system_environment()) as process:
        init = wait_ready(process, "the switch")
        yield Namespaces(init, 1, privilege)


@contextmanager
def open_hosts(switch: Namespaces, names: Sequence[str]) -> Iterator[tuple[Namespaces, ...]]:
    """Open the namespaces of hosts inside the switch; close them with the context."""
    with ExitStack() as stack:
        started = []
        for name in names:
            inner = _unshare(Privilege.ROOT, ["sh", "-c", _HOLD, "host", name, ""])
            holder = holding(switch.enter(inner), env=system_environment())
            started.append(stack.enter_context(holder))
        hosts = []
        for name, process in zip(names, started, strict=True):
            init = wait_ready(process, f"host {name}")
            # The last number but one is the process's number in the switch's namespace.
            status = Path(f"/proc/{init}/status").read_text(encoding="utf-8")
            numbers = re.search(r"^NSpid:.*\b(\d+)\s+\d+$", status, re.MULTILINE)
            if numbers is None:
                raise PlatformError(
                    "this kernel does not report process numbers of namespaces (no NSpid)"
                )
            hosts.append(Namespaces(init, int(numbers[1]), switch.privilege))
        yield tuple(hosts)
