"""A guest: its identity, its connection, its settings, and its report when it is up.

An ssh handshake takes most of a second on an emulated processor, so every command uses the
connection that was opened when the guest came up. The process that opened the connection runs in
the guests' network namespace. Later ssh clients run outside of it, and use the connection by a
socket file.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from itertools import chain
from pathlib import Path

from bareline.platforms.hosts.process import Finished, local_environment, remote_line, run_process
from bareline.platforms.made.vm.domain import MANAGEMENT_MAC, MEASURED_MAC, Guest, share_tag
from bareline.platforms.made.vm.hypervisor import Hypervisor
from bareline.platforms.made.vm.kernel import File
from bareline.platforms.made.vm.leftovers import SET_AND_SHOW
from bareline.platforms.made.vm.nic import Nic
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.reached.remote.keys import Keys, client_config, known_hosts
from bareline.vocabulary.files import replace_file

#: Cheapest key exchange for a processor without wide multiplication.
_KEX = "curve25519-sha256"
_HANDSHAKE_S = 60.0
_REFUSED_S = 60.0
_PAUSE_S = 0.5


def server_config() -> str:
    """Return the configuration of the guests' sshd."""
    return (
        "HostKey /run/bareline/host_key\n"
        "AuthorizedKeysFile /run/bareline/authorized_keys\n"
        "PermitRootLogin prohibit-password\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        "UsePAM no\nUseDNS no\nStrictModes no\nPrintMotd no\nPrintLastLog no\n"
        "MaxSessions 500\nMaxStartups 100\n"
        # A paused guest must find its connections again.
        "TCPKeepAlive no\nClientAliveInterval 0\n"
        f"KexAlgorithms {_KEX}\nPidFile /run/sshd.pid\n"
    )


#: Options of ssh that survive a pause of the guest and never prompt.
_PATIENT = ("BatchMode yes", "TCPKeepAlive no", "ConnectTimeout 20", f"KexAlgorithms {_KEX}")


