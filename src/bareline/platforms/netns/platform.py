"""The netns platform type: options, hosts in use, how they come up and go."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator

from bareline.build.native import NativeBuild
from bareline.platforms.base import Allocation, Availability, Context, Platform
from bareline.platforms.here import (
    HereAllocation,
    build_here,
    check_cores,
    check_neighbours,
    mpi_availability,
)
from bareline.platforms.hosts import Node, core_facts, local_environment
from bareline.platforms.launchers import Job, Network, mpi_facts
from bareline.platforms.launchers.agent import agent_text
from bareline.platforms.layers.neighbours import Neighbours
from bareline.platforms.netns import links
from bareline.platforms.netns.namespaces import (
    Namespaces,
    find_privilege,
    open_hosts,
    open_switch,
    system_path,
    tool,
)
from bareline.platforms.netns.pace import (
    Pace,
    carried_bits_per_s,
    choose_packet,
    timer_lateness_s,
)
from bareline.platforms.process import run_process
from bareline.platforms.workdir import check_io_folder
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.platform import Options, PlatformSpec

_SETUP_S = 20.0
#: In the namespaces' own memory: no other path is certain to be short, private and executable.
_AGENT = "/dev/shm/agent"


class NetnsOptions(Options):
    """Options of a platform of network namespaces.

    Attributes
    ----------
    hosts
        Number of hosts.
    rate
        Rate of each link in each direction, e.g. ``1gbit``; not limited by default.
    shaper
        What limits it: ``htb`` holds the rate from the second packet on; ``tbf``, the simple
        token bucket, lets two packets outrun the link after every pause.
    mtu
        Largest packet of the links, in bytes.
    offloads
        Whether the links take packets of up to 64 KiB as a NIC with segmentation offload does;
        a limited link by default only such as it carries in 12 us, because a packet outruns it,
        or so long ones (up to 60 us) that this machine can fill the link.
    mpi
        ``auto``, ``openmpi``, ``mpich``, ``intel``, or the path of an mpirun or of the folder
        that an MPI library was installed into.
    transport
        ``auto`` (TCP between hosts, shared memory inside one) or ``tcp`` (everywhere).
    cores
        Numbers of the cores to share out among the hosts; all that this process may use by
        default. Every host is pinned to its own share.
    io_folder
        Folder in which trials make their working directories: its file system is what I/O probes
        measure. bareline's scratch folder by default.
    neighbours
        Who shares the hosts; see `Neighbours`.
    """

    hosts: Annotated[int, Field(ge=2, le=16)] = 2
    rate: str | None = None
    shaper: links.Shaper = "htb"
    mtu: Annotated[int, Field(ge=576, le=65_535)] = 1500
    offloads: bool | None = None
    mpi: str = "auto"
    transport: Literal["auto", "tcp"] = "auto"
    cores: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1)] | None = None
    io_folder: Path | None = None
    neighbours: Neighbours | None = None

    @property
    def node_count(self) -> int:
        """Number of hosts."""
        return self.hosts

    @property
    def cores_per_node(self) -> int:
        """Cores of each host's share."""
        cores = self.cores or tuple(sorted(os.sched_getaffinity(0)))
        return len(share_cores(cores, self.hosts)[0])

    @property
    def rate_bits_per_s(self) -> int | None:
        """Rate of a link, None when it is not limited."""
        return None if self.rate is None else links.parse_rate(self.rate)

    @field_validator("rate")
    @classmethod
    def _check_rate(cls, value: str | None) -> str | None:
        if value is not None:
            links.parse_rate(value)
        return value


def share_cores(cores: Sequence[int], hosts: int) -> tuple[tuple[int, ...], ...]:
    """Share cores out among hosts in equal parts; hosts share a core when there are too few."""
    each = len(cores) // hosts
    if each == 0:
        return tuple((cores[host % len(cores)],) for host in range(hosts))
    return tuple(tuple(cores[host * each : (host + 1) * each]) for host in range(hosts))


