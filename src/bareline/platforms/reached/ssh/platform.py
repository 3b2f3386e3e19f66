"""The platform type ``ssh``: hosts are locked, used through an open connection, and released."""

from __future__ import annotations

import ipaddress
import shlex
import socket
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path

from bareline.host.tools import require
from bareline.platforms.base import Availability, Context, NodeLook
from bareline.platforms.hosts.allocation import contained
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Network, Node, agent_text
from bareline.platforms.hosts.process import remote_line
from bareline.platforms.hosts.scripts.description import Description
from bareline.platforms.hosts.scripts.node_channel import NodeChannel, listening, make_room
from bareline.platforms.hosts.workdir import owned_folder, remove_ended
from bareline.platforms.reached.remote.allocation import RemoteAllocation, RemotePlatform
from bareline.platforms.reached.remote.cluster import cluster_facts
from bareline.platforms.reached.remote.needs import look_at
from bareline.platforms.reached.remote.software import find_remote_mpi
from bareline.platforms.reached.ssh.connection import Connection, close_all, configured, has_address
from bareline.platforms.reached.ssh.options import SshOptions
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import TRIAL_VARIABLE, Layout, Scalar
from bareline.vocabulary.nodeset import nodes_text
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import count

#: So many hosts' addresses are looked up at a time.
_AT_ONCE = 16
#: Beginning of the name of a private folder for sockets, followed by its owner's mark.
_SOCKETS = Path("/tmp")
_FOLDER = "bl-ssh-"


class SshAllocation(RemoteAllocation):
    """The hosts of a platform that are reached by ssh."""

    def __init__(
        self,
        options: SshOptions,
        context: Context,
        connections: Sequence[Connection],
        descriptions: Mapping[str, Description],
    ) -> None:
        self._options = options
        self._context = context
        self.launches_here = options.launcher == "here"
        self._connections = tuple(connections)
        self._descriptions = dict(descriptions)
        self._has_agent = False
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            nodes = list(pool.map(self._node, (connection.name for connection in connections)))
        target = connections[0].native_folder
        super().__init__(nodes, cache=context.cache, way=options.native, native_target=target)
        flags = {name: description.flags for name, description in descriptions.items()}
        self.compare(flags)
        self.load(options.wanted)

    def _node(self, name: str) -> Node:
        options = self._options
        description = self._descriptions[name]
        addresses = self._addresses(name)
        if not addresses:
            listed = [f"{address} on {device}" for device, address in description.addresses]
            raise PlatformError(
                f"the node has no address on {options.device or options.subnet}",
                where=name,
                hint=f"it has: {', '.join(listed) or 'none that `ip` shows'}",
            )
        return Node(name, addresses[0], description.cores)

    def _addresses(self, name: str) -> list[str]:
        """Return the addresses of a host on the device or in the subnet of the options."""
        options = self._options
        listed = self._descriptions[name].addresses
        if options.device is not None:
            return [address for device, address in listed if device == options.device]
        if options.subnet is not None:
            network = ipaddress.ip_network(options.subnet)
            return [address for _, address in listed if ipaddress.ip_address(address) in network]
        return [configured(name, options.config).get("hostname", name)]

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        if self.loader:  # a module may set the same variables
            setting = (f"{name}={value}" for name, value in env.items())
            argv = [*self.loader, "env", *setting, *argv]
        connection = self._connections[self._index(node)]
        return [*connection.command(), connection.name, remote_line(argv, env, cwd)]

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        here = self.launches_here
        needs_agent = here or layout.nodes > 1
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            cwd=cwd,
            transport=self._options.transport,
            network=self._network,
            agent=self._agent() if needs_agent else None,
            as_root=self._descriptions[self.nodes[0].name].is_root,
            session_folder=self.session or None,
            starts_on_first=not here,
        )
        line = self.mpi.argv(job)
        # The launcher carries the mark too: it must not outlive its trial.
        mark = {key: value for key, value in env.items() if key == TRIAL_VARIABLE}
        if here:
            setting = [f"{key}={value}" for key, value in mark.items()]
            return ["env", *setting, *line]
        return self.node_argv(0, line, mark)

    @cached_property
    def mpi(self) -> MpiInstallation:
        if self.launches_here:
            return find_mpi(self._options.mpi)
        return find_remote_mpi(self, self._options.mpi)

    @property
    def _network(self) -> Network | None:
        options = self._options
        if options.subnet is None and options.device is None:
            return None
        address = launch_address = self.nodes[0].address
        device = options.device or self._first_device()
        if self.launches_here:
            # The address of this machine from which packets to the first host leave.
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                probe.connect((address, 9))
                launch_address = str(probe.getsockname()[0])
        subnet = options.subnet or device
        return Network(device=device, subnet=subnet, launch_address=launch_address)

    def _first_device(self) -> str:
        """Return the device that has the address of the first host."""
        first = self.nodes[0]
        listed = self._descriptions[first.name].addresses
        return next(device for device, address in listed if address == first.address)

    def _agent(self) -> str:
        """Return the command that logs in to a host by its address on MPI's network."""
        here = self.launches_here
        folder = str(self._context.scratch) if here else self._connections[0].remote_folder
        path = f"{folder}/agent"
        if self._has_agent:
            return path
        commands: dict[tuple[str, ...], list[str]] = {}
        for node, connection in zip(self.nodes, self._connections, strict=True):
            command = connection.command() if here else shlex.split(self._options.agent)
            commands[node.address, node.name] = [*command, node.name]
        text = agent_text(commands, self.loader)
        if here:
            replace_file(Path(path), text, mode=0o700, durable=False)
        else:
            write = ["sh", "-c", 'cat >"$1" && chmod 700 "$1"', "sh", path]
            failed = (
                "the script by which the launcher starts ranks on other nodes cannot be written"
            )
            self.on_node(0, write, stdin=text).require_success(failed, where=self.nodes[0].name)
        self._has_agent = True
        return path

    def work_folder(self) -> str:
        return self._options.io_folder or self._options.folder

    def repair(self) -> None:
        lost = [connection for connection in self._connections if connection.has_ended]
        for connection in lost:
            connection.start()
        errors = []
        for connection in lost:
            try:
                self._descriptions[connection.name] = connection.wait()
            except PlatformError as error:
                errors.append(error)
                continue
            self._events.append(f"{connection.name} was lost and is connected again")
            self._native.forget([connection.name])
            self._has_agent = False
        if errors:
            raise errors[0]

    @contextmanager
    def talking(self, nodes: Sequence[int]) -> Iterator[NodeChannel]:
        """Return the channel to the scripts that keep the hosts' locks.

        The same scripts do the housekeeping of trials, so that a trial starts no further process.
        """
        used = [self._connections[node] for node in nodes]
        peers = [connection.peer for connection in used if connection.peer is not None]
        with listening(peers) as talk:
            try:
                yield talk
            finally:
                # A host that has not ended its part does so when its connection ends.
                close_all(
                    [
                        connection
                        for connection in used
                        if "ended" not in talk.said.get(connection.name, ())
                    ]
                )

    def facts(self) -> Mapping[str, Scalar]:
        facts = dict(super().facts())
        options = self._options
        if "mpi.flavour" in facts:
            facts["mpi.transport"] = options.transport
        names = [node.name for node in self.nodes]
        return facts | cluster_facts(names, options.switches, options.excluded)


