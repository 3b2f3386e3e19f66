"""The netns platform type: its options, the running hosts, and their start and end."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

from bareline.host.load import orphans_s
from bareline.platforms.base import Allocation, Context
from bareline.platforms.hosts.allocation import contained
from bareline.platforms.hosts.holder import tool
from bareline.platforms.hosts.launchers.installation import mpi_facts
from bareline.platforms.hosts.launchers.job import Job, Network, Node, agent_text
from bareline.platforms.hosts.layers.filesystem.mounted import (
    Mounted,
    MountingNode,
    folder_below,
    mount_gluster,
    mount_served,
    mount_volume,
)
from bareline.platforms.hosts.layers.filesystem.options import Gluster, Loop, Nfs, Tmpfs, check_here
from bareline.platforms.localhost.allocation import (
    LocalhostAllocation,
    LocalhostPlatform,
    check_cores,
    core_facts,
)
from bareline.platforms.localhost.netns import links
from bareline.platforms.localhost.netns.namespaces import (
    Namespaces,
    Privilege,
    find_privilege,
    open_hosts,
    open_switch,
)
from bareline.platforms.localhost.netns.options import NetnsOptions, share_cores
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.platform import PlatformSpec

#: In the namespaces' own memory: no other path is certain to be short, private and executable.
_AGENT = "/dev/shm/agent"
#: The paces of this process: every launch of a run must meet the same links.
_PACES: dict[NetnsOptions, links.Pace] = {}


class NetnsAllocation(LocalhostAllocation):
    """Hosts (network namespaces) that are up."""

    def __init__(
        self,
        options: NetnsOptions,
        context: Context,
        switch: Namespaces,
        hosts: Sequence[Namespaces],
    ) -> None:
        self._options = options
        self._switch = switch
        self._hosts = tuple(hosts)
        check_cores(options.cores)
        cores = options.cores or tuple(sorted(os.sched_getaffinity(0)))
        self._cores = share_cores(cores, len(hosts))
        #: How the links are paced; None where they are not limited.
        self.pace: links.Pace | None = None
        self._write_agent()
        nodes = [
            Node(host_name(index), links.host_address(index), len(cores))
            for index, cores in enumerate(self._cores)
        ]
        super().__init__(nodes, context, options)

    def _pinned(self, node: int, argv: Sequence[str]) -> list[str]:
        cores = ",".join(map(str, self._cores[node]))
        return [tool("taskset"), "--cpu-list", cores, *argv]

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        index = self._index(node)
        return self._hosts[index].enter(self._pinned(index, _with_env(argv, env, cwd)))

    def helpers_s(self) -> float | None:
        """Return the processor time of detached daemons, in s.

        Programs that bareline starts in a namespace are not included, because their time is already
        counted as that of bareline's children.
        """
        return sum(orphans_s(holder.pid) for holder in (self._switch, *self._hosts))

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        network = Network(
            device=links.HOST_DEVICE, subnet=links.SUBNET, launch_address=links.SWITCH_ADDRESS
        )
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            transport=self._options.transport,
            network=network,
            agent=_AGENT,
            cwd=cwd or str(Path.cwd()),
            as_root=True,  # In a user namespace too, everyone is root.
            session_folder="/dev/shm",  # It goes away with the namespaces.
            crowded="oversubscribed" in self.caveats(layout),
        )
        return self._switch.enter(_with_env(self.mpi.argv(job), {}, cwd))

    def peers(self) -> list[MountingNode]:
        """Return the hosts as nodes that can serve files to each other."""
        pairs = zip(self.nodes, self._hosts, strict=True)
        return [MountingNode(node.name, node.address, host.run) for node, host in pairs]

    def _write_agent(self) -> None:
        commands: dict[tuple[str, ...], Sequence[str]] = {}
        for index, host in enumerate(self._hosts):
            shell = self._pinned(index, ["sh", "-c"])
            commands[(links.host_address(index),)] = host.enter_from_switch(shell)
        lines = agent_text(commands, for_a_shell=True).splitlines()
        # It is not called on the hosts, but Open MPI's daemons die unless it is there.
        for place in (self._switch, *self._hosts):
            place.run_checked(["sh", "-c", f"cat >{_AGENT} && chmod 755 {_AGENT}"], lines)

    def pace_links(self, rate: int) -> None:
        """Limit the links' rate; choose the shortest packets that reach the limit."""
        options = self._options

        def carried(packet: int) -> float | None:
            pace = links.Pace(lateness_s, packet, None)
            links.shape(self._switch, self._hosts, options, rate, pace)
            return links.carried_bits_per_s(self)

        if options not in _PACES:
            lateness_s = links.timer_lateness_s()
            sizes = links.packet_range(rate, options.mtu, options.offloads)
            packet, reached = links.choose_packet(*sizes, rate, carried)
            _PACES[options] = links.Pace(lateness_s, packet, reached)
        self.pace = _PACES[options]
        links.shape(self._switch, self._hosts, options, rate, self.pace)

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        if not all(namespaces.alive() for namespaces in (self._switch, *self._hosts)):
            raise PlatformError(
                "the process that keeps the namespaces of a host was killed",
                hint="start again with `bareline continue`",
            )
        return super().run(command, layout, timeout_s=timeout_s)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        caveats = ["shared-host"]
        if self._neighbours:
            caveats += self._neighbours.caveats()
        if self._is_oversubscribed(layout):
            caveats.append("oversubscribed")
        if layout.nodes > 1 and self._is_below_rate():
            caveats.append("link-below-rate")
        return tuple(caveats)

    def _is_oversubscribed(self, layout: Layout) -> bool:
        """Return whether a layout needs more cores than one host has, or than all hosts have."""
        needed = layout.cores_per_node
        used = self._cores[: layout.nodes]
        distinct = set(chain.from_iterable(used))
        if needed * layout.nodes > len(distinct):
            return True
        return any(needed > len(cores) for cores in used)

    def _is_below_rate(self) -> bool:
        """Return whether the measured rate of the links is below the rate limit."""
        rate = self._options.rate_bits_per_s
        if not rate or self.pace is None or self.pace.carried_bits_per_s is None:
            return False
        return self.pace.carried_bits_per_s < links.CARRIES * rate

    def facts(self) -> Mapping[str, Scalar]:
        names = [node.name for node in self.nodes]
        pace = self.pace.facts() if self.pace else {}
        return {
            **self.node_facts(),
            **mpi_facts(self._options.mpi, self._options.transport),
            **pace,
            **core_facts(dict(zip(names, self._cores, strict=True))),
            **self.layer_facts(),
        }