class NetnsAllocation(HereAllocation):
    """Hosts that are up."""

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
        self._cores = share_cores(usable_cores(options), len(hosts))
        #: How the links are paced; None where they are not limited.
        self.pace: Pace | None = None
        self._write_agent()
        super().__init__(
            [
                Node(host_name(index), links.host_address(index), len(cores))
                for index, cores in enumerate(self._cores)
            ],
            context,
            mpi=options.mpi,
            io_folder=options.io_folder,
            neighbours=options.neighbours,
        )

    def _pinned(self, node: int, argv: Sequence[str]) -> list[str]:
        return [tool("taskset"), "--cpu-list", ",".join(map(str, self._cores[node])), *argv]

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Give the command line that enters a host, pinned to its cores."""
        index = self._index(node)
        inside = self._pinned(index, _with_env(argv, env, cwd))
        return self._hosts[index].enter(inside)

    def helpers_s(self) -> float | None:
        """Give the processor time of daemons that detached themselves, and of their ranks."""
        return sum(holder.processor_s() for holder in (self._switch, *self._hosts))

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        """Give the command line of the launcher in the switch, which starts ranks on the hosts."""
        network = Network(
            device=links.HOST_DEVICE,
            subnet=links.SUBNET,
            launch_address=links.SWITCH_ADDRESS,
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
        return self._switch.enter(_with_env(self._mpi.argv(job), {}, cwd))

    def _write_agent(self) -> None:
        """Put the program that launchers take for ssh into the switch and onto the hosts."""
        commands: dict[tuple[str, ...], Sequence[str]] = {
            (links.host_address(index),): host.enter_from_switch(self._pinned(index, ["sh", "-c"]))
            for index, host in enumerate(self._hosts)
        }
        lines = agent_text(commands, for_a_shell=True).splitlines()
        # On the hosts nobody calls it, but Open MPI's daemons die unless it is there.
        for place in (self._switch, *self._hosts):
            _must(place, ["sh", "-c", f"cat >{_AGENT} && chmod 755 {_AGENT}"], lines)

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command; see `Allocation.run`."""
        for namespaces in (self._switch, *self._hosts):
            if not namespaces.alive():
                raise PlatformError(
                    "a host is gone: something killed the process that holds its namespaces",
                    hint="start again with `bareline continue`",
                )
        return super().run(command, layout, timeout_s=timeout_s)

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what the hosts share: always the machine, sometimes a core."""
        busy = layout.ranks_per_node * layout.threads_per_rank
        used = self._cores[: layout.nodes]
        distinct = len({core for cores in used for core in cores})
        over = busy * layout.nodes > distinct or any(busy > len(cores) for cores in used)
        found = ["shared-host", *(self._neighbours.caveats() if self._neighbours else ())]
        if over:
            found.append("oversubscribed")
        if layout.nodes > 1 and self.pace and self.pace.falls_short(self._options.rate_bits_per_s):
            found.append("link-below-rate")
        return tuple(found)

    def facts(self) -> Mapping[str, Scalar]:
        """Describe the hosts, their links and how MPI runs on them."""
        from bareline.facts import gather

        return {
            **gather(self),
            **mpi_facts(self._options.mpi, self._options.transport),
            **(self.pace.facts() if self.pace else {}),
            **core_facts(dict(zip((node.name for node in self.nodes), self._cores, strict=True))),
            **self.neighbour_facts(),
        }


def host_name(index: int) -> str:
    """Name the host with that index, from 0."""
    return f"node{index + 1}"


def usable_cores(options: NetnsOptions) -> tuple[int, ...]:
    """Give the cores that the hosts share.

    Raises
    ------
    PlatformError
        This process may not use one that was chosen.
    """
    check_cores(options.cores)
    return options.cores or tuple(sorted(os.sched_getaffinity(0)))


def _with_env(argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> list[str]:
    """Run a program with variables and in a directory: nsenter leaves it in the root directory."""
    variables = (f"{name}={value}" for name, value in env.items())
    return ["env", f"--chdir={cwd or Path.cwd()}", *variables, *argv]


class NetnsPlatform(Platform[NetnsOptions]):
    """Hosts as network namespaces of this machine."""

    type_name = "netns"
    summary = "hosts as network namespaces of this machine, joined by shaped links"
    options = NetnsOptions
    boots = True
    here = True

    @classmethod
    def available(cls, spec: PlatformSpec[NetnsOptions]) -> Availability:
        """Say whether namespaces can be made here, and the tools, cores and MPI are there."""
        try:
            find_privilege()
            usable_cores(spec.options)
            check_io_folder(spec.options.io_folder)
            check_neighbours(spec.options.neighbours)
        except PlatformError as error:
            return Availability(False, error.what, error.hint or "")
        return mpi_availability(spec.options.mpi)

    @classmethod
    def build(cls, spec: PlatformSpec[NetnsOptions], cache: Path) -> NativeBuild:
        """Build the native programs for this machine's MPI library."""
        return build_here(spec.options.mpi, cache)

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        """Bring all hosts up with their links; they go when the context ends."""
        options = self.spec.options
        if layout.nodes > options.hosts:
            raise PlatformError(
                f"{layout.nodes} nodes are wanted of {options.hosts} hosts", where=self.spec.name
            )
        usable_cores(options)
        check_io_folder(options.io_folder, self.spec.name)
        check_neighbours(options.neighbours, self.spec.name)
        names = [host_name(index) for index in range(options.hosts)]
        with (
            open_switch(find_privilege(), self._hosts_file(names)) as switch,
            open_hosts(switch, names) as hosts,
        ):
            _connect(switch, hosts, options)
            allocation = NetnsAllocation(options, self.context, switch, hosts)
            if options.rate_bits_per_s is not None:
                rate = options.rate_bits_per_s
                allocation.pace = _pace(allocation, switch, hosts, options, rate)
            yield allocation

    def _hosts_file(self, names: Sequence[str]) -> Path:
        lines = ["127.0.0.1 localhost", f"{links.SWITCH_ADDRESS} switch"]
        lines += [f"{links.host_address(index)} {name}" for index, name in enumerate(names)]
        path = self.context.scratch / "hosts"
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return path