class SshPlatform(RemotePlatform[SshOptions]):
    """The platform type of hosts that are reached by ssh."""

    type_name = "ssh"
    summary = "hosts reached by ssh, as many as are named"
    options = SshOptions

    @classmethod
    def check(cls, spec: PlatformSpec[SshOptions]) -> None:
        require("ssh")

    @classmethod
    def available(cls, spec: PlatformSpec[SshOptions]) -> Availability:
        """Return whether ssh is installed here and the hosts have addresses.

        Whether the hosts answer is not checked.
        """
        availability = super().available(spec)
        if not availability.ok:
            return availability
        names = spec.options.names
        config = spec.options.config
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            have_address = list(pool.map(lambda name: has_address(name, config), names))
        pairs = zip(names, have_address, strict=True)
        unknown = [name for name, has_one in pairs if not has_one]
        if not unknown:
            return availability
        why = f"nothing has the name {nodes_text(unknown)}"
        return Availability(False, why, "correct `hosts`, or give HostName in ssh's configuration")

    @classmethod
    def clean(cls) -> list[str]:
        return remove_ended(_SOCKETS, _FOLDER)

    @classmethod
    def look(cls, spec: PlatformSpec[SshOptions], context: Context) -> tuple[NodeLook, ...]:
        """Return the equipment of every host; close the connections afterwards."""
        with cls(spec, context).acquire(Layout(spec.options.node_count)) as hosts:
            return look_at(hosts)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[SshAllocation]:
        self.clean()
        options = self.spec.options
        nodes = max(1, layout.nodes)
        names = options.names
        with self.starting(layout):
            if layout.nodes > len(names):
                hosts = count(len(names), "host")
                raise PlatformError(
                    f"{layout.nodes} nodes are requested, but the inventory has only {hosts}"
                )
        make_room(nodes)
        # The path of a socket has 107 characters at most.
        with owned_folder(_SOCKETS, _FOLDER) as folder, ExitStack() as stack:
            connections = [Connection(name, options, folder) for name in names[:nodes]]
            stack.callback(close_all, connections)
            for connection in connections:
                connection.start()
            descriptions = {connection.name: connection.wait() for connection in connections}
            allocation = SshAllocation(options, self.context, connections, descriptions)
            with contained(options.container, allocation, self.context.cache, self.spec.name):
                yield allocation
