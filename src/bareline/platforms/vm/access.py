"""How guests are reached: generated keys, pinned on both sides, and one connection kept open.

A handshake costs an emulated processor most of a second, so every command afterwards goes through
the connection made when the guest came up. The local end of that connection lives in the guests'
network; clients only need its socket.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bareline.platforms.process import Finished, local_environment, run_process
from bareline.platforms.remote.keys import Keys, client_config, known_hosts
from bareline.platforms.shell import remote_line
from bareline.platforms.vm.hypervisor import Hypervisor

#: Cheapest key exchange for a processor without wide multiplication.
_KEX = "curve25519-sha256"
_HANDSHAKE_S = 60.0
_REFUSED_S, _PAUSE_S = 60.0, 0.5


def server_config() -> str:
    """Give the configuration of the guests' sshd."""
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


#: What a guest that was paused must find again, and what nobody answers.
_PATIENT = ("BatchMode yes", "TCPKeepAlive no", "ConnectTimeout 20", f"KexAlgorithms {_KEX}")


def guest_client_config() -> str:
    """Give the configuration with which guests log in to each other, for MPI's launchers."""
    run = "/run/bareline"
    socket = f"ControlPath {run}/to-%h"
    return client_config({}, *_PATIENT, socket, key=f"{run}/client_key", known=f"{run}/known_hosts")


class Access:
    """The connections to one platform's guests.

    - `folder`: private, with a short path.
    - `addresses`: of every guest as bareline reaches it, by the guest's name.
    """

    def __init__(
        self, hypervisor: Hypervisor, folder: Path, keys: Keys, addresses: Mapping[str, str]
    ) -> None:
        self._hypervisor = hypervisor
        self._folder = folder
        self._addresses = dict(addresses)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        client = folder / "client_key"
        client.touch(mode=0o600)
        client.write_text(keys.client)
        (folder / "known_hosts").write_text(known_hosts(keys, list(addresses.values())))
        self._config = folder / "config"
        self._config.write_text(self._client_config())

    def _client_config(self) -> str:
        own = ("User root", "ServerAliveInterval 0", f"ControlPath {self._folder}/%n")
        return client_config(
            self._addresses,
            *_PATIENT,
            *own,
            key=f"{self._folder}/client_key",
            known=f"{self._folder}/known_hosts",
        )

    def connect(self, name: str) -> str:
        """Open the connection to a guest; give the reason when that fails, else nothing.

        A guest that refuses is up, its server is about to come: a system with an init of its own
        starts that beside what says that it is ready.
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
        # Not through pipes: the part that stays behind would hold them open.
        with log.open("wb") as file:
            try:
                done = subprocess.run(
                    self._hypervisor.inside(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=file,
                    env=local_environment(),
                    timeout=_HANDSHAKE_S,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"no ssh within {_HANDSHAKE_S:.0f} s"
        if done.returncode == 0:
            return ""
        said = log.read_text(errors="replace").strip().splitlines()
        return f"no ssh: {said[-1] if said else f'exit code {done.returncode}'}"

    def disconnect(self, name: str) -> None:
        """Close the connection, which ends every command that runs through it; idempotent."""
        socket = self._folder / name
        if not socket.exists():
            return
        run_process(
            ["ssh", "-F", str(self._config), "-O", "exit", name],
            env=local_environment(),
            timeout_s=10.0,
        )
        socket.unlink(missing_ok=True)

    def forget(self, name: str) -> None:
        """Drop a connection whose other end is known to be gone; idempotent."""
        (self._folder / name).unlink(missing_ok=True)

    def argv(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> list[str]:
        """Give the local command line that runs `argv` in a guest."""
        line = remote_line(argv, env, cwd)
        # Without the open connection there is to be none: the address may be another's outside.
        return ["ssh", "-F", str(self._config), "-o", "ProxyCommand=false", name, line]

    def run(self, name: str, argv: Sequence[str], *, timeout_s: float = 60.0) -> Finished:
        """Run a housekeeping command in a guest."""
        return run_process(self.argv(name, argv), env=local_environment(), timeout_s=timeout_s)