def _connect(switch: Namespaces, hosts: Sequence[Namespaces], options: NetnsOptions) -> None:
    """Plug every host into the bridge."""
    lines = links.bridge_lines()
    for index, host in enumerate(hosts):
        lines += links.port_lines(index, host.pid_in_switch, options.mtu)
    _must(switch, ["ip", "-batch", "-"], lines)
    for index, host in enumerate(hosts):
        _must(host, ["ip", "-batch", "-"], links.host_lines(index))
        if options.offloads is False:
            _must(host, ["ethtool", *links.offload_argv(links.HOST_DEVICE)])
            _must(switch, ["ethtool", *links.offload_argv(links.port(index))])


#: The paces of this process: every launch of a run must meet the same links.
_PACES: dict[NetnsOptions, Pace] = {}


def _pace(
    allocation: Allocation,
    switch: Namespaces,
    hosts: Sequence[Namespaces],
    options: NetnsOptions,
    rate: int,
) -> Pace:
    """Limit the links as finely as this machine can, and measure what they carry."""

    def carried(packet: int) -> float | None:
        _shape(switch, hosts, options, rate, Pace(lateness_s, packet, None))
        return carried_bits_per_s(allocation)

    if options not in _PACES:
        lateness_s = timer_lateness_s()
        found = choose_packet(
            *links.packet_range(rate, options.mtu, options.offloads), rate, carried
        )
        _PACES[options] = Pace(lateness_s, *found)
    _shape(switch, hosts, options, rate, _PACES[options])
    return _PACES[options]


def _shape(
    switch: Namespaces, hosts: Sequence[Namespaces], options: NetnsOptions, rate: int, pace: Pace
) -> None:
    """Limit both directions of every host's link, however they were limited before."""

    def lines(device: str) -> list[str]:
        limit = (rate, options.shaper, pace.packet_bytes, pace.lateness_s)
        return [links.unshaped_line(device), *links.shaper_lines(device, *limit)]

    for host in hosts:
        sizes = links.packet_lines(links.HOST_DEVICE, pace.packet_bytes, options.mtu)
        _must(host, ["ip", "-batch", "-"], sizes)
        _must(host, ["tc", "-batch", "-"], lines(links.HOST_DEVICE))
    ports = [line for index in range(len(hosts)) for line in lines(links.port(index))]
    _must(switch, ["tc", "-batch", "-"], ports)


def _must(where: Namespaces, argv: Sequence[str], lines: Sequence[str] = ()) -> None:
    """Run one set-up command inside and insist that it works."""
    done = run_process(
        where.enter([tool(argv[0]), *argv[1:]]),
        env=local_environment({"PATH": system_path()}),
        timeout_s=_SETUP_S,
        stdin="\n".join([*lines, ""]),
    )
    if done.exit_code != 0:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise PlatformError(
            f"'{argv[0]}' could not set up the network: {said}",
            hint="check with `bareline doctor` that the kernel has veth, bridge, sch_htb, sch_tbf",
        )
