"""The platform type ``ssh``: which hosts are there, and how they are taken and given back."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bareline.host.tools import require
from bareline.platforms.base import Availability
from bareline.platforms.hosts import contained
from bareline.platforms.remote.allocation import RemotePlatform
from bareline.platforms.remote.peer import make_room
from bareline.platforms.ssh.allocation import SshAllocation, open_all
from bareline.platforms.ssh.connection import Connection, close_all, has_address
from bareline.platforms.ssh.options import SshOptions
from bareline.platforms.workdir import owned_folder, remove_ended
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout
from bareline.vocabulary.nodeset import nodes_text
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import count

#: How many names are looked up at once.
_AT_ONCE = 16
#: Beginning of the name of a private folder for sockets, followed by its owner's mark.
_SOCKETS, _FOLDER = Path("/tmp"), "bl-ssh-"


class SshPlatform(RemotePlatform[SshOptions]):
    """Hosts reached by ssh."""

    type_name = "ssh"
    summary = "hosts reached by ssh, as many as are named"
    options = SshOptions

    @classmethod
    def check(cls, spec: PlatformSpec[SshOptions]) -> None:
        """See that ssh is here; hosts are only asked when they are used."""
        require("ssh")

    @classmethod
    def available(cls, spec: PlatformSpec[SshOptions]) -> Availability:
        """Say whether ssh is here and the hosts have addresses; whether they answer shows later."""
        found = super().available(spec)
        if not found.ok:
            return found
        options = spec.options
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            known = pool.map(lambda name: has_address(name, options.config), options.names)
            pairs = zip(options.names, known, strict=True)
            unknown = [name for name, is_known in pairs if not is_known]
        if unknown:
            return Availability(
                False,
                f"nothing has the name {nodes_text(unknown)}",
                "correct `hosts`, or give HostName in ssh's configuration",
            )
        return found

    @classmethod
    def clean(cls) -> list[str]:
        """Remove the sockets of connections that killed barelines left."""
        return remove_ended(_SOCKETS, _FOLDER)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[SshAllocation]:
        """Take the hosts that the layout needs."""
        self.clean()
        options = self.spec.options
        names = options.names
        with self.starting(layout):
            if layout.nodes > len(names):
                raise PlatformError(
                    f"{layout.nodes} nodes are wanted of {count(len(names), 'host')}"
                )
        make_room(max(1, layout.nodes))
        with (
            # The path of a socket has 107 characters at most.
            owned_folder(_SOCKETS, _FOLDER) as folder,
            ExitStack() as stack,
        ):
            connections = [
                Connection(
                    name,
                    config=options.config,
                    folder=folder,
                    remote_folder=options.folder,
                    connect_s=options.connect_s,
                )
                for name in names[: max(1, layout.nodes)]
            ]
            stack.callback(close_all, connections)
            told = open_all(connections)
            hosts = SshAllocation(options, self.context, connections, told)
            with contained(options.container, hosts, self.context.cache, self.spec.name):
                yield hosts