def host_name(index: int) -> str:
    """Return the name of a host by its index, from 0."""
    return f"node{index + 1}"


def _with_env(argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> list[str]:
    """Return the command line that runs a program with variables and in a directory.

    nsenter alone would start the program in the root directory.
    """
    variables = (f"{name}={value}" for name, value in env.items())
    return ["env", f"--chdir={cwd or Path.cwd()}", *variables, *argv]


class NetnsPlatform(LocalhostPlatform[NetnsOptions]):
    """The platform type whose hosts are network namespaces of this machine."""

    type_name = "netns"
    summary = "hosts as network namespaces of this machine, joined by shaped links"
    options = NetnsOptions
    boots = True

    @classmethod
    def check(cls, spec: PlatformSpec[NetnsOptions]) -> None:
        options = spec.options
        root = find_privilege() is Privilege.ROOT
        options.check_here()
        check_here(options.filesystem, root=root, user_namespace=not root, network=True)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        options = self.spec.options
        names = [host_name(index) for index in range(options.hosts)]
        with ExitStack() as stack:
            with self.starting(layout):
                opened = open_switch(find_privilege(), self._write_hosts(names))
                switch = stack.enter_context(opened)
                # Hosts that are made later inherit the mounts of the switch.
                below = self.context.scratch
                if options.filesystem is not None:
                    below = stack.enter_context(folder_below(options.io_folder or below))
                # All hosts see this machine's file systems as they see its other folders.
                chosen = options.filesystem
                folder = self.context.scratch.absolute() / "mounted"
                mounted: Mounted | None = None
                if isinstance(chosen, Tmpfs | Loop):
                    mounted = mount_volume(switch.run, chosen, folder, below)
                hosts = stack.enter_context(open_hosts(switch, names))
                links.connect(switch, hosts, options)
                allocation = NetnsAllocation(options, self.context, switch, hosts)
                peers = allocation.peers()
                allocation.mounted = mounted or _mount_over(chosen, switch, peers, folder, below)
                if options.rate_bits_per_s is not None:
                    allocation.pace_links(options.rate_bits_per_s)
            with contained(options.container, allocation, self.context.cache, self.spec.name):
                yield allocation

    def _write_hosts(self, names: Sequence[str]) -> Path:
        """Write the hosts' addresses into the file that the namespaces use as /etc/hosts."""
        lines = ["127.0.0.1 localhost", f"{links.SWITCH_ADDRESS} switch"]
        for index, name in enumerate(names):
            lines.append(f"{links.host_address(index)} {name}")
        path = self.context.scratch / "hosts"
        replace_file(path, "\n".join([*lines, ""]), durable=False)
        return path


def _mount_over(
    chosen: object, switch: Namespaces, peers: Sequence[MountingNode], folder: Path, below: Path
) -> Mounted | None:
    """Mount the file system in the hosts, and in the switch, from which launchers start."""
    match chosen:
        case Gluster():
            more = (switch.run,)
            return mount_gluster(peers, chosen, folder, below, clients=more, private=True)
        case Nfs():
            server = peers[0]
            if chosen.server == "own":
                server = MountingNode("switch", links.SWITCH_ADDRESS, switch.run)
            clients = [peer.run for peer in peers]
            clients.append(switch.run)
            return mount_served(chosen, server, clients, folder, below)
    return None