class GuestAccess:
    """The connections to the guests of one platform; `folder` is private and has a short path."""

    def __init__(
        self, hypervisor: Hypervisor, folder: Path, keys: Keys, guests: Sequence[Guest]
    ) -> None:
        self.hypervisor = hypervisor
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        client = folder / "client_key"
        host_keys = folder / "known_hosts"
        replace_file(client, keys.client, mode=0o600, durable=False)
        addresses = {guest.name: guest.management_address for guest in guests}
        replace_file(host_keys, known_hosts(keys, list(addresses.values())), durable=False)
        options = (*_PATIENT, "User root", "ServerAliveInterval 0", f"ControlPath {folder}/%n")
        config = client_config(addresses, *options, key=str(client), known=str(host_keys))
        self._config = folder / "config"
        replace_file(self._config, config, durable=False)

    def connect(self, name: str) -> str:
        """Open the connection to a guest; return the reason of a failure, or "".

        The connection is tried again while the guest refuses it. The init of a cloud image starts
        the ssh server at the same time as the program that reports the guest as ready, so the
        report may come before the server accepts connections.
        """
        deadline = time.monotonic() + _REFUSED_S
        while reason := self._connect(name):
            if "refused" not in reason or time.monotonic() > deadline:
                break
            time.sleep(_PAUSE_S)
        return reason

    def _connect(self, name: str) -> str:
        self.disconnect(name)
        argv = ["ssh", "-F", str(self._config), "-M", "-N", "-f", name]
        log = self._folder / f"{name}.log"
        # A file, because the ssh process in the background would keep pipes open.
        with log.open("wb") as file:
            try:
                ended = subprocess.run(
                    self.hypervisor.inside(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=file,
                    env=local_environment(),
                    timeout=_HANDSHAKE_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"no ssh within {_HANDSHAKE_S:.0f} s"
        if ended.returncode == 0:
            return ""
        lines = log.read_text(errors="replace").strip().splitlines()
        reason = lines[-1] if lines else f"exit code {ended.returncode}"
        return f"no ssh: {reason}"

    def disconnect(self, name: str) -> None:
        """Close the connection, which ends every command that runs through it; idempotent."""
        socket = self._folder / name
        if not socket.exists():
            return
        run_process(["ssh", "-F", str(self._config), "-O", "exit", name], timeout_s=10.0)
        socket.unlink(missing_ok=True)

    def forget(self, name: str) -> None:
        """Discard a connection whose other end is known to be gone; idempotent."""
        (self._folder / name).unlink(missing_ok=True)

    def argv(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> list[str]:
        """Return the local command line that runs `argv` in a guest."""
        line = remote_line(argv, env, cwd)
        # ssh must not open a new connection: outside, the address may be another host's.
        return ["ssh", "-F", str(self._config), "-o", "ProxyCommand=false", name, line]

    def run(self, name: str, argv: Sequence[str], *, timeout_s: float = 60.0) -> Finished:
        """Run a housekeeping command in a guest."""
        return run_process(self.argv(name, argv), timeout_s=timeout_s)


#: Name of the measured network interface in every guest.
DEVICE = "net0"
#: Tenant of the guest that serves files to all other guests.
SERVER = -1
#: Network of the second NIC through which a guest is reached when the first one is the host's.
MANAGEMENT_SUBNET = "10.94.6"


def make_guests(
    options: VmOptions, nodes: int, identity: Callable[[str], str] | None = None
) -> list[Guest]:
    """Return `nodes` guests for each tenant, and the guest of the file server if there is one.

    - `identity`: returns a UUID for a guest's name.
    """
    names: list[tuple[int, str]] = []
    for tenant in range(options.tenants):
        prefix = f"t{tenant + 1}" if options.tenants > 1 else ""
        names += [(tenant, f"{prefix}g{node + 1}") for node in range(nodes)]
    names += [(SERVER, "server")] * options.file_servers
    guests = []
    for index, (tenant, name) in enumerate(names):
        guest_uuid = identity(name) if identity else str(uuid.uuid4())
        guests.append(_make_guest(options.nic, index, tenant, name, guest_uuid))
    return guests


def _make_guest(nic: Nic, index: int, tenant: int, name: str, guest_uuid: str) -> Guest:
    """Return a guest; 11 + `index` is the last part of its addresses."""
    last = 11 + index
    address = f"{nic.subnet}.{last}"
    management_mac = None
    management_address = address
    if nic.outside:
        management_mac = f"{MANAGEMENT_MAC}:{last:02x}"
        management_address = f"{MANAGEMENT_SUBNET}.{last}"
    return Guest(
        index=index,
        tenant=tenant,
        name=name,
        uuid=guest_uuid,
        mac=f"{MEASURED_MAC}:{last:02x}",
        address=address,
        management_mac=management_mac,
        management_address=management_address,
    )


def host_address(nic: Nic) -> str:
    """Return the host's address on the private bridge."""
    subnet = MANAGEMENT_SUBNET if nic.outside else nic.subnet
    return f"{subnet}.1"


def settings_files(
    options: VmOptions, guest: Guest, guests: Sequence[Guest], keys: Keys
) -> dict[str, File]:
    """Return the files of ``/run/bareline`` in a guest, by name."""
    run = "/run/bareline"
    between = client_config(
        {},
        *_PATIENT,
        f"ControlPath {run}/to-%h",
        key=f"{run}/client_key",
        known=f"{run}/known_hosts",
    )
    hosts = "".join(f"{other.address} {other.name}\n" for other in guests)
    files = {
        "node": File(_node_settings(options, guest).encode()),
        "setup": File(guest_script("setup")),
        "tune": File(_tune_script(options).encode(), 0o755),
        "host_key": File(keys.host.encode(), 0o600),
        "authorized_keys": File(keys.client_public.encode(), 0o600),
        "client_key": File(keys.client.encode(), 0o600),
        # For the logins of MPI's launchers between guests.
        "client_config": File(between.encode(), 0o600),
        "known_hosts": File(known_hosts(keys, [other.address for other in guests]).encode()),
        "sshd_config": File(server_config().encode(), 0o600),
        "hosts": File(f"127.0.0.1 localhost\n{hosts}".encode()),
    }
    if options.shares:
        files["shares"] = File(_mounts(options).encode())
    return files


def guest_script(name: str) -> bytes:
    """Return a script of the folder ``scripts``."""
    return (resources.files("bareline.platforms.made.vm") / "scripts" / name).read_bytes()


def _node_settings(options: VmOptions, guest: Guest) -> str:
    nic = options.nic
    measured_mac = "" if nic.attach == "adapter" else guest.mac
    # Every value is bareline's own or was checked to be a word.
    values = {
        "node_name": guest.name,
        "measured_mac": measured_mac,
        "measured_name": DEVICE,
        "measured_address": guest.address,
        "measured_mtu": str(nic.mtu),
        "soft_roce": _yes(nic.soft_roce),
        "management_mac": guest.management_mac or "",
        "management_address": guest.management_address,
        "clock_source": options.clock.source,
        "queues": str(nic.queues),
        "probe_modules": _yes(nic.passed_through),
    }
    return "".join(f"{name}='{value}'\n" for name, value in values.items())


def _yes(is_wanted: bool) -> str:
    return "yes" if is_wanted else ""


def _tune_script(options: VmOptions) -> str:
    settings = options.guest_tuning.settings()
    if not settings:
        return "#!/bin/sh\n"
    congestion = options.guest_tuning.congestion
    load = ""
    if congestion not in (None, "cubic", "reno"):
        load = f"modprobe -q tcp_{congestion}\n"
    words = shlex.join(chain.from_iterable(settings.items()))
    return f"#!/bin/sh\n{load}set -- {words}\n{{ {SET_AND_SHOW}; }} > /run/bareline/tuned\n"


def _mounts(options: VmOptions) -> str:
    """Return a line for each shared folder: type, source, target and options of the mount."""
    host = host_address(options.nic)
    lines = []
    for number, share in enumerate(options.shares):
        tag = share_tag(number)
        access = "ro" if share.read_only else "rw"
        mount_options = share.options
        if share.kind == "9p":
            mount_options = f"trans=virtio,version=9p2000.L,{share.options or 'msize=262144'}"
            words = ["9p", tag]
        elif share.kind == "nfs":
            mount_options = share.options or "vers=4.2,hard"
            words = ["nfs4", f"{host}:/{tag}"]
        else:
            words = ["virtiofs", tag]
        all_options = f"{access},{mount_options}" if mount_options else access
        lines.append(" ".join([*words, share.target, all_options]) + "\n")
    return "".join(lines)


# A guest's report; a line counts when it is complete ---------------------------------------------


def read_ready(console: str) -> dict[str, str] | None:
    """Read the line with which a guest reports that it is up; None before the report."""
    match = re.search(r"(?m)^bareline-ready (.+)\n", console.replace("\r", ""))
    if match is None:
        return None
    report = {}
    for word in match[1].split():
        name, _, value = word.partition("=")
        report[name] = value
    return report


def read_failure(console: str) -> str:
    """Return the failure that a guest reported; "" if the guest reported no failure."""
    signs = {
        r"(?m)^bareline-failed (.+)\n": "",
        r"Kernel panic - not syncing: (.+)\n": "its kernel gave up: ",
    }
    text = console.replace("\r", "")
    for sign, prefix in signs.items():
        match = re.search(sign, text)
        if match is not None:
            return prefix + match[1].strip()
    return ""


def wrong_size(ready: Mapping[str, str], options: VmOptions, vcpus: int) -> str:
    """Return how a guest differs from its definition; "" if it does not."""
    cores = int(ready["cores"])
    if cores != vcpus:
        return f"wrong size: {cores} cores instead of {vcpus}"
    memory_bytes = int(ready["memory_kib"]) << 10
    # A guest's kernel takes at most 18 % of its memory and 96 MiB for itself.
    if memory_bytes <= 0.82 * options.memory.size_bytes - (96 << 20):
        return f"wrong size: {memory_bytes >> 20} MiB instead of {options.memory.size_bytes >> 20}"
    if int(ready["mtu"]) != options.nic.mtu:
        return f"wrong network: an MTU of {ready['mtu']} instead of {options.nic.mtu}"
    return ""


def last_words(console: str) -> str:
    """Return the last line of the console of a guest that never reported."""
    lines = console.replace("\r", "\n").strip().split("\n")
    return lines[-1].strip()[:160] or "the console stayed empty"
