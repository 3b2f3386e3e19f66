"""An open ssh connection to each host, which all further commands use.

bareline uses the user's OpenSSH with its configuration, agents, known hosts and jump hosts. A
script on the host, started over the connection, keeps the host's lock and cleans up when bareline
ends.
"""

from __future__ import annotations

import re
import shlex
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from bareline.host.owner import has_ended, owner_mark
from bareline.platforms.hosts.process import local_environment, run_process
from bareline.platforms.hosts.scripts.description import Description, read_description
from bareline.platforms.hosts.scripts.housekeeping import house_script
from bareline.platforms.hosts.scripts.node_channel import Peer, leave_all, listening, peer, script
from bareline.platforms.reached.ssh.options import SshOptions
from bareline.vocabulary.errors import NotNow, PlatformError

#: Options of ssh by which a host counts as lost if it is silent for 45 s (three times 15 s).
_ALIVE = ("ServerAliveInterval=15", "ServerAliveCountMax=2")
#: Beginning of the name of a user's folder for locks on a host; a restart removes the folder.
_LOCKS = "/dev/shm/bareline"
#: Words of ssh when the host's key is not the known one.
_WRONG_KEY = ("verification failed", "IDENTIFICATION")
#: The description of a keeper: number and start time of its process.
_KEEPER = re.compile(r"(\d{1,10}) (\d{1,20})")


def configured(name: str, config: Path | None) -> dict[str, str]:
    """Return the settings of ssh for a host."""
    argv = ["ssh", *_config_option(config), "-G", name]
    lines = run_process(argv, timeout_s=10.0).stdout.splitlines()
    return dict(line.split(" ", 1) for line in lines if " " in line)


def _config_option(config: Path | None) -> list[str]:
    if config is None:
        return []
    return ["-F", str(config)]


def has_address(name: str, config: Path | None) -> bool:
    """Return whether ssh finds the address of a host, without sending anything to it.

    The address of a host behind a proxy cannot be checked here.
    """
    settings = configured(name, config)
    if "hostname" not in settings or settings.keys() & {"proxyjump", "proxycommand"}:
        return True
    try:
        socket.getaddrinfo(settings["hostname"], None)
    except socket.gaierror:
        return False
    return True


class Connection:
    """The connection to one host; its socket is in the private `folder`, which has a short path."""

    def __init__(self, name: str, options: SshOptions, folder: Path) -> None:
        self.name = name
        self._connect_s = options.connect_s
        self._socket = folder / f"{abs(hash(name)) % 10**8:08d}"
        self._config = _config_option(options.config)
        self._stack = ExitStack()
        #: The process that represents the host, with the script ``keeper`` there.
        self.peer: Peer | None = None
        self._earlier = ""
        stem = f"{options.folder}/bareline-{owner_mark()}-{folder.name[-8:]}"
        #: Private to this host, because several hosts may share the file system.
        self.remote_folder = f"{stem}-{_safe(name)}"
        #: The same on every host, as launchers want it.
        self.native_folder = f"{stem}.native"

    @property
    def has_ended(self) -> bool:
        """Whether there is no connection: it was never started, or has ended."""
        return self.peer is None or self.peer.has_ended

    def start(self, abandoned: str = "") -> None:
        """Begin to log in and to lock the host.

        - `abandoned`: number and start time of a dead process; its lock is taken over.
        """
        keeper = _KEEPER.fullmatch(abandoned or self._earlier)
        close_all([self])
        text = house_script() + script("description") + script("keeper")
        line = ["sh", "-c", text, "sh", self.name, _LOCKS, owner_mark(), self.remote_folder]
        earlier = keeper.groups() if keeper else ("", "")
        line += [self.native_folder, *earlier]
        timeout = f"ConnectTimeout={self._connect_s:.0f}"
        argv = [*self._ssh("yes", "ControlPersist=no", timeout, *_ALIVE), self.name]
        argv.append(shlex.join(line))
        self.peer = self._stack.enter_context(peer([self.name], argv, local_environment()))

    def wait(self) -> Description:
        """Wait until the host is locked; return its description."""
        try:
            answers = self._answers()
            holder = answers.get("busy", [""])[0]
            if "ready" not in answers and has_ended(holder):
                # Its connection was cut, and the host has not noticed yet.
                _, _, process = holder.partition(" ")
                self.start(process)
                answers = self._answers()
            if "ready" not in answers:
                raise self._refusal(answers)
            self._earlier = answers.get("pid", [""])[0]
            return read_description(self.name, answers)
        except BaseException:
            close_all([self])
            raise

    def _answers(self) -> Mapping[str, Sequence[str]]:
        """Return the host's description lines when the host is ready or its time limit is over."""
        assert self.peer is not None
        with listening([self.peer]) as talk:
            with suppress(PlatformError):
                talk.wait("ready", 2 * self._connect_s)
            return talk.said[self.name]

    def _refusal(self, answers: Mapping[str, Sequence[str]]) -> PlatformError:
        """Return the error that explains why the host is not ready."""
        assert self.peer is not None
        if "busy" in answers:
            return NotNow(
                f"another bareline process uses this host ({answers['busy'][0] or 'unknown'})",
                where=self.name,
                hint="wait until it ends; after a lost connection that may take a minute",
            )
        if "failed" in answers:
            return PlatformError(
                f"the host cannot be used: {answers['failed'][0]}", where=self.name
            )
        if self.peer.excess:
            return PlatformError(
                f"the host's description cannot be read: {self.peer.excess}",
                where=self.name,
                hint=f"see that `ssh {self.name}` works",
            )
        return _failed_login(self.peer.reason(), self.name)

    def command(self) -> list[str]:
        """Return the ssh command, without the host, for commands over the open connection only."""
        # ssh would log in again where the open connection is gone, and hang where the host is.
        return self._ssh("no", "ProxyCommand=false")

    def _ssh(self, master: str, *options: str) -> list[str]:
        argv = ["ssh", *self._config]
        common = (f"ControlMaster={master}", f"ControlPath={self._socket}", "BatchMode=yes")
        for option in (*common, *options):
            argv += ["-o", option]
        return argv

    def _close(self) -> None:
        self._stack.close()
        self.peer = None
        self._socket.unlink(missing_ok=True)


def close_all(connections: Sequence[Connection]) -> None:
    """End all connections at the same time, and remove their leftovers."""
    leave_all(connection.peer for connection in connections if connection.peer is not None)
    for connection in connections:
        connection._close()


def _safe(name: str) -> str:
    """Return a name without characters that a path on a host should not have."""
    return re.sub(r"[^\w.-]", "_", name)


def _failed_login(reason: str, name: str) -> PlatformError:
    """Return the error of a login that failed; a `NotNow` if a new attempt may succeed."""
    if any(words in reason for words in _WRONG_KEY):
        return PlatformError(
            f"ssh refuses the key of the host: {reason}",
            where=name,
            hint=f"the key is not the known one: see that it is right, then run `ssh {name}`",
        )
    if "ermission" in reason:
        return PlatformError(
            f"the host refuses the login by ssh: {reason}",
            where=name,
            hint=f"see that `ssh {name}` works without a password (ssh-agent, authorized_keys)",
        )
    return NotNow(
        f"ssh cannot connect to the host: {reason}", where=name, hint=f"see that `ssh {name}` works"
    )
